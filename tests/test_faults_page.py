"""docs/faults.md: every fault has its tests, and every test that it names is one that pytest collects."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "faults.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d+\.", line)
]
NAMED = [(row[0].split(".")[0], test) for row in ROWS for test in row[-1].split(", ")]


@cache
def collected(file: str) -> set[str]:
    """The test functions of a file, as its text says."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_fault_is_there_once_with_what_is_done_about_it() -> None:
    assert [int(row[0].split(".")[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) >= 32
    assert all(len(row) == 3 and all(row) for row in ROWS)


@pytest.mark.parametrize(("fault", "test"), NAMED)
def test_every_named_test_exists(fault: str, test: str) -> None:
    file, _, name = test.partition("::")
    assert re.fullmatch(r"tests/(\w+/)*test_\w+\.py", file), f"fault {fault} names {test}"
    assert (ROOT / file).is_file(), f"fault {fault} names {file}, which is not there"
    assert name in collected(file), f"fault {fault} names {name}, which {file} does not hold"


def test_a_name_that_is_no_test_is_found_out() -> None:
    assert "test_every_named_test_exists" in collected("tests/test_faults_page.py")
    assert "test_nothing_of_the_kind" not in collected("tests/test_faults_page.py")
