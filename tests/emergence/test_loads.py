"""How many checkpoints a search costs, counted on Pythia's steps and the published emergence steps."""

import numpy as np
import pytest

from interp.emergence import Plan, most_visits
from tests.benchmarks.curves import LISTED, UNSOLVED
from tests.emergence.runs import PYTHIA_STEPS, Run, jump, searched

N = len(PYTHIA_STEPS)


def loads(plan: Plan, draws: int = 120) -> np.ndarray:
    """Evaluated steps of runs of four tasks, each task's onset drawn from the published runs, unsolved ones too."""
    chance = np.random.default_rng(0)
    onsets = [*np.searchsorted(PYTHIA_STEPS, LISTED), *([N] * UNSOLVED)]
    counts = []
    for drawn in chance.choice(onsets, (draws, 4)):
        run = Run(list(PYTHIA_STEPS), {f"t{i}": jump(N, at) for i, at in enumerate(drawn)})
        searched(run, plan)
        counts.append(len(run.asked))
    return np.array(counts)


def test_to_neighbours_four_tasks_cost_16_loads_in_the_mean_and_30_at_most() -> None:
    found = loads(Plan(probes=0))
    assert found.mean() <= 16  # the aim is 20
    assert most_visits(PYTHIA_STEPS, 4, Plan(probes=0)) == 30
    assert found.max() <= 30


def test_to_a_factor_of_a_quarter_four_tasks_cost_12_loads_in_the_mean() -> None:
    found = loads(Plan(resolution=1.25, probes=0))
    assert found.mean() <= 12.5  # the aim is 14
    assert found.max() <= most_visits(PYTHIA_STEPS, 4, Plan(resolution=1.25, probes=0)) == 20


@pytest.mark.parametrize("probes", [1, 6])
def test_probes_of_monotone_curves_cost_no_more_than_themselves(probes: int) -> None:
    extra = loads(Plan(probes=probes), draws=20) - loads(Plan(probes=0), draws=20)
    assert set(extra) == {probes}


@pytest.mark.parametrize(("plan", "most"), [(Plan("grid"), 154), (Plan(probes=0), 13)])
def test_the_most_visits_of_one_task_are_met_by_some_onset(plan: Plan, most: int) -> None:
    worst = 0
    for at in range(N + 1):
        run = Run(list(PYTHIA_STEPS), {"t": jump(N, at)})
        searched(run, plan)
        worst = max(worst, len(run.asked))
    assert worst == most_visits(PYTHIA_STEPS, 1, plan) == most
