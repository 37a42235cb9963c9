"""Frozen values that the stages hand to one another; nothing here imports torch."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from interp import markup

# what a model can compute in
DTYPES = ("float32", "float64", "bfloat16", "float16")


class InputError(ValueError):
    """Something a user gave is wrong: one sentence that says what was found and what was needed."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of forty frames."""
        return [f"{type(self).__name__}: {self}"]


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence fragment naming the known words closest to a mistyped one."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known: {shown}" if names else "none is known"


@dataclass(frozen=True, order=True)
class Head:
    """One attention head, zero-based; written `L5H3`."""

    layer: int
    head: int

    def __str__(self) -> str:
        return f"L{self.layer}H{self.head}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """The head that `L5H3` names."""
        match = re.fullmatch(r"L(\d+)H(\d+)", text)
        if match is None:
            raise InputError(f"'{text}' is not a head; heads are written like L5H3 (layer 5, head 3, zero-based)")
        return cls(int(match[1]), int(match[2]))


@dataclass(frozen=True)
class RunId:
    """One training run of a suite; seed `None` is the suite's original run."""

    suite: str
    seed: int | None

    def __str__(self) -> str:
        return self.suite if self.seed is None else f"{self.suite}/seed{self.seed}"


@dataclass(frozen=True)
class Checkpoint:
    """A run at a step, as files in a folder, with the hash of its weights.

    `weights` is a sha256 over the weight files' contents; two checkpoints with equal `weights` are the same model.
    `tokenizer` is the folder that holds the tokenizer's files. A checkpoint on the Hub names its repository and the
    commit that its branch stood for; `folder` is where its files will lie (`interp.suites.fetch` brings them there).
    """

    run: RunId
    step: int
    folder: Path
    tokenizer: Path
    weights: str
    repository: str | None = None
    commit: str | None = None

    def __str__(self) -> str:
        return f"{self.run} step {self.step}"

    def _repr_html_(self) -> str:
        rows = {"weights (sha256)": self.weights[:16] + "…", "folder": self.folder}
        hub = {"repository": self.repository, "commit": self.commit} if self.repository else {}
        return markup.facts(f"Checkpoint {self}", rows | hub)


@dataclass(frozen=True)
class Prompt:
    """Text up to the prediction, as token ids (BOS included), and the token that is right next.

    `foil` is a competing token, where the task has one. `layout` says how the prompt is built (lengths, filler, order):
    prompts of equal layout need the same attention pattern.
    """

    text: str
    tokens: tuple[int, ...]
    answer: int
    foil: int | None
    layout: str


@dataclass(frozen=True)
class PromptSet:
    """The prompts of one task for one tokenizer, in a fixed order.

    `role` is "search" (the bracket is chosen on them), "effect" (effects are measured on them) or "single" (the
    literature's one prompt, used for both). `tokenizer` is the sha256 of tokenizer.json; `bos` says whether the ids
    begin with the BOS token.
    """

    task: str
    version: int
    role: str
    threshold: float
    ceiling: float
    prompts: tuple[Prompt, ...]
    tokenizer: str
    bos: bool

    def __len__(self) -> int:
        return len(self.prompts)

    def _repr_html_(self) -> str:
        title = f"{len(self)} {self.role} prompts of {self.task}, version {self.version}; solved: {self.threshold:g}"
        columns = ("prompt", "answer's id", "foil's id", "layout", "token ids" + " (with BOS)" * self.bos)
        rows = [
            (
                one.text, str(one.answer), None if one.foil is None else str(one.foil), one.layout,
                " ".join(map(str, one.tokens)),
            )
            for one in self.prompts
        ]  # fmt: skip
        return markup.table(title, columns, rows)

    def subset(self, chosen: slice) -> PromptSet:
        """Some of the prompts, in their order."""
        return replace(self, prompts=self.prompts[chosen])

    def some(self, chosen: Iterable[int]) -> PromptSet:
        """The prompts at these places, in the order given."""
        return replace(self, prompts=tuple(self.prompts[i] for i in chosen))

    def by_length(self) -> Iterator[tuple[int, ...]]:
        """Indices of the prompts, one group per token length: no batch is ever padded."""
        lengths = [len(prompt.tokens) for prompt in self.prompts]
        for length in sorted(set(lengths)):
            yield tuple(i for i, n in enumerate(lengths) if n == length)


class Status(StrEnum):
    """What a search can say of a task in a run (docs/design.md, words)."""

    EMERGED = "emerged"
    FROM_START = "from_start"
    CENSORED = "censored"
    LOST = "lost"


@dataclass(frozen=True)
class Bracket:
    """Two checkpoints with distinct weights, the first failing, the second passing; neighbours without a resolution."""

    pre: int
    post: int


class Direction(StrEnum):
    """Denoising writes the later checkpoint's patterns into the earlier one; noising the reverse."""

    DENOISING = "denoising"
    NOISING = "noising"


def parse_seeds(text: str) -> tuple[int, ...]:
    """The seeds that a text such as `0-3,7` names, sorted, each once."""
    seeds: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,18})(?:-(\d{1,18}))?\s*", part)
        if match is None or (match[2] and int(match[2]) < int(match[1])):
            raise InputError(f"'{text}' is not a list of seeds; write them like 0-3 or 0,2,5")
        if int(match[2] or match[1]) >= 2**31 or int(match[2] or match[1]) - int(match[1]) > 10_000:
            raise InputError(f"'{text}' names seeds beyond any suite's; write them like 0-3 or 0,2,5")
        seeds.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(seeds))
