"""The planted run traced: its head changes in the bracket, nothing else does, and no checkpoint is visited twice."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import interp
from interp import evaluation, observing, pipeline, signatures
from interp.cli import app
from interp.models import loading
from interp.pipeline import Traced
from interp.provenance import Options
from interp.store import Store
from interp.tasks import parse
from interp.values import InputError
from tests.planted import HEAD, STEPS, PlantedRun, expected_previous_token, plant

GRID = Options(search="grid", draws=5, resamples=200)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def traced(planted: PlantedRun, store: Store) -> Traced:
    return pipeline.trace(interp.suite(planted.folder), [parse(str(planted.task))], store, options=GRID)


def changes(traced: Traced, score: str, prompts: str = "random") -> pd.DataFrame:
    return traced.changes.query("score == @score and prompts == @prompts")


@pytest.mark.parametrize("prompts", ["random", "task"])
def test_the_planted_head_becomes_previous_token_in_the_bracket_and_no_other_does(traced: Traced, prompts: str) -> None:
    rows = changes(traced, "previous_token", prompts)
    changed = rows.query("verdict != 'none'")
    assert changed[["layer", "head", "verdict", "from_step", "to_step", "task", "relation"]].to_numpy().tolist() == [
        [HEAD.layer, HEAD.head, "abrupt", 32, 64, "before_last", "in"]
    ]
    assert len(rows) == 8
    # biases in half precision move the score by less than 1e-3
    if prompts == "random":
        counted = [i for n in (6, 12, 14) for i in range(2, 1 + 2 * n)]
        assert changed["to_value"].item() == pytest.approx(
            np.mean([expected_previous_token(i) for i in counted]), abs=1e-3
        )
        assert changed["from_value"].item() == pytest.approx(np.mean([1 / (i + 1) for i in counted]), abs=1e-4)


def test_its_entropy_falls_and_its_weights_copied_before_its_pattern_came(traced: Traced) -> None:
    head = f"layer == {HEAD.layer} and head == {HEAD.head}"
    entropy = changes(traced, "entropy_ratio").query(head).iloc[0]
    assert (entropy["verdict"], entropy["before"], entropy["after"]) == (
        "abrupt", pytest.approx(1, abs=1e-3), pytest.approx(0, abs=0.05)
    )  # fmt: skip
    # its value and output weights copy from the first step on, with noise of a hundredth of their size
    copying = changes(traced, "ov_copying").query(head).iloc[0]
    assert (copying["verdict"], copying["before"]) == ("none", pytest.approx(1, abs=0.1))


def test_the_rise_lies_in_one_interval_so_that_only_a_bound_is_given(traced: Traced) -> None:
    rows = traced.onsets.set_index("measure")
    assert set(rows["verdict"]) == {"coarse"}
    assert rows[["at_least", "at_most", "jump_from", "jump_to"]].drop_duplicates().to_numpy().tolist() == [
        [0, 1, 32, 64]
    ]
    assert not rows["artefact"].any()
    steps = rows.loc["lasting", "prompt_steps"]
    assert (len(steps), Counter(map(int, steps)).most_common(1)[0][0]) == (64, 64)


def test_curves_are_what_the_scan_says(traced: Traced) -> None:
    scanned = traced.emergence.iloc[0]
    assert traced.curves["step"].tolist() == list(scanned["steps"]) == list(STEPS)
    assert traced.curves["share"].tolist() == list(scanned["shares"])
    assert traced.curves["p"].to_numpy() == pytest.approx(np.array(scanned["ps"]), abs=1e-12)
    assert (traced.curves["share_low"] <= traced.curves["share"]).all()


def test_nothing_is_said_of_agreement_before_patching(traced: Traced) -> None:
    assert len(traced.agreement) == len(traced.agreement_seeds) == 0


def test_every_checkpoint_is_loaded_once_by_the_scan_and_once_by_the_trace(
    planted: PlantedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swaps: Counter[int] = Counter()
    original = loading.Loader.__call__

    def counted(loader: loading.Loader, checkpoint: object) -> object:
        swaps[checkpoint.step] += loader._model is None or loader._model.checkpoint.weights != checkpoint.weights
        return original(loader, checkpoint)

    monkeypatch.setattr(loading.Loader, "__call__", counted)
    pipeline.trace(interp.suite(planted.folder), [parse(str(planted.task))], Store(tmp_path), options=GRID)
    assert max(swaps.values()) <= 2
    assert set(swaps) == set(STEPS)


def test_a_second_call_computes_nothing(
    planted: PlantedRun, store: Store, traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    for place, name in ((evaluation, "evaluate"), (loading, "load"), (observing, "_scorer"), (signatures, "Scorer")):
        monkeypatch.setattr(place, name, forbidden)
    again = pipeline.trace(interp.suite(planted.folder), [parse(str(planted.task))], store, options=GRID)
    for one, other in zip(again, traced, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_further_steps_are_evaluated_beside_the_scans(planted: PlantedRun, tmp_path: Path) -> None:
    suite, tasks = interp.suite(planted.folder), [parse(str(planted.task))]
    bare = Options(probes=0)

    def traced(steps: list[int] | None = []) -> list[int]:  # noqa: B006 - not changed
        return pipeline.trace(suite, tasks, Store(tmp_path), steps=steps, options=bare).curves["step"].tolist()

    by_scan = traced()
    assert len(by_scan) < len(STEPS)
    further = next(step for step in STEPS if step not in by_scan)
    assert traced([further]) == sorted([*by_scan, further])
    assert traced(None) == list(STEPS)
    with pytest.raises(InputError, match="no checkpoint at step 3"):
        pipeline.trace(suite, tasks, Store(tmp_path), steps=[3])


@pytest.fixture(scope="module")
def two_seeds(tmp_path_factory: pytest.TempPathFactory) -> tuple[PlantedRun, Path]:
    """A suite of two seeds whose task comes at different steps, patched."""
    folder = tmp_path_factory.mktemp("seeds")
    first, second = plant(folder / "a", 64, steps=(0, 16, 32, 64)), plant(folder / "b", 32, steps=(0, 16, 32, 64))
    shutil.copytree(second.folder / "seed0", first.folder / "seed1")
    pipeline.patch(interp.suite(first.folder), [parse(str(first.task))], Store(folder / "store"), options=Options())
    return first, folder / "store"


def test_the_head_that_matters_is_the_one_that_changed_in_every_seed(two_seeds: tuple[PlantedRun, Path]) -> None:
    run, store = two_seeds
    found = pipeline.trace(interp.suite(run.folder), [parse(str(run.task))], Store(store))
    rows = found.agreement.query("score == 'previous_token'")
    assert len(rows) == 4  # two seeds, two directions
    assert set(rows["k"]) == {1}
    assert set(rows["precision"]) == {1}
    # one head of four in its layer: by chance a quarter
    assert rows["precision_layer"].to_numpy() == pytest.approx(np.full(4, 0.25), abs=0.05)
    assert (rows["p_holm"] >= rows["p_layer"]).all()
    seeds = found.agreement_seeds.query("score == 'previous_token'")
    assert seeds["task"].tolist() == ["before_last"] * 2
    assert [list(one) for one in seeds["seeds"]] == [[0, 1]] * 2
    assert (seeds["alike"] > 0.99).all()
    assert (seeds["alike_layer"] < 0.8).all()


def test_seeds_of_other_shapes_are_not_compared() -> None:
    def heads(layers: int, per_layer: int) -> pd.DataFrame:
        grid = [(layer, head) for layer in range(layers) for head in range(per_layer)]
        return pd.DataFrame(grid, columns=["layer", "head"])

    assert pipeline.of_one_shape([heads(3, 4), heads(2, 4), heads(3, 4)]) == [0, 2]


def test_the_command_tells_when_and_which_head(two_seeds: tuple[PlantedRun, Path]) -> None:
    run, store = two_seeds
    command = ["trace", str(run.folder), "--task", str(run.task), "--store", str(store)]
    told = CliRunner().invoke(app, command)
    assert told.exit_code == 0, told.output
    assert "≤ 1.00" in told.stdout
    (line,) = [line for line in told.stdout.splitlines() if "planted/seed1" in line and str(HEAD) in line]
    assert line.split()[2:6] == ["previous-token", "abrupt", "16", "…"]
    assert "p_holm" in told.stdout
    printed = CliRunner().invoke(app, [*command, "--json"])
    tables = json.loads(printed.stdout)
    assert list(tables) == list(Traced._fields)
    assert {row["run"] for row in tables["curves"]} == {"planted/seed0", "planted/seed1"}
    assert tables["onsets"][0]["doublings"] is None
    wrong = CliRunner().invoke(app, [*command, "--steps", "1,x"])
    assert wrong.exit_code == 2
    assert "not a list of steps" in wrong.stderr
