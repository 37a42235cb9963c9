"""Rank correlation of effects with signature changes, against scipy and against every permutation."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from interp.comparison import Agreement, agreement
from interp.values import Direction

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

# few distinct values, so that ties are common
GRID = arrays(float, (2, 4), elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]))
ZERO = np.zeros((2, 4))
RISING = np.arange(1.0, 9.0).reshape(2, 4)


def one(delta: np.ndarray, change: np.ndarray, count: int = 50) -> Agreement:
    before, after = {"s": np.zeros_like(change)}, {"s": change}
    (found,) = agreement(delta[None], Direction.DENOISING, before, after, k=1, permutations=count)
    return found


@any_speed
@given(GRID, GRID)
def test_rho_is_spearmans_of_the_sizes(delta: np.ndarray, change: np.ndarray) -> None:
    sizes = np.abs(delta).ravel(), np.abs(change).ravel()
    if np.ptp(sizes[0]) == 0 or np.ptp(sizes[1]) == 0:
        assert np.isnan(one(delta, change).rho)
        return
    # both are correlations of the same ranks, summed in another order
    assert one(delta, change).rho == pytest.approx(stats.spearmanr(*sizes).statistic, abs=1e-12)


def test_p_is_the_share_of_all_permutations_that_are_as_extreme() -> None:
    delta = np.array([[0.1, 0.2, 0.4], [0.3, 0.5, 0.6]])
    change = np.array([[0.1, 0.3, 0.2], [0.4, 0.6, 0.5]])
    rho = stats.spearmanr(delta.ravel(), change.ravel()).statistic
    all_rhos = [stats.spearmanr(delta.ravel(), order).statistic for order in permutations(change.ravel())]
    exact = np.mean(np.abs(all_rhos) >= abs(rho) - 1e-9)
    count = 20_000
    # four standard errors of a share counted over so many random permutations, and the one that is always added
    noise = 4 * np.sqrt(exact * (1 - exact) / count) + 1 / count
    assert 0.01 < exact < 0.2
    assert one(delta, change, count).p_value == pytest.approx(exact, abs=noise)


def test_p_is_never_zero_and_is_two_sided() -> None:
    order = np.arange(8.0).reshape(2, 4)
    up, down = one(order, order, 200), one(order, 7 - order, 200)
    assert (up.rho, down.rho) == (pytest.approx(1), pytest.approx(-1))
    # of 8! orders two are as extreme, so 200 draws hold none but by chance of 1 %; the seed is fixed
    assert up.p_value == down.p_value == 1 / 201


def test_equal_permutations_count_as_extreme() -> None:
    # 3 heads, two of them tied: half of the permutations of the change have |rho| as large as the observed one
    delta, change = np.array([[1.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
    # rho 1 in a third of the orders, −1/2 in the others; four standard errors at 20 000 draws
    assert one(delta, change, 20_000).p_value == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / 20_000))


@pytest.mark.parametrize(("delta", "change"), [(ZERO, RISING), (RISING, ZERO + 0.3)])
def test_a_constant_side_gives_nan(delta: np.ndarray, change: np.ndarray) -> None:
    found = one(delta, change)
    assert np.isnan(found.rho)
    assert np.isnan(found.p_value)


def test_equal_sizes_of_opposite_sign_are_constant() -> None:
    assert np.isnan(one(0.2 * (-1) ** RISING, RISING).rho)


def test_heads_whose_score_is_unknown_are_left_out() -> None:
    delta = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    change = np.array([[2.0, 1.0, np.nan, 3.0, 4.0]])
    expected = stats.spearmanr([1, 2, 4, 5], [2, 1, 3, 4]).statistic
    assert one(delta, change).rho == pytest.approx(expected, abs=1e-12)
    assert np.isnan(one(delta, np.full((1, 5), np.nan)).rho)


def test_the_change_is_between_the_ends_and_every_score_has_a_row() -> None:
    order = RISING
    before = {"a": ZERO + 5, "b": ZERO}
    after = {"a": 5 - order, "b": order[::-1]}
    found = agreement(order[None], Direction.DENOISING, before, after, k=2, permutations=10)
    assert [row.score for row in found] == ["a", "b"]
    assert found[0].rho == pytest.approx(1)
    # 5 6 7 8 1 2 3 4 against 1 … 8: Σd² = 8 · 16, so rho = 1 − 6 · 128 / (8 · 63)
    assert found[1].rho == pytest.approx(1 - 6 * 128 / (8 * 63))
