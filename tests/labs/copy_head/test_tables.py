"""The tables of the copy-head page: what the theory says in them is made again, and every line is whole."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from interp.labs.copy_head import claims, linear, scaling
from interp.labs.copy_head.setting import FIGURE, UNIT
from interp.labs.copy_head.trajectories import Verdict

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def tables() -> Any:
    spec = importlib.util.spec_from_file_location("copy_head_tables", DOCS / "copy_head_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_claims_that_rest_on_the_theory_are_made_again(tables: Any) -> None:
    at = {"family": "unit", "occam": False, "quantity": "P_c"}
    settings = [("vocab", replace(UNIT, length=240, vocab=vocab)) for vocab in (5, 10, 20, 40, 80)]
    settings += [("length", replace(UNIT, length=length)) for length in (30, 60, 120, 240, 480, 960)]
    pooling = [
        at | {"varied": varied, "length": one.length, "vocab": one.vocab, "value": linear.pooling_threshold(one)}
        for varied, one in settings
    ]
    fitted = scaling.fits(pd.DataFrame(pooling))
    rows = [claims._crossover(FIGURE), claims._amount(FIGURE)]
    rows += [claims._scaling(fitted, "P_c", against) for against in ("vocab", "length")]
    made = tables.claims(pd.DataFrame(rows))
    assert set(made) <= set(lines(tables.CLAIMED))
    assert len(made) == 6


def test_every_claim_has_a_number_and_a_verdict(tables: Any) -> None:
    for line in lines(tables.CLAIMED)[2:]:
        _, ours, agrees, by = line.strip("| ").split(" | ")
        assert any(letter.isdigit() for letter in ours)
        assert agrees in ("yes", "partly", "no", "no evidence", "measured", "none seen", "there is one in a_1")
        assert by


def test_error_rates_are_shares(tables: Any) -> None:
    rows = [line.strip("| ").split(" | ") for line in lines(tables.RATES)[2:]]
    assert {(suite, width) for suite, width, *_ in rows} == {
        (suite, f"{width:g}") for suite in ("nano-2l", "nano-3l") for width in tables.WIDTHS
    }
    for _, _, *shares in rows:
        assert len(shares) == len(Verdict)
        assert sum(map(float, shares)) == pytest.approx(1, abs=0.011)


def test_a_planted_rise_is_a_line(tables: Any) -> None:
    path = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9]
    frame = pd.DataFrame([
        {"suite": "s", "seed": 1, "step": 100 * i, "layer": 0, "head": 2, "a_1": 1 - a_g, "a_G": a_g, "sink": 0.0,
         "coverage": 0.8, "previous_token": a_g} for i, a_g in enumerate(path)
    ])  # fmt: skip
    found = tables.rises(frame)
    assert found[2].startswith("| s/seed1 L0H2 | through the middle | 22% | 3 | ")
    assert found[-1] == "- s: 1 heads in 1 of 1 runs; largest a_G of any head at any checkpoint 0.90, at the last 0.90."
