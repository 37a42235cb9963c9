"""Δp → ordered heads with intervals over prompts, and the recovered fraction of the gap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from interp.resampling import ends, resampled_means, shares
from interp.values import Direction

VERSION = 2

# a gap below this is too near zero for a fraction of it to mean anything
SMALLEST_GAP = 0.1


class Interval(NamedTuple):
    """A mean over prompts with its bootstrap interval; the ends are NaN where there is a single prompt."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Ranking:
    """Heads of one direction: mean Δp with its pointwise 95 % interval over prompts, and rank (1 = first).

    Denoising ranks the largest rise of p(answer) first, noising the largest fall.
    """

    direction: Direction
    mean: Float[np.ndarray, "layer head"]
    low: Float[np.ndarray, "layer head"]
    high: Float[np.ndarray, "layer head"]
    rank: Int[np.ndarray, "layer head"]

    def order(self) -> list[tuple[int, int]]:
        """(layer, head) pairs, first-ranked first."""
        flat = np.argsort(self.rank, axis=None, kind="stable")
        return [divmod(int(i), self.rank.shape[1]) for i in flat]


def interval(values: Float[np.ndarray, "prompt"], resamples: int = 2000) -> Interval:
    """Mean over prompts with its 95 % bootstrap interval."""
    if len(values) < 2:
        return Interval(float(values.mean()), np.nan, np.nan)
    return Interval(float(values.mean()), *(float(end) for end in ends(resampled_means(values, resamples))))


def rank_heads(delta_p: Float[np.ndarray, "prompt layer head"], direction: Direction, resamples: int = 2000) -> Ranking:
    """Heads ordered by mean Δp in the direction's sign; ties keep the order of layer and head."""
    mean = delta_p.mean(0)
    unknown = np.full_like(mean, np.nan)
    low, high = (unknown, unknown) if len(delta_p) < 2 else ends(resampled_means(delta_p, resamples))
    wanted = mean if direction is Direction.DENOISING else -mean
    rank = np.empty(mean.size, dtype=int)
    rank[np.argsort(-wanted, axis=None, kind="stable")] = np.arange(1, mean.size + 1)
    return Ranking(direction, mean, low, high, rank.reshape(mean.shape))


def simultaneous(
    delta_p: Float[np.ndarray, "prompt layer head"], resamples: int = 2000, seed: int = 0
) -> tuple[Float[np.ndarray, "layer head"], Float[np.ndarray, "layer head"]]:
    """Ends of the 95 % intervals of mean Δp that hold for all heads at once: at most 1 family in 20 misses a true mean.

    Max-t: prompts are drawn with replacement, and every head's interval is the same number of its standard errors, the
    95 % quantile of the largest |t| over heads; a resample's standard error counts as half the whole sample's at least.
    NaN where there is a single prompt.
    """
    n, shape = len(delta_p), delta_p.shape[1:]
    if n < 2:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    values = delta_p.reshape(n, -1)
    mean, error = values.mean(0), values.std(0, ddof=1) / math.sqrt(n)
    centred = values - mean  # sums of squares of large means would lose what is left
    drawn = shares(n, resamples, seed)
    shift = drawn @ centred
    spread = np.sqrt(np.clip(drawn @ centred**2 - shift**2, 0, None) / (n - 1))
    # a head that acts on a prompt or two has no spread in resamples without them: the bound keeps its t from swamping
    # every other head's
    t = np.abs(shift) / np.where(error > 0, np.maximum(spread, error / 2), np.inf)
    width = float(np.quantile(t.max(1), 0.95, method="higher")) * error
    return (mean - width).reshape(shape), (mean + width).reshape(shape)


def recovered(
    delta_p: Float[np.ndarray, "prompt"], gap: Float[np.ndarray, "prompt"], resamples: int = 2000
) -> Interval:
    """Mean Δp divided by the mean gap (p_donor − p_recipient), with the interval of the ratio over prompts.

    1 = the patch moves p(answer) all the way to the donor's, in either direction. NaN unless the gap is at least .1 in
    size and its own interval excludes 0.
    """
    if not gap_is_real(gap, resamples):
        return Interval(np.nan, np.nan, np.nan)
    both = resampled_means(np.stack([delta_p, gap], axis=1), resamples)
    low, high = ends(both[:, 0] / both[:, 1])
    return Interval(float(delta_p.mean() / gap.mean()), float(low), float(high))


def gap_is_real(gap: Float[np.ndarray, "prompt"], resamples: int = 2000) -> bool:
    """Whether the mean gap is at least .1 in size and its interval over prompts excludes 0."""
    mean, low, high = interval(gap, resamples)
    return abs(mean) >= SMALLEST_GAP and low * high > 0


def set_sizes(n_heads: int) -> tuple[int, ...]:
    """K of the joint patches: 1, 2, 4, 8, 16, up to half of all heads."""
    return tuple(k for k in (1, 2, 4, 8, 16) if 2 * k <= n_heads)


class HeadSet(NamedTuple):
    """Heads to patch jointly: the first K of the ranking, a random draw of K others, or all."""

    name: str
    k: int
    draw: int
    mask: Bool[np.ndarray, "layer head"]


def head_sets(ranking: Ranking, draws: int = 20, seed: int = 0) -> Iterator[HeadSet]:
    """The sets whose joint effect tells whether the ranking means something.

    For each K the top K, and up to `draws` distinct random sets of K heads that are not among them; then all at once.
    """
    order, shape = ranking.order(), ranking.rank.shape
    random = np.random.default_rng(seed)
    for k in set_sizes(len(order)):
        yield HeadSet("top", k, 0, _mask(order[:k], shape))
        for draw, picks in enumerate(_draws(len(order) - k, k, draws, random)):
            yield HeadSet("random", k, draw, _mask([order[k + i] for i in picks], shape))
    yield HeadSet("all", len(order), 0, np.ones(shape, dtype=bool))


def _draws(n: int, k: int, draws: int, random: np.random.Generator) -> list[tuple[int, ...]]:
    """Distinct sets of k out of n: all of them where there are no more than `draws`, else that many at random."""
    if math.comb(n, k) <= draws:
        return list(combinations(range(n), k))
    found: dict[tuple[int, ...], None] = {}
    while len(found) < draws:
        found[tuple(sorted(map(int, random.choice(n, size=k, replace=False))))] = None
    return list(found)


def _mask(heads: list[tuple[int, int]], shape: tuple[int, ...]) -> Bool[np.ndarray, "layer head"]:
    mask = np.zeros(shape, dtype=bool)
    for layer, head in heads:
        mask[layer, head] = True
    return mask
