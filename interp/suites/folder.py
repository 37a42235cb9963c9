"""A suite from a local folder of checkpoints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interp.suites.integrity import weight_files
from interp.suites.suite import Run, Suite
from interp.values import InputError, RunId

_STEP = re.compile(r"(?:global_step|step|checkpoint|iter)[-_]?(\d+)", re.IGNORECASE)
_SEED = re.compile(r"(?:seed|run)[-_]?(\d+)", re.IGNORECASE)
LAYOUTS = (
    "seed<S>/step<N>/ or step<N>/ (also checkpoint-<N>, global_step<N>, iter_<N>), each with config.json and weights"
)

_NOT_SHAPE = {
    "_name_or_path", "torch_dtype", "dtype", "transformers_version", "use_cache", "initializer_range",
    "architectures", "_attn_implementation_autoset",
}  # fmt: skip


def folder_suite(root: Path, name: str | None = None) -> Suite:
    """The suite that a folder holds; `InputError` where it holds no checkpoint or checkpoints of different shapes."""
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; needed: a folder of checkpoints, {LAYOUTS}")
    name = name or root.resolve().name
    seeds = dict(_numbered(root, _SEED))
    runs = [run for seed, folder in seeds.items() if (run := _run(RunId(name, seed), folder, root))]
    original = _run(RunId(name, None), root, root)
    runs += [original] if original else []
    if not runs:
        found = ", ".join(sorted(path.name for path in root.iterdir())[:8]) or "nothing"
        raise InputError(f"{root} holds no checkpoints; found: {found}; needed: {LAYOUTS}")
    for run in runs:
        _check_shapes(run)
    return Suite(name, tuple(runs))


def _run(run_id: RunId, folder: Path, root: Path) -> Run | None:
    steps = dict(_numbered(folder, _STEP))
    present = {step: path for step, path in steps.items() if weight_files(path) and (path / "config.json").is_file()}
    if not present:
        return None
    missing = tuple(step for step in steps if step not in present)
    return Run(run_id, present, _tokenizer_folder([next(iter(present.values())), folder, root]), missing)


def _numbered(folder: Path, pattern: re.Pattern[str]) -> Iterator[tuple[int, Path]]:
    """Sub-folders whose whole name is a number of this pattern, ascending; two of one number are refused."""
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        match = pattern.fullmatch(path.name)
        if match is None or not path.is_dir():
            continue
        number = int(match[1])
        if number in found:
            raise InputError(f"{folder} holds both {found[number].name} and {path.name}: two folders for {number}")
        found[number] = path
    yield from sorted(found.items())


def _tokenizer_folder(candidates: list[Path]) -> Path:
    for folder in candidates:
        if (folder / "tokenizer.json").is_file():
            return folder
    looked = ", ".join(map(str, candidates))
    raise InputError(f"no tokenizer.json beside the checkpoints; looked in {looked}")


def _shape(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in _NOT_SHAPE}


def read_config(folder: Path) -> dict[str, Any]:
    """A checkpoint's config.json; `InputError` where it is not a JSON object."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(config, dict):
        raise InputError(f"{path} holds {type(config).__name__}; needed: a JSON object")
    return config


def _check_shapes(run: Run) -> None:
    first_step = run.steps[0]
    first = _shape(read_config(run.folders[first_step]))
    for step in run.steps[1:]:
        shape = _shape(read_config(run.folders[step]))
        for key in sorted(first.keys() | shape.keys()):
            if first.get(key) != shape.get(key):
                raise InputError(
                    f"{run.id}: config.json differs between steps: {key} is {first.get(key)!r} at step {first_step} "
                    f"and {shape.get(key)!r} at step {step}; the checkpoints of a run must have one shape"
                )
