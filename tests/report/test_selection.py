"""Results of other settings, prompts or checkpoints never stand side by side; what is left out is said."""

from dataclasses import replace
from pathlib import Path

import pytest

from interp.report.pair_sentences import answer_of
from interp.report.tables import read
from interp.report.views import Pair
from interp.store import Store
from interp.values import Direction
from tests.report import synthetic
from tests.report.synthetic import Plan, Suite

TINY = Suite("tiny", 2, 2, {"string": {0: Plan("emerged", 600, ("L1H0", "L0H1"), 0.4)}}, prompts=4)
SCAN, PATCH = ("emergence",), ("effects", "heads", "joint")


def only(root: Path) -> tuple[Pair, tuple[str, ...]]:
    view = read([Store(root)])
    assert len(view.pairs) == 1
    return view.pairs[0], view.left_out


@pytest.mark.parametrize(
    ("other", "words"),
    [(replace(TINY, dtype="float64"), "dtype"), (replace(TINY, asked="8 prompts"), "prompts")],
)
def test_a_scan_made_otherwise_does_not_stand_beside_effects(tmp_path: Path, other: Suite, words: str):
    synthetic.write(tmp_path, TINY, PATCH)
    synthetic.write(tmp_path, other, SCAN)
    pair, left_out = only(tmp_path)
    assert pair.outcome is None
    assert pair.grids
    assert left_out == (f"emergence of tiny/seed0 · string: made with other {words} than the newest effects",)
    assert "No scan of this run and task made as the effects were is stored" in answer_of(pair)[0]


def test_the_scan_that_fits_is_taken_though_a_newer_one_does_not(tmp_path: Path):
    synthetic.write(tmp_path, TINY)
    synthetic.write(tmp_path, replace(TINY, dtype="float64"), SCAN)
    pair, left_out = only(tmp_path)
    assert pair.outcome is not None
    assert pair.settings is not None
    assert pair.settings.dtype == "float32"
    assert [said.split(":")[0] for said in left_out] == ["emergence of tiny/seed0 · string"]


def test_the_newest_effects_count_and_older_ones_made_otherwise_are_left_out(tmp_path: Path):
    synthetic.write(tmp_path, TINY)
    stronger = Suite("tiny", 2, 2, {"string": {0: Plan("emerged", 600, ("L1H0",), 0.6)}}, prompts=4, dtype="float64")
    synthetic.write(tmp_path, stronger, (*SCAN, *PATCH))
    pair, left_out = only(tmp_path)
    assert pair.ranking[Direction.DENOISING][0].delta_p == pytest.approx(0.6)
    assert pair.settings is not None
    assert pair.settings.dtype == "float64"
    assert pair.patterns is None
    assert "patterns of tiny/seed0 · string: made with other dtype than the newest results" in left_out


def test_signatures_of_other_settings_are_not_taken_for_those_of_the_run(tmp_path: Path):
    synthetic.write(tmp_path, TINY, (*SCAN, *PATCH))
    synthetic.write(tmp_path, replace(TINY, dtype="float64"), ("signatures",))
    pair, _ = only(tmp_path)
    assert pair.training is None
    assert pair.uniform == {}


def test_a_gap_near_zero_makes_no_claim(tmp_path: Path):
    small = Suite("tiny", 2, 2, {"string": {0: Plan("emerged", 600, ("L1H0",), 0.01, small_gap=True)}}, prompts=4)
    pair = read([synthetic.write(tmp_path, small)]).pairs[0]
    said = answer_of(pair)
    assert said[1] == (
        "In denoising no head can be called causal, since the gap itself is near zero; in noising no head can be "
        "called causal, since the gap itself is near zero."
    )
    assert "too near zero to divide by" in said[2]
