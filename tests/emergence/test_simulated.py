"""The default way to search on a small fixed simulation: the headline of docs/emergence.md, at a tenth of its size."""

import pytest

from tests.benchmarks.curves import SHAPES, Simulated, simulate
from tests.benchmarks.search import STRATEGIES, Score, score


@pytest.fixture(scope="module")
def runs() -> list[Simulated]:
    return simulate(40, seed=2)


def scored(name: str, runs: list[Simulated]) -> Score:
    (strategy,) = [one for one in STRATEGIES if one.name == name]
    return score(strategy, runs)


def test_the_grid_is_always_right(runs: list[Simulated]) -> None:
    found = scored("every checkpoint (grid)", runs)
    assert (found.share("first"), found.share("lasting"), set(found.loads)) == (1, 1, {154})
    assert set(found.shapes) == set(SHAPES)


def test_six_probes_find_more_true_steps_than_plain_bisection_for_eight_more_loads(runs: list[Simulated]) -> None:
    plain, probed = scored("plain bisection", runs), scored("bisection, 6 probes", runs)
    assert probed.share("first") >= plain.share("first")
    assert probed.share("lasting") >= plain.share("lasting") + 0.03
    assert probed.share("lasting", "dip") >= plain.share("lasting", "dip") + 0.15
    assert sum(probed.loads) / len(probed.loads) <= sum(plain.loads) / len(plain.loads) + 8
