"""Turnbull's estimate against hand-worked cases, published examples, and Kaplan and Meier's where they must agree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from interp.cohorts.turnbull import Turnbull, turnbull
from tests.cohorts import examples
from tests.cohorts.examples import INF, columns


def mass(found: Turnbull, least: float = 1e-4) -> dict[tuple[float, float], float]:
    """The innermost intervals that hold mass."""
    rows = zip(found.low.tolist(), found.high.tolist(), found.weight.tolist(), strict=True)
    return {(low, high): weight for low, high, weight in rows if weight > least}


def test_two_of_three_runs_decide_between_two_innermost_intervals() -> None:
    # innermost: a = (1, 2], b = (2, 3]; the likelihood a² · (a + b) · b is greatest at a = 2/3
    found = mass(turnbull(*columns([(0, 2), (0, 2), (1, 3), (2, 4)])))
    assert found == {(1, 2): pytest.approx(2 / 3, abs=1e-5), (2, 3): pytest.approx(1 / 3, abs=1e-5)}


def test_intervals_that_only_touch_do_not_overlap() -> None:
    found = mass(turnbull(*columns([(0, 2), (2, 4)])))
    assert found == {(0, 2): pytest.approx(0.5), (2, 4): pytest.approx(0.5)}


def test_a_single_step_lies_within_an_interval_that_it_ends() -> None:
    assert mass(turnbull(*columns([(2, 2), (1, 2)]))) == {(2, 2): pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("data", "printed"), [(examples.RADIO, examples.RADIO_MASS), (examples.CHEMO, examples.CHEMO_MASS)]
)
def test_breast_cosmesis_as_published(
    data: tuple[np.ndarray, np.ndarray], printed: dict[tuple[int, int], float]
) -> None:
    assert mass(turnbull(*data)) == {ends: pytest.approx(weight, abs=6e-5) for ends, weight in printed.items()}


def test_remission_times_as_published() -> None:
    found = turnbull(*examples.remission(examples.MERCAPTOPURINE))
    for week, survival in examples.MERCAPTOPURINE_SURVIVAL.items():
        assert found.survival(np.array([float(week)]))[0] == pytest.approx(survival, abs=6e-4)
    assert found.median == (23, 23)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=15))
def test_with_censoring_on_the_right_alone_it_is_kaplan_meier(runs: list[tuple[int, bool]]) -> None:
    low, high = columns([(t, INF if censored else t) for t, censored in runs])
    exact = [t for t, censored in runs if not censored]
    right = [t for t, censored in runs if censored]
    steps = np.arange(0.0, 13.0)
    expected = stats.ecdf(stats.CensoredData(exact, right=right)).sf.evaluate(steps)
    last = max((t for t, _ in runs), default=0)
    known = steps <= last  # scipy goes on with the last value; beyond the last time nothing is known
    assert turnbull(low, high).survival(steps)[known] == pytest.approx(expected[known], abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 5), st.booleans()), min_size=1, max_size=12))
def test_no_change_of_the_weights_raises_the_likelihood(runs: list[tuple[int, int, bool]]) -> None:
    found = turnbull(*columns([(low, INF if censored else low + width) for low, width, censored in runs]))
    assert found.weight.sum() == pytest.approx(1)
    # the directional derivatives of the mean log-likelihood towards each single mass (Gentleman and Geyer 1994)
    gain = (found.covers / (found.covers @ found.weight)[:, None]).mean(0)
    assert gain.max() <= 1 + 1e-3


def test_median_and_restricted_mean_by_hand() -> None:
    found = turnbull(*columns([(0, 100), (100, 200), (300, 400), (900, INF)]))
    assert found.median == (100, 200)
    # middles 50, 150, 350, and the censored run has lived to the horizon
    assert found.mean(900) == pytest.approx((50 + 150 + 350 + 900) / 4, abs=1e-3)
    assert found.mean(350) == pytest.approx((50 + 150 + 325 + 350) / 4, abs=1e-3)


def test_a_median_beyond_the_last_step_has_no_upper_end() -> None:
    assert turnbull(*columns([(0, 100), (900, INF), (900, INF)])).median == (900, math.inf)
