"""The manifest of a trained suite: by which recipe, which seeds are done, and in what environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interp.values import InputError

MANIFEST = "manifest.json"
FINISHED = "finished.json"
_SEED = re.compile(r"seed(\d{1,18})")


@dataclass(frozen=True)
class Finished:
    """A seed that is done: its steps, what made it, and, where it was thinned, why each step was kept."""

    steps: tuple[int, ...]
    environment: Mapping[str, str]
    why: Mapping[int, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        plain = {"steps": list(self.steps), "environment": dict(self.environment)}
        return plain | ({"why": {str(step): reason for step, reason in self.why.items()}} if self.why else {})

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Finished:
        """From JSON values."""
        why = {int(step): reason for step, reason in plain.get("why", {}).items()}
        return cls(tuple(plain["steps"]), plain["environment"], why)


@dataclass(frozen=True)
class Manifest:
    """What a suite's folder says about itself.

    `recipe` holds plain JSON values and is compared as a whole; `corpus` and `tokenizer` are sha256.
    """

    name: str
    recipe: Mapping[str, Any]
    corpus: str
    tokenizer: str
    seeds: Mapping[int, Finished] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The text of manifest.json."""
        seeds = {str(seed): finished.plain() for seed, finished in self.seeds.items()}
        fields = {
            "name": self.name,
            "recipe": self.recipe,
            "corpus": self.corpus,
            "tokenizer": self.tokenizer,
        }
        return json.dumps(fields | {"seeds": seeds, "notes": list(self.notes)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """The manifest of this text."""
        fields = json.loads(text)
        seeds = {int(seed): Finished.of(plain) for seed, plain in fields.pop("seeds").items()}
        return cls(**fields | {"seeds": seeds, "notes": tuple(fields["notes"])})


def read_manifest(folder: Path) -> Manifest | None:
    """The folder's manifest; `None` where it has none; `InputError` where it cannot be read."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        return Manifest.from_json(path.read_text())
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is not the manifest of a trained suite: {error!r}") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the folder's manifest in one move."""
    partial = folder / f".partial-{os.getpid()}-{MANIFEST}"
    partial.write_text(manifest.to_json())
    os.replace(partial, folder / MANIFEST)


def claim(folder: Path, wanted: Manifest) -> Manifest:
    """The manifest of a folder that is new or that the same recipe began; `InputError` for any other folder."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; needed: a folder to write the suite to")
    found = read_manifest(folder)
    if found is None:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} holds other files and no {MANIFEST}; needed: an empty or a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_manifest(folder, wanted)
        return wanted
    for what in ("name", "recipe", "corpus", "tokenizer"):
        theirs, ours = getattr(found, what), getattr(wanted, what)
        if theirs != ours:
            difference = _difference(what, theirs, ours)
            raise InputError(f"{folder} holds another suite: {difference}; give another folder")
    return found


def _difference(what: str, theirs: Any, ours: Any) -> str:
    """The first place at which two recipes differ, in words."""
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                return _difference(f"{what}.{key}", theirs.get(key), ours.get(key))
    return f"its {what} is {theirs!r}, this one's is {ours!r}"


def mark_finished(seed_folder: Path, finished: Finished) -> None:
    """Say in a seed's own folder that it is done: two trainings into one suite do not disturb each other."""
    partial = seed_folder / f".partial-{FINISHED}"
    partial.write_text(json.dumps(finished.plain()) + "\n")
    os.replace(partial, seed_folder / FINISHED)


def is_finished(seed_folder: Path) -> bool:
    """Whether this seed is done."""
    return (seed_folder / FINISHED).is_file()


def gather(folder: Path, manifest: Manifest) -> Manifest:
    """The manifest with every seed that is done in this folder; `InputError` where a seed's own word is damaged."""
    paths = {
        match[1]: path for path in folder.glob(f"seed*/{FINISHED}") if (match := _SEED.fullmatch(path.parent.name))
    }
    seeds = {int(seed): read_finished(path) for seed, path in paths.items()}
    return replace(manifest, seeds=dict(sorted(seeds.items())))


def read_finished(path: Path) -> Finished:
    """What a seed's finished.json says."""
    try:
        return Finished.of(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged ({error!r}); delete it, and this seed is trained from its beginning"
        ) from error
