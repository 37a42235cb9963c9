"""Do the heads with large effects carry the signatures? Rank correlation and precision at K, in one run and over seeds.

Effects come from intervening, scores from looking. Heads of one layer have more in common than heads of two, so beside
the null in which heads are shuffled freely stands one in which they are shuffled within layers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from interp.resampling import ends, resampled_means
from interp.values import Direction

VERSION = 2

Grid = Float[np.ndarray, "layer head"]
Layers = Int[np.ndarray, "head"]
Permutations = Int[np.ndarray, "permutation head"]


class Agreement(NamedTuple):
    """How well the size of a head's effect goes with the change of one score between the bracket's ends.

    `rho`: Spearman's ρ over heads of |Δp| with |change|, its 95 % interval over prompts, and two-sided p by permutation
    of the heads, freely (`p_value`) and within layers (`p_layer`). `precision`: of the `k` heads whose score changed
    most, the share that are among the k of largest effect in the direction's sign, with its interval, its mean where
    heads are shuffled within layers, and the share of those shuffles that reach it. NaN: one side is constant, a score
    is unknown, k is 0, or there is one prompt.
    """

    score: str
    rho: float
    rho_low: float
    rho_high: float
    p_value: float
    p_layer: float
    k: int
    precision: float
    precision_low: float
    precision_high: float
    precision_layer: float
    p_precision: float


def agreement(
    delta_p: Float[np.ndarray, "prompt layer head"],
    direction: Direction,
    before: Mapping[str, Grid],
    after: Mapping[str, Grid],
    k: int,
    permutations: int = 2000,
    resamples: int = 2000,
) -> list[Agreement]:
    """One row for each score; `k` is the number of heads that may be called causal."""
    shape = delta_p.shape[1:]
    means = resampled_means(delta_p, resamples if len(delta_p) > 1 else 0)
    effects = np.concatenate([delta_p.mean(0)[None], means]).reshape(-1, shape[0] * shape[1])
    layers = layer_of(shape)
    sign = 1 if direction is Direction.DENOISING else -1
    return [
        _agree(name, effects, sign, np.abs(after[name] - before[name]).ravel(), k, layers, permutations)
        for name in after
    ]


def _agree(
    name: str,
    effects: Float[np.ndarray, "resample head"],
    sign: int,
    moved: Float[np.ndarray, "head"],
    k: int,
    layers: Layers,
    permutations: int,
) -> Agreement:
    """The first row of `effects` is the measured one, the others those of resampled prompts."""
    known = np.isfinite(moved)
    effects, moved, layers = effects[:, known], moved[known], layers[known]
    rhos = rank_correlation(np.abs(effects), moved)
    free, within = (shuffles(one, permutations) for one in (np.zeros_like(layers), layers))
    low, high = _ends(rhos[1:])
    precisions, chance, p_precision = _precision(sign * effects, moved, k, within)
    precision_low, precision_high = _ends(precisions[1:])
    return Agreement(
        name, float(rhos[0]), low, high, _p_value(effects[0], moved, free), _p_value(effects[0], moved, within),
        k, float(precisions[0]), precision_low, precision_high, chance, p_precision,
    )  # fmt: skip


def layer_of(shape: tuple[int, ...]) -> Layers:
    """The layer of every head, heads one layer after the other."""
    return np.repeat(np.arange(shape[0]), shape[1])


def shuffles(layers: Layers, permutations: int, seed: int = 0) -> Permutations:
    """Random orders of heads, each head in a place of its own layer."""
    return _shuffles(tuple(layers.tolist()), permutations, seed)


@lru_cache(maxsize=16)
def _shuffles(layers: tuple[int, ...], permutations: int, seed: int) -> Permutations:
    keys = np.random.default_rng(seed).random((permutations, len(layers)))
    return np.argsort(np.array(layers) + keys, axis=1)


def rank_correlation(
    sizes: Float[np.ndarray, "row head"], moved: Float[np.ndarray, "head"]
) -> Float[np.ndarray, "row"]:
    """Spearman's ρ of each row with the change; NaN where one is constant, or with fewer than three heads."""
    if len(moved) < 3 or np.ptp(moved) == 0:
        return np.full(len(sizes), np.nan)
    effect, change = _centred(sizes), _centred(moved[None])[0]
    with np.errstate(invalid="ignore"):
        return effect @ change / np.sqrt((effect**2).sum(1) * (change**2).sum())


def _centred(values: Float[np.ndarray, "row head"]) -> Float[np.ndarray, "row head"]:
    ranks = stats.rankdata(values, axis=1)
    return ranks - ranks.mean(1, keepdims=True)


def _p_value(effect: Float[np.ndarray, "head"], moved: Float[np.ndarray, "head"], null: Permutations) -> float:
    """Two-sided p of ρ between |effect| and the change."""
    if np.isnan(rank_correlation(np.abs(effect)[None], moved)[0]):
        return float("nan")
    sizes, change = _centred(np.abs(effect)[None])[0], _centred(moved[None])[0]
    # a hair below, so that rounding does not make an equal permutation count as smaller
    extreme = np.abs(sizes[null] @ change) >= abs(sizes @ change) * (1 - 1e-12)
    return float((1 + extreme.sum()) / (1 + len(null)))


def _precision(
    effects: Float[np.ndarray, "row head"], moved: Float[np.ndarray, "head"], k: int, null: Permutations
) -> tuple[Float[np.ndarray, "row"], float, float]:
    """Precision at K of each row, its mean under the null, and one-sided p of the first row's."""
    if not 0 < k <= len(moved) or np.ptp(moved) == 0:
        return np.full(len(effects), np.nan), np.nan, np.nan
    changed = _first(moved[None], k)[0]
    found = _first(effects, k) @ changed / k
    drawn = changed[null] @ _first(effects[:1], k)[0] / k
    return found, float(drawn.mean()), float((1 + (drawn >= found[0] - 1e-12).sum()) / (1 + len(null)))


def _first(values: Float[np.ndarray, "row head"], k: int) -> Float[np.ndarray, "row head"]:
    """1 for the k largest of each row, the earlier head where two are equal."""
    found = np.zeros(values.shape)
    np.put_along_axis(found, np.argsort(-values, axis=1, kind="stable")[:, :k], 1.0, axis=1)
    return found


def _ends(values: Float[np.ndarray, "resample"]) -> tuple[float, float]:
    if not len(values) or np.isnan(values).any():
        return np.nan, np.nan
    low, high = ends(values)
    return float(low), float(high)


def holm(p_values: Float[np.ndarray, "test"]) -> Float[np.ndarray, "test"]:
    """P-values corrected for a family of tests (Holm 1979): at most 1 family in 20 has a false one below .05.

    NaN stays NaN and is no test.
    """
    found = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    raised = p_values[order] * (len(order) - np.arange(len(order)))
    found[order] = np.minimum(np.maximum.accumulate(raised), 1)
    return found


class Measured(NamedTuple):
    """What one seed brings to a comparison: mean Δp in one direction, and every score at the bracket's ends."""

    seed: int | None
    delta_p: Grid
    before: Mapping[str, Grid]
    after: Mapping[str, Grid]


class SeedAgreement(NamedTuple):
    """One score over seeds, whose heads share no numbering: do effects go with it in all, are the first heads alike?

    `rho` is the mean over seeds of Spearman's ρ of |Δp| with |change|, `rho_min` and `rho_max` its extremes, `p_layer`
    its two-sided p when heads are shuffled within the layers of every seed. `alike` is 1 − the mean
    difference, over pairs of seeds, of the later score of the first-ranked heads; `alike_layer` is its mean when a head
    is drawn from the layer of each, and `p_alike` the share of such draws that reach it.
    """

    score: str
    seeds: tuple[int | None, ...]
    rho: float
    rho_min: float
    rho_max: float
    p_layer: float
    alike: float
    alike_layer: float
    p_alike: float


def over_seeds(runs: Sequence[Measured], direction: Direction, permutations: int = 2000) -> list[SeedAgreement]:
    """One row for each score that every seed knows; needs two seeds or more, all of one shape."""
    sign = 1 if direction is Direction.DENOISING else -1
    return [_over_seeds(name, runs, sign, permutations) for name in runs[0].after if all(name in r.after for r in runs)]


def _over_seeds(name: str, runs: Sequence[Measured], sign: int, permutations: int) -> SeedAgreement:
    rhos, drawn = [], np.zeros(permutations)
    layers = layer_of(runs[0].delta_p.shape)
    for i, run in enumerate(runs):
        sizes, moved = np.abs(run.delta_p).ravel(), np.abs(run.after[name] - run.before[name]).ravel()
        unknown = np.nan if np.isnan(moved).any() else 0.0
        rhos.append(float(rank_correlation(sizes[None], moved)[0]) + unknown)
        drawn += rank_correlation(sizes[shuffles(layers, permutations, seed=i)], moved) / len(runs)
    rho = float(np.mean(rhos))
    p_layer = np.nan if np.isnan(rho) else (1 + (np.abs(drawn) >= abs(rho) - 1e-12).sum()) / (1 + permutations)
    seeds = tuple(run.seed for run in runs)
    return SeedAgreement(
        name,
        seeds,
        rho,
        float(np.min(rhos)),
        float(np.max(rhos)),
        float(p_layer),
        *_alike(name, runs, sign, permutations),
    )


def _alike(name: str, runs: Sequence[Measured], sign: int, permutations: int) -> tuple[float, float, float]:
    first = [np.unravel_index(int((sign * run.delta_p).argmax()), run.delta_p.shape) for run in runs]
    own = np.array([[run.after[name][at] for run, at in zip(runs, first, strict=True)]])
    random = np.random.default_rng(0)
    others = [random.choice(run.after[name][at[0]], permutations) for run, at in zip(runs, first, strict=True)]
    measured, drawn = _likeness(own)[0], _likeness(np.stack(others, axis=1))
    if np.isnan(measured) or np.isnan(drawn).any():
        return np.nan, np.nan, np.nan
    reached = (drawn >= measured - 1e-12).sum()
    return float(measured), float(drawn.mean()), float((1 + reached) / (1 + permutations))


def _likeness(values: Float[np.ndarray, "draw seed"]) -> Float[np.ndarray, "draw"]:
    one, other = np.triu_indices(values.shape[1], 1)
    return 1 - np.abs(values[:, one] - values[:, other]).mean(1)
