"""Curves of scores whose change is known, and the error rates that the docs state."""

import numpy as np
import pytest

from interp.changes import Verdict, change, changes, relation
from interp.values import Bracket
from tests.benchmarks.changes import GRIDS, SHAPES, rates

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128)


def curve(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_a_jump_is_abrupt_and_lies_where_it_is() -> None:
    found = change(STEPS, curve(0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9))
    assert (found.verdict, found.from_step, found.to_step, found.jump) == (Verdict.ABRUPT, 4, 8, 1)
    assert (found.before, found.after, found.from_value, found.to_value) == (0.1, 0.9, 0.1, 0.9)
    assert found.size == pytest.approx(0.8)


@pytest.mark.parametrize("last", [1, 8])
def test_a_jump_at_either_end_of_the_run_is_found(last: int) -> None:
    found = change(STEPS, (np.arange(9) >= last).astype(float))
    assert (found.verdict, found.to_step) == (Verdict.ABRUPT, STEPS[last])


def test_a_slope_is_gradual_from_a_tenth_to_nine_tenths() -> None:
    # 0 .05 .25 .45 .65 .85 1 1 1: below 10 % until step 1, at 90 % from step 32
    found = change(STEPS, curve(0, 0.05, 0.25, 0.45, 0.65, 0.85, 1, 1, 1))
    assert (found.verdict, found.from_step, found.to_step) == (Verdict.GRADUAL, 1, 32)
    assert found.jump == pytest.approx(0.2)


def test_two_thirds_in_one_interval_is_the_border() -> None:
    low, high = (change(STEPS, curve(0, 0, 0, 0, part, 1, 1, 1, 1)).verdict for part in (0.65, 0.68))
    assert (low, high) == (Verdict.GRADUAL, Verdict.ABRUPT)


def test_a_fall_is_a_change_too() -> None:
    found = change(STEPS, curve(0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1))
    assert (found.verdict, found.from_value, found.to_value) == (Verdict.ABRUPT, 0.9, 0.1)


@pytest.mark.parametrize(
    "values",
    [
        [0.5] * 9,
        [0, 0, 0, 0, 0.19, 0.19, 0.19, 0.19, 0.19],  # smaller than .2
        [0, 0, 0, 1, 0, 0, 0, 0, 0],  # one step alone
        [0, 1, 0, 1, 0, 1, 0, 1, 0],  # noise
    ],
)
def test_what_is_too_small_or_noise_is_no_change(values: list[float]) -> None:
    found = change(STEPS, curve(*values))
    assert (found.verdict, found.from_step, found.to_step) == (Verdict.NONE, -1, -1)
    assert relation(found, Bracket(4, 8)) == ""


@pytest.mark.parametrize(
    ("bracket", "side"),
    [((8, 16), "before"), ((16, 32), "before"), ((4, 8), "in"), ((1, 4), "after"), ((2, 16), "in"), ((4, 64), "in")],
)
def test_a_change_lies_before_in_or_after_a_bracket(bracket: tuple[int, int], side: str) -> None:
    found = change(STEPS, curve(0, 0, 0, 0, 1, 1, 1, 1, 1))  # from 4 to 8
    assert relation(found, Bracket(*bracket)) == side
    assert relation(found, None) == ""


def test_two_steps_are_enough_to_see_a_change() -> None:
    assert change((0, 8), curve(0, 1)).verdict == Verdict.ABRUPT


def test_every_head_and_score_is_held_against_every_task() -> None:
    rising = (np.arange(9) >= 4).astype(float)
    flat = np.zeros(9)
    scores = {
        step: {
            "a": np.array([[rising[i], flat[i]]]), "unknown": np.array([[np.nan, 1.0]]),
        }
        for i, step in enumerate(STEPS)
    }  # fmt: skip
    table = changes(scores, "random", {"early": Bracket(1, 2), "late": Bracket(32, 64), "never": None})
    assert set(table["score"]) == {"a"}
    assert len(table) == 2 * 3
    head = table.loc[table["head"] == 0]
    assert dict(zip(head["task"], head["relation"], strict=True)) == {"early": "after", "late": "before", "never": ""}
    assert set(table.loc[table["head"] == 1, "verdict"]) == {"none"}


@pytest.mark.parametrize("grid", list(GRIDS))
def test_the_rule_errs_as_rarely_as_the_docs_say(grid: str) -> None:
    def rate(shape: str, noise: float) -> dict[str, float]:
        return rates(GRIDS[grid], SHAPES[shape], noise, curves=200)

    # 200 curves: a rate of 1 % comes out above 4 % with a chance below .001
    assert rate("flat", 0.05)["none"] > 0.96
    assert rate("one step out of line", 0.05)["none"] > 0.96
    assert rate("jump", 0.02)["abrupt"] > 0.96
    for intervals in (2, 3, 5, 8):
        assert rate(f"slope over {intervals} intervals", 0.02)["gradual"] > 0.96
