"""Repetition: a string of symbols is told once and told again up to some place; the next symbol is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family, followers, lead_in, longest_context, require_plans
from interp.tasks.words import Words


@dataclass(frozen=True)
class Copy:
    """`k` symbols, of which `copied` are told again, after a lead-in of `lead` tokens.

    Where two symbols of context are needed, `first` says whether the answer followed the first earlier copy of the last
    symbol; where one is enough, it is `None`.
    """

    k: int
    copied: int
    lead: int
    first: bool | None

    def __str__(self) -> str:
        return f"k={self.k} j={self.copied} lead={self.lead}"


class Repetition(Family):
    """`warm old . salt bear moon . salt bear` → ` moon`.

    `lengths` are in tokens without BOS. With `lead` (a word list), the lead-in fills each prompt up to the
    length; without it, the layouts are those that have the length by themselves. The copy reaches at least
    `copied` symbols. A k listed twice is drawn twice as often. `context` is the number of last symbols that
    are needed to know the answer: with 2, the last symbol alone was followed by different symbols before.
    """

    kind: Literal["repetition"]
    symbols: str
    distinct: bool = True
    k: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)]
    copied: Annotated[int, Field(ge=1)] = 1
    lengths: Annotated[tuple[Annotated[int, Field(ge=4)], ...], Field(min_length=1)]
    lead: str | None = None
    between: Literal["stop", "newline"] = "stop"
    context: Literal[1, 2] = 1

    @model_validator(mode="after")
    def _possible(self) -> Repetition:
        if self.context == 2 and (self.distinct or self.copied < 2):
            raise ValueError("context = 2 needs distinct = false and copied = 2 or more")
        if self.between == "stop" and self.lead is None:
            raise ValueError("a lead-in is needed before a string with between = 'stop' (its first word is told again)")
        if self.between == "newline" and self.lead is not None:
            raise ValueError("lines start the text: between = 'newline' takes no lead-in")
        require_plans(self.plans(), f"no k in {list(self.k)} fits lengths {list(self.lengths)}")
        return self

    def plans(self) -> tuple[Copy, ...]:
        """Every k and place reached by the copy whose lead-in is 0, or at least one word and a stop."""
        found = []
        for length in self.lengths:
            for k in self.k:
                for copied in range(self.copied, k):
                    lead = length - (k + 1 + copied)
                    if lead == 0 if self.lead is None else lead >= 2:
                        found += [Copy(k, copied, lead, first) for first in self._firsts(copied)]
        return tuple(found)

    def _firsts(self, copied: int) -> tuple[bool | None, ...]:
        """Both cases in equal numbers, or induction from the last symbol alone would mostly be right.

        After two symbols there is one case only: no symbol that is written like the second stands before it.
        """
        if self.context == 1:
            return (None,)
        return (True,) if copied == 2 else (True, False)

    def draft(self, plan: Copy, chance: Chance, words: Words) -> Draft | None:
        """One string and its copy; `None` if fewer than `context` last symbols, or none, tell the answer."""
        pool = words.usable(self.symbols, plan.k if self.distinct else 2)
        told = chance.some(pool, plan.k) if self.distinct else [chance.one(pool) for _ in range(plan.k)]
        again, answer = told[: plan.copied], told[plan.copied]
        mark = "." if self.between == "stop" else "\n"
        said = [*told, mark, *again]
        if longest_context(said) != {answer}:
            return None
        if plan.first is not None and not self._ambiguous(said, plan.first):
            return None
        if self.lead is None:
            text = " ".join(told) + "\n" + " ".join(again)
        else:
            text = " ".join([lead_in(plan.lead, self.lead, chance, words, self.symbols), *said])
        return Draft(text, " " + answer, None, str(plan))

    def _ambiguous(self, said: list[str], first: bool) -> bool:
        """Whether different symbols followed the last one, and the answer was (or was not) what did so first.

        A symbol that begins a line counts as another one: a byte-level tokenizer writes it without its space.
        """
        begins = [self.between == "newline" and (i == 0 or said[i - 1] == "\n") for i in range(len(said))]
        marked = ["^" + symbol if first else symbol for symbol, first in zip(said, begins, strict=True)]
        found = followers(marked, 1)
        return len(found) >= 2 and ((found[0] in longest_context(said)) == first)
