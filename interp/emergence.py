"""When a task is first solved: outcomes by step → bracket and status; bisection over a callable, no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from interp import markup
from interp.values import Bracket, InputError, Status

VERSION = 1

Search = Literal["bisection", "grid"]


@dataclass(frozen=True)
class Emergence:
    """What the evaluated steps say of one task in one run.

    `shares` holds the share of solved prompts at each of `steps`, ascending. The bracket is that of the earliest known
    pass; an evaluated step below the bracket that also passes cannot exist, one that nobody evaluated can.
    """

    task: str
    threshold: float
    steps: tuple[int, ...]
    shares: tuple[float, ...]
    bracket: Bracket | None

    @property
    def passes(self) -> tuple[bool, ...]:
        """Whether the task passes at each evaluated step."""
        return tuple(share >= self.threshold for share in self.shares)

    @property
    def status(self) -> Status:
        """`censored` (no evaluated step passes), `lost` (the last one fails), `from_start`, or `emerged`."""
        if not any(self.passes):
            return Status.CENSORED
        if not self.passes[-1]:
            return Status.LOST
        return Status.FROM_START if self.passes[0] else Status.EMERGED

    @property
    def monotone(self) -> bool:
        """Whether no evaluated step fails after one that passes."""
        return list(self.passes) == sorted(self.passes)

    def _repr_html_(self) -> str:
        between = f", between {self.bracket.pre:,} and {self.bracket.post:,}" if self.bracket else ""
        title = f"{self.task}: {self.status}{between}"
        rows = zip(self.steps, self.shares, self.passes, strict=True)
        return markup.table(title, ("step", "share solved", f"≥ {self.threshold:g}"), rows)


def search(
    steps: Sequence[int],
    shares: Callable[[int], Mapping[str, float]],
    thresholds: Mapping[str, float],
    how: Search = "bisection",
) -> dict[str, Emergence]:
    """The emergence of every task over one run's steps.

    `shares(step)` gives the share of solved prompts of every task; it is called at most once a step, and what it
    returns serves all tasks. Bisection evaluates the first and last step and then, for each task that fails at first,
    halves the gap below its earliest known pass until the two ends are neighbours in `steps`: at most
    ceil(log2(n − 1)) steps for each task. `steps` must have distinct weights, ascending.

    Raises:
        InputError: fewer than two steps.
    """
    if len(steps) < 2:
        raise InputError(f"a bracket needs two checkpoints with distinct weights; found {len(steps)}")
    ordered = sorted(steps)
    seen: dict[int, Mapping[str, float]] = {}

    def visit(step: int) -> None:
        if step not in seen:
            seen[step] = shares(step)

    for step in ordered if how == "grid" else (ordered[0], ordered[-1]):
        visit(step)
    while (step := _next_step(ordered, seen, thresholds)) is not None:
        visit(step)
    return {task: _emergence(task, seen, threshold) for task, threshold in thresholds.items()}


def upcoming(
    steps: Sequence[int],
    seen: Mapping[int, Mapping[str, float]],
    step: int,
    thresholds: Mapping[str, float],
    how: Search = "bisection",
) -> tuple[int, ...]:
    """The steps that a search may evaluate next, while it evaluates `step`, whichever way that goes: at most two."""
    ordered = [one for one in sorted(steps) if one != step and one not in seen]
    if how == "grid" or not ordered:
        return tuple(ordered[:1])
    if ordered[-1] == max(steps):
        return (ordered[-1],)
    found: list[int] = []
    for share in (0.0, 1.0):
        guess = {**seen, step: dict.fromkeys(thresholds, share)}
        following = _next_step(sorted(steps), guess, thresholds)
        if following is not None and following not in found:
            found.append(following)
    return tuple(found)


def ends(seen: Mapping[int, Mapping[str, float]], thresholds: Mapping[str, float]) -> tuple[int, ...]:
    """The ends of the tasks' brackets as far as the evaluated steps tell, ascending."""
    brackets = (_bracket(task, seen, threshold) for task, threshold in thresholds.items())
    return tuple(sorted({step for bracket in brackets if bracket for step in (bracket.pre, bracket.post)}))


def _next_step(
    steps: list[int], seen: Mapping[int, Mapping[str, float]], thresholds: Mapping[str, float]
) -> int | None:
    """The middle of the first bracket whose ends are not neighbours; `None` when all are."""
    for task, threshold in thresholds.items():
        bracket = _bracket(task, seen, threshold)
        if bracket is None:
            continue
        low, high = steps.index(bracket.pre), steps.index(bracket.post)
        if high - low > 1:
            return steps[(low + high) // 2]
    return None


def _bracket(task: str, seen: Mapping[int, Mapping[str, float]], threshold: float) -> Bracket | None:
    """The earliest known pass and the last evaluated step before it, which failed."""
    visited = sorted(seen)
    for before, step in pairwise(visited):
        if seen[before][task] >= threshold:
            return None  # it passes at the first step: there is nothing before it
        if seen[step][task] >= threshold:
            return Bracket(before, step)
    return None


def _emergence(task: str, seen: Mapping[int, Mapping[str, float]], threshold: float) -> Emergence:
    visited = tuple(sorted(seen))
    values = tuple(float(seen[step][task]) for step in visited)
    return Emergence(task, threshold, visited, values, _bracket(task, seen, threshold))
