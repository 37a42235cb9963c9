"""Which steps to evaluate: bisection of every task's brackets, then verification probes; over a callable, no torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from interp.emergence.outcome import Emergence
from interp.emergence.probes import most_telling
from interp.values import Bracket, InputError

Search = Literal["bisection", "grid"]
Shares = Mapping[str, float]
Placement = Callable[[Sequence[Emergence]], int | None]


@dataclass(frozen=True)
class Plan:
    """How a run is searched.

    `grid` evaluates every step. `bisection` halves every task's brackets until their ends are neighbours, or within a
    factor `resolution` of each other, and then spends at most `probes` evaluations on looking for earlier passes and
    later failures, all tasks together; one that is found is bisected in turn.
    """

    how: Search = "bisection"
    resolution: float = 1.0
    probes: int = 6

    def __post_init__(self) -> None:
        if self.how not in ("bisection", "grid"):
            raise InputError(f"'{self.how}' is not a way to search; known: bisection, grid")
        if not 1 <= self.resolution < math.inf:
            raise InputError(f"the resolution is {self.resolution:g}; needed: a factor of 1 or more, such as 1.25")
        if self.probes < 0:
            raise InputError(f"probes is {self.probes}; needed: 0 or more")


def search(
    steps: Sequence[int],
    shares: Callable[[int], Shares],
    thresholds: Mapping[str, float],
    plan: Plan = Plan(),
    place: Placement = most_telling,
) -> dict[str, Emergence]:
    """The emergence of every task over one run's steps.

    `shares(step)` gives the share of solved prompts of every task; it is called at most once a step, and what it
    returns serves all tasks. `steps` must have distinct weights. `place` chooses the next probe. On monotone curves
    bisection calls it at most `most_visits` times.

    Raises:
        InputError: fewer than two steps.
    """
    if len(steps) < 2:
        raise InputError(f"a bracket needs two checkpoints with distinct weights; found {len(steps)}")
    path = _Path(tuple(sorted(steps)), thresholds, plan, place)
    while (step := path.following()) is not None:
        path.seen[step] = shares(step)
    return path.found()


def upcoming(
    steps: Sequence[int],
    seen: Mapping[int, Shares],
    step: int,
    thresholds: Mapping[str, float],
    plan: Plan = Plan(),
) -> tuple[int, ...]:
    """The steps that a search may evaluate next, while it evaluates `step`, whichever way that goes: at most two."""
    found: list[int] = []
    for share in (0.0, 1.0):
        guess = {**seen, step: dict.fromkeys(thresholds, share)}
        path = _Path(tuple(sorted(steps)), thresholds, plan)
        while (following := path.following()) is not None and following in guess:
            path.seen[following] = guess[following]
        if following is not None and following not in found:
            found.append(following)
    return tuple(found)


def ends(seen: Mapping[int, Shares], thresholds: Mapping[str, float]) -> tuple[int, ...]:
    """The ends of the tasks' first brackets as far as the evaluated steps tell, ascending."""
    visited = tuple(sorted(seen))
    firsts = (_emergence(task, threshold, visited, seen).first for task, threshold in thresholds.items())
    return tuple(sorted({step for one in firsts if one.bracket for step in (one.bracket.pre, one.bracket.post)}))


def most_visits(steps: Sequence[int], tasks: int, plan: Plan = Plan()) -> int:
    """The most steps that a search evaluates where every task's curve is monotone, probes included."""
    ordered = tuple(sorted(steps))
    if plan.how == "grid" or len(ordered) < 3:
        return len(ordered)

    @cache
    def below(low: int, high: int, crossings: int) -> int:
        middle = _middle(ordered, low, high, plan.resolution) if crossings else None
        if middle is None:
            return 0
        return 1 + max(
            below(low, middle, left) + below(middle, high, crossings - left) for left in range(crossings + 1)
        )

    return min(len(ordered), 2 + below(0, len(ordered) - 1, min(tasks, len(ordered))) + plan.probes)


@dataclass
class _Path:
    """A search under way: what it has seen, in the order of its own decisions, and so what it evaluates next."""

    distinct: tuple[int, ...]
    thresholds: Mapping[str, float]
    plan: Plan
    place: Placement = most_telling
    seen: dict[int, Shares] = field(default_factory=dict)
    probes: list[int] = field(default_factory=list)

    def following(self) -> int | None:
        """The step to evaluate next; `None` when the search is over."""
        fixed = self.distinct if self.plan.how == "grid" else (self.distinct[0], self.distinct[-1])
        unseen = next((step for step in fixed if step not in self.seen), None)
        if unseen is not None:
            return unseen
        known = list(self.found().values())
        for one in known:
            for bracket in _brackets(one):
                places = (self.distinct.index(bracket.pre), self.distinct.index(bracket.post))
                middle = _middle(self.distinct, *places, self.plan.resolution)
                if middle is not None:
                    return self.distinct[middle]
        if len(self.probes) == self.plan.probes or len(self.seen) == len(self.distinct):
            return None
        probe = self.place(known)
        if probe is not None:
            self.probes.append(probe)
        return probe

    def found(self) -> dict[str, Emergence]:
        """What is known of every task."""
        return {
            task: _emergence(task, threshold, self.distinct, self.seen, tuple(self.probes))
            for task, threshold in self.thresholds.items()
        }


def _middle(steps: Sequence[int], low: int, high: int, resolution: float) -> int | None:
    """The place between two others that halves their distance in log(step + 1); `None`: they are near enough.

    Emergence steps spread evenly over the logarithm more than over the checkpoints, and a resolution is a ratio.
    """
    if high - low < 2 or 0 < steps[high] <= resolution * steps[low]:
        return None
    target = (math.log1p(steps[low]) + math.log1p(steps[high])) / 2
    return min(range(low + 1, high), key=lambda i: abs(math.log1p(steps[i]) - target))


def _brackets(one: Emergence) -> list[Bracket]:
    return [crossing.bracket for crossing in (one.first, one.lasting) if crossing.bracket is not None]


def _emergence(
    task: str, threshold: float, distinct: tuple[int, ...], seen: Mapping[int, Shares], probes: tuple[int, ...] = ()
) -> Emergence:
    visited = tuple(sorted(seen))
    return Emergence(task, threshold, distinct, visited, tuple(float(seen[step][task]) for step in visited), probes)
