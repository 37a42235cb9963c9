import json
from pathlib import Path

import pytest

from interp.suites import suite
from interp.training import log
from interp.training.log import LogRow
from interp.training.nano.suite import train_recipe
from interp.training.thin import Thinning, kept_steps, thin
from interp.training.trainer import Watch
from interp.values import InputError
from tests.training.recipes import TINY

SAVED = tuple(range(0, 1001, 100))


def rows(**shares: list[float]) -> list[LogRow]:
    return [
        LogRow(step, 1.0, 0.1, {f"{task}/solved": float(values[i]) for task, values in shares.items()})
        for i, step in enumerate(SAVED)
    ]


def test_the_pair_around_an_emergence_is_kept():
    found = kept_steps(rows(ioi=[0, 0, 0, 0, 0.7, 0.75, 0.8, 1, 1, 1, 1]), SAVED, Thinning((0, 1000), 4, ("ioi",)))
    assert found == {0: "always", 400: "ioi lasting", 500: "ioi lasting", 1000: "always"}


def test_lasting_emergence_comes_before_first():
    up_and_down = [0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1]
    assert list(kept_steps(rows(ioi=up_and_down), SAVED, Thinning((0, 1000), 4, ("ioi",)))) == [0, 600, 700, 1000]
    found = kept_steps(rows(ioi=up_and_down), SAVED, Thinning((0, 1000), 6, ("ioi",)))
    assert found[100] == found[200] == "ioi first"


def test_a_task_that_is_lost_has_only_a_first_pair():
    lost = [0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert kept_steps(rows(ioi=lost), SAVED, Thinning((0,), 3, ("ioi",))) == {
        0: "always",
        100: "ioi first",
        200: "ioi first",
    }


def test_a_pair_is_whole_or_not_at_all():
    found = kept_steps(rows(ioi=[0] * 5 + [1] * 6), SAVED, Thinning((0, 1000), 3, ("ioi",)))
    assert found == {0: "always", 500: "widest gap", 1000: "always"}


def test_gaps_are_halved_until_the_count_is_reached():
    assert list(kept_steps(rows(ioi=[0] * 11), SAVED, Thinning((0, 1000), 5, ("ioi",)))) == [0, 200, 500, 700, 1000]
    assert list(kept_steps(rows(ioi=[0] * 11), SAVED, Thinning((0, 1000), 50, ("ioi",)))) == list(SAVED)


def test_a_thinned_suite_is_a_suite(tmp_path: Path):
    def evaluate(model, step: int) -> dict[str, float]:
        return {"ioi/solved": float(step >= 20)}

    train_recipe(TINY, [0], tmp_path / "full", Watch(every=10, evaluate=evaluate, progress=False))
    thin(tmp_path / "full", tmp_path / "thin", [0], Thinning((0, 30), 4, ("ioi",)))
    run = suite(tmp_path / "thin").run(0)
    assert run.steps == (0, 10, 20, 30)
    assert run.at(20).weights == suite(tmp_path / "full").run(0).at(20).weights
    assert json.loads((tmp_path / "thin/manifest.json").read_text())["seeds"]["0"]["why"]["10"] == "ioi lasting"
    assert [row.step for row in log.read(tmp_path / "thin/seed0")] == [0, 10, 20, 30]
    with pytest.raises(InputError, match="has not finished seed 3"):
        thin(tmp_path / "full", tmp_path / "other", [3], Thinning((0, 30), 4, ("ioi",)))
    with pytest.raises(InputError, match="has no string/solved"):
        thin(tmp_path / "full", tmp_path / "third", [0], Thinning((0, 30), 4, ("string",)))
    with pytest.raises(InputError, match="exists already"):
        thin(tmp_path / "full", tmp_path / "thin", [0], Thinning((0, 30), 4, ("ioi",)))


def test_where_room_is_short_the_first_task_goes_first():
    early, late = [0] * 3 + [1] * 8, [0] * 7 + [1] * 4
    found = kept_steps(rows(ioi=early, string=late), SAVED, Thinning((0,), 3, ("string", "ioi")))
    assert list(found) == [0, 600, 700]
