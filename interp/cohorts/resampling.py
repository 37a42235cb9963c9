"""How sure an estimate from few runs is: the runs drawn again with replacement, and Wilson's interval of a share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import stats

from interp.cohorts.turnbull import open_ends, turnbull, weights

RESAMPLES = 2000
FEWEST = 3
"""With fewer runs than this no bootstrap interval is given."""

_LEVEL = 0.95
_TOLERANCE, _MOST = 1e-3, 500


@dataclass(frozen=True)
class Resampled:
    """Turnbull's estimate of every draw of the runs, its mass at the two ends of the interval that it can lie in.

    A draw leaves runs out, so its innermost intervals are wider than those of all runs: (`early`, `late`].
    """

    weight: Float[np.ndarray, "draw mass"]
    early: Float[np.ndarray, "draw mass"]
    late: Float[np.ndarray, "draw mass"]
    runs: int

    @property
    def _tails(self) -> tuple[float, float]:
        """The quantiles of a 95 % interval, widened for few runs (Hesterberg 2015, Am. Stat. 69:371)."""
        wide = math.sqrt(self.runs / (self.runs - 1)) * stats.t.ppf((1 + _LEVEL) / 2, self.runs - 1)
        return float(stats.norm.cdf(-wide)), float(stats.norm.cdf(wide))

    def survival(self, steps: Float[np.ndarray, "step"]) -> Float[np.ndarray, "end step"]:
        """95 % interval of P(T > step): low with all mass early, high with all mass late."""
        low = np.stack([1 - (self.weight * (self.early < step)).sum(-1) for step in steps], axis=-1)
        high = np.stack([1 - (self.weight * (self.late <= step)).sum(-1) for step in steps], axis=-1)
        return np.clip(np.stack([_quantile(low, self._tails[0]), _quantile(high, self._tails[1])]), 0, 1)

    def mean(self, horizon: int) -> tuple[float, float]:
        """95 % interval of E min(T, horizon)."""
        ends = [(self.weight * np.minimum(end, horizon)).sum(-1) for end in (self.early, self.late)]
        return float(_quantile(ends[0], self._tails[0])), float(_quantile(ends[1], self._tails[1]))


def resample(
    low: Float[np.ndarray, "run"], high: Float[np.ndarray, "run"], draws: int = RESAMPLES, seed: int = 0
) -> Resampled:
    """The estimate of each of `draws` cohorts, drawn from the runs with replacement."""
    n = len(low)
    covers = turnbull(low, high).covers
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws).astype(float)
    opened = open_ends(low, high)
    early, late = (np.full((draws, covers.shape[1]), end) for end in (-math.inf, math.inf))
    for run in range(n):
        held = (counts[:, run, None] > 0) & covers[run]
        early = np.where(held, np.maximum(early, opened[run]), early)
        late = np.where(held, np.minimum(late, high[run]), late)
    weight = weights(covers, counts, _TOLERANCE, _MOST)
    return Resampled(weight, np.where(weight > 0, early, 0.0), np.where(weight > 0, late, 0.0), n)


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    found = stats.binomtest(hits, n).proportion_ci(_LEVEL, method="wilson")
    return float(found.low), float(found.high)


def _quantile(values: np.ndarray, level: float) -> np.ndarray:
    # of the draws themselves: between two of them lies no value where one is infinite
    return np.asarray(np.quantile(values, level, axis=0, method="inverted_cdf"))
