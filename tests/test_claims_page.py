"""The page of claims: its emergence half is made again, and every line has a number and a verdict."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import interp

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def claims() -> Any:
    spec = importlib.util.spec_from_file_location("claims", DOCS / "claims.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["claims"] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def lines() -> list[str]:
    return (DOCS / "claims_table.md").read_text(encoding="utf-8").splitlines()


def test_every_claim_has_its_line_with_a_verdict(claims: Any) -> None:
    every = (*claims.EMERGENCE, *claims.HEADS)
    assert len(lines()) == 2 + len(every)
    for claim, line in zip(every, lines()[2:], strict=True):
        said, grade, number, verdict = line.strip("| ").split(" | ")
        assert (said, grade) == (claim.says, claim.grade)
        assert any(letter.isdigit() for letter in number)
        assert verdict.strip("*") in ("agrees", "agrees in part", "does not agree", "cannot be told here")


@pytest.mark.slow
def test_the_emergence_half_is_what_the_shipped_suites_say(claims: Any, tmp_path: Path) -> None:
    store = interp.Store(tmp_path)
    known = claims.Numbers(claims.scanned(store), pd.DataFrame(), pd.DataFrame())
    assert claims.rows(claims.EMERGENCE, known) == lines()[2 : 2 + len(claims.EMERGENCE)]


def test_a_mean_is_over_runs_and_not_over_pairs(claims: Any) -> None:
    # two runs of opposite values: whatever number of pairs each has, a resample holds one run's value or both
    index = pd.MultiIndex.from_product([[0, 1], range(50)], names=["seed", "task"])
    assert claims.mean(pd.Series([0.0] * 50 + [1.0] * 50, index)) == "0.50 [0.00, 1.00]"


def test_shares_have_wilsons_interval(claims: Any) -> None:
    # 1 of 2 at z = 1.96: (1/2 ± .393) of Wilson's formula by hand: centre .5, half width z √(.125 + z²/16) / (1 + z²/2)
    assert claims.share(1, 2) == "1 of 2 (50%; 9% to 91%)"
