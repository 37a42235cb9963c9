"""A tokenizer that writes the shipped tasks word by word, and the place of GPT-NeoX's byte-level one."""

import json
from pathlib import Path

from interp.tasks import Role, TaskTokenizer, prompts, task, tokenizer
from interp.tasks.words import word_list
from interp.values import PromptSet

PYTHIA = Path(__file__).resolve().parents[3] / "shared" / "pythia" / "tokenizer.json"
LISTS = ("things", "fillers", "names", "objects", "places", "digits")
TEMPLATE_WORDS = [
    "When",
    "Then",
    "After",
    "While",
    "and",
    "went",
    "to",
    "the",
    "gave",
    "a",
    "were",
    "at",
    "got",
    "decided",
    "give",
    "it",
    "has",
]


def write_word_level(folder: Path, *, unknown: bool = True, leave_out: tuple[str, ...] = (), bos: bool = True) -> Path:
    """A tokenizer.json like that of the nano suite: blanks are no tokens, digits and marks stand alone."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    words = [word for name in LISTS for word in word_list(name)]
    special = (["<|endoftext|>"] if bos else []) + (["[UNK]"] if unknown else [])
    names = [*special, "\n", *"->.,:;?!", *TEMPLATE_WORDS, *words]
    vocabulary = {name: i for i, name in enumerate(dict.fromkeys(n for n in names if n not in leave_out))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[ \t]+"), "removed"),
            pre_tokenizers.Split(Regex(r"->|[.,:;?!\n0-9]"), "isolated"),
        ]
    )
    raw.add_special_tokens(special)
    folder.mkdir(parents=True, exist_ok=True)
    raw.save(str(folder / "tokenizer.json"))
    return folder


def write_config(folder: Path, **entries: object) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps(entries), encoding="utf-8")


def word_level(folder: Path) -> TaskTokenizer:
    return tokenizer(write_word_level(folder))


_MADE: dict[tuple[str, str, str, int], PromptSet] = {}


def shipped(name: str, tokens: TaskTokenizer, role: Role = "search", n: int = 64) -> PromptSet:
    """The prompts of a shipped task; made once, for they are the same each time (which has tests of its own)."""
    key = (name, tokens.sha256, role, n)
    if key not in _MADE:
        _MADE[key] = prompts(task(name), tokens, role, n)
    return _MADE[key]
