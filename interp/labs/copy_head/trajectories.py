"""Did a head's a_G rise between two neighbouring checkpoints, or through the middle? A rule, and how often it errs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

# our own cuts; their error rates are in `error_rates`
START, END = 0.25, 0.6
LARGEST = 0.6
MIDDLE = (0.2, 0.8)
POOLED = 0.6


class Verdict(StrEnum):
    """How a_G rose, at the spacing of the checkpoints at hand."""

    ABRUPT = "abrupt at this spacing"
    MIDDLE = "through the middle"
    OPEN = "unresolved"


class Rise(NamedTuple):
    """A verdict; the share of the rise that its largest interval carries; how many checkpoints lie in the middle.

    `place` is the index of the checkpoint before the largest interval.
    """

    verdict: Verdict
    largest: float
    middle: int
    place: int


def rises(a_g: Sequence[float | int] | Float[np.ndarray, " step"]) -> bool:
    """Whether a head becomes a previous-token head: a_G below .25 at the first checkpoint, at least .6 at the last."""
    return bool(a_g[0] < START and a_g[-1] >= END)


def rise(a_g: Sequence[float | int] | Float[np.ndarray, " step"]) -> Rise:
    """How a_G rose from its first to its last value.

    Abrupt: one interval between neighbouring checkpoints carries at least 60 % of the rise. Through the middle: none
    does, and at least two checkpoints lie between 20 % and 80 % of the rise. Else unresolved.
    """
    values = np.asarray(a_g, float)
    share = (values - values[0]) / (values[-1] - values[0])
    steps = np.diff(share)
    largest, place = float(steps.max()), int(steps.argmax())
    middle = int(((share >= MIDDLE[0]) & (share <= MIDDLE[1])).sum())
    if largest >= LARGEST:
        return Rise(Verdict.ABRUPT, largest, middle, place)
    return Rise(Verdict.MIDDLE if middle >= 2 else Verdict.OPEN, largest, middle, place)


def error_rates(steps: Sequence[int], noise: float, draws: int = 400, seed: int = 0) -> list[dict[str, Any]]:
    """Shares of each verdict over simulated rises at these checkpoints, by how wide the rise truly is.

    A rise is 0 → .9 along a logistic curve in training steps whose 10–90 % width is a number of mean checkpoint
    intervals (0: a jump), centred anywhere between the second and the last but one checkpoint, plus normal noise.
    """
    rng, at = np.random.default_rng(seed), np.array(steps, float)
    spacing = float(np.diff(at[1:]).mean())
    rows = []
    for width in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0):
        counts = dict.fromkeys(Verdict, 0)
        for centre in rng.uniform(at[1], at[-2], draws):
            # 10 % to 90 % of a logistic is 2 ln 9 of its scale
            scale = max(width * spacing / (2 * np.log(9)), 1e-9)
            curve = 0.9 / (1 + np.exp(-np.clip((at - centre) / scale, -60, 60)))
            counts[rise(curve + noise * rng.standard_normal(len(at))).verdict] += 1
        rows.append({"width": width, **{str(verdict): n / draws for verdict, n in counts.items()}})
    return rows
