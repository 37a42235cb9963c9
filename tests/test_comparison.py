"""Rank correlation of effects with signature changes, against scipy and against every permutation."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from interp.comparison import Agreement, Measured, agreement, holm, over_seeds
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


def test_precision_at_k_is_the_shared_part_of_the_first_k() -> None:
    delta = np.array([[0.9, 0.8, 0.7, -0.95], [0.1, 0.0, 0.0, 0.0]])
    change = np.array([[0.5, 0.0, 0.4, 0.3], [-0.9, 0.0, 0.0, 0.0]])
    # denoising: the first three are L0H0, L0H1, L0H2; those that changed most L1H0, L0H0, L0H2
    (found,) = agreement(delta[None], Direction.DENOISING, {"s": ZERO}, {"s": change}, k=3, permutations=500)
    assert (found.k, found.precision) == (3, pytest.approx(2 / 3))
    # noising: L0H3 alone lowers p
    (found,) = agreement(delta[None], Direction.NOISING, {"s": ZERO}, {"s": change}, k=1, permutations=500)
    assert found.precision == 0
    (found,) = agreement(delta[None], Direction.NOISING, {"s": ZERO}, {"s": change}, k=0)
    assert np.isnan([found.precision, found.precision_layer, found.p_precision]).all()


def test_a_layer_that_differs_as_a_whole_agrees_only_where_heads_are_shuffled_freely() -> None:
    # both are large in the second layer; within the layers they have nothing to do with each other
    random = np.random.default_rng(3)
    delta = np.array([[0.0], [1.0]]) + 0.1 * random.permutation(8).reshape(2, 4) / 8
    change = np.array([[0.0], [1.0]]) + 0.1 * np.array([[1, 2, 3, 4], [4, 3, 2, 1]])
    (found,) = agreement(delta[None], Direction.DENOISING, {"s": ZERO}, {"s": change}, k=4, permutations=2000)
    assert found.rho > 0.7
    assert found.p_value < 0.05 < 0.1 < found.p_layer
    # the first four are the second layer whatever the order within it
    assert (found.precision, found.precision_layer, found.p_precision) == (1, 1, 1)


def test_precision_by_chance_within_layers_is_k_over_the_layers_heads() -> None:
    delta = np.array([[1.0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    change = np.array([[1.0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    (found,) = agreement(delta[None], Direction.DENOISING, {"s": 0 * delta}, {"s": change}, k=1, permutations=20_000)
    # one head of five; four standard errors of a share over 20 000 draws
    assert found.precision == 1
    assert found.precision_layer == pytest.approx(1 / 5, abs=4 * np.sqrt(0.16 / 20_000))
    assert found.p_precision == pytest.approx(1 / 5, abs=4 * np.sqrt(0.16 / 20_000))


def test_the_interval_is_over_prompts() -> None:
    random = np.random.default_rng(0)
    mean = np.arange(12.0).reshape(3, 4) / 12
    sure = mean + 0.01 * random.normal(size=(50, 3, 4))
    shaky = mean + 5 * random.normal(size=(50, 3, 4))
    for delta, wide in ((sure, False), (shaky, True)):
        (found,) = agreement(delta, Direction.DENOISING, {"s": 0 * mean}, {"s": mean}, k=3, permutations=50)
        assert found.rho_low <= found.rho <= found.rho_high
        assert (found.rho_high - found.rho_low > 0.2) == wide
        assert (found.precision_low, found.precision_high) == (1, 1) or wide
    single = agreement(sure[:1], Direction.DENOISING, {"s": 0 * mean}, {"s": mean}, k=3, permutations=50)[0]
    assert np.isnan([single.rho_low, single.rho_high, single.precision_low]).all()
    assert single.precision == 1


def test_holm_on_a_worked_example() -> None:
    # sorted: .005 × 4, .01 × 3, .03 × 2, .04 × 1, none smaller than one before it
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, np.nan, 0.7])) == pytest.approx([1, np.nan, 1], nan_ok=True)


def seeds(same: bool, count: int = 6) -> list[Measured]:
    """Seeds whose first head sits in another place of the second layer each; it carries the score, or any head does."""
    random = np.random.default_rng(5)
    found = []
    for seed in range(count):
        delta, after = 0.01 * random.random((2, 6)), random.random((2, 6)) * 0.3
        place = (1, int(random.integers(6)))
        delta[place] = 1
        after[place if same else (1, int(random.integers(6)))] = 0.9
        found.append(Measured(seed, delta, {"s": np.zeros((2, 6))}, {"s": after}))
    return found


def test_heads_of_other_indices_are_alike_where_they_carry_the_score() -> None:
    (found,) = over_seeds(seeds(same=True), Direction.DENOISING)
    assert found.seeds == (0, 1, 2, 3, 4, 5)
    assert found.alike == pytest.approx(1)  # .9 in every seed
    assert found.alike_layer < 0.85
    # that six draws of one head in six all meet it has a chance of 6⁻⁶
    assert found.p_alike < 0.01
    (other,) = over_seeds(seeds(same=False), Direction.DENOISING)
    assert other.p_alike > 0.05


def test_the_mean_rank_correlation_over_seeds_is_that_of_its_parts() -> None:
    random = np.random.default_rng(2)
    runs = [Measured(i, random.normal(size=(2, 4)), {"s": ZERO}, {"s": random.normal(size=(2, 4))}) for i in range(3)]
    (found,) = over_seeds(runs, Direction.NOISING)
    each = [stats.spearmanr(abs(run.delta_p).ravel(), abs(run.after["s"]).ravel()).statistic for run in runs]
    assert (found.rho, found.rho_min, found.rho_max) == pytest.approx((np.mean(each), min(each), max(each)))
    assert 0 < found.p_layer <= 1


def test_agreement_in_every_seed_is_surer_than_in_one() -> None:
    order = np.arange(8.0).reshape(2, 4)
    runs = [Measured(i, order, {"s": ZERO}, {"s": order}) for i in range(4)]
    one, many = (over_seeds(some, Direction.DENOISING)[0] for some in (runs[:2], runs))
    assert many.rho == one.rho == pytest.approx(1)
    # (4!)² orders of one seed: two seeds together are below 1/2001 already
    assert many.p_layer == one.p_layer == pytest.approx(1 / 2001)
