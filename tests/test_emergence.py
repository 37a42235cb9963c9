"""The search for a task's first success: what it may claim, and how many checkpoints it may cost."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.emergence import Emergence, Search, search
from interp.values import Bracket, InputError, Status

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

ALL_STEPS = (0, *(2**i for i in range(10)), *range(1000, 30_000, 1000))

# holes: any subset of the steps may be what a run really has
STEPS = st.sets(st.sampled_from(ALL_STEPS), min_size=2).map(sorted)
SEARCHES: tuple[Search, ...] = ("bisection", "grid")


class Run:
    """A run whose shares are known; counts what is asked of it."""

    def __init__(self, steps: list[int], curves: Mapping[str, list[float]]):
        self.steps, self.curves, self.asked = steps, curves, []

    def __call__(self, step: int) -> dict[str, float]:
        self.asked.append(step)
        return {task: curve[self.steps.index(step)] for task, curve in self.curves.items()}


def searched(run: Run, how: Search = "bisection") -> dict[str, Emergence]:
    return search(run.steps, run, dict.fromkeys(run.curves, 0.75), how)


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
    shares = st.lists(st.sampled_from([0.0, 0.25, 0.75, 1.0]), min_size=len(steps), max_size=len(steps))
    return Run(steps, {f"t{i}": draw(shares) for i in range(tasks)})


@any_speed
@given(monotone_runs(), st.sampled_from(SEARCHES))
def test_the_bracket_of_a_monotone_curve_is_exact(made: tuple[Run, list[int]], how: Search) -> None:
    run, (at,) = made
    found = searched(run, how)["t0"]
    assert found.bracket == (Bracket(run.steps[at - 1], run.steps[at]) if 0 < at < len(run.steps) else None)
    assert found.status == ("from_start" if at == 0 else "censored" if at == len(run.steps) else "emerged")
    assert found.monotone


@any_speed
@given(monotone_runs(tasks=3))
def test_a_task_costs_no_more_than_the_logarithm_of_the_gaps(made: tuple[Run, list[int]]) -> None:
    run, jumps = made
    searched(run)
    brackets = sum(0 < at < len(run.steps) for at in jumps)
    assert len(run.asked) <= 2 + brackets * math.ceil(math.log2(len(run.steps) - 1))


def test_154_checkpoints_cost_10_visits() -> None:
    steps = [0, *(2**i for i in range(10)), *range(1000, 144_000, 1000)]
    assert len(steps) == 154
    worst = 0
    for at in range(1, 154):
        run = Run(steps, {"t": jump(154, at)})
        searched(run)
        worst = max(worst, len(run.asked))
    assert worst == 10  # both ends, and log2(153) rounded up


@any_speed
@given(any_runs(tasks=3), st.sampled_from(SEARCHES))
def test_no_step_is_visited_twice(run: Run, how: Search) -> None:
    searched(run, how)
    assert len(run.asked) == len(set(run.asked))
    assert set(run.asked) <= set(run.steps)


@any_speed
@given(any_runs(), st.sampled_from(SEARCHES))
def test_the_ends_of_a_bracket_are_neighbours_that_fail_and_pass(run: Run, how: Search) -> None:
    found, curve = searched(run, how)["t0"], run.curves["t0"]
    if found.bracket is None:
        assert curve[0] >= 0.75 or all(curve[run.steps.index(step)] < 0.75 for step in run.asked)
        return
    low, high = run.steps.index(found.bracket.pre), run.steps.index(found.bracket.post)
    assert high == low + 1
    assert curve[low] < 0.75 <= curve[high]


@any_speed
@given(any_runs(), st.sampled_from(SEARCHES))
def test_no_known_pass_lies_below_the_bracket(run: Run, how: Search) -> None:
    found = searched(run, how)["t0"]
    if found.bracket is not None:
        below = [share for step, share in zip(found.steps, found.shares, strict=True) if step < found.bracket.post]
        assert below
        assert max(below) < 0.75


@any_speed
@given(any_runs())
def test_the_grid_finds_the_earliest_pass_of_any_curve(run: Run) -> None:
    found, curve = searched(run, "grid")["t0"], run.curves["t0"]
    assert found.steps == tuple(run.steps)
    first = next((i for i, share in enumerate(curve) if share >= 0.75), None)
    assert found.bracket == (Bracket(run.steps[first - 1], run.steps[first]) if first else None)


@any_speed
@given(any_runs(), st.sampled_from(SEARCHES))
def test_the_status_says_what_the_visited_steps_say(run: Run, how: Search) -> None:
    found = searched(run, how)["t0"]
    curve = [run.curves["t0"][run.steps.index(step)] for step in sorted(run.asked)]
    assert found.steps == tuple(sorted(run.asked))
    assert found.shares == tuple(curve)
    passes = [share >= 0.75 for share in curve]
    if True not in passes:
        assert found.status is Status.CENSORED
    elif not passes[-1]:
        assert found.status is Status.LOST
    else:
        assert found.status is (Status.FROM_START if passes[0] else Status.EMERGED)
    assert found.monotone == (False not in passes[passes.index(True) :] if True in passes else True)


@any_speed
@given(any_runs(), st.sampled_from(SEARCHES))
def test_lost_and_censored_are_told_apart_by_the_last_step(run: Run, how: Search) -> None:
    found = searched(run, how)["t0"]
    assert (run.curves["t0"][-1] >= 0.75) == (found.status in (Status.EMERGED, Status.FROM_START))


@any_speed
@given(monotone_runs(tasks=2))
def test_a_second_task_moves_no_bracket_of_a_monotone_first(made: tuple[Run, list[int]]) -> None:
    run, _ = made
    alone = Run(run.steps, {"t0": run.curves["t0"]})
    assert searched(run)["t0"].bracket == searched(alone)["t0"].bracket
    assert set(alone.asked) <= set(run.asked)


@any_speed
@given(any_runs(tasks=2))
def test_a_second_tasks_visits_move_a_bracket_only_to_an_earlier_one_that_holds(run: Run) -> None:
    alone = Run(run.steps, {"t0": run.curves["t0"]})
    before, after = searched(alone)["t0"].bracket, searched(run)["t0"].bracket
    if before is None:
        if run.curves["t0"][0] >= 0.75:
            assert after is None
        return
    assert after is not None
    low, high = run.steps.index(after.pre), run.steps.index(after.post)
    assert high == low + 1
    assert after.post <= before.post
    assert run.curves["t0"][low] < 0.75 <= run.curves["t0"][high]


def test_each_task_has_its_own_threshold_and_reaching_it_is_passing() -> None:
    run = Run([0, 1, 2, 3], {"low": [0.0, 0.5, 0.7, 1.0], "high": [0.0, 0.5, 0.7, 1.0]})
    found = search(run.steps, run, {"low": 0.5, "high": 0.8}, "grid")
    assert (found["low"].bracket, found["high"].bracket) == (Bracket(0, 1), Bracket(2, 3))


def test_steps_in_any_order_give_the_same() -> None:
    run = Run([0, 1, 2, 4], {"t": jump(4, 2)})
    found = search([4, 0, 2, 1], run, {"t": 0.75})["t"]
    assert found.bracket == Bracket(1, 2)
    assert list(found.steps) == sorted(found.steps)


@pytest.mark.parametrize("steps", [[], [7]])
def test_fewer_than_two_checkpoints_are_refused_before_any_is_visited(steps: list[int]) -> None:
    run = Run(steps, {"t": [1.0] * len(steps)})
    with pytest.raises(InputError, match=f"two checkpoints with distinct weights; found {len(steps)}"):
        searched(run)
    assert run.asked == []
