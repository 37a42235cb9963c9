"""Files of a training that are damaged, or in another training's hands: named, with what is to be done."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from interp.training import log
from interp.training.checkpoints import STATE
from interp.training.lock import LOCK, alone
from interp.training.manifest import FINISHED
from interp.training.nano.suite import train_recipe
from interp.training.trainer import Watch
from interp.values import InputError
from tests.training.recipes import TINY
from tests.training.test_training import QUIET, StopError, contents, stop_at

SHORT = replace(TINY, optimisation=replace(TINY.optimisation, updates=10), saved=(0, 5, 10))


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A suite whose seed 0 was stopped after its state of step 5."""
    with pytest.raises(StopError):
        train_recipe(SHORT, [0], tmp_path / "tiny", stop_at(10))
    assert (tmp_path / "tiny" / "seed0" / STATE).is_file()
    return tmp_path / "tiny"


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04", None, {"step": 3}, {"step": "x"}])
def test_a_damaged_state_is_named_with_the_remedy(stopped: Path, content: object) -> None:
    path = stopped / "seed0" / STATE
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is None:
        path.write_bytes(path.read_bytes()[:-500])
    else:
        torch.save(content, path)
    with pytest.raises(InputError, match=r"state.pt is damaged \(.+\); delete it, and this seed is trained from"):
        train_recipe(SHORT, [0], stopped, QUIET)
    path.unlink()
    train_recipe(SHORT, [0], stopped, QUIET)
    assert (stopped / "seed0" / FINISHED).is_file()


def test_a_state_of_another_model_is_named(stopped: Path) -> None:
    path = stopped / "seed0" / STATE
    held = torch.load(path, weights_only=True)
    first = next(iter(held["model"]))
    held["model"][first] = torch.zeros(2, 2)
    torch.save(held, path)
    with pytest.raises(InputError, match=r"state.pt is damaged"):
        train_recipe(SHORT, [0], stopped, QUIET)


@pytest.mark.parametrize("line", ["{", "5", "null", '{"step": 0}', '{"step": "0", "loss": 1, "lr": 1}', "[" * 100_000])
def test_a_damaged_log_is_named_with_its_line(stopped: Path, line: str) -> None:
    path = stopped / "seed0" / log.LOG
    first, *others = path.read_text().splitlines(keepends=True)
    path.write_text("".join([first, line + "\n", *others]))
    with pytest.raises(InputError, match=r"log.jsonl is damaged in line 2 \(.+\); delete that line"):
        train_recipe(SHORT, [0], stopped, QUIET)
    path.write_text("".join([first, *others]))
    train_recipe(SHORT, [0], stopped, QUIET)
    assert [row.step for row in log.read(stopped / "seed0")] == [0, 5, 10]


def test_a_line_that_was_being_written_is_none(stopped: Path, tmp_path: Path) -> None:
    with (stopped / "seed0" / log.LOG).open("a") as file:
        file.write('{"step": 8, "lo')
    train_recipe(SHORT, [0], stopped, QUIET)
    train_recipe(SHORT, [0], tmp_path / "other", QUIET)
    assert contents(stopped) == contents(tmp_path / "other")


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"steps": 5, "environment": {}}', b"\xff"])
def test_a_damaged_finished_seed_is_named_before_anything_is_trained(tmp_path: Path, content: bytes) -> None:
    train_recipe(SHORT, [0], tmp_path / "tiny", QUIET)
    (tmp_path / "tiny" / "seed0" / FINISHED).write_bytes(content)
    with pytest.raises(InputError, match=r"finished.json is damaged \(.+\); delete it"):
        train_recipe(SHORT, [0, 1], tmp_path / "tiny", QUIET)
    assert not (tmp_path / "tiny" / "seed1").exists()


def test_folders_that_only_look_like_seeds_are_passed_over(tmp_path: Path) -> None:
    train_recipe(SHORT, [0], tmp_path / "tiny", QUIET)
    (tmp_path / "tiny" / "seed-old").mkdir()
    (tmp_path / "tiny" / "seed-old" / FINISHED).write_text("{}")
    train_recipe(SHORT, [0], tmp_path / "tiny", QUIET)
    assert (tmp_path / "tiny" / "seed-old" / FINISHED).read_text() == "{}"


def test_a_seed_is_trained_once_at_a_time(stopped: Path) -> None:
    with alone(stopped / "seed0"), pytest.raises(InputError, match="seed0 is being trained by another process"):
        train_recipe(SHORT, [0], stopped, Watch(progress=False))
    train_recipe(SHORT, [0], stopped, QUIET)
    assert not (stopped / "seed0" / LOCK).exists()


def test_a_process_that_is_killed_leaves_nothing_locked(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom interp.training.lock import alone\n"
        "with alone(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InputError, match="by another process"), alone(tmp_path):
        raise AssertionError("it is held")
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    begun = time.monotonic()
    with alone(tmp_path):
        assert time.monotonic() - begun < 5
