"""Word lists that task files name, and what is left of them under a tokenizer."""

from __future__ import annotations

from pathlib import Path

from interp.tasks.tokens import TaskTokenizer
from interp.values import InputError, nearest


def find_folder(package: Path) -> Path:
    """The folder of the task files: `_tasks` in an installed package, `tasks` beside it in a source tree."""
    for folder in (package / "_tasks", package.parent / "tasks"):
        if (folder / "words").is_dir():
            return folder
    raise InputError(f"no task files found: looked for {package / '_tasks'} and {package.parent / 'tasks'}")


def shipped_folder() -> Path:
    """The folder of the task files that come with this copy of interp."""
    return find_folder(Path(__file__).resolve().parents[1])


def word_list(name: str) -> tuple[str, ...]:
    """The words of a shipped list, in the file's order, each once."""
    folder = shipped_folder() / "words"
    known = {path.stem: path for path in folder.glob("*.txt")}
    if name not in known:
        raise InputError(f"'{name}' is no word list: {nearest(name, known)}")
    return tuple(dict.fromkeys(known[name].read_text(encoding="utf-8").split()))


class Words:
    """Word lists under one tokenizer: a word stays if it is one known token with its leading space."""

    def __init__(self, tokenizer: TaskTokenizer):
        self._tokenizer = tokenizer
        self._kept: dict[tuple[str, str | None, str], tuple[str, ...]] = {}

    def usable(self, name: str, need: int = 1, without: str | None = None) -> tuple[str, ...]:
        """The list's words that are one token after a space, at least `need`; none of the list `without`."""
        return self._ask(name, need, without, " ", "after a space")

    def opening(self, name: str, need: int = 1, without: str | None = None) -> tuple[str, ...]:
        """The list's words that are one token at the start of a text, where no space leads."""
        return self._ask(name, need, without, "", "at the start of a text")

    def _ask(self, name: str, need: int, without: str | None, before: str, where: str) -> tuple[str, ...]:
        key = (name, without, before)
        if key not in self._kept:
            other = set(word_list(without)) if without else set()
            words = (word for word in word_list(name) if word not in other)
            self._kept[key] = tuple(word for word in words if self._tokenizer.is_one_token(before + word))
        if len(self._kept[key]) < need:
            found = f"{len(self._kept[key])} of {len(word_list(name))} words are one token {where}"
            raise InputError(f"word list '{name}': {found}, {need} are needed")
        return self._kept[key]
