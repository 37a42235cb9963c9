"""A suite from a local folder: of checkpoints, of runs, or of repositories in a Hub cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from interp.suites.branches import SEED, STEP, numbered
from interp.suites.config import difference, read_config, shape_digest
from interp.suites.integrity import weight_files, weights_hash
from interp.suites.suite import Run, Suite
from interp.values import Checkpoint, InputError, RunId

LAYOUTS = (
    "seed<S>/step<N>/ or step<N>/ (also step_<N>, checkpoint-<N>, global_step<N>, iter_<N>), each with config.json and "
    "weights; or a repository's folder in a Hub cache (models--owner--name)"
)
_CACHED_SEED = re.compile(r"models--(?P<owner>[\w.-]+?)--(?P<base>[\w.-]+?)(?:[-_]?seed[-_]?(?P<seed>\d+))?")


@dataclass(frozen=True)
class FolderRun(Run):
    """A run whose checkpoints lie in folders."""

    id: RunId
    folders: Mapping[int, Path]
    tokenizer_folder: Path
    holes: tuple[int, ...] = ()

    @property
    def tokenizer(self) -> Path:
        """See `Run.tokenizer`."""
        return self.tokenizer_folder

    @property
    def missing(self) -> tuple[int, ...]:
        """See `Run.missing`."""
        return self.holes

    @property
    def shape(self) -> str:
        """See `Run.shape`; the checkpoints of a run have one."""
        return shape_digest(next(iter(self.folders.values())))

    @property
    def steps(self) -> tuple[int, ...]:
        """See `Run.steps`."""
        return tuple(self.folders)

    @cached_property
    def known(self) -> Mapping[int, str]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See `Run.known`: every step; the files are read once, and again only where they have changed."""
        return {step: weights_hash(folder) for step, folder in self.folders.items()}

    def read_again(self) -> None:
        """See `Run.read_again`."""
        vars(self)["known"] = {step: weights_hash(folder, fresh=True) for step, folder in self.folders.items()}

    def at(self, step: int) -> Checkpoint:
        """See `Run.at`."""
        if step not in self.folders:
            raise self.no_step(step)
        folder = self.folders[step]
        return Checkpoint(self.id, step, folder, self.tokenizer, weights_hash(folder))

    def __repr__(self) -> str:
        return Run.__repr__(self)


def folder_suite(root: Path, name: str | None = None) -> Suite:
    """The suite that a folder holds; `InputError` where it holds no checkpoint or checkpoints of different shapes."""
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; needed: a folder of checkpoints, {LAYOUTS}")
    name = name or root.resolve().name
    runs = [*_cached_repositories(root, name), *_plain(root, name)]
    if not runs:
        found = ", ".join(sorted(path.name for path in root.iterdir())[:8]) or "nothing"
        raise InputError(f"{root} holds no checkpoints; found: {found}; needed: {LAYOUTS}")
    for run in runs:
        _check_shapes(run)
    return Suite(name, tuple(runs))


def _plain(root: Path, name: str) -> Iterator[FolderRun]:
    for seed, folder in _folders(root, SEED).items():
        run = _run(RunId(name, seed), _folders(folder, STEP), [folder, root])
        if run:
            yield run
    original = _run(RunId(name, None), _folders(root, STEP), [root])
    if original:
        yield original


def _cached_repositories(root: Path, name: str) -> Iterator[FolderRun]:
    """Runs of a Hub cache: the repository whose folder this is, or those that it holds, if they are of one family."""
    if (root / "snapshots").is_dir():
        found = {None: root}
    else:
        matches = [m for path in sorted(root.glob("models--*--*")) if (m := _CACHED_SEED.fullmatch(path.name))]
        families = {f"{match['owner']}/{match['base']}" for match in matches}
        if len(families) > 1:
            raise InputError(
                f"{root} holds repositories of several suites ({', '.join(sorted(families)[:5])}); "
                "give one repository's folder"
            )
        found = {int(match["seed"]) if match["seed"] else None: root / match[0] for match in matches}
    for seed, folder in sorted(found.items(), key=lambda item: (item[0] is None, item[0] or 0)):
        commits = {step: folder / "snapshots" / commit for step, commit in cached_branches(folder).items()}
        run = _run(RunId(name, seed), commits, [])
        if run:
            yield run


def cached_branches(folder: Path) -> dict[int, str]:
    """Step → commit as far as a repository's folder in a Hub cache tells (its `refs`)."""
    refs = folder / "refs"
    names = [path.name for path in refs.iterdir() if path.is_file()] if refs.is_dir() else []
    steps = numbered(names, STEP, str(refs))
    commits = {step: (refs / name).read_text().strip() for step, name in steps.items()}
    return {step: commit for step, commit in commits.items() if re.fullmatch(r"[0-9a-f]{40}", commit)}


def _run(run_id: RunId, steps: Mapping[int, Path], around: list[Path]) -> FolderRun | None:
    present = {step: path for step, path in steps.items() if weight_files(path) and (path / "config.json").is_file()}
    if not present:
        return None
    missing = tuple(step for step in steps if step not in present)
    return FolderRun(run_id, present, _tokenizer_folder([next(iter(present.values())), *around]), missing)


def _folders(root: Path, pattern: str) -> dict[int, Path]:
    names = [path.name for path in root.iterdir() if path.is_dir()]
    return {number: root / name for number, name in numbered(names, pattern, str(root), "folders").items()}


def _tokenizer_folder(candidates: list[Path]) -> Path:
    for folder in candidates:
        if (folder / "tokenizer.json").is_file():
            return folder
    looked = ", ".join(map(str, candidates))
    raise InputError(f"no tokenizer.json beside the checkpoints; looked in {looked}")


def _check_shapes(run: FolderRun) -> None:
    first_step = run.steps[0]
    first = read_config(run.folders[first_step])
    for step in run.steps[1:]:
        config = read_config(run.folders[step])
        key = difference(first, config)
        if key:
            raise InputError(
                f"{run.id}: config.json differs between steps: {key} is {first.get(key)!r} at step {first_step} "
                f"and {config.get(key)!r} at step {step}; the checkpoints of a run must have one shape"
            )
