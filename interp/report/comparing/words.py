"""A comparison in three sentences."""

from __future__ import annotations

import math

from interp.report import formats
from interp.report.comparing.matching import Comparison, Matched, Shift, difference, first_heads, shift
from interp.report.views import Pair
from interp.values import Direction, Head


def answer(of: Comparison) -> tuple[str, str, str]:
    """When, which heads, how sure: second against first."""
    return _when(of), _which(of), _how_sure(of)


def _when(of: Comparison) -> str:
    if not of.matched:
        return "No run and task is in both stores, so nothing can be compared."
    shifts = [found for one in of.matched if (found := shift(one)) is not None]
    first, second = (f"“{name}”" for name in of.names)
    text = f"The stores {first} and {second} share {formats.counted(len(of.matched), 'run–task pair')}"
    if not shifts:
        return text + "; in none of them do both scans tell when it emerged."
    earlier = sum(found.high <= 0 for found in shifts)
    later = sum(found.low >= 0 and found.high > 0 for found in shifts)
    rest = len(shifts) - earlier - later
    return (
        f"{text}: in {second} the task surely emerges earlier in {earlier}, surely later in {later}, and in {rest} the "
        f"brackets overlap{_median(shifts)}."
    )


def _median(shifts: list[Shift]) -> str:
    known = sorted(found.doublings for found in shifts if not math.isnan(found.doublings))
    if not known:
        return ""
    middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2
    return f"; in the median the first passing step is {formats.number(2**middle)} times as late"


def _which(of: Comparison) -> str:
    patched = [one for one in of.matched if one.first.ranking and one.second.ranking]
    if not patched:
        return "No effects are stored on both sides, so heads cannot be compared."
    alike = [one for one in patched if one.same_heads]
    if not alike:
        return (
            f"{formats.counted(len(patched), 'pair')} were patched on both sides, in other runs or shapes: heads are "
            "set side by side by rank, and not subtracted."
        )
    changed = [(one, *found) for one in alike if (found := _largest(one)) is not None]
    same = sum(_first(one.first) == _first(one.second) for one in alike)
    text = f"The first head in denoising is the same in {same} of {formats.counted(len(alike), 'pair')}"
    if not changed:
        return text + "; no first head's Δp differs surely."
    one, head, value = max(changed, key=lambda of: abs(of[2][0]))
    others = "" if one.first.ends == one.second.ends else " (patched between other checkpoints)"
    return f"{text}; Δp changes most for {head} on {one.task} in {one.run}, by {formats.measured(value)}{others}."


def _first(pair: Pair) -> Head | None:
    found = pair.first(Direction.DENOISING)
    return None if found is None else found.head


def _largest(of: Matched) -> tuple[Head, tuple[float, float, float]] | None:
    """The first head whose Δp surely differs most."""
    found = [(head, difference(of, Direction.DENOISING, head)) for head in first_heads(of, Direction.DENOISING)]
    sure = [(head, value) for head, value in found if value[1] > 0 or value[2] < 0]
    return max(sure, key=lambda of: abs(of[1][0]), default=None)


def _how_sure(of: Comparison) -> str:
    paired = [one for one in of.matched if one.same_heads and one.first.asked and one.first.asked == one.second.asked]
    alone = sum(map(len, of.alone))
    left = f"; {formats.counted(alone, 'run–task pair')} that only one store has are not compared" if alone else ""
    return (
        f"Steps differ by what the brackets allow, from one end to the other; differences of Δp have pointwise 95 % "
        f"intervals over prompts, paired in {formats.counted(len(paired), 'pair')} measured on the same prompts{left}."
    )
