"""Bootstrap intervals: each draw is the estimate of the drawn runs, the interval covers, and it takes no time."""

import time

import numpy as np
import pytest

from interp.cohorts.memoryless import bracketed
from interp.cohorts.resampling import resample, wilson
from interp.cohorts.turnbull import turnbull
from tests.cohorts.examples import RADIO, columns

GRID = tuple(range(0, 3001, 100))


def test_every_draw_is_the_estimate_of_its_runs_with_mass_at_either_end() -> None:
    low, high = RADIO[0][:12], RADIO[1][:12]
    draws = 30
    found = resample(low, high, draws)
    counts = np.random.default_rng(0).multinomial(12, np.full(12, 1 / 12), size=draws)
    steps = np.unique(np.concatenate([low, high[np.isfinite(high)]]))
    for draw, times in enumerate(counts):
        alone = turnbull(np.repeat(low, times), np.repeat(high, times))
        late = [(found.weight[draw] * (found.late[draw] <= step)).sum() for step in steps]
        early = [(found.weight[draw] * (found.early[draw] < step)).sum() for step in steps]
        # the draws are iterated less far than a single estimate
        assert late == pytest.approx([(alone.weight * (alone.high <= step)).sum() for step in steps], abs=0.02)
        assert early == pytest.approx([(alone.weight * (alone.low < step)).sum() for step in steps], abs=0.02)


def test_an_interval_of_equal_runs_is_their_bracket() -> None:
    found = resample(*columns([(100, 200)] * 5))
    assert found.survival(np.array([100.0, 150.0, 200.0])).tolist() == [[1, 0, 0], [1, 1, 0]]
    assert found.mean(1000) == (pytest.approx(100), pytest.approx(200))


def test_intervals_cover_what_is_true() -> None:
    """Ten runs with a true median of 800: the docs say what larger simulations found; this one would see a mistake."""
    random = np.random.default_rng(3)
    hits = []
    for _ in range(200):
        low, high = bracketed(random.exponential(800 / np.log(2), 10), GRID)
        found = resample(low, high, draws=400)
        low_s, high_s = found.survival(np.array([800.0]))[:, 0]
        low_mean, high_mean = found.mean(3000)
        # of an exponential with mean m, E min(T, h) = m (1 − exp(−h / m))
        mean = 800 / np.log(2)
        hits.append((low_s <= 0.5 <= high_s, low_mean <= mean * (1 - np.exp(-3000 / mean)) <= high_mean))
    covered = np.mean(hits, axis=0)
    assert (covered > 0.88).all()
    assert (covered < 1).all()


def test_ten_seeds_take_less_than_a_second() -> None:
    low, high = bracketed(np.random.default_rng(0).exponential(1000, 10), GRID)
    start = time.process_time()
    resample(low, high).mean(3000)
    assert time.process_time() - start < 1


def test_wilson_by_its_formula() -> None:
    z2 = 1.959964**2
    assert wilson(0, 5) == (pytest.approx(0, abs=1e-9), pytest.approx(z2 / (5 + z2), abs=1e-5))
    assert wilson(5, 10) == (pytest.approx(0.2366, abs=1e-4), pytest.approx(0.7634, abs=1e-4))
