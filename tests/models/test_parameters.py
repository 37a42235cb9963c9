"""The number of weights that a config describes, and its way into a cohort."""

from dataclasses import replace
from pathlib import Path

import pytest

from interp import pipeline
from interp.models.loading import parameters
from interp.report.cohorts import cohort
from interp.store import Store
from interp.suites import suite
from interp.tasks import parse
from tests.planted import PlantedRun


@pytest.mark.parametrize(("name", "documented"), [("nano-3l", 134_336), ("nano-2l", 100_864)])
def test_the_shipped_suites_have_the_documented_size(name: str, documented: int) -> None:
    run = suite(name).runs[0]
    assert parameters(run.at(run.steps[0])) == documented


def test_a_checkpoint_that_is_not_here_has_no_known_size(tmp_path: Path) -> None:
    run = suite("nano-3l").runs[0]
    assert parameters(replace(run.at(run.steps[0]), folder=tmp_path)) is None


def test_a_scan_tells_the_cohort_when_and_how_large(planted: PlantedRun, tmp_path: Path) -> None:
    one = suite(planted.folder)
    store = Store(tmp_path)
    pipeline.scan(one, [parse(str(planted.task))], store)
    row = cohort(store).cohort.iloc[0]
    assert (row["median_pre"], row["median_post"]) == (planted.failing, planted.planted_at)
    assert row["parameters"] == parameters(one.runs[0].at(one.runs[0].steps[0]))
