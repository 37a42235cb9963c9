"""The shape of waiting times where it is known in closed form, and the level and power of its test."""

import numpy as np
import pytest

from interp.cohorts.memoryless import FEWEST, bracketed, exponential_rate, memoryless, shape
from tests.cohorts.examples import INF, columns

GRID = tuple(range(0, 3001, 50))


def rejections(n: int, form: float, cohorts: int, seed: int = 0) -> float:
    """How often the test rejects, for Weibull times of which 85 % come by the last step."""
    random = np.random.default_rng(seed)
    scale = 3000 / (-np.log(0.15)) ** (1 / form)
    times = scale * random.weibull(form, size=(cohorts, n))
    return float(np.mean([memoryless(*bracketed(one, GRID), GRID, draws=99).p_value <= 0.05 for one in times]))


def test_the_rate_of_one_step_and_what_lies_beyond() -> None:
    # 3 of 10 by step 100: 1 − exp(−100 rate) = .3
    low, high = columns([(0, 100)] * 3 + [(100, INF)] * 7)
    assert exponential_rate(low, high) == pytest.approx(-np.log(0.7) / 100, rel=1e-6)


def test_the_shape_of_two_steps_and_what_lies_beyond() -> None:
    # two parameters meet both shares: S(100) = .8 and S(300) = .4
    found = shape(*columns([(0, 100)] * 2 + [(100, 300)] * 4 + [(300, INF)] * 4))
    assert found is not None
    assert found.value == pytest.approx(np.log(np.log(0.4) / np.log(0.8)) / np.log(3), rel=0.01)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(
    "rows", [[(0, 100), (100, 200), (900, INF)], [(100, 200)] * 4, [(900, INF)] * 5], ids=["two", "equal", "none"]
)
def test_no_shape_is_told_where_there_is_none(rows: list[tuple[float, float]]) -> None:
    assert shape(*columns(rows)) is None


def test_a_run_that_passes_at_step_0_is_counted_before_step_1() -> None:
    found = shape(*columns([(0, 0), (0, 100), (300, 400), (800, 900)]))
    assert found is not None
    assert found.value < 1


def test_bracketed_times_are_between_neighbouring_steps() -> None:
    low, high = bracketed(np.array([0.5, 50.0, 51.0, 4000.0]), GRID)
    assert low.tolist() == [0, 0, 50, 3000]
    assert high.tolist() == [50, 50, 100, INF]


def test_the_test_holds_its_level_and_has_power_only_with_many_runs() -> None:
    assert rejections(FEWEST, 1.0, cohorts=100) <= 0.11
    few, enough = rejections(9, 2.0, cohorts=60), rejections(FEWEST, 2.0, cohorts=60)
    assert few < 0.6
    assert enough > few + 0.1
    assert enough > 0.55


def test_the_sign_says_whether_the_hazard_rises() -> None:
    random = np.random.default_rng(2)
    rising = memoryless(*bracketed(1500 * random.weibull(3, 30), GRID), GRID)
    falling = memoryless(*bracketed(1500 * random.weibull(0.4, 30), GRID), GRID)
    assert rising.statistic > 0 > falling.statistic
    assert max(rising.p_value, falling.p_value) < 0.05
