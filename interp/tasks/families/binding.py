"""Binding: who has what is told and told again; then one of the holders is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family, lead_in, require_plans
from interp.tasks.words import Words


@dataclass(frozen=True)
class Telling:
    """Bindings numbered as first told; `retold` in order; `asked` is the one whose item is the answer."""

    retold: tuple[int, ...]
    asked: int
    lead: int

    def __str__(self) -> str:
        retold = "".join(str(i + 1) for i in self.retold)
        return f"retold={retold} asked={self.asked + 1} lead={self.lead}"


class Binding(Family):
    """`warm . Tom has salt . Anna has boat . Mary has moon . Tom has salt . Anna has` → ` boat`.

    All bindings are told once, then as many again as `retold` says (never the same twice running), then any
    one is asked, each equally often. `length` is in tokens without BOS; the lead-in fills up to it.
    """

    kind: Literal["binding"]
    names: str
    items: str
    verb: str = "has"
    bindings: Annotated[int, Field(ge=2, le=5)] = 3
    retold: Annotated[tuple[Annotated[int, Field(ge=0, le=6)], ...], Field(min_length=1)]
    length: Annotated[int, Field(ge=8)]
    lead: str

    @model_validator(mode="after")
    def _possible(self) -> Binding:
        require_plans(
            self.plans(),
            f"length {self.length} is too short for any number of tellings in {list(self.retold)}",
        )
        return self

    def plans(self) -> tuple[Telling, ...]:
        """Every order of the retellings with every binding asked, where at least one filler leads in."""
        found = []
        for count in self.retold:
            lead = self.length - 4 * (self.bindings + count) - 2
            if lead >= 2:
                orders = _orders(self.bindings, count)
                found += [Telling(order, asked, lead) for order in orders for asked in range(self.bindings)]
        return tuple(found)

    def draft(self, plan: Telling, chance: Chance, words: Words) -> Draft:
        """One set of bindings, told as the plan says."""
        names = chance.some(words.usable(self.names, self.bindings), self.bindings)
        pool = words.usable(self.items, self.bindings)
        items = chance.some(pool, self.bindings)
        lead = lead_in(plan.lead, self.lead, chance, words, self.items)
        tellings = [f"{names[i]} {self.verb} {items[i]} ." for i in (*range(self.bindings), *plan.retold)]
        text = " ".join([lead, *tellings, names[plan.asked], self.verb])
        return Draft(text, " " + items[plan.asked], None, str(plan))


def _orders(bindings: int, count: int) -> list[tuple[int, ...]]:
    """Every sequence of `count` retellings after the bindings were told in order, none twice running."""
    orders: list[tuple[int, ...]] = [()]
    for _ in range(count):
        orders = [
            (*order, i) for order in orders for i in range(bindings) if i != (order[-1] if order else bindings - 1)
        ]
    return orders
