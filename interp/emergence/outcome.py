"""What the evaluated steps say of one task in one run: first known and lasting emergence, and how certain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from interp import markup
from interp.values import Bracket, Status

Which = Literal["first", "lasting"]


@dataclass(frozen=True)
class Crossing:
    """Where a task's share crosses its threshold, or why nowhere: `bracket` is there exactly where it `emerged`."""

    status: Status
    bracket: Bracket | None = None


@dataclass(frozen=True)
class Stretch:
    """Distinct checkpoints in a row that nobody evaluated: how many, between which two evaluated steps."""

    checkpoints: int
    after: int
    before: int


@dataclass(frozen=True)
class Emergence:
    """What the evaluated steps say of one task in one run.

    `shares` holds the share of solved prompts at each of `steps`, ascending, some or all of the run's `distinct` ones.
    `probes`: those that were evaluated to put the brackets to the test. No evaluated step contradicts the brackets;
    one that nobody evaluated can.
    """

    task: str
    threshold: float
    distinct: tuple[int, ...]
    steps: tuple[int, ...]
    shares: tuple[float, ...]
    probes: tuple[int, ...] = ()

    @cached_property
    def passes(self) -> tuple[bool, ...]:
        """Whether the task passes at each evaluated step."""
        return tuple(share >= self.threshold for share in self.shares)

    @cached_property
    def first(self) -> Crossing:
        """The earliest known pass and the last evaluated step before it, which failed.

        `censored`: no evaluated step passes; `from_start`: the first one does.
        """
        if not any(self.passes):
            return Crossing(Status.CENSORED)
        at = self.passes.index(True)
        if at == 0:
            return Crossing(Status.FROM_START)
        return Crossing(Status.EMERGED, Bracket(self.steps[at - 1], self.steps[at]))

    @cached_property
    def lasting(self) -> Crossing:
        """The last evaluated step that fails and the next one, from which on every evaluated step passes.

        `censored`: no evaluated step passes; `lost`: some do, and the last one fails; `from_start`: all do.
        """
        if not any(self.passes):
            return Crossing(Status.CENSORED)
        if not self.passes[-1]:
            return Crossing(Status.LOST)
        if all(self.passes):
            return Crossing(Status.FROM_START)
        at = len(self.passes) - 1 - self.passes[::-1].index(False)
        return Crossing(Status.EMERGED, Bracket(self.steps[at], self.steps[at + 1]))

    @property
    def monotone(self) -> bool:
        """Whether no evaluated step fails after one that passes."""
        return list(self.passes) == sorted(self.passes)

    def neighbours(self, bracket: Bracket) -> bool:
        """Whether no distinct checkpoint lies between the ends of a bracket."""
        return not any(bracket.pre < step < bracket.post for step in self.distinct)

    @cached_property
    def unprobed(self) -> Stretch | None:
        """The longest stretch of distinct checkpoints that nobody evaluated; `None`: all were."""
        place = {step: i for i, step in enumerate(self.distinct)}
        gaps = [Stretch(place[high] - place[low] - 1, low, high) for low, high in pairwise(self.steps)]
        longest = max(gaps, key=lambda gap: gap.checkpoints, default=None)
        return longest if longest is not None and longest.checkpoints else None

    def _repr_html_(self) -> str:
        said = []
        for name, one in (("first", self.first), ("lasting", self.lasting)):
            between = f" between {one.bracket.pre:,} and {one.bracket.post:,}" if one.bracket else ""
            said.append(f"{name} {one.status}{between}")
        rows = zip(self.steps, self.shares, self.passes, strict=True)
        return markup.table(f"{self.task}: {'; '.join(said)}", ("step", "share solved", f"≥ {self.threshold:g}"), rows)
