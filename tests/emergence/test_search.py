"""The search for a task's emergence: what it may claim, whatever the curve."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interp.emergence import Crossing, Emergence, Plan, ends, most_visits, search, upcoming
from interp.values import Bracket, InputError, Status
from tests.emergence.runs import BISECTION, PLANS, Run, any_runs, any_speed, jump, monotone_runs, searched

GRID = Plan("grid")


@any_speed
@given(monotone_runs(), st.sampled_from([BISECTION, Plan(), GRID]))
def test_both_brackets_of_a_monotone_curve_are_exact(made: tuple[Run, list[int]], plan: Plan) -> None:
    run, (at,) = made
    found = searched(run, plan)["t0"]
    if 0 < at < len(run.steps):
        assert found.first == Crossing(Status.EMERGED, Bracket(run.steps[at - 1], run.steps[at]))
    else:
        assert found.first == Crossing(Status.FROM_START if at == 0 else Status.CENSORED)
    assert found.lasting == found.first
    assert found.monotone


@any_speed
@given(monotone_runs(tasks=3), PLANS)
def test_monotone_curves_give_what_the_grid_gives(made: tuple[Run, list[int]], plan: Plan) -> None:
    run, _ = made
    whole = searched(Run(run.steps, run.curves), GRID)
    for task, one in searched(run, plan).items():
        assert one.first.status == whole[task].first.status
        assert one.lasting.status == whole[task].lasting.status
        if one.first.bracket is not None:
            exact = whole[task].first.bracket
            assert exact is not None
            assert one.first.bracket.pre <= exact.pre
            assert exact.post <= one.first.bracket.post


@any_speed
@given(any_runs(tasks=3), PLANS)
def test_no_step_is_visited_twice(run: Run, plan: Plan) -> None:
    searched(run, plan)
    assert len(run.asked) == len(set(run.asked))
    assert set(run.asked) <= set(run.steps)


@any_speed
@given(any_runs(tasks=2), PLANS)
def test_the_ends_of_a_bracket_are_neighbours_that_fail_and_pass(run: Run, plan: Plan) -> None:
    for task, one in searched(run, plan).items():
        for bracket in filter(None, (one.first.bracket, one.lasting.bracket)):
            low, high = run.steps.index(bracket.pre), run.steps.index(bracket.post)
            assert run.curves[task][low] < 0.75 <= run.curves[task][high]
            assert one.neighbours(bracket) == (high == low + 1)
            assert high == low + 1 or bracket.post <= plan.resolution * bracket.pre


@any_speed
@given(any_runs(tasks=2), PLANS)
def test_no_evaluated_step_contradicts_what_is_said(run: Run, plan: Plan) -> None:
    for task, one in searched(run, plan).items():
        assert one.steps == tuple(sorted(run.asked))
        curve = [run.curves[task][run.steps.index(step)] for step in one.steps]
        assert one.shares == tuple(curve)
        passes = {step: share >= 0.75 for step, share in zip(one.steps, curve, strict=True)}
        if one.first.bracket is not None:
            assert not any(passes[step] for step in passes if step < one.first.bracket.post)
        if one.lasting.bracket is not None:
            assert all(passes[step] for step in passes if step > one.lasting.bracket.pre)
        assert (one.first.status is Status.CENSORED) == (not any(passes.values())) == (one.lasting.status == "censored")
        assert (one.first.status is Status.FROM_START) == passes[run.steps[0]]
        assert (one.lasting.status is Status.FROM_START) == all(passes.values())
        assert (one.lasting.status is Status.LOST) == (any(passes.values()) and not passes[run.steps[-1]])
        assert one.monotone == (one.first == one.lasting)


@any_speed
@given(any_runs())
def test_the_grid_finds_the_earliest_pass_and_the_last_failure_of_any_curve(run: Run) -> None:
    found, curve = searched(run, GRID)["t0"], run.curves["t0"]
    assert found.steps == tuple(run.steps)
    assert found.unprobed is None
    passing = [i for i, share in enumerate(curve) if share >= 0.75]
    failing = [i for i, share in enumerate(curve) if share < 0.75]
    first = passing[0] if passing else 0
    assert found.first.bracket == (Bracket(run.steps[first - 1], run.steps[first]) if first else None)
    last = failing[-1] if failing and failing[-1] < len(curve) - 1 else None
    assert found.lasting.bracket == (None if last is None else Bracket(run.steps[last], run.steps[last + 1]))


@any_speed
@given(monotone_runs(tasks=2), PLANS)
def test_a_second_task_moves_no_bracket_of_a_monotone_first(made: tuple[Run, list[int]], plan: Plan) -> None:
    run, _ = made
    alone = Run(run.steps, {"t0": run.curves["t0"]})
    both = searched(run, plan)["t0"].first
    one = searched(alone, plan)["t0"].first
    assert both.status == one.status
    if plan.resolution == 1:
        assert both == one


@any_speed
@given(any_runs(tasks=2))
def test_a_second_tasks_visits_move_the_first_bracket_only_to_an_earlier_one(run: Run) -> None:
    alone = searched(Run(run.steps, {"t0": run.curves["t0"]}))["t0"].first
    together = searched(run)["t0"].first
    if alone.bracket is not None:
        assert together.bracket is not None
        assert together.bracket.post <= alone.bracket.post


def test_each_task_has_its_own_threshold_and_reaching_it_is_passing() -> None:
    run = Run([0, 1, 2, 3], {"low": [0.0, 0.5, 0.7, 1.0], "high": [0.0, 0.5, 0.7, 1.0]})
    found = search(run.steps, run, {"low": 0.5, "high": 0.8}, GRID)
    assert (found["low"].first.bracket, found["high"].first.bracket) == (Bracket(0, 1), Bracket(2, 3))


def test_steps_in_any_order_give_the_same() -> None:
    run = Run([0, 1, 2, 4], {"t": jump(4, 2)})
    found = search([4, 0, 2, 1], run, {"t": 0.75})["t"]
    assert found.first.bracket == Bracket(1, 2)
    assert list(found.steps) == sorted(found.steps)


def test_a_resolution_stops_at_the_factor_and_not_before() -> None:
    steps = [0, 1, 2, 4, 8, 16, 32, 64, 128]
    run = Run(steps, {"t": jump(9, 5)})
    bracket = searched(run, Plan(resolution=4.0, probes=0))["t"].first.bracket
    # middles in log(step + 1): 8 of 0 … 128, 32 of 8 … 128; 32 is four times 8
    assert run.asked == [0, 128, 8, 32]
    assert bracket == Bracket(8, 32)
    assert searched(run, Plan(resolution=3.9, probes=0))["t"].first.bracket == Bracket(8, 16)


@pytest.mark.parametrize("steps", [[], [7]])
def test_fewer_than_two_checkpoints_are_refused_before_any_is_visited(steps: list[int]) -> None:
    run = Run(steps, {"t": [1.0] * len(steps)})
    with pytest.raises(InputError, match=f"two checkpoints with distinct weights; found {len(steps)}"):
        searched(run)
    assert run.asked == []


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"resolution": 0.5}, "the resolution is 0.5; needed: a factor of 1 or more, such as 1.25"),
        ({"resolution": math.nan}, "the resolution is nan"),
        ({"resolution": math.inf}, "the resolution is inf"),
        ({"probes": -1}, "probes is -1; needed: 0 or more"),
    ],
)
def test_plans_that_cannot_be_are_refused(given_: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Plan(**given_)  # pyright: ignore[reportArgumentType]


@any_speed
@given(monotone_runs(tasks=2), PLANS)
def test_what_is_visited_next_was_among_the_upcoming(case: tuple[Run, list[int]], plan: Plan) -> None:
    run, _ = case
    thresholds = dict.fromkeys(run.curves, 0.75)
    seen: dict[int, Mapping[str, float]] = {}
    guessed: list[set[int]] = []

    def visit(step: int) -> Mapping[str, float]:
        guessed.append(set(upcoming(run.steps, seen, step, thresholds, plan)))
        seen[step] = run(step)
        return seen[step]

    probes = search(run.steps, visit, thresholds, plan)["t0"].probes
    # all tasks passing or all failing is guessed; where the two tasks part, or a probe follows on shares near the
    # threshold, the guess may miss
    alike = run.curves["t0"] == run.curves["t1"]
    hits = [step in guess for step, guess in zip(run.asked[1:], guessed, strict=False) if step not in probes]
    assert all(hits) or not alike
    assert all(len(guess) <= 2 and not guess & {step} for step, guess in zip(run.asked, guessed, strict=True))


@any_speed
@given(monotone_runs())
def test_the_ends_are_those_of_the_first_bracket(case: tuple[Run, list[int]]) -> None:
    run, _ = case
    bracket = searched(run)["t0"].first.bracket
    seen = {step: run(step) for step in set(run.asked)}
    assert ends(seen, {"t0": 0.75}) == ((bracket.pre, bracket.post) if bracket else ())


@any_speed
@given(monotone_runs(tasks=4), PLANS)
def test_the_bound_on_visits_holds(made: tuple[Run, list[int]], plan: Plan) -> None:
    run, _ = made
    searched(run, plan)
    assert len(run.asked) <= most_visits(run.steps, 4, plan)


def test_what_a_task_is_worth_is_said_by_its_steps_alone() -> None:
    one = Emergence("t", 0.5, (0, 1, 2, 3, 4, 5, 6), (0, 3, 4, 6), (0.1, 0.6, 0.4, 0.9))
    assert one.passes == (False, True, False, True)
    assert one.first == Crossing(Status.EMERGED, Bracket(0, 3))
    assert one.lasting == Crossing(Status.EMERGED, Bracket(4, 6))
    assert not one.neighbours(Bracket(0, 3))
    assert one.neighbours(Bracket(3, 4))
    unprobed = one.unprobed
    assert unprobed is not None
    assert (unprobed.checkpoints, unprobed.after, unprobed.before) == (2, 0, 3)
