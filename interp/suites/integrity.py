"""Which checkpoints are the same weights: identity by content, never by name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from interp.suites.hashes import remembered_sha256
from interp.values import InputError

# a whole file before shards, safetensors before pickles; plain names only, so that none climbs out of its folder
_WHOLE = ("model.safetensors", "pytorch_model.bin")
_SHARDS = (r"model-(\d+)-of-(\d+)\.safetensors", r"pytorch_model-(\d+)-of-(\d+)\.bin")
_OTHER = r"(?!adapter_)[\w.-]+\.safetensors"


def weight_names(names: Iterable[str]) -> tuple[str, ...]:
    """Those of a checkpoint's file names that hold its weights, in order; none where there are none or shards lack."""
    there = sorted(names)
    for whole, shard in zip(_WHOLE, _SHARDS, strict=True):
        if whole in there:
            return (whole,)
        shards = [match for name in there if (match := re.fullmatch(shard, name))]
        if shards and {int(match[1]) for match in shards} == set(range(1, int(shards[0][2]) + 1)):
            return tuple(match[0] for match in shards)
    other = [name for name in there if re.fullmatch(_OTHER, name) and not re.fullmatch(_SHARDS[0], name)]
    return tuple(other[:1]) if len(other) == 1 else ()


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The files that hold a checkpoint's weights (see `weight_names`); may be empty."""
    if not folder.is_dir():
        return ()
    return tuple(folder / name for name in weight_names(path.name for path in folder.iterdir()))


def weights_hash(folder: Path, fresh: bool = False) -> str:
    """Sha256 over the contents of a checkpoint's weight files, shard by shard; `fresh`: see `remembered_sha256`."""
    hashes = [remembered_sha256(path, fresh) for path in weight_files(folder)]
    if not hashes:
        raise InputError(f"{folder} holds no weights (model.safetensors or pytorch_model.bin, or all their shards)")
    return combined(hashes)


def combined(hashes: Sequence[str]) -> str:
    """One hash for a checkpoint from those of its weight files, in the order of their names."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def git_blob_of(path: Path) -> str:
    """Git's object id of a file's content: how the Hub names the files that are not in LFS."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


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


def foreign_steps(weights: Mapping[int, str]) -> tuple[int, ...]:
    """Steps whose weights come again after other weights lay between: late weights under an early name."""
    steps = sorted(weights)
    last = {weights[step]: step for step in steps}
    found = []
    for i, step in enumerate(steps):
        until = steps[i : steps.index(last[weights[step]]) + 1]
        if any(weights[between] != weights[step] for between in until):
            found.append(step)
    return tuple(found)
