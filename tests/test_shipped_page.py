"""The page of the shipped suites: what it says of one run is made anew and compared; its parts are held together."""

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import interp
from interp.execution import InProcess
from interp.report.display import Table
from tests.report.test_example import differences

DOCS = Path(__file__).parent.parent / "docs"
SUITE, SEED = "nano-2l", 2


@pytest.fixture(scope="module")
def shipped() -> Any:
    spec = importlib.util.spec_from_file_location("shipped", DOCS / "shipped.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["shipped"] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def committed(title: str) -> list[str]:
    """The rows of the table under a heading."""
    text = (DOCS / "shipped_tables.md").read_text(encoding="utf-8")
    (part,) = [part for part in text.split("## ") if part.startswith(title + "\n")]
    return [line for line in part.splitlines() if line.startswith("| ")][2:]


def test_what_is_said_of_one_run_is_what_the_suite_gives(shipped: Any, tmp_path: Path) -> None:
    """Words are equal; numbers differ by .003 or 1 % at most: another processor's arithmetic."""
    found = shipped.traced(interp.Store(tmp_path), [SUITE], [SEED], InProcess())
    made = {
        "When each task emerges": shipped.emergence(found.emergence),
        "Heads that become previous-token or induction heads": shipped.becoming(found.changes),
    }
    for title, table in made.items():
        of_run = [line for line in committed(title) if line.startswith(f"| {SUITE}/seed{SEED} ")]
        assert of_run
        assert differences("\n".join(of_run), "\n".join(shipped.lines(table)[2:])) == []


def test_every_run_and_task_is_there_and_cohorts_count_them(shipped: Any) -> None:
    rows = [line.strip("| ").split(" | ") for line in committed("When each task emerges")]
    runs = [(f"{name}/seed{run.seed}", task) for name in shipped.SUITES for run in interp.suite(name).runs
            for task in shipped.task_names()]  # fmt: skip
    assert [(row[0], row[1]) for row in rows] == runs
    for which, column in (("First", 2), ("Lasting", 4)):
        emerged = Counter((row[0].split("/")[0], row[1]) for row in rows if row[column] == "emerged")
        said = {tuple(cells[:2]): int(re.match(r"\d+", cells[2])[0]) for cells in
                (line.strip("| ").split(" | ") for line in committed(f"{which} emergence over seeds"))}  # fmt: skip
        assert said == {pair: emerged[pair] for pair in said}
        assert len(said) == len(shipped.SUITES) * len(shipped.task_names())


def test_a_table_is_told_in_markdown(shipped: Any) -> None:
    assert shipped.lines(Table(("a", "b"), (("1", "2"),), words=1)) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]
