"""Numbered list: lines that count; the next line's number is asked."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family, require_plans
from interp.tasks.words import Words

LARGEST = 9  # a number of two digits is two tokens in some tokenizers

Layout = tuple[int, ...]  # words on each line


class NumberedList(Family):
    """`1 . fox⏎2 . salt⏎3 . moon⏎` → `4`.

    `lengths` are in tokens without BOS (a line is its number, a full stop, its words and the newline). The
    answer begins a line, so it has no leading space, just like the numbers before it.
    """

    kind: Literal["numbered_list"]
    symbols: str
    lines: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)]
    words_per_line: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)]
    starts: Annotated[tuple[Annotated[int, Field(ge=0, le=LARGEST)], ...], Field(min_length=1)]
    lengths: Annotated[tuple[Annotated[int, Field(ge=8)], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _possible(self) -> NumberedList:
        require_plans(
            self.plans(),
            f"no lines, words and starts fit lengths {list(self.lengths)} and numbers up to {LARGEST}",
        )
        return self

    def plans(self) -> tuple[Layout, ...]:
        """Every choice of words per line that has one of the lengths and whose numbers are digits."""
        return tuple(
            layout
            for lines in self.lines
            if min(self.starts) + lines <= LARGEST
            for layout in product(self.words_per_line, repeat=lines)
            if 3 * lines + sum(layout) in self.lengths
        )

    def draft(self, plan: Layout, chance: Chance, words: Words) -> Draft:
        """One start and choice of words, none twice."""
        start = chance.one([start for start in self.starts if start + len(plan) <= LARGEST])
        left = chance.some(words.usable(self.symbols, sum(plan)), sum(plan))
        lines = []
        for number, count in enumerate(plan, start=start):
            lines.append(" ".join([str(number), ".", *left[:count]]) + "\n")
            left = left[count:]
        return Draft("".join(lines), str(start + len(plan)), None, "words=" + ",".join(map(str, plan)))
