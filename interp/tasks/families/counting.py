"""Counting: lines of digits that go up or down by one step; the last line's next digit is asked."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family, followers
from interp.tasks.words import Words

Step = Annotated[int, Field(ge=-4, le=4)]
Lengths = Annotated[tuple[Annotated[int, Field(ge=2, le=9)], ...], Field(min_length=1)]


class Counting(Family):
    """`1 3 5 7` → ` 9`.

    Digits never go below 0 or above 9. Earlier lines (as many as `earlier` says, of `earlier_terms` digits)
    count by the same step from anywhere; each step is asked equally often. A prompt is excluded where a digit
    that followed an earlier copy of its last digit is the answer, so that copying cannot solve the rest.
    """

    kind: Literal["counting"]
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    terms: Lengths
    earlier: Annotated[tuple[Annotated[int, Field(ge=0, le=4)], ...], Field(min_length=1)]
    earlier_terms: Lengths

    @model_validator(mode="after")
    def _possible(self) -> Counting:
        for step in self.steps:
            if step == 0:
                raise ValueError("step 0 does not count: its answer is a copy")
            if not self._shapes(step):
                raise ValueError(f"step {step} leaves the digits with every choice of terms")
        return self

    def plans(self) -> tuple[int, ...]:
        """The steps."""
        return self.steps

    def draft(self, plan: int, chance: Chance, words: Words) -> Draft | None:
        """One choice of lines and starts; `None` where induction from the last digit gives the answer."""
        shape = chance.one(self._shapes(plan))
        counts = [*shape[:-1], shape[-1] + 1]
        lines = [_line(chance.one(_starts(plan, count)), plan, count) for count in counts]
        answer = lines[-1].pop()
        said = [symbol for line in lines for symbol in (*line, "\n")][:-1]
        if answer in followers(said, 1):
            return None
        text = "\n".join(" ".join(line) for line in lines)
        return Draft(text, " " + answer, None, "terms=" + ",".join(map(str, shape)))

    def _shapes(self, step: int) -> list[tuple[int, ...]]:
        """The terms of each line, where every line, with the answer, stays within the digits."""
        last = [count for count in self.terms if _starts(step, count + 1)]
        before = [count for count in self.earlier_terms if _starts(step, count)]
        return [
            (*earlier, count) for number in self.earlier for earlier in product(before, repeat=number) for count in last
        ]


def _starts(step: int, count: int) -> list[int]:
    """The first digits from which `count` terms stay within 0 … 9."""
    return [start for start in range(10) if 0 <= start + step * (count - 1) <= 9]


def _line(start: int, step: int, count: int) -> list[str]:
    return [str(start + step * i) for i in range(count)]
