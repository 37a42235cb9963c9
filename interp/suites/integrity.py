"""Which checkpoints are the same weights: identity by content, never by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from interp.values import InputError

WEIGHT_FILES = ("*.safetensors", "pytorch_model*.bin")


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The files that hold a checkpoint's weights: safetensors if there are any, else `.bin`; may be empty."""
    for pattern in WEIGHT_FILES:
        files = tuple(sorted(folder.glob(pattern)))
        if files:
            return files
    return ()


def weights_hash(folder: Path) -> str:
    """Sha256 over the contents of a checkpoint's weight files, shard by shard."""
    hashes = [_file_hash(path, path.stat().st_mtime_ns, path.stat().st_size) for path in weight_files(folder)]
    if not hashes:
        raise InputError(f"{folder} holds no weights (model.safetensors or pytorch_model.bin)")
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


@lru_cache(maxsize=4096)
def _file_hash(path: Path, _modified: int, _size: int) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def equal_steps(weights: Mapping[int, str]) -> tuple[tuple[int, ...], ...]:
    """Groups of two or more steps of one run with equal weights, each ascending."""
    groups: dict[str, list[int]] = {}
    for step in sorted(weights):
        groups.setdefault(weights[step], []).append(step)
    return tuple(tuple(steps) for steps in groups.values() if len(steps) > 1)


def distinct_steps(weights: Mapping[int, str]) -> tuple[int, ...]:
    """The steps to search: one for each distinct set of weights, ascending.

    Neighbouring equal steps count as their earliest. Where equal weights stand apart (other weights lie between), the
    earlier ones are taken to be foreign (a suite once served late weights under early branches) and only the last
    stretch counts, so that late weights are never met at an early step.
    """
    steps = sorted(weights)
    starts = [step for i, step in enumerate(steps) if i == 0 or weights[step] != weights[steps[i - 1]]]
    last_start = {weights[step]: step for step in starts}
    kept = sorted(last_start.values())
    return tuple(step for i, step in enumerate(kept) if i == 0 or weights[step] != weights[kept[i - 1]])
