"""Turnbull's estimate of a distribution that is known through intervals: its weights, survival, quantiles and means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float

_TOLERANCE = 1e-7
_MOST = 20_000
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Turnbull:
    """The nonparametric maximum of the likelihood of intervals (low, high].

    Its mass lies in the *innermost* intervals `(low, high]`: left end of one run, right end of one run, no end between.
    How it lies within one of them, the likelihood does not say. `covers[run, mass]`: which of them a run's interval
    holds. Equal ends are a single step.
    """

    low: Float[np.ndarray, "mass"]
    high: Float[np.ndarray, "mass"]
    weight: Float[np.ndarray, "mass"]
    covers: Bool[np.ndarray, "run mass"]

    def survival(self, steps: Float[np.ndarray, "step"]) -> Float[np.ndarray, "step"]:
        """P(T > step); inside an innermost interval the largest value that the likelihood allows."""
        return 1 - (self.weight * (self.high <= steps[:, None])).sum(-1)

    @property
    def median(self) -> tuple[float, float]:
        """The innermost interval (low, high] by whose end half has emerged; high is infinite beyond all ends."""
        at = int(np.argmax(np.cumsum(self.weight) >= 0.5 - _ROUNDING))
        return float(self.low[at]), float(self.high[at])

    def mean(self, horizon: int) -> float:
        """E min(T, horizon), each mass in the middle of its interval (cut at the horizon)."""
        middle = (np.minimum(self.low, horizon) + np.minimum(self.high, horizon)) / 2
        return float(self.weight @ middle)


def turnbull(low: Float[np.ndarray, "run"], high: Float[np.ndarray, "run"]) -> Turnbull:
    """Turnbull 1976 (J. R. Stat. Soc. B 38:290): self-consistency on the innermost intervals, from equal weights.

    For exact and right-censored times this is the estimate of Kaplan and Meier. `high` is infinite where a time is
    censored on the right.
    """
    opened = open_ends(low, high)
    ends = sorted({(end, 0) for end in high.tolist()} | {(end, 1) for end in opened.tolist()})
    inner = [(one, other) for (one, left), (other, right) in pairwise(ends) if left and not right]
    starts, stops = np.array([one for one, _ in inner]), np.array([other for _, other in inner])
    covers = (opened[:, None] <= starts) & (stops <= high[:, None])
    weight = weights(covers, np.ones(len(low)), _TOLERANCE, _MOST)
    shown = np.where(np.nextafter(stops, -math.inf) == starts, stops, starts)
    return Turnbull(shown, stops, weight, covers)


def open_ends(low: Float[np.ndarray, "run"], high: Float[np.ndarray, "run"]) -> Float[np.ndarray, "run"]:
    """Left ends that are not part of their intervals: of a single step, the number just below it."""
    return np.where(low == high, np.nextafter(high, -math.inf), low)


def weights(
    covers: Bool[np.ndarray, "run mass"], counts: Float[np.ndarray, "*draw run"], tolerance: float, most: int
) -> Float[np.ndarray, "*draw mass"]:
    """The weights that maximise Σ counts · log P(interval), of every draw; every mass starts equal.

    The largest gain − 1 bounds how far the mean log-likelihood is from its maximum (Gentleman and Geyer 1994,
    Biometrika 81:618); the iteration ends where that is below `tolerance`, or after `most` rounds.
    """
    inside = covers.astype(float)
    share = counts / counts.sum(-1, keepdims=True)
    weight = np.full((*counts.shape[:-1], covers.shape[1]), 1 / covers.shape[1])
    for _ in range(most):
        covered = weight @ inside.T
        gain = np.divide(share, covered, out=np.zeros_like(share), where=share > 0) @ inside
        weight = weight * gain
        if gain.max(initial=0.0) - 1 < tolerance:
            break
    return weight
