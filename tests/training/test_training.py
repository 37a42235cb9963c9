import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from interp.suites import suite
from interp.training import log
from interp.training.checkpoints import STATE
from interp.training.nano.suite import train, train_recipe
from interp.training.trainer import Watch, batch_rows
from interp.values import InputError
from tests.training.recipes import TINY


class StopError(Exception):
    """What an interruption is in these tests."""


def evaluate(model, step: int) -> dict[str, float]:
    torch.rand(3)  # a callback that draws random numbers must not change the run
    return {
        "first/solved": float(step >= 10),
        "weight": model.gpt_neox.embed_in.weight.detach().double().sum().item(),
    }


QUIET = Watch(every=5, evaluate=evaluate, progress=False)


def stop_at(stop: int) -> Watch:
    def interrupted(model, step: int) -> dict[str, float]:
        if step == stop:
            raise StopError
        return evaluate(model, step)

    return replace(QUIET, evaluate=interrupted)


def contents(folder: Path) -> dict[str, str]:
    """Every file's hash."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "tiny"
    train_recipe(TINY, [0, 1], out, QUIET)
    return out


def test_trained_twice_gives_the_same_bytes(trained: Path, tmp_path: Path):
    train_recipe(TINY, [0, 1], tmp_path / "tiny", QUIET)
    assert contents(tmp_path / "tiny") == contents(trained)


@pytest.mark.parametrize("stop", [0, 5, 15, 20, 30])
def test_interrupted_and_resumed_gives_the_same_bytes(trained: Path, tmp_path: Path, stop: int):
    out = tmp_path / "tiny"
    with pytest.raises(StopError):
        train_recipe(TINY, [0], out, stop_at(stop))
    train_recipe(TINY, [0], out, QUIET)
    assert contents(out / "seed0") == contents(trained / "seed0")
    assert not (out / "seed0" / STATE).exists()


def test_what_is_evaluated_does_not_change_the_weights(trained: Path, tmp_path: Path):
    train_recipe(TINY, [0], tmp_path / "tiny", Watch(every=7, progress=False))
    for step in TINY.saved:
        file = f"seed0/step{step}/model.safetensors"
        assert (tmp_path / "tiny" / file).read_bytes() == (trained / file).read_bytes()


def test_finished_seeds_are_left_alone(trained: Path):
    before = {path: path.stat().st_mtime_ns for path in trained.glob("seed*/**/*")}
    train_recipe(TINY, [0, 1], trained, stop_at(0))
    assert {path: path.stat().st_mtime_ns for path in trained.glob("seed*/**/*")} == before


def test_seeds_differ_in_weights_and_in_order(trained: Path):
    first, other = (trained / f"seed{seed}/step0/model.safetensors" for seed in (0, 1))
    assert first.read_bytes() != other.read_bytes()
    assert batch_rows(1, 40, 8, seed=0).tolist() != batch_rows(1, 40, 8, seed=1).tolist()


def test_a_pass_over_the_rows_visits_each_once():
    order = torch.cat([batch_rows(step, 43, 8, seed=0) for step in range(1, 11)]).tolist()
    first, second = order[:40], order[40:]
    assert len(set(first)) == len(set(second)) == 40  # three of 43 rows fill no batch
    assert first != second


def test_each_step_is_a_model_that_transformers_loads(trained: Path):
    for step in TINY.saved:
        model = AutoModelForCausalLM.from_pretrained(trained / f"seed0/step{step}")
        assert model.dtype == torch.float32
        with torch.no_grad():
            logits = model(torch.tensor([[0, 19, 69, 31, 70]])).logits
        assert torch.isfinite(logits).all()
        assert logits.shape == (1, 5, 264)


def test_the_log_says_what_the_files_hold(trained: Path):
    rows = {row.step: row for row in log.read(trained / "seed0")}
    assert sorted(rows) == [0, 5, 10, 15, 20, 25, 30]
    assert rows[0].loss is None
    assert rows[30].loss < rows[5].loss
    for step in (0, 10, 30):
        model = AutoModelForCausalLM.from_pretrained(trained / f"seed0/step{step}")
        assert rows[step].evaluation == evaluate(model, step)


def test_the_folder_is_a_suite_like_any_other(trained: Path):
    found = suite(trained)
    assert found.seeds == (0, 1)
    assert found.run(1).steps == TINY.saved
    assert found.run(1).tokenizer == trained


def test_the_manifest_says_how_it_was_made(trained: Path):
    manifest = json.loads((trained / "manifest.json").read_text())
    assert manifest["name"] == "tiny"
    assert manifest["recipe"]["optimisation"]["updates"] == 30
    assert len(manifest["corpus"]) == len(manifest["tokenizer"]) == 64
    assert set(manifest["seeds"]) == {"0", "1"}
    made = manifest["seeds"]["0"]
    assert made["steps"] == list(TINY.saved)
    assert made["environment"]["torch"] == torch.__version__
    assert made["environment"]["threads"] == "1"
    assert manifest["tokenizer"] == hashlib.sha256((trained / "tokenizer.json").read_bytes()).hexdigest()


def test_threads_and_random_numbers_are_as_before(tmp_path: Path):
    threads = torch.get_num_threads()
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    train_recipe(replace(TINY, name="once"), [0], tmp_path / "once", Watch(progress=False))
    assert torch.equal(torch.rand(2), expected)
    assert torch.get_num_threads() == threads


def test_a_folder_of_another_recipe_is_refused(trained: Path):
    other = replace(TINY, width=32)
    with pytest.raises(InputError, match=r"another suite: its recipe\.width is 16, this one's is 32"):
        train_recipe(other, [0], trained, QUIET)


def test_a_folder_of_other_things_is_refused(tmp_path: Path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match=r"no manifest\.json"):
        train_recipe(TINY, [0], tmp_path, QUIET)
    with pytest.raises(InputError, match="is a file"):
        train_recipe(TINY, [0], tmp_path / "letter.txt", QUIET)


def test_a_run_is_not_continued_in_another_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out = tmp_path / "tiny"
    with pytest.raises(StopError):
        train_recipe(TINY, [0], out, stop_at(15))
    elsewhere = {"torch": "1.0"}
    monkeypatch.setattr("interp.training.trainer.environment", lambda threads: elsewhere)
    with pytest.raises(InputError, match="gives other weights"):
        train_recipe(TINY, [0], out, QUIET)


def test_an_unknown_size_is_answered_with_the_nearest(tmp_path: Path):
    with pytest.raises(InputError, match="did you mean nano-"):
        train("nano-3", [0], tmp_path / "out")
    assert os.listdir(tmp_path) == []
