"""Δp → ranks, intervals and head sets, against scipy's bootstrap and cases worked by hand."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from interp.ranking import (
    Ranking,
    gap_is_real,
    head_sets,
    interval,
    rank_heads,
    recovered,
    resampled_means,
    set_sizes,
    simultaneous,
)
from interp.values import Direction

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

# A 2.5 % quantile of B normal draws has standard error sqrt(.025 · .975 / B) / φ(1.96) = 2.67 / sqrt(B) of their
# standard deviation: .060 for our 2000 resamples and .019 for scipy's 20000. Four times both together: .25.
NOISE = 0.25


def draws(n: int = 40, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).gamma(2.0, 0.1, n)


def test_the_interval_is_scipys_percentile_bootstrap() -> None:
    values = draws()
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=1)
    ours = interval(values)
    assert ours.mean == pytest.approx(values.sum() / 40)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=NOISE * theirs.standard_error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=NOISE * theirs.standard_error)


def test_every_head_has_its_own_interval() -> None:
    delta = np.stack([draws(seed=seed) - 0.2 for seed in range(6)], axis=1).reshape(40, 2, 3)
    ranking = rank_heads(delta, Direction.DENOISING)
    for layer in range(2):
        for head in range(3):
            values = delta[:, layer, head]
            theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=1)
            close = NOISE * theirs.standard_error
            assert ranking.mean[layer, head] == pytest.approx(values.sum() / 40)
            assert ranking.low[layer, head] == pytest.approx(theirs.confidence_interval.low, abs=close)
            assert ranking.high[layer, head] == pytest.approx(theirs.confidence_interval.high, abs=close)


def test_resampled_means_have_the_spread_of_a_mean() -> None:
    values = draws()
    means = resampled_means(values, resamples=20_000)
    # the bootstrap's standard error of a mean is sd/√n, known to 1/√(2B) = .5 %; four times that
    assert means.std() == pytest.approx(values.std() / math.sqrt(40), rel=0.02)


def test_constant_values_have_an_interval_of_no_width() -> None:
    assert interval(np.full(8, 0.25)) == (0.25, 0.25, 0.25)


def test_one_prompt_has_a_mean_and_no_interval() -> None:
    found = interval(np.array([0.3]))
    assert found.mean == 0.3
    assert np.isnan([found.low, found.high]).all()
    ranking = rank_heads(np.array([[[0.1, 0.3]]]), Direction.DENOISING)
    assert ranking.rank.tolist() == [[2, 1]]
    assert np.isnan(ranking.low).all()
    assert np.isnan(ranking.high).all()


def test_the_recovered_fraction_is_a_ratio_of_means_with_paired_resampling() -> None:
    gap = 0.3 + draws(seed=3)
    delta = 0.5 * gap + 0.05 * draws(seed=4)
    theirs = stats.bootstrap(
        (delta, gap),
        lambda d, g, axis: d.mean(axis) / g.mean(axis),
        n_resamples=20_000,
        method="percentile",
        paired=True,
        rng=1,
    )
    ours = recovered(delta, gap)
    assert ours.mean == pytest.approx(delta.sum() / gap.sum())
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=NOISE * theirs.standard_error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=NOISE * theirs.standard_error)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_patch_of_half_the_gap_recovers_half_in_either_direction(sign: int) -> None:
    gap = sign * (0.3 + draws())
    assert recovered(gap / 2, gap) == pytest.approx((0.5, 0.5, 0.5))
    assert recovered(gap, gap) == pytest.approx((1, 1, 1))
    assert recovered(0 * gap, gap) == pytest.approx((0, 0, 0))


@pytest.mark.parametrize(
    ("gap", "real"),
    [
        (np.full(8, 0.125), True),
        (np.full(8, -0.125), True),
        (np.full(8, 0.0625), False),  # sure, and smaller than .1
        (np.array([1.0, -0.7] * 4), False),  # .15, and its interval goes through 0: the standard error is .3
        (np.array([-1.0, 0.7] * 4), False),
        (np.array([0.5]), False),  # one prompt has no interval
        (np.array([0.3, 0.5] * 8), True),
    ],
)
def test_a_fraction_is_given_only_of_a_gap_that_is_there(gap: np.ndarray, real: bool) -> None:
    assert gap_is_real(gap) == real
    assert np.isfinite(recovered(gap / 2, gap)).all() == real
    assert np.isnan(recovered(gap / 2, gap)).all() == (not real)


MEANS = arrays(float, (2, 3), elements=st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5, 0.75]))


@any_speed
@given(MEANS, st.sampled_from(Direction))
def test_ranks_are_the_sorted_order_and_ties_keep_layer_and_head(means: np.ndarray, direction: Direction) -> None:
    ranking = rank_heads(np.stack([means, means]), direction, resamples=2)
    sign = 1 if direction is Direction.DENOISING else -1
    cells = [(layer, head) for layer in range(2) for head in range(3)]
    expected = sorted(cells, key=lambda cell: (-sign * means[cell], cell))
    assert ranking.order() == expected
    assert [ranking.rank[cell] for cell in expected] == [1, 2, 3, 4, 5, 6]
    assert ranking.direction is direction


def test_denoising_ranks_the_largest_rise_first_and_noising_the_largest_fall() -> None:
    delta = np.array([[[0.4, -0.6], [0.1, 0.0]]] * 3)
    assert rank_heads(delta, Direction.DENOISING).order() == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert rank_heads(delta, Direction.NOISING).order() == [(0, 1), (1, 1), (1, 0), (0, 0)]


@pytest.mark.parametrize(
    ("heads", "sizes"),
    [(1, ()), (2, (1,)), (3, (1,)), (4, (1, 2)), (8, (1, 2, 4)), (32, (1, 2, 4, 8, 16)), (144, (1, 2, 4, 8, 16))],
)
def test_set_sizes_are_powers_of_two_up_to_half_of_the_heads(heads: int, sizes: tuple[int, ...]) -> None:
    assert set_sizes(heads) == sizes


def ranking_of(layers: int, heads: int, seed: int = 0) -> Ranking:
    delta = np.random.default_rng(seed).normal(size=(4, layers, heads))
    return rank_heads(delta, Direction.DENOISING, resamples=2)


@any_speed
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 8), st.integers(0, 3))
def test_sets_are_the_top_distinct_others_and_all(layers: int, heads: int, count: int, seed: int) -> None:
    ranking, n = ranking_of(layers, heads), layers * heads
    sets = list(head_sets(ranking, count, seed))
    assert (sets[-1].name, sets[-1].k) == ("all", n)
    assert sets[-1].mask.all()
    for k in set_sizes(n):
        (top,) = [one for one in sets if (one.name, one.k) == ("top", k)]
        assert {(int(layer), int(head)) for layer, head in np.argwhere(top.mask)} == set(ranking.order()[:k])
        others = [one for one in sets if (one.name, one.k) == ("random", k)]
        assert [one.draw for one in others] == list(range(min(count, math.comb(n - k, k))))
        assert all(one.mask.sum() == k and not (one.mask & top.mask).any() for one in others)
        assert len({one.mask.tobytes() for one in others}) == len(others)
    assert len(sets) == 1 + sum(1 + min(count, math.comb(n - k, k)) for k in set_sizes(n))


def test_all_sets_are_listed_where_there_are_few() -> None:
    ranking = ranking_of(2, 4)
    places = ranking.order()[2:]
    listed = [one.mask for one in head_sets(ranking, draws=20) if (one.name, one.k) == ("random", 2)]
    expected = {frozenset(pair) for pair in combinations(places, 2)}
    assert len(listed) == 15
    assert {frozenset((int(a), int(b)) for a, b in np.argwhere(mask)) for mask in listed} == expected


def test_random_sets_reach_every_other_head() -> None:
    ranking = ranking_of(4, 8)
    hit = sum(one.mask for one in head_sets(ranking, draws=200) if (one.name, one.k) == ("random", 8))
    assert (hit > 0).sum() == 24
    # each of 24 heads is in 8/24 of 200 sets: 67 ± 6.7; five standard deviations
    assert hit[hit > 0].min() > 33
    assert hit.max() < 101


def test_equal_seeds_draw_equal_sets() -> None:
    ranking = ranking_of(4, 8)
    one, same, other = (np.stack([each.mask for each in head_sets(ranking, 5, seed)]).tobytes() for seed in (0, 0, 1))
    assert one == same != other


def test_a_head_that_acts_on_one_prompt_leaves_the_others_their_intervals() -> None:
    # more than a third of the resamples lack the prompt, and have no spread for the head: no reason to bound nothing
    effects = np.random.default_rng(0).normal(0.2, 0.05, (64, 2, 4))
    effects[:, 0, 0] = 0
    effects[3, 0, 0] = 1e-4
    low, high = simultaneous(effects)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    others = np.ones((2, 4), dtype=bool)
    others[0, 0] = False
    assert (low[others] > 0.15).all()
    assert (high[others] < 0.25).all()
    assert low[0, 0] <= 0 <= high[0, 0]
