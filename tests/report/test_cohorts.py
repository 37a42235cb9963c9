"""From stores to cohorts: what stands together, what is kept apart, what is left out, and what is refused."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

import interp
from interp.cli import app
from interp.report.cohort_tables import comparisons, outcomes, survival
from interp.report.cohorts import cohort
from interp.report.figures import over_seeds
from tests.cohorts.scans import GRID, planted, scan


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["cohort", *map(str, arguments)])


def refused(*arguments: object) -> str:
    result = command(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line.removeprefix("error: ")


def test_planted_cohorts_come_back(tmp_path: Path) -> None:
    found = interp.cohort(planted(tmp_path))
    rows = found.cohort.set_index("suite")
    assert rows["emerged"].to_dict() == {"large": 5, "small": 4}
    assert rows["parameters"].to_dict() == {"large": 8000, "small": 1000}
    assert (rows.loc["small", "median_pre"], rows.loc["small", "median_post"]) == (600, 700)
    assert (rows.loc["large", "median_pre"], rows.loc["large", "median_post"]) == (100, 200)
    row = found.tests.loc[found.tests["test"] == "log_rank"].iloc[0]
    assert row["suites"] == ["small", "large"]  # smaller first
    assert row["p_value"] == pytest.approx(2 / 252)  # no overlap: the least of 10 over 5
    assert row["statistic"] < 0  # the smaller emerges later


def test_the_command_prints_tables_and_rows(tmp_path: Path) -> None:
    planted(tmp_path)
    text = command(tmp_path)
    assert text.exit_code == 0, text.output
    assert "(600, 700]" in text.stdout
    assert "log-rank: do suites differ?" in text.stdout
    assert "is tested with 20 runs or more" in text.stdout
    rows = json.loads(command(tmp_path, "--json").stdout)
    assert {row["table"] for row in rows} == {"cohort", "cohort_tests", "survival", "times"}
    censored = [row for row in rows if row["table"] == "times" and row["status"] == "censored"]
    assert [(row["low"], row["high"]) for row in censored] == [(1000, None)]


def test_two_stores_are_one_report(tmp_path: Path) -> None:
    for seed in range(4):
        scan(tmp_path / "one", "small", seed, {"string": 400})
        scan(tmp_path / "other", "large", seed, {"string": 900})
    found = cohort(tmp_path / "one", tmp_path / "other")
    assert sorted(found.cohort["suite"]) == ["large", "small"]
    assert found.tests.iloc[0]["p_value"] == pytest.approx(2 / 70)


def test_the_original_run_and_suspect_runs_are_kept_apart(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        scan(tmp_path, "small", seed, {"string": 400})
    scan(tmp_path, "small", None, {"string": 100})
    scan(tmp_path, "small", 4, {"string": 900}, suspect=["2 steps hold weights that come again later"])
    found = cohort(tmp_path)
    parts = {row["part"]: row["seeds"] for row in found.cohort.to_dict("records")}
    assert parts == {"": [1, 2, 3], "original run": [None], "suspect": [4]}
    assert "kept apart: small (original run)" in found.notes
    assert "kept apart: small/seed4 (suspect: 2 steps hold weights that come again later)" in found.notes


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"config": "other"}, "another config"),
        ({"grid": GRID[:-1]}, "last step 900"),
        ({"grid": GRID[1:]}, "first step 100"),
    ],
    ids=["config", "last step", "first step"],
)
def test_seeds_that_are_not_repetitions_are_kept_apart(tmp_path: Path, changed: dict[str, object], part: str) -> None:
    for seed in (0, 1):
        scan(tmp_path, "small", seed, {"string": 400})
    scan(tmp_path, "small", 2, {"string": 400}, **changed)  # pyright: ignore
    found = cohort(tmp_path)
    assert found.cohort["part"].tolist() == ["", part]
    assert found.cohort["runs"].tolist() == [2, 1]
    assert found.notes == (f"kept apart: small/seed2 ({part})",)


def test_steps_in_between_may_differ_and_are_counted(tmp_path: Path) -> None:
    scan(tmp_path, "small", 0, {"string": 400})
    scan(tmp_path, "small", 1, {"string": 500}, grid=[step for step in GRID if step != 200])
    row = cohort(tmp_path).cohort.iloc[0]
    assert (row["runs"], row["shared_steps"]) == (2, 10)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"dtype": "float64"}, "dtype float64"), ({"bos": False}, "BOS False"),
        ({"search": "bisection"}, "search bisection"),
        ({"tokenizer": "u" * 64}, "tokenizer uuuuuuuuuuuu"),
        ({"tasks": [{"task": "string", "task_version": 1, "prompts": "q" * 64}]}, "prompts qqqqqqqqqqqq"),
    ],
    ids=["dtype", "bos", "search", "tokenizer", "prompts"],
)  # fmt: skip
def test_results_of_other_settings_are_left_out_and_named(
    tmp_path: Path, setting: dict[str, object], said: str
) -> None:
    for seed in (0, 1):
        scan(tmp_path, "small", seed, {"string": 400})
    scan(tmp_path, "small", 2, {"string": 900}, **setting)  # pyright: ignore
    found = cohort(tmp_path)
    assert found.cohort["seeds"].tolist() == [[0, 1]]
    assert found.notes == (f"not used: scans of small · string with {said} (seed 2)",)


def test_suites_that_were_measured_differently_are_not_compared(tmp_path: Path) -> None:
    for seed in range(4):
        scan(tmp_path, "small", seed, {"string": 400})
        scan(tmp_path, "large", seed, {"string": 900}, dtype="float64")
    row = cohort(tmp_path).tests.iloc[0]
    assert not row["tested"]
    assert row["said"] == ("not tested: large and small were measured differently (dtype float64 and dtype float32)")


def test_the_newest_scan_of_a_run_counts(tmp_path: Path) -> None:
    scan(tmp_path, "small", 0, {"string": 400})
    scan(tmp_path, "small", 0, {"string": 600})
    assert cohort(tmp_path).times[["low", "high"]].to_numpy().tolist() == [[500, 600]]


def test_lasting_emergence_and_lost_runs(tmp_path: Path) -> None:
    for seed in (0, 1):
        scan(tmp_path, "small", seed, {"string": 400}, lasting={"string": 700})
    scan(tmp_path, "small", 2, {"string": 400}, lasting={"string": math.inf})
    first, lasting = (cohort(tmp_path, which=which).cohort.iloc[0] for which in ("first", "lasting"))
    assert (first["emerged"], first["lost"], first["median_post"]) == (3, 0, 400)
    assert (lasting["emerged"], lasting["lost"], lasting["median_post"]) == (2, 1, 700)
    assert "lost again in 1 of 3 runs, counted as not emerged" in command(tmp_path, "--which", "lasting").stdout


def test_all_censored_all_from_start_and_one_seed_are_told(tmp_path: Path) -> None:
    for seed in range(4):
        scan(tmp_path, "never", seed, {"string": math.inf})
        scan(tmp_path, "always", seed, {"string": 0})
    scan(tmp_path, "alone", 0, {"string": 300})
    text = command(tmp_path)
    assert text.exit_code == 0, text.output
    assert "0 of 4" in text.stdout
    assert "4 of 4, 4 from start" in text.stdout
    assert "> 1,000" in text.stdout
    rows = {row["suite"]: row for row in cohort(tmp_path).cohort.to_dict("records")}
    assert rows["never"]["median_low"] == 1000
    assert rows["always"]["median_post"] == 0


def test_wrong_input_is_refused_in_one_sentence(tmp_path: Path) -> None:
    assert (
        refused(tmp_path / "gone")
        == f"there is no folder {tmp_path / 'gone'}; needed: a store that `interp scan` wrote"
    )
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty").startswith(f"{tmp_path / 'empty'} holds no scan; needed: ")
    scan(tmp_path / "store", "small", 0, {"string": 400})
    assert refused(tmp_path / "store", "-t", "strin") == "no scan holds the task 'strin'; did you mean string?"
    assert refused(tmp_path / "store", "--horizon", "0") == "the horizon is step 0; needed: a step above 0"


def test_a_store_that_another_program_broke_is_named(tmp_path: Path) -> None:
    scan(tmp_path, "small", 0, {"string": 400})
    (path,) = (tmp_path / "emergence").iterdir()
    path.write_bytes(b"PAR1")
    assert "is not a result of interp's store" in refused(tmp_path)


def test_the_figure_draws_what_the_table_says(tmp_path: Path) -> None:
    found = cohort(planted(tmp_path))
    drawn = over_seeds(found, "string")
    assert drawn is not None
    drawn.figure()  # plotly's schema holds
    curves = {trace["name"]: trace for trace in drawn.traces if trace.get("line", {}).get("shape") == "hv"}
    assert curves["large"]["y"][-1] == pytest.approx(1)
    assert curves["small"]["y"][-1] == pytest.approx(0.8, abs=1e-3)
    marks = {trace["name"]: trace for trace in drawn.traces if trace.get("mode") == "markers"}
    assert len(marks["emerged: first passing step"]["x"]) == 9
    assert len(marks["censored: not by its last step"]["x"]) == 1
    bands = [trace for trace in drawn.traces if trace.get("fill") == "toself"]
    assert len(bands) == 2
    assert over_seeds(found, "ioi") is None
    table = survival(found, "string")
    shares = [row[3] for row in table.rows if row[0] == "small"]
    assert shares[-1] == ".800"
    assert len(outcomes(found).rows) == 2
    assert len(comparisons(found).rows) == 1


def test_a_process_of_its_own_imports_no_torch_and_refuses_an_unknown_emergence(tmp_path: Path) -> None:
    # in tests the type checks would be first to refuse the word
    planted(tmp_path)
    program = (
        "import sys; from interp.report.cohorts import cohort; cohort(sys.argv[1]); "
        "print(any(name in sys.modules for name in ('torch', 'transformers'))); cohort(sys.argv[1], which='last')"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.stdout == "False\n"
    assert ran.stderr.endswith("InputError: 'last' is not an emergence; known: first, lasting\n")
