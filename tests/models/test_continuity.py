"""Which moves of a run's weights are out of line, on trajectories whose faults are put there."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from interp.models.continuity import breaks, leaps, moves
from interp.suites import suite
from interp.verification import verify

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)


def trajectory(seed: int = 0) -> dict[int, torch.Tensor]:
    """A walk from a random start whose strides grow with the logarithm of the step, as in training."""
    generator = torch.Generator().manual_seed(seed)
    at, found = torch.randn(64, 64, generator=generator), {}
    for i, step in enumerate(STEPS):
        found[step] = at = at + 0.02 * (1 + i) * torch.randn(64, 64, generator=generator)
    return found


def written(folder: Path, weights: dict[int, torch.Tensor]) -> dict[int, Path]:
    (folder / "run").mkdir()
    (folder / "run" / "tokenizer.json").write_text("{}")
    for step, matrix in weights.items():
        place = folder / "run" / f"step{step}"
        place.mkdir()
        save_file({"a.weight": matrix.contiguous(), "a.bias": torch.ones(64)}, place / "model.safetensors")
        (place / "config.json").write_text(json.dumps({"model_type": "gpt_neox"}))
    return {step: folder / "run" / f"step{step}" for step in weights}


def test_an_honest_run_has_no_leap_and_no_break(tmp_path: Path) -> None:
    folders = written(tmp_path, trajectory())
    assert (leaps(folders), breaks(moves(folders))) == ((), ())
    (found,) = verify(suite(tmp_path / "run"))
    assert (found.compared, found.discontinuous, found.orphans, found.suspect) == (10, (), (), ())


def test_the_change_is_relative_to_the_weights_before(tmp_path: Path) -> None:
    one = torch.randn(64, 64, generator=torch.Generator().manual_seed(0))
    (move,) = moves(written(tmp_path, {0: one, 1: 1.25 * one}))
    assert move.change == pytest.approx(0.25, rel=1e-5)
    assert move.correlation == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("step", STEPS[1:-1])
def test_foreign_weights_in_the_middle_are_found(tmp_path: Path, step: int) -> None:
    folders = written(tmp_path, trajectory() | {step: trajectory(seed=1)[step]})
    assert step in leaps(folders)
    (found,) = verify(suite(tmp_path / "run"))
    assert step in found.discontinuous or any(step in pair for pair in found.orphans)
    assert found.suspect


def test_a_step_0_that_the_run_does_not_descend_from_is_found(tmp_path: Path) -> None:
    written(tmp_path, trajectory() | {0: trajectory(seed=1)[0]})
    (found,) = verify(suite(tmp_path / "run"))
    assert found.orphans == ((0, 1),)
    assert "step 1 does not descend from step 0" in found.suspect


def test_late_weights_under_an_early_name_are_found_by_their_hash(tmp_path: Path) -> None:
    weights = trajectory()
    written(tmp_path, weights | {0: weights[256], 4: weights[256]})
    (found,) = verify(suite(tmp_path / "run"))
    assert (found.equal, found.equal_to_final, found.foreign) == (((0, 4, 256),), (0, 4), (0, 4))


def test_equal_neighbours_are_listed_and_no_fault(tmp_path: Path) -> None:
    weights = trajectory()
    written(tmp_path, weights | {1: weights[0], 2: weights[0]})
    (found,) = verify(suite(tmp_path / "run"))
    assert (found.equal, found.suspect, found.compared) == (((0, 1, 2),), (), 8)
