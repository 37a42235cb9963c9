"""The tables of a cohort against values worked out by hand."""

import math

import pandas as pd
import pytest

from interp.cohorts import Part, Time, summarise, time_of
from interp.values import InputError, RunId, Status
from tests.cohorts.scans import GRID

RUN = RunId("small", 0)
ROW = {"task": "string", "steps": [0, 100, 200, 300], "pre": pd.NA, "post": pd.NA}


def part(posts: list[float], suite: str = "small", grid: tuple[int, ...] = GRID, size: int | None = None) -> Part:
    """Runs that emerge at these steps of the grid; ∞: never."""
    times = tuple(
        Time(RunId(suite, seed), Status.CENSORED, float(grid[-1]), math.inf)
        if math.isinf(post)
        else Time(RunId(suite, seed), Status.EMERGED, float(grid[grid.index(int(post)) - 1]), float(post))
        for seed, post in enumerate(posts)
    )
    return Part(suite, "string", "", times, grid, size)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"status": "emerged", "pre": 100, "post": 200}, (100, 200)),
        ({"status": "from_start"}, (0, 0)),
        ({"status": "from_start", "steps": [128, 256]}, (0, 128)),
        ({"status": "censored"}, (300, math.inf)),
        ({"status": "lost", "pre": 100, "post": 200}, (100, 200)),
        ({"status": "lost"}, (0, 0)),
    ],
    ids=["emerged", "at step 0", "at step 128", "censored", "older lost", "older lost from the start"],
)
def test_what_a_row_says_of_the_first_emergence(row: dict[str, object], expected: tuple[float, float]) -> None:
    found = time_of(RUN, ROW | row, "first")
    assert (found.low, found.high) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"lasting_status": "emerged", "lasting_pre": 200, "lasting_post": 300}, (200, 300)),
        ({"lasting_status": "lost"}, (300, math.inf)),
        ({"lasting_status": "from_start"}, (0, 0)),
    ],
)
def test_what_a_row_says_of_the_lasting_emergence(row: dict[str, object], expected: tuple[float, float]) -> None:
    found = time_of(RUN, {"lasting_pre": pd.NA, "lasting_post": pd.NA} | ROW | {"status": "emerged"} | row, "lasting")
    assert (found.low, found.high) == expected


def test_a_table_without_lasting_emergence_is_refused() -> None:
    with pytest.raises(InputError, match=r"the scan of small/seed0 tells the first emergence of string only"):
        time_of(RUN, ROW | {"status": "emerged", "pre": 100, "post": 200}, "lasting")


def test_fewer_steps_widen_a_bracket_and_never_narrow_it() -> None:
    time = Time(RUN, Status.EMERGED, 300.0, 400.0)
    assert (time.within((0, 200, 500)).low, time.within((0, 200, 500)).high) == (200, 500)
    assert (time.within((0, 200)).low, time.within((0, 200)).high) == (200, math.inf)
    assert time.within((0, 300, 400, 800)) == time


def test_the_numbers_of_five_runs_by_hand() -> None:
    row = summarise([part([400, 500, 700, 800, math.inf])], "first").cohort.iloc[0]
    assert (row["runs"], row["emerged"], row["censored"], row["solved"]) == (5, 4, 1, 0.8)
    # Wilson's interval of 4 of 5
    assert (row["solved_low"], row["solved_high"]) == (pytest.approx(0.3755, abs=1e-3), pytest.approx(0.9638, abs=1e-3))
    assert (row["median_pre"], row["median_post"]) == (600, 700)
    # above half are certain only where 0 of 5 have emerged, up to 300; below half only with 5 of 5, which never come
    assert row["median_low"] == 300
    assert pd.isna(row["median_high"])
    assert row["horizon"] == 1000
    assert row["mean"] == pytest.approx((350 + 450 + 650 + 750 + 1000) / 5, abs=0.1)
    assert row["mean_low"] < row["mean"] < row["mean_high"] <= 1000


def test_a_run_that_never_emerges_is_no_emergence_at_its_last_step() -> None:
    found = summarise([part([math.inf] * 4)], "first")
    row = found.cohort.iloc[0]
    assert (row["solved"], row["emerged"]) == (0, 0)
    assert (row["median_pre"], row["median_post"]) == (1000, pd.NA) or pd.isna(row["median_post"])
    assert math.isnan(row["mean"])
    assert math.isnan(row["shape"])
    assert found.times["high"].isna().all()
    assert (found.survival["survival"] == 1).all()


def test_survival_is_a_share_of_runs_where_all_are_known() -> None:
    found = summarise([part([400, 500, 700, 800, math.inf])], "first").survival.set_index("step")
    assert found.loc[[0, 300, 400, 500, 700, 800, 1000], "survival"].tolist() == pytest.approx(
        [1, 1, 0.8, 0.6, 0.4, 0.2, 0.2], abs=1e-4
    )
    assert (found["interval"] == "wilson").all()
    assert found.loc[500, ["known_solved", "known_unsolved"]].tolist() == [2, 3]


def test_survival_within_a_wide_bracket_is_bootstrapped() -> None:
    wide = Time(RunId("small", 9), Status.EMERGED, 300.0, 800.0)
    one = part([400, 500, 700])
    found = summarise([Part("small", "string", "", (*one.times, wide), GRID, None)], "first").survival.set_index("step")
    assert found.loc[500, "interval"] == "bootstrap"
    assert found.loc[800, "interval"] == "wilson"
    assert found.loc[500, "low"] <= found.loc[500, "survival"] <= found.loc[500, "high"]


def test_one_run_alone_has_no_bootstrap_interval() -> None:
    row = summarise([part([400])], "first").cohort.iloc[0]
    assert math.isnan(row["mean_low"])
    assert (row["median_pre"], row["median_post"]) == (300, 400)
    assert row["median_low"] == 0  # one run bounds no median
    assert pd.isna(row["median_high"])


def test_all_from_the_start_emerged_at_step_0() -> None:
    times = tuple(Time(RunId("s", seed), Status.FROM_START, 0.0, 0.0) for seed in range(4))
    row = summarise([Part("s", "t", "", times, GRID, None)], "first").cohort.iloc[0]
    assert (row["from_start"], row["solved"], row["median_pre"], row["median_post"], row["mean"]) == (4, 1, 0, 0, 0)


def test_a_horizon_beyond_the_last_step_has_no_mean() -> None:
    assert math.isnan(summarise([part([400, 500, 600])], "first", horizon=2000).cohort.iloc[0]["mean"])
    with pytest.raises(InputError, match="the horizon is step 0"):
        summarise([part([400])], "first", horizon=0)


def test_two_suites_without_overlap_are_told_apart() -> None:
    parts = [part([100, 200, 200, 300]), part([600, 700, 800, math.inf], "large")]
    tests = summarise(parts, "first").tests
    row = tests.loc[tests["test"] == "log_rank"].iloc[0]
    assert row["p_value"] == pytest.approx(2 / 70)
    assert row["p_holm"] == pytest.approx(2 / 70)  # the only test that was made
    assert row["statistic"] > 0  # the first suite emerges earlier


def test_too_few_runs_are_said_and_not_tested() -> None:
    tests = summarise([part([100, 200, 300]), part([600, 700, 800], "large")], "first").tests
    row = tests.loc[tests["test"] == "log_rank"].iloc[0]
    assert not row["tested"]
    assert row["said"] == "not tested: too few runs, the least p-value that they can give is 0.10"
    assert math.isnan(row["p_value"])


def test_other_grids_are_compared_on_the_steps_that_all_share() -> None:
    coarse = (0, 500, 1000)
    parts = [part([100, 200, 300, 400]), part([1000, 1000, math.inf, math.inf], "large", coarse)]
    row = summarise(parts, "first").tests.iloc[0]
    assert row["shared_steps"] == 3
    assert row["said"].startswith("brackets widened to the 3 steps that all runs share")
    assert row["p_value"] == pytest.approx(2 / 70)


def test_three_sizes_have_a_trend() -> None:
    suites = {"a": ([700, 800, 900], 10**6), "b": ([400, 500, 600], 10**7), "c": ([100, 200, 300], 10**8)}
    tests = summarise([part(list(posts), name, size=size) for name, (posts, size) in suites.items()], "first").tests
    trend = tests.loc[tests["test"] == "trend"].iloc[0]
    assert trend["p_value"] < 0.01
    assert trend["statistic"] > 0  # larger models earlier
    tested = tests.loc[tests["tested"]]
    assert len(tested) == 2
    assert (tested["p_holm"] >= tested["p_value"]).all()


def test_memoryless_times_are_tested_from_twenty_runs_on() -> None:
    few, enough = part([400] * 9 + [800] * 10), part([400] * 10 + [800] * 10)
    assert not summarise([few], "first").tests.iloc[0]["tested"]
    row = summarise([enough], "first").tests.iloc[0]
    assert row["tested"]
    assert row["p_value"] < 0.05  # two steps hold them all: the hazard rises
    assert row["statistic"] > 0
