"""Log-rank scores, permutation tests and Holm's correction against published and closed values."""

import numpy as np
import pytest
from scipy import stats

from interp.cohorts.comparing import holm, log_rank, log_rank_scores, trend
from tests.cohorts import examples
from tests.cohorts.examples import CHEMO, INF, RADIO, columns


def test_the_score_of_breast_cosmesis_as_published() -> None:
    low, high = (np.concatenate(ends) for ends in zip(RADIO, CHEMO, strict=True))
    scores = log_rank_scores(low, high)
    assert scores.sum() == pytest.approx(0, abs=1e-6)
    assert scores[:46].sum() == pytest.approx(examples.RADIO_SCORE, abs=2e-4)
    found = log_rank([scores[:46], scores[46:]])
    # published is the normal approximation; ours draws arrangements
    assert found.p_value == pytest.approx(examples.COSMESIS_P, abs=0.004)
    assert found.statistic < 0  # radiotherapy alone: later


def test_for_exact_times_a_groups_score_is_observed_minus_expected() -> None:
    treated, others = examples.remission(examples.MERCAPTOPURINE), examples.remission(examples.PLACEBO)
    scores = log_rank_scores(*(np.concatenate(ends) for ends in zip(treated, others, strict=True)))
    assert scores[:21].sum() == pytest.approx(9 - examples.MERCAPTOPURINE_EXPECTED, abs=6e-3)


def test_the_ranking_of_p_values_is_that_of_scipys_log_rank() -> None:
    random = np.random.default_rng(5)
    ours, theirs = [], []
    for shift in (1.0, 1.5, 2.0, 3.0, 5.0):
        one, other = np.ceil(random.exponential(10, 20)), np.ceil(random.exponential(10 * shift, 20))
        scores = log_rank_scores(np.concatenate([one, other]), np.concatenate([one, other]))
        ours.append(log_rank([scores[:20], scores[20:]]).p_value)
        theirs.append(stats.logrank(one, other).pvalue)
    assert ours == pytest.approx(theirs, abs=0.04)


def test_groups_without_overlap_have_the_least_p_value_there_is() -> None:
    scores = log_rank_scores(*columns([(100 * i, 100 * i + 100) for i in range(8)]))
    found = log_rank([scores[:4], scores[4:]])
    assert found.p_value == pytest.approx(2 / 70)
    assert found.smallest_p == pytest.approx(2 / 70)
    assert found.statistic > 0  # the first emerges earlier


def test_three_groups_without_overlap() -> None:
    scores = log_rank_scores(*columns([(100 * i, 100 * i + 100) for i in range(9)]))
    found = log_rank([scores[:3], scores[3:6], scores[6:]])
    # the 3! labellings that keep the three together, of 9! / (3!)³ = 1680
    assert found.smallest_p == pytest.approx(6 / 1680)
    assert found.p_value == pytest.approx(6 / 1680)


def test_where_nobody_emerged_nothing_can_be_told_apart() -> None:
    scores = log_rank_scores(*columns([(1000, INF)] * 8))
    assert scores == pytest.approx(0)
    assert log_rank([scores[:4], scores[4:]]).smallest_p == 1


def test_a_perfect_trend_has_the_least_p_value_there_is() -> None:
    # the largest emerge first; 2!³ of the 6! pairings keep the order
    scores = log_rank_scores(*columns([(100 * i, 100 * i + 100) for i in (5, 4, 3, 2, 1, 0)]))
    found = trend(scores, np.array([1e3, 1e3, 1e4, 1e4, 1e5, 1e5]))
    assert found.p_value == pytest.approx(2 * 8 / 720)
    assert found.statistic > 0


def test_the_permutation_test_holds_its_level_without_a_difference() -> None:
    random = np.random.default_rng(11)
    rejected = []
    for _ in range(100):
        low = 100 * np.floor(random.exponential(8, 10))
        late = low >= 1000
        scores = log_rank_scores(np.where(late, 1000, low), np.where(late, INF, low + 100))
        rejected.append(log_rank([scores[:5], scores[5:]]).p_value <= 0.05)
    assert 0 < np.mean(rejected) <= 0.1  # .05 and two standard errors


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.6, 0.9]) == pytest.approx((1.0, 1.0))
    assert holm([]) == ()
