"""The planted run through the whole pipeline: what was planted is what is found."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

import interp
from interp import bench, evaluation, patching, pipeline, signatures
from interp.models import loading
from interp.provenance import Options
from interp.store import Result, Store
from interp.suites import Suite
from interp.tasks import Form, Task, parse
from interp.values import InputError
from tests.planted import HEAD, HEADS, LAYERS, STEPS, PlantedRun, expected_previous_token, plant

BISECTION, GRID = Options(), Options(search="grid")


@dataclass(frozen=True)
class Found:
    suite: Suite
    tasks: list[tuple[Task, Form]]
    store: Store
    heads: pd.DataFrame

    def only(self, kind: str, **facts: str) -> Result:
        (result,) = [one for one in self.store.results(kind) if facts.items() <= one.facts.items()]
        return result

    def tokens(self, role: str) -> list[tuple[int, ...]]:
        return [tuple(map(int, tokens)) for tokens in self.only("prompts", role=role).frame["tokens"]]


@pytest.fixture(scope="module")
def found(planted: PlantedRun, tmp_path_factory: pytest.TempPathFactory) -> Found:
    store = Store(tmp_path_factory.mktemp("store"))
    suite, tasks = interp.suite(planted.folder), [parse(str(planted.task))]
    return Found(suite, tasks, store, pipeline.patch(suite, tasks, store))


@pytest.fixture
def own(tmp_path: Path) -> PlantedRun:
    """A planted run that a test may change."""
    return plant(tmp_path / "own")


def scanned(run: PlantedRun, store: Path, options: Options = BISECTION) -> pd.Series:
    rows = pipeline.scan(interp.suite(run.folder), [parse(str(run.task))], Store(store), options=options)
    assert len(rows) == 1
    return rows.iloc[0]


def step_folder(run: PlantedRun, step: int) -> Path:
    return run.folder / "seed0" / f"step{step}"


@pytest.mark.parametrize("options", [BISECTION, GRID], ids=["bisection", "grid"])
def test_the_scan_returns_the_planted_step(planted: PlantedRun, tmp_path: Path, options: Options) -> None:
    row = scanned(planted, tmp_path, options)
    assert (row["suite"], row["seed"], row["task"], row["status"]) == ("planted", 0, "before_last", "emerged")
    assert (row["pre"], row["post"]) == (planted.failing, planted.planted_at) == (32, 64)
    assert row["share_pre"] < 0.75 <= row["share_post"]
    assert row["p_pre"] < 0.3 < 0.9 < row["p_post"]
    assert row["monotone"]
    # 12 steps: both ends and log2(11) rounded up, or all
    assert len(row["steps"]) == len(list(Store(tmp_path).results("evaluations")))
    assert len(row["steps"]) == len(STEPS) if options is GRID else len(row["steps"]) <= 2 + 4
    passing = [step for step, share in zip(row["steps"], row["shares"], strict=True) if share >= 0.75]
    assert passing == [step for step in row["steps"] if step >= planted.planted_at]


@pytest.mark.parametrize("step", [1, 1024])
def test_any_planted_step_is_found(tmp_path: Path, step: int) -> None:
    run = plant(tmp_path / "run", planted_at=step)
    row = scanned(run, tmp_path / "store")
    assert (row["status"], row["pre"], row["post"]) == ("emerged", run.failing, step)


@pytest.mark.parametrize(("planted_at", "status"), [(0, "from_start"), (2048, "censored")])
def test_what_has_no_bracket_is_given_none_and_nothing_is_patched(tmp_path: Path, planted_at: int, status: str) -> None:
    run = plant(tmp_path / "run", planted_at, steps=(0, 1, 2))
    row = scanned(run, tmp_path / "store")
    assert row["status"] == status
    assert row[["pre", "post", "share_pre", "share_post", "p_pre", "p_post"]].isna().all()
    heads = pipeline.patch(interp.suite(run.folder), [parse(str(run.task))], Store(tmp_path / "store"))
    assert len(heads) == 0
    assert list(Store(tmp_path / "store").results("effects")) == []


def test_each_seed_has_its_own_step(tmp_path: Path) -> None:
    first, second = plant(tmp_path / "a", 64), plant(tmp_path / "b", 4)
    shutil.copytree(second.folder / "seed0", first.folder / "seed1")
    tasks, store = [parse(str(first.task))], Store(tmp_path / "store")
    rows = pipeline.scan(interp.suite(first.folder), tasks, store)
    assert rows[["seed", "pre", "post"]].to_numpy().tolist() == [[0, 32, 64], [1, 2, 4]]
    chosen = pipeline.scan(interp.suite(first.folder), tasks, store, seeds=(1,))
    assert chosen[["seed", "pre", "post"]].to_numpy().tolist() == [[1, 2, 4]]


@pytest.mark.parametrize("direction", ["denoising", "noising"])
def test_the_planted_head_comes_first_in_both_directions(found: Found, direction: str) -> None:
    rows = found.heads[found.heads["direction"] == direction].sort_values("rank")
    assert len(rows) == LAYERS * HEADS
    assert rows["rank"].tolist() == list(range(1, 9))
    first, others = rows.iloc[0], rows.iloc[1:]
    assert (first["layer"], first["head"]) == (HEAD.layer, HEAD.head)
    assert (first["pre"], first["post"], first["task"]) == (32, 64, "before_last")
    sign = 1 if direction == "denoising" else -1
    assert sign * first["delta_p"] > 0.5 > 0.01 > others["delta_p"].abs().max()
    assert first["low"] < first["delta_p"] < first["high"]
    assert min(sign * first["low"], sign * first["high"]) > 0.5


def random_rows() -> list[int]:
    """Rows that count in the repeated random prompts: copies of 6, 12 and all 14 plain tokens, after BOS."""
    return [i for n in (6, 12, 14) for i in range(2, 1 + 2 * n)]


def test_its_signature_is_what_its_formula_gives(found: Found) -> None:
    row = found.heads.query("layer == @HEAD.layer and head == @HEAD.head").iloc[0]
    # biases stored in half precision move the few per cent that go elsewhere by about 1 % of themselves
    expected = np.mean([expected_previous_token(i) for i in random_rows()])
    assert row["previous_token_post"] == pytest.approx(expected, abs=1e-3)
    assert row["previous_token_pre"] == pytest.approx(np.mean([1 / (i + 1) for i in random_rows()]), abs=1e-5)
    assert row["a_1_pre"] == pytest.approx(1, abs=1e-5)
    assert row["a_G_post"] > 0.9


def test_its_label_says_what_it_was_and_what_it_became(found: Found) -> None:
    rows = found.heads.query("layer == @HEAD.layer and head == @HEAD.head")
    assert set(rows["label"]) == {"previous-token"}
    assert set(rows["label_pre"]) == {"uniform"}
    assert not (found.heads.drop(rows.index)["label"] == "previous-token").any()


@pytest.mark.parametrize("direction", ["denoising", "noising"])
def test_the_first_head_recovers_the_gap_and_random_heads_do_not(found: Found, direction: str) -> None:
    rows = found.only("joint").frame.query("direction == @direction")
    top = rows[(rows["set"] == "top") & (rows["k"] == 1)].iloc[0]
    assert list(top["heads"]) == [str(HEAD)]
    assert 0.9 < top["recovered"] < 1.1
    assert top["recovered_low"] > 0.9
    assert abs(top["gap"]) > 0.6
    random = rows[rows["set"] == "random"]
    assert random["recovered"].abs().max() < 0.1
    assert not any(str(HEAD) in heads for heads in random["heads"])
    assert 0.9 < rows[rows["set"] == "all"]["recovered"].iloc[0] < 1.1


def test_the_gap_is_what_the_evaluations_say(found: Found) -> None:
    p = {
        result.facts["step"]: result.frame["p"].to_numpy()
        for result in found.store.results("evaluations")
        if result.facts["role"] == "effect"
    }
    effects = found.only("effects").frame
    assert sorted(p) == [32, 64]
    for direction, recipient, donor in (("denoising", 32, 64), ("noising", 64, 32)):
        one = effects[effects["direction"] == direction].query("layer == 0 and head == 0").sort_values("prompt")
        # one forward pass in two batches of fp32
        assert one["p_recipient"].to_numpy() == pytest.approx(p[recipient], abs=1e-6)
        assert one["p_donor"].to_numpy() == pytest.approx(p[donor], abs=1e-6)


def test_the_sets_are_measured_on_other_prompts_than_they_are_chosen_on(found: Found) -> None:
    effects = found.only("effects").frame
    # the planted head comes first on either half of the prompts, so that the two folds measure it on all of them
    alone = effects.query("direction == 'denoising' and layer == @HEAD.layer and head == @HEAD.head")["delta_p"].mean()
    joint = found.only("joint").frame.query("direction == 'denoising' and k == 1 and set == 'top'").iloc[0]
    # a head alone and a set of one head are one patch, computed in two ways in fp32
    assert joint["delta_p"] == pytest.approx(alone, abs=1e-6)


def test_search_and_effect_prompts_are_disjoint(found: Found) -> None:
    asked = bench.bench(found.suite.run(0), found.tasks, found.store, Options()).asked["before_last"]
    search, effect = ({prompt.tokens for prompt in role.prompts} for role in (asked.search, asked.effect))
    assert (len(search), len(effect)) == (64, 64)
    assert not search & effect
    assert (asked.search.role, asked.effect.role) == ("search", "effect")
    assert (set(found.tokens("search")), set(found.tokens("effect"))) == (search, effect)
    stored = found.only("prompts", role="effect").frame
    # the task's own law: the answer is the token before the last
    assert all(tokens[-2] == answer for tokens, answer in zip(stored["tokens"], stored["answer"], strict=True))


def test_every_table_of_the_design_is_stored_with_its_facts(found: Found) -> None:
    run_and_task = ("effects", "controls", "joint", "heads", "agreement", "patterns")
    for kind in (*run_and_task, "prompts", "emergence", "evaluations", "signatures"):
        results = list(found.store.results(kind))
        assert results
        for result in results:
            needed = {"suite", "seed", "steps", "weights", "tokenizer", "bos", "dtype", "device", "versions", "made"}
            needed |= {"task", "pre", "post"} if kind in run_and_task else set()
            needed |= {"task", "role", "threshold", "ceiling", "task_version"} if kind == "prompts" else set()
            needed |= {"step"} if kind in ("evaluations", "signatures") else set()
            assert needed <= set(result.facts), kind
            assert len(result.frame)


def test_a_pattern_is_stored_as_the_model_has_it(found: Found) -> None:
    result = found.only("patterns")
    model = interp.load(found.suite.run(0).at(64))
    tokens = torch.tensor(found.tokens("effect")[:1])
    expected = model.patterns(tokens)[HEAD.layer, 0, HEAD.head].numpy()
    rows = result.frame.query("end == 'post' and layer == @HEAD.layer and head == @HEAD.head")
    drawn = np.zeros_like(expected)
    drawn[rows["dest"], rows["src"]] = rows["weight"]
    assert np.array_equal(drawn, expected)
    assert len(result.facts["pieces"]) == tokens.shape[1]


def test_a_second_call_computes_nothing(found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    for place, name in (
        (evaluation, "evaluate"),
        (patching, "single"),
        (patching, "joint"),
        (patching, "patterns"),
        (signatures, "Scorer"),
        (loading, "load"),
    ):
        monkeypatch.setattr(place, name, forbidden)
    again = pipeline.patch(found.suite, found.tasks, found.store)
    pd.testing.assert_frame_equal(again, found.heads)
    assert pipeline.scan(found.suite, found.tasks, found.store)["post"].tolist() == [64]


def test_two_stores_hold_equal_numbers(found: Found, tmp_path: Path) -> None:
    again = pipeline.patch(found.suite, found.tasks, Store(tmp_path))
    pd.testing.assert_frame_equal(again, found.heads, check_exact=True)


def test_an_interrupted_scan_keeps_what_is_finished(
    planted: PlantedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, calls = evaluation.evaluate, []

    def stopped(*args: object) -> object:
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(*args)  # pyright: ignore

    monkeypatch.setattr(evaluation, "evaluate", stopped)
    with pytest.raises(KeyboardInterrupt):
        scanned(planted, tmp_path)
    kept = {result.facts["step"] for result in Store(tmp_path).results("evaluations")}
    assert len(kept) == 2
    assert list(Store(tmp_path).results("emergence")) == []
    row = scanned(planted, tmp_path)
    assert (row["pre"], row["post"]) == (32, 64)
    # nothing that was finished was done again: the interrupted call, and then one for each remaining step
    assert len(calls) == 3 + len(row["steps"]) - 2


def test_chosen_ends_take_the_place_of_the_bracket(planted: PlantedRun, tmp_path: Path) -> None:
    store = Store(tmp_path)
    heads = pipeline.patch(interp.suite(planted.folder), [parse(str(planted.task))], store, pre=8, post=512)
    first = heads[heads["rank"] == 1]
    assert first[["pre", "post", "layer", "head"]].to_numpy().tolist() == [[8, 512, HEAD.layer, HEAD.head]] * 2
    assert {result.facts["step"] for result in store.results("evaluations")} == {8, 512}
    assert list(store.results("emergence")) == []


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ({"pre": 64, "post": 2048}, "planted/seed0: steps 64 and 2048 have equal weights"),
        ({"pre": 64}, "--pre and --post choose the two ends together"),
        ({"post": 64}, "--pre and --post choose the two ends together"),
        ({"pre": 64, "post": 32}, "--pre 64 is not before --post 32"),
        ({"pre": 64, "post": 64}, "--pre 64 is not before --post 64"),
        ({"pre": 3, "post": 64}, "no checkpoint at step 3; the nearest are 1, 2, 4"),
    ],
)
def test_ends_that_are_no_two_checkpoints_are_refused(
    own: PlantedRun, tmp_path: Path, ends: dict[str, int], said: str
) -> None:
    shutil.copytree(step_folder(own, 64), step_folder(own, 2048))
    with pytest.raises(InputError, match=said):
        pipeline.patch(interp.suite(own.folder), [parse(str(own.task))], Store(tmp_path / "store"), **ends)


@pytest.mark.parametrize("options", [BISECTION, GRID], ids=["bisection", "grid"])
def test_late_weights_under_early_branches_change_no_bracket(own: PlantedRun, tmp_path: Path, options: Options) -> None:
    for step in (0, 2, 16):
        shutil.copy(step_folder(own, 1024) / "model.safetensors", step_folder(own, step))
    row = scanned(own, tmp_path / "store", options)
    assert (row["status"], row["pre"], row["post"]) == ("emerged", 32, 64)
    (result,) = Store(tmp_path / "store").results("emergence")
    assert result.facts["equal"] == [[0, 2, 16, 1024]]
    assert not {0, 2, 16} & set(row["steps"])


def test_holes_are_recorded_and_the_bracket_stands_beside_them(own: PlantedRun, tmp_path: Path) -> None:
    for step in (32, 64):
        (step_folder(own, step) / "model.safetensors").unlink()
    row = scanned(own, tmp_path / "store")
    assert (row["pre"], row["post"]) == (16, 128)
    (result,) = Store(tmp_path / "store").results("emergence")
    assert result.facts["missing"] == [32, 64]


def test_a_run_of_equal_checkpoints_has_no_bracket_to_find(own: PlantedRun, tmp_path: Path) -> None:
    for step in STEPS[1:]:
        shutil.copy(step_folder(own, 0) / "model.safetensors", step_folder(own, step))
    with pytest.raises(InputError, match="planted/seed0 has 12 checkpoints, 1 with distinct weights"):
        scanned(own, tmp_path / "store")


def test_a_checkpoint_that_is_not_finite_stops_the_scan_and_enters_no_verdict(own: PlantedRun, tmp_path: Path) -> None:
    path = step_folder(own, 128) / "model.safetensors"
    held = load_file(path)
    held["gpt_neox.layers.1.mlp.dense_4h_to_h.bias"][:] = float("nan")
    save_file(held, path)
    with pytest.raises(InputError, match=r"planted/seed0 step 128: the logits are not finite.* come from layer 1"):
        scanned(own, tmp_path / "store", GRID)
    evaluated = {result.facts["step"] for result in Store(tmp_path / "store").results("evaluations")}
    assert evaluated == {step for step in STEPS if step < 128}


def test_weights_that_were_replaced_are_not_met_by_old_results(own: PlantedRun, tmp_path: Path) -> None:
    before = scanned(own, tmp_path / "store")
    for step in (64, 128):
        # a branch that is uploaded again with other weights: here, of before the planted step
        shutil.copy(step_folder(own, 32 if step == 64 else 16) / "model.safetensors", step_folder(own, step))
    after = scanned(own, tmp_path / "store")
    assert (before["pre"], before["post"]) == (32, 64)
    assert after["post"] == 256
    assert after["share_pre"] < 0.75


def test_a_task_that_is_given_twice_is_refused(planted: PlantedRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the task before_last is given twice"):
        pipeline.scan(interp.suite(planted.folder), [parse(str(planted.task))] * 2, Store(tmp_path))


def test_without_bos_the_prompts_have_none_and_results_stand_apart(planted: PlantedRun, tmp_path: Path) -> None:
    assert scanned(planted, tmp_path)["post"] == scanned(planted, tmp_path, Options(bos=False))["post"] == 64
    kept = {result.facts["bos"]: result for result in Store(tmp_path).results("emergence")}
    assert set(kept) == {True, False}
