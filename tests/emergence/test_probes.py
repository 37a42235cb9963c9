"""Verification probes: what they cost, where they go, and that what they find is followed up."""

from hypothesis import given, settings
from hypothesis import strategies as st

from interp.emergence import Crossing, Emergence, Plan, most_telling
from interp.emergence.probes import can_contradict, longest_middle
from interp.values import Bracket, Status
from tests.emergence.runs import PYTHIA_STEPS, Run, any_runs, any_speed, jump, searched

N = len(PYTHIA_STEPS)
CASES = st.tuples(st.integers(2, N - 3), st.integers(1, 6))
some = settings(deadline=None, max_examples=30)  # each searches 154 steps twice


def probed(at: int, change: dict[int, float] | None = None) -> tuple[Run, Emergence]:
    """A jump on Pythia's steps, with other shares at some steps, searched with six probes."""
    curve = jump(N, at)
    for step, share in (change or {}).items():
        curve[PYTHIA_STEPS.index(step)] = share
    run = Run(list(PYTHIA_STEPS), {"t": curve})
    return run, searched(run, Plan(probes=6))["t"]


@some
@given(CASES)
def test_a_dip_at_a_probe_is_found_and_refined(case: tuple[int, int]) -> None:
    at, which = case
    later = [step for step in probed(at)[1].probes if step > PYTHIA_STEPS[at]]
    if not later:
        return
    dip = later[which % len(later)]
    if dip == PYTHIA_STEPS[-1]:
        return
    _, found = probed(at, {dip: 0.3})
    here = PYTHIA_STEPS.index(dip)
    assert found.first.bracket == Bracket(PYTHIA_STEPS[at - 1], PYTHIA_STEPS[at])
    assert found.lasting.bracket == Bracket(dip, PYTHIA_STEPS[here + 1])
    assert not found.monotone


@some
@given(CASES)
def test_an_early_flicker_at_a_probe_is_found_and_refined(case: tuple[int, int]) -> None:
    at, which = case
    earlier = [step for step in probed(at)[1].probes if step < PYTHIA_STEPS[at - 1]]
    if not earlier:
        return
    flicker = earlier[which % len(earlier)]
    _, found = probed(at, {flicker: 0.95})
    here = PYTHIA_STEPS.index(flicker)
    assert found.first.bracket == Bracket(PYTHIA_STEPS[here - 1], flicker)
    assert found.lasting.bracket == Bracket(PYTHIA_STEPS[at - 1], PYTHIA_STEPS[at])


def test_a_pass_of_a_task_that_fails_at_both_ends_is_found_and_said_to_be_lost() -> None:
    (probe, *_) = searched(Run(list(PYTHIA_STEPS), {"t": [0.1] * N}), Plan())["t"].probes
    assert probe == PYTHIA_STEPS[N // 2]
    curve = [0.9 if step == probe else 0.1 for step in PYTHIA_STEPS]
    found = searched(Run(list(PYTHIA_STEPS), {"t": curve}), Plan())["t"]
    here = PYTHIA_STEPS.index(probe)
    assert found.first == Crossing(Status.EMERGED, Bracket(PYTHIA_STEPS[here - 1], probe))
    assert found.lasting == Crossing(Status.LOST)


def test_a_failure_of_a_task_that_passes_at_both_ends_is_found() -> None:
    curve = [0.1 if step == PYTHIA_STEPS[N // 2] else 0.9 for step in PYTHIA_STEPS]
    found = searched(Run(list(PYTHIA_STEPS), {"t": curve}), Plan())["t"]
    assert found.first == Crossing(Status.FROM_START)
    assert found.lasting.bracket == Bracket(PYTHIA_STEPS[N // 2], PYTHIA_STEPS[N // 2 + 1])


@any_speed
@given(any_runs(tasks=3), st.integers(0, 6))
def test_no_more_probes_than_allowed_and_fewer_only_where_none_can_tell_anything(run: Run, allowed: int) -> None:
    found = list(searched(run, Plan(probes=allowed)).values())
    probes = found[0].probes
    assert len(probes) == len(set(probes)) <= allowed
    assert set(probes) <= set(run.asked)
    assert all(one.probes == probes for one in found)
    unseen = set(run.steps) - set(run.asked)
    assert len(probes) == allowed or not any(can_contradict(one, step) for one in found for step in unseen)


@any_speed
@given(any_runs())
def test_with_probes_enough_the_answer_is_the_grids(run: Run) -> None:
    # each probe evaluates one more step, so that in the end nothing is left that could contradict
    found = searched(run, Plan(probes=len(run.steps)))["t0"]
    whole = searched(Run(run.steps, run.curves), Plan("grid"))["t0"]
    assert (found.first, found.lasting) == (whole.first, whole.lasting)


def test_next_door_to_a_close_call_comes_before_the_longest_stretch() -> None:
    steps = tuple(range(20))
    close = Emergence("close", 0.75, steps, (0, 3, 4, 19), (0.1, 0.72, 0.9, 0.95))
    clear = Emergence("clear", 0.75, steps, (0, 3, 4, 19), (0.1, 0.2, 0.9, 0.95))
    assert most_telling([clear]) == 12  # the middle of 5 … 18
    assert most_telling([clear, close]) == 2  # 3 fails by .03
    known = Emergence("close", 0.75, steps, (0, 2, 3, 4, 19), (0.1, 0.2, 0.72, 0.9, 0.95))
    assert most_telling([known]) == 12  # what lies next door is known now


def test_nothing_is_probed_where_no_outcome_could_change_what_is_said() -> None:
    steps = tuple(range(10))
    # passes at first and fails at last: whatever lies between, it is from_start and lost
    lost = Emergence("t", 0.75, steps, (0, 9), (0.9, 0.1))
    assert (lost.first.status, lost.lasting.status) == (Status.FROM_START, Status.LOST)
    assert most_telling([lost]) is None
    # between the first bracket and the lasting one likewise
    dips = Emergence("t", 0.75, steps, (0, 1, 2, 7, 8, 9), (0.1, 0.1, 0.9, 0.1, 0.9, 0.9))
    assert most_telling([dips]) is None
    # but another task may want to know
    never = Emergence("u", 0.75, steps, (0, 1, 2, 7, 8, 9), (0.1,) * 6)
    assert longest_middle([dips, never]) == 5
