"""Runs whose shares are known, which count what is asked of them."""

from collections.abc import Mapping

from hypothesis import settings
from hypothesis import strategies as st

from interp.emergence import Emergence, Plan, search

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

PYTHIA_STEPS = (0, *(2**i for i in range(10)), *range(1000, 144_000, 1000))
ALL_STEPS = (0, *(2**i for i in range(10)), *range(1000, 30_000, 1000))

# holes: any subset of the steps may be what a run really has
STEPS = st.sets(st.sampled_from(ALL_STEPS), min_size=2).map(sorted)
BISECTION = Plan(probes=0)
PLANS = st.sampled_from([BISECTION, Plan(), Plan(probes=2), Plan("grid"), Plan(resolution=1.5), Plan(resolution=4.0)])


class Run:
    """A run whose shares are known; `asked` are the steps it was asked for, in order."""

    def __init__(self, steps: list[int], curves: Mapping[str, list[float]]):
        self.steps, self.curves, self.asked = steps, curves, []

    def __call__(self, step: int) -> dict[str, float]:
        self.asked.append(step)
        return {task: curve[self.steps.index(step)] for task, curve in self.curves.items()}


def searched(run: Run, plan: Plan = BISECTION) -> dict[str, Emergence]:
    return search(run.steps, run, dict.fromkeys(run.curves, 0.75), plan)


def jump(n: int, at: int) -> list[float]:
    """A monotone curve: fails below index `at`, passes from there on (at = n: never)."""
    return [0.1] * at + [0.9] * (n - at)


@st.composite
def monotone_runs(draw: st.DrawFn, tasks: int = 1) -> tuple[Run, list[int]]:
    steps = draw(STEPS)
    jumps = [draw(st.integers(0, len(steps))) for _ in range(tasks)]
    return Run(steps, {f"t{i}": jump(len(steps), at) for i, at in enumerate(jumps)}), jumps


@st.composite
def any_runs(draw: st.DrawFn, tasks: int = 1) -> Run:
    steps = draw(STEPS)
    shares = st.lists(st.sampled_from([0.0, 0.25, 0.7, 0.75, 1.0]), min_size=len(steps), max_size=len(steps))
    return Run(steps, {f"t{i}": draw(shares) for i in range(tasks)})
