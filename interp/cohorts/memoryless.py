"""Do emergence times look memoryless? The shape of a Weibull distribution (1 = a constant hazard), and a test of 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from interp.cohorts.comparing import Tested

FEWEST = 20
"""With fewer runs than this the shape is told and not tested (docs/cohorts.md gives the power)."""

_SHAPES = np.geomspace(0.05, 50, 1201)
_ROUNDS = 45
_DRAWS = 999


@dataclass(frozen=True)
class Shape:
    """Weibull shape with the 95 % interval of its profile likelihood; an end at 0 or ∞ has no bound in the data."""

    value: float
    low: float
    high: float


def shape(low: Float[np.ndarray, "run"], high: Float[np.ndarray, "run"]) -> Shape | None:
    """The shape of a Weibull distribution of times counted from step 0; above 1 the hazard rises, below 1 it falls.

    `None` where the likelihood has no maximum: fewer than three runs emerged, or all of them in one interval.
    """
    low, high = _positive(low, high)
    emerged = np.isfinite(high)
    if emerged.sum() < 3 or low[emerged].max() < high[emerged].min():
        return None
    powers = _SHAPES[:, None]
    scale = max(low.max(), high[emerged].max())
    ends = (low / scale) ** powers, (high / scale) ** powers
    fit = _log_likelihood(exponential_rate(*ends), *ends)
    inside = np.flatnonzero(2 * (fit.max() - fit) <= stats.chi2.ppf(0.95, 1))
    best = int(np.argmax(fit))
    if best in (0, len(fit) - 1):
        return None
    low_end = 0.0 if inside[0] == 0 else float(_SHAPES[inside[0]])
    high_end = math.inf if inside[-1] == len(fit) - 1 else float(_SHAPES[inside[-1]])
    return Shape(float(_SHAPES[best]), low_end, high_end)


def memoryless(
    low: Float[np.ndarray, "run"],
    high: Float[np.ndarray, "run"],
    grid: Sequence[int],
    draws: int = _DRAWS,
    seed: int = 0,
) -> Tested:
    """Score test of shape 1 against other shapes, its distribution drawn from the fitted exponential on the same grid.

    `low` and `high` must be ends of the grid's intervals. Statistic positive = the hazard rises.
    """
    low, high = _positive(low, high)
    rate = exponential_rate(low, high)
    times = np.random.default_rng(seed).exponential(1 / rate, size=(draws, len(low)))
    null = _score(*_positive(*bracketed(times, grid)))
    seen = float(_score(low, high))
    middle, spread = float(np.median(null)), float(null.std()) or 1.0
    further = int((np.abs(null - middle) >= abs(seen - middle)).sum())
    return Tested((seen - middle) / spread, (1 + further) / (1 + draws), 1 / (1 + draws))


def bracketed(times: Float[np.ndarray, "*draw run"], grid: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The intervals in which a search over the steps of `grid` sees these times."""
    ends = np.concatenate([[0.0], np.array([step for step in grid if step > 0], float), [math.inf]])
    at = np.clip(np.searchsorted(ends, times, side="left"), 1, len(ends) - 1)
    return ends[at - 1], ends[at]


def exponential_rate(
    low: Float[np.ndarray, "*draw run"], high: Float[np.ndarray, "*draw run"]
) -> Float[np.ndarray, "*draw"]:
    """The rate that maximises the likelihood of intervals under a constant hazard, by bisection of its derivative."""
    finite = np.where(np.isfinite(high), high, low)
    longest = np.maximum(finite.max(-1), 1e-300)
    below, above = np.log(1e-9 / longest), np.log(1e9 / longest)
    for _ in range(_ROUNDS):
        middle = (below + above) / 2
        rising = _slope(np.exp(middle)[..., None], low, high).sum(-1) > 0
        below, above = np.where(rising, middle, below), np.where(rising, above, middle)
    return np.asarray(np.exp((below + above) / 2))


def _slope(rate: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The derivative of log P(low < T ≤ high) by the rate."""
    width = np.where(np.isfinite(high), high - low, 0.0)
    with np.errstate(over="ignore"):
        inner = np.divide(width, np.expm1(rate * width), out=np.zeros_like(rate * width), where=width > 0)
    return inner - low


def _log_likelihood(rate: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        inside = np.where(np.isfinite(high), np.log(-np.expm1(-rate[..., None] * (high - low))), 0.0)
    return np.asarray((inside - rate[..., None] * low).sum(-1))


def _score(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The derivative of the log-likelihood by the shape, at shape 1 and the rate that fits best.

    With u = rate · t: d/dk of exp(−(rate · t)^k) at k = 1 is −u log u · exp(−u).
    """
    rate = exponential_rate(low, high)[..., None]
    ends = rate * low, np.where(np.isfinite(high), rate * high, 0.0)
    moved = [np.where(u > 0, u * np.log(np.where(u > 0, u, 1.0)), 0.0) for u in ends]
    width = np.where(np.isfinite(high), ends[1] - ends[0], 0.0)
    # both over exp(−u_low), so that nothing underflows
    gone = np.where(np.isfinite(high), np.exp(-width), 0.0)
    return np.asarray(((-moved[0] + moved[1] * gone) / (1 - gone)).sum(-1))


def _positive(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times above 0: a run that passes at step 0 has emerged before step 1."""
    return np.where(low == high, np.maximum(low - 1, 0.0), low), np.where(high == 0, 1.0, high)
