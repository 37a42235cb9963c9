"""Where one more evaluation tells most about what a search has found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interp.emergence.outcome import Emergence
from interp.values import Status

# a share this near to its threshold may cross it again next door: .1 is about two standard errors of 64 prompts
NEAR = 0.1


def most_telling(known: Sequence[Emergence]) -> int | None:
    """The step to probe next for all tasks of a run together; `None` where no unevaluated step can tell anything.

    First the checkpoints just outside the brackets whose ends are nearest to their threshold, since noise crosses it
    more than once; then the middle of the longest stretch of checkpoints in which an earlier pass or a later failure
    of any task can hide. Both were chosen on simulated curves (docs/emergence.md).
    """
    next_door = min((beside for one in known for beside in _next_door(one)), default=None)
    return longest_middle(known) if next_door is None else next_door[1]


def longest_middle(known: Sequence[Emergence]) -> int | None:
    """The middle of the longest stretch of unevaluated checkpoints that can contradict what is said of any task."""
    distinct, evaluated = known[0].distinct, set(known[0].steps)
    longest: tuple[int, ...] = ()
    stretch: list[int] = []
    for step in distinct:
        if step in evaluated:
            stretch = []
        elif any(can_contradict(one, step) for one in known):
            stretch.append(step)
            longest = max(longest, tuple(stretch), key=len)
    return longest[len(longest) // 2] if longest else None


def can_contradict(one: Emergence, step: int) -> bool:
    """Whether some outcome at an unevaluated step would move the task's first or its lasting emergence."""
    first, lasting = one.first, one.lasting
    earlier = first.status is Status.CENSORED or (first.bracket is not None and step < first.bracket.pre)
    later = lasting.status is Status.FROM_START or (lasting.bracket is not None and step > lasting.bracket.post)
    return earlier or later


def _next_door(one: Emergence) -> Iterator[tuple[float, int]]:
    """Unevaluated checkpoints beside a bracket's end, with that end's distance from the threshold, where it is near."""
    share = dict(zip(one.steps, one.shares, strict=True))
    ends: list[tuple[int, int]] = []
    if one.first.bracket is not None:
        ends.append((one.first.bracket.pre, -1))
    if one.lasting.bracket is not None:
        ends.append((one.lasting.bracket.post, 1))
    for end, way in ends:
        beside = one.distinct.index(end) + way
        distance = abs(share[end] - one.threshold)
        if 0 <= beside < len(one.distinct) and one.distinct[beside] not in share and distance < NEAR:
            yield distance, one.distinct[beside]
