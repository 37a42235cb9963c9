"""Which heads' scores change over training, when, abruptly or gradually, and on which side of a task's bracket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp.values import Bracket

VERSION = 1

# a range below this is no change, whatever the noise; scores have units of about 1
SMALLEST = 0.2
# nor is one below so many standard deviations of the curve's own noise
NOISES = 5.0
# part of the range that lies in one interval of evaluated steps, from which on a change is called abrupt
ABRUPT = 2 / 3


class Verdict(StrEnum):
    """How a score changes, as far as the spacing of the evaluated steps can tell."""

    ABRUPT = "abrupt"
    GRADUAL = "gradual"
    NONE = "none"


class Change(NamedTuple):
    """How a score moves over the evaluated steps.

    `before` and `after` are its values at the first and the last. The rest is told of the curve after a median over
    three neighbours: `size` is its range, `jump` the part of that in one interval. `from_step` and `to_step` are the
    ends of that interval where the change is abrupt, and those of the way from 10 to 90 % of the range where it is
    gradual, with the values there; −1 and NaN where nothing changes.
    """

    before: float
    after: float
    size: float
    jump: float
    verdict: Verdict
    from_step: int = -1
    to_step: int = -1
    from_value: float = float("nan")
    to_value: float = float("nan")


def change(steps: Sequence[int], values: Float[np.ndarray, "step"]) -> Change:
    """The largest change of a curve, judged by the rule in docs/signatures.md; its error rates stand there.

    Three neighbours' median takes away what a single step shows alone and keeps jumps and monotone slopes as they are.
    Nothing changes where the range is below .2, or below five standard deviations of noise (told by second differences,
    which slopes do not enter). Else the change is abrupt if two thirds of the range or more lie between two
    neighbouring evaluated steps, and gradual if not.
    """
    smooth = _median_of_three(values)
    size, jumps = float(np.ptp(smooth)), np.abs(np.diff(smooth))
    place = int(jumps.argmax())
    jump = float(jumps[place] / size) if size > 0 else 0.0
    outline = float(values[0]), float(values[-1]), size, jump
    if not size >= max(SMALLEST, NOISES * _noise(values)):
        return Change(*outline, Verdict.NONE)
    abrupt = jump >= ABRUPT
    begin, end = (place, place + 1) if abrupt else _way(smooth)
    ends = steps[begin], steps[end], float(smooth[begin]), float(smooth[end])
    return Change(*outline, Verdict.ABRUPT if abrupt else Verdict.GRADUAL, *ends)


def _median_of_three(values: Float[np.ndarray, "step"]) -> Float[np.ndarray, "step"]:
    padded = np.concatenate([values[:1], values, values[-1:]])
    return np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)


def _noise(values: Float[np.ndarray, "step"]) -> float:
    """The standard deviation of independent noise on a curve of a few slopes and jumps, from five steps on."""
    if len(values) < 5:
        return 0.0
    # a second difference of independent values has a variance of 6, and a median of sizes lies at .6745 deviations
    return float(np.median(np.abs(np.diff(values, 2))) / (0.6745 * np.sqrt(6)))


def _way(smooth: Float[np.ndarray, "step"]) -> tuple[int, int]:
    """Places between which a curve goes from 10 to 90 % of its range, on the way between its extremes."""
    begin, end = sorted((int(smooth.argmin()), int(smooth.argmax())))
    part = (smooth[begin : end + 1] - smooth[begin]) / (smooth[end] - smooth[begin])
    last = int(np.argmax(part >= 0.9))
    return begin + int(np.flatnonzero(part[:last] < 0.1)[-1]), begin + last


def relation(change: Change, bracket: Bracket | None) -> str:
    """`before` (over by the bracket's lower end), `after` (begins at its upper end), else `in`; empty without both."""
    if bracket is None or change.verdict is Verdict.NONE:
        return ""
    if change.to_step <= bracket.pre:
        return "before"
    return "after" if change.from_step >= bracket.post else "in"


Grid = Float[np.ndarray, "layer head"]


def changes(
    scores: Mapping[int, Mapping[str, Grid]], prompts: str, brackets: Mapping[str, Bracket | None]
) -> pd.DataFrame:
    """Every head and score over the evaluated steps, one row for each task that it is held against.

    Args:
        scores: step → score → value of every head; scores that are unknown somewhere are left out.
        prompts: what they were measured on, `random` or `task`.
        brackets: task → its bracket, if it has one.
    """
    steps = sorted(scores)
    names = [name for name in scores[steps[0]] if all(np.isfinite(scores[step][name]).all() for step in steps)]
    rows = []
    for name in names:
        curves = np.stack([scores[step][name] for step in steps])
        for layer, head in np.ndindex(*curves.shape[1:]):
            found = change(steps, curves[:, layer, head])
            for task, bracket in brackets.items():
                rows.append(
                    {"layer": layer, "head": head, "score": name, "prompts": prompts}
                    | found._asdict()
                    | {"verdict": str(found.verdict), "task": task, "relation": relation(found, bracket)}
                )
    return pd.DataFrame(rows)
