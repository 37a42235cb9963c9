"""Do suites differ in when a task emerges? Permutation tests on log-rank scores of censored times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats

from interp.cohorts.turnbull import turnbull

ARRANGEMENTS = 9999
LEVEL = 0.05


@dataclass(frozen=True)
class Tested:
    """A test: its standardised statistic, p-value, and the least p-value that any labelling of these runs gives."""

    statistic: float
    p_value: float
    smallest_p: float


def log_rank_scores(low: Float[np.ndarray, "run"], high: Float[np.ndarray, "run"]) -> Float[np.ndarray, "run"]:
    """Log-rank score of each run, positive = emerged earlier than the others; they sum to zero.

    A time at t has 1 − Λ(t), one that is beyond all steps −Λ(last), with Λ(t) = Σ w/S the cumulative hazard of
    Turnbull's estimate of all runs; a run that is known through an interval has the mean over it (Sun 1996, Statistics
    in Medicine 15:1387). For exact and right-censored times the sum over a group is log-rank's observed − expected.
    """
    found = turnbull(low, high)
    left = 1 - np.concatenate([[0.0], np.cumsum(found.weight)[:-1]])
    hazard = np.cumsum(np.divide(found.weight, left, out=np.zeros_like(left), where=np.isfinite(found.high)))
    each = np.isfinite(found.high) - hazard
    held = found.covers * found.weight
    return (held @ each) / held.sum(-1)


def log_rank(groups: Sequence[Float[np.ndarray, "_"]], seed: int = 0) -> Tested:
    """Whether groups of scores differ: all arrangements of the runs into groups, or 9,999 random ones of more.

    The statistic is the sum of the first group's scores over its standard deviation for two groups, else
    Σ (sum of a group)² / size over the variance of a score.
    """
    if len(groups) == 2:
        return _permuted(groups, lambda one, other, axis: one.sum(axis), "independent", "two-sided", seed)
    spread = float(np.concatenate(groups).var(ddof=1)) or 1.0

    def between(*parts: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(sum(part.sum(axis) ** 2 / part.shape[axis] for part in parts) / spread)  # pyright: ignore

    return _permuted(groups, between, "independent", "greater", seed)


def trend(scores: Float[np.ndarray, "run"], sizes: Float[np.ndarray, "run"], seed: int = 0) -> Tested:
    """Whether scores rise with log2 of the sizes: Σ score · (log2 size − mean), positive = larger models earlier."""
    place = np.log2(sizes) - np.log2(sizes).mean()
    return _permuted([scores], lambda one, axis: (one * place).sum(axis), "pairings", "two-sided", seed)


def _permuted(samples: Sequence[np.ndarray], statistic: Any, how: Any, alternative: Any, seed: int) -> Tested:
    found = stats.permutation_test(
        tuple(samples), statistic, permutation_type=how, alternative=alternative, vectorized=True,
        n_resamples=ARRANGEMENTS, rng=np.random.default_rng(seed), axis=-1,
    )  # fmt: skip
    null = found.null_distribution
    spread = float(null.std())
    slack = 1e-9 * (1 + float(np.abs(null).max()))
    tails = [float((null >= null.max() - slack).mean()), float((null <= null.min() + slack).mean())]
    smallest = tails[0] if alternative == "greater" else min(1.0, 2 * min(tails))
    value = float(found.statistic)
    if alternative == "two-sided":
        value = (value - float(null.mean())) / spread if spread > slack else 0.0
    return Tested(value, float(found.pvalue), smallest)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """P-values that hold for all of them together (Holm 1979, Scandinavian Journal of Statistics 6:65)."""
    order = np.argsort(p_values, kind="stable")
    raised = np.array(p_values)[order] * np.arange(len(order), 0, -1)
    found = np.empty(len(order))
    found[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return tuple(found.tolist())
