"""Claims, cross-fitted joint patches, controls and recipient steps on the planted run, whose causal head is known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

import interp
from interp import pipeline
from interp.cli import app
from interp.provenance import Options
from interp.store import Store
from interp.tasks import parse
from interp.values import Head, InputError
from tests.planted import HEAD, HEADS, LAYERS, PlantedRun


@pytest.fixture(scope="module")
def work(planted: PlantedRun, tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Store]:
    store = Store(tmp_path_factory.mktemp("store"))
    options = Options(prompts=32, draws=6, resamples=500)
    task = parse(str(planted.task))
    return pipeline.patch(interp.suite(planted.folder), [task], store, options=options), store


def only(store: Store, kind: str) -> pd.DataFrame:
    (one,) = store.results(kind)
    return one.frame


def test_the_planted_head_alone_is_causal_in_both_directions(work: tuple[pd.DataFrame, Store]) -> None:
    heads, _ = work
    for direction, sign in (("denoising", 1), ("noising", -1)):
        one = heads.loc[heads["direction"] == direction]
        causal = one.loc[one["causal"]]
        assert [Head(row.layer, row.head) for row in causal.itertuples()] == [HEAD]
        row = causal.iloc[0]
        assert row["rank"] == 1
        nearest = row["sim_low"] if sign > 0 else -row["sim_high"]
        assert nearest > 0.5
        assert sign * row["delta_p"] > sign * row["permuted_95"]
        assert sign * row["delta_log_p"] > 1
        assert sign * row["delta_margin"] > 1
        assert row["solved"] == (1 if sign > 0 else 0)
        assert (one["sim_low"] <= one["low"] + 1e-12).all()
        assert one["permuted_95"].notna().sum() == 1  # only candidates have a control


def test_joint_rows_hold_the_curve_and_every_control(work: tuple[pd.DataFrame, Store]) -> None:
    joint = only(work[1], "joint")
    one = joint.loc[joint["direction"] == "denoising"]
    assert set(one["set"]) == {"top", "random", "all", "own", "mismatched", "permuted"}
    top = one.loc[one["set"] == "top"]
    assert list(top["k"]) == [1, 2, 4]
    assert (top["recovered"] > 0.9).all()
    assert list(top["heads"].iloc[0]) == [str(HEAD)]
    assert [list(folds) for folds in top["folds"].head(1)] == [[str(HEAD), str(HEAD)]]
    assert (joint.loc[joint["set"] == "own", ["delta_p", "low", "high"]] == 0).all(axis=None)
    random = one.loc[one["set"] == "random"]
    assert (random["delta_p"].abs() < 0.1).all()
    assert all(str(HEAD) not in heads for heads in random["heads"])
    assert (one.loc[one["set"] == "permuted", "recovered"] < 0.6).all()


def test_mismatched_controls_are_absent_where_layouts_coincide(planted: PlantedRun, tmp_path: Path) -> None:
    # the task's rows say nothing of layouts, so that all prompts of a length share one or differ in what they tell
    options = Options(prompts=6, draws=2, resamples=100)
    store = Store(tmp_path)
    pipeline.patch(interp.suite(planted.folder), [parse(f"{planted.task}")], store, options=options)
    joint = only(store, "joint")
    for values in joint.loc[joint["set"] == "mismatched", "delta_p"]:
        assert np.isfinite(values)


def test_patching_begins_to_work_where_the_values_are_there(planted: PlantedRun, tmp_path: Path) -> None:
    options = Options(prompts=16, draws=2, resamples=200)
    what = interp.suite(planted.folder), [parse(str(planted.task))], Store(tmp_path)
    rows = pipeline.recipients(*what, steps=(0, 32, 64), options=options)
    first = rows.loc[rows["head"] == str(HEAD)].set_index("step")
    assert list(first.index) == [0, 32, 64]
    # the planted head copies from the start and lacks its pattern alone, so that writing it works at every step before
    assert (first.loc[[0, 32], "delta_p"] > 0.5).all()
    assert first.loc[64, "delta_p"] == 0  # the donor itself
    assert set(rows["head"]) >= {"joint", str(HEAD)}


def test_the_command_prints_recipients_and_refuses_nonsense(planted: PlantedRun, tmp_path: Path) -> None:
    command = ["patch", str(planted.folder), "-t", str(planted.task), "-n", "8", "--store", str(tmp_path)]
    done = CliRunner().invoke(app, [*command, "--recipients", "0,32", "--memory", "64MB", "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout[done.stdout.index("[") :])
    assert {row["recipient"] for row in rows} == {0, 32}
    for wrong, said in (
        (["--memory", "lots"], "not an amount of memory"),
        (["--recipients", "x"], "not a list of steps"),
    ):
        refused = CliRunner().invoke(app, [*command, *wrong])
        assert refused.exit_code == 2
        assert said in refused.output
    few = CliRunner().invoke(app, [*command[:-1], str(tmp_path / "new"), "--memory", "1kB"])
    assert few.exit_code == 2
    assert "too few for prompts" in few.output


def test_patch_heads_from_a_task_and_from_ids(planted: PlantedRun) -> None:
    run = interp.suite(planted.folder).run(0)
    pre, post = run.at(planted.failing), run.at(planted.planted_at)
    found = interp.patch_heads(recipient=pre, donor=post, task=str(planted.task), n=16)
    assert found.delta_p.shape == (16, LAYERS, HEADS)
    assert found.top(3)["head"].iloc[0] == str(HEAD)
    assert found.grid().shape == (LAYERS, HEADS)
    np.testing.assert_allclose(found.grid().to_numpy(), found.delta_p.mean(0))
    frame = found.frame
    assert len(frame) == 16 * LAYERS * HEADS
    assert {"prompt", "layer", "head", "delta_p", "delta_log_p", "delta_margin", "solved", "p_donor"} <= set(frame)
    figure = found.figure()
    np.testing.assert_allclose(figure.data[0].z, found.grid().to_numpy())
    assert str(HEAD) in repr(found)
    back = interp.patch_heads(recipient=interp.load(post), donor=interp.load(pre), task=str(planted.task), n=16)
    assert (str(back.direction), back.top(1)["head"].iloc[0]) == ("noising", str(HEAD))
    ids = torch.tensor([[0, 3, 5, 7, 9], [0, 4, 6, 8, 10]])
    some = interp.patch_heads(recipient=pre, donor=post, tokens=ids, answers=[7, 8])
    assert some.delta_p.shape == (2, LAYERS, HEADS)
    with pytest.raises(InputError, match="give either task="):
        interp.patch_heads(recipient=pre, donor=post, tokens=ids)
    with pytest.raises(InputError, match="2 prompts and answers 1"):
        interp.patch_heads(recipient=pre, donor=post, tokens=ids, answers=[7])
