"""Cycle: a few words over and over; the next one is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family, lead_in, require_plans
from interp.tasks.words import Words


@dataclass(frozen=True)
class Round:
    """`terms` words that repeat with a period, after a lead-in of `lead` tokens."""

    period: int
    terms: int
    lead: int

    def __str__(self) -> str:
        return f"period={self.period} terms={self.terms} lead={self.lead}"


class Cycle(Family):
    """`warm . fox salt moon fox salt moon fox salt` → ` moon`.

    Each period is told twice in full and then 0 … `beyond` terms more, so that every phase is asked. `length`
    is in tokens without BOS; the lead-in fills up to it. A period listed twice is drawn twice as often.
    """

    kind: Literal["cycle"]
    symbols: str
    periods: Annotated[tuple[Annotated[int, Field(ge=2)], ...], Field(min_length=1)]
    beyond: Annotated[int, Field(ge=0)]
    length: Annotated[int, Field(ge=6)]
    lead: str

    @model_validator(mode="after")
    def _possible(self) -> Cycle:
        require_plans(
            self.plans(),
            f"length {self.length} is too short for two rounds of any period in {list(self.periods)}",
        )
        return self

    def plans(self) -> tuple[Round, ...]:
        """Every period and number of terms where at least one filler leads in."""
        rounds = (
            Round(period, terms, self.length - terms)
            for period in self.periods
            for terms in range(2 * period, 2 * period + self.beyond + 1)
        )
        return tuple(plan for plan in rounds if plan.lead >= 2)

    def draft(self, plan: Round, chance: Chance, words: Words) -> Draft:
        """One choice of words."""
        pool = words.usable(self.symbols, plan.period)
        cycle = chance.some(pool, plan.period)
        told = [cycle[i % plan.period] for i in range(plan.terms)]
        text = " ".join([lead_in(plan.lead, self.lead, chance, words, self.symbols), *told])
        return Draft(text, " " + cycle[plan.terms % plan.period], None, str(plan))
