"""Hashes of weight files are remembered from one process to the next, and never where anything has changed."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from interp import verification
from interp.suites import hashes, suite
from interp.suites.ledger import cache_root
from tests.planted import PlantedRun

LONG_AGO = time.time_ns() - 10**12


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(hashes, "_YOUNG", 0)  # the files of these tests are all young


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read."""
    found: list[Path] = []
    original = hashes.sha256_of

    def counted(path: Path) -> str:
        found.append(path)
        return original(path)

    monkeypatch.setattr(hashes, "sha256_of", counted)
    return found


def anew(path: Path) -> str:
    """The hash as another process finds it."""
    hashes._known.cache_clear()
    return hashes.remembered_sha256(path)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")
    return path


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_file_is_read_once_on_a_machine(weights: Path, read: list[Path]) -> None:
    assert [anew(weights) for _ in range(3)] == [digest(b"weights")] * 3
    assert read == [weights]


def test_what_changed_is_read_again(weights: Path, tmp_path: Path, read: list[Path]) -> None:
    anew(weights)
    times = weights.stat()
    changes = {
        "content of another length": lambda: weights.write_bytes(b"other weights"),
        "content of the same length, its time set back": lambda: (
            weights.write_bytes(b"WEIGHTS"),
            os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns)),
        ),
        "another file in its place": lambda: (
            (tmp_path / "new").write_bytes(b"wEIGHTS"),
            os.replace(tmp_path / "new", weights),
        ),
        "the time alone": lambda: os.utime(weights, ns=(LONG_AGO, LONG_AGO)),
    }
    for number, (what, change) in enumerate(changes.items(), 2):
        time.sleep(0.02)  # longer than the grain of the clock that files are stamped by
        change()
        assert anew(weights) == digest(weights.read_bytes()), what
        assert len(read) == number, what


def test_equal_paths_are_kept_apart_from_other_files(weights: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"WEIGHTS")
    assert anew(weights) != anew(other)
    assert len(list((cache_root() / "hashes").rglob("*.json"))) == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"state": [], "sha256": ""}', '{"state": 5}'])
def test_a_damaged_memory_is_not_trusted(weights: Path, read: list[Path], content: str) -> None:
    anew(weights)
    (kept,) = (cache_root() / "hashes").rglob("*.json")
    kept.write_text(content)
    assert anew(weights) == digest(b"weights")
    assert len(read) == 2


def test_a_memory_of_another_state_is_not_trusted(weights: Path) -> None:
    anew(weights)
    (kept,) = (cache_root() / "hashes").rglob("*.json")
    held = json.loads(kept.read_text())
    held["state"][1] += 1
    kept.write_text(json.dumps(held | {"sha256": "0" * 64}))
    assert anew(weights) == digest(b"weights")


def test_a_young_file_is_not_remembered(weights: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashes, "_YOUNG", 10**12)
    assert anew(weights) == anew(weights) == digest(b"weights")
    assert len(read) == 2


def test_a_cache_that_cannot_be_written_changes_nothing(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "file"))
    assert anew(weights) == digest(b"weights")


def test_verify_reads_every_file_whatever_is_remembered(planted: PlantedRun, read: list[Path]) -> None:
    run = suite(planted.folder).run(0)
    known = dict(run.known)
    for kept in (cache_root() / "hashes").rglob("*.json"):  # as if every file had changed unnoticed
        kept.write_text(json.dumps(json.loads(kept.read_text()) | {"sha256": "0" * 64}))
    hashes._known.cache_clear()
    fooled = suite(planted.folder)
    assert set(fooled.run(0).known.values()) == {"0" * 64}
    read.clear()
    (found,) = verification.verify(fooled)
    assert (found.equal, len(read)) == ((), len(known))
    assert fooled.run(0).known == known
    assert suite(planted.folder).run(0).known == known
