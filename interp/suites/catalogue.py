"""The suites that are known by name, and the one door to all: `suite(name_or_folder)`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from interp.suites.branches import STEP
from interp.suites.disk import Disk
from interp.suites.folder import folder_suite
from interp.suites.hub import HubRun
from interp.suites.ledger import check_repository
from interp.suites.suite import Suite
from interp.values import InputError, RunId, nearest

SHIPPED = Path(__file__).parent / "shipped"
_SPAN = re.compile(r"\{(\d+)\.\.(\d+)\}|\{(\d+(?:,\d+)*)\}")


@dataclass(frozen=True)
class Entry:
    """A name in the catalogue: where its checkpoints are, and one line about it."""

    name: str
    where: str
    about: str


@dataclass(frozen=True)
class Note:
    """What is publicly known of some runs (`None`: the original run) and steps (empty: of the whole run)."""

    seeds: tuple[int | None, ...] | None
    steps: tuple[int, ...]
    says: str
    suspect: bool


def names() -> tuple[str, ...]:
    """Every name that the catalogue knows."""
    return tuple(entry.name for entry in entries())


def entries() -> Iterator[Entry]:
    """The catalogue: shipped suites first, then those of the Hub."""
    for folder in sorted(SHIPPED.glob("*/manifest.json")):
        yield Entry(folder.parent.name, "shipped", "small models trained for this package; works offline")
    for known in _hub_suites():
        doubt = f"; not confirmed: {known['unconfirmed']}" if "unconfirmed" in known else ""
        yield Entry(known["name"], "hub", known["about"] + doubt)
    yield Entry("hf:owner/name", "hub", "any repository whose branches name steps; hf:owner/name-seed{1..9} for seeds")


def notes(name: str, seed: int | None) -> tuple[Note, ...]:
    """What is publicly known of a run, as data that a report can quote; nothing for a suite without an entry."""
    known = next((one for one in _hub_suites() if one["name"] == name), {})
    every = (
        Note(
            tuple(number or None for number in note["seeds"]) if "seeds" in note else None,
            tuple(note.get("steps", ())),
            note["says"],
            note["suspect"],
        )
        for note in known.get("note", ())
    )
    return tuple(note for note in every if note.seeds is None or seed in note.seeds)


def suite(name: str | Path, disk_budget: int | None = None) -> Suite:
    """The suite of this name, of this folder, or of `hf:owner/name`; a wrong name gets the nearest right ones.

    `disk_budget` bounds the bytes of weights that interp's own downloads take in the Hub cache.
    """
    if not isinstance(name, str | Path):
        raise InputError(f"{name!r} is not a suite; needed: its name, or a folder of checkpoints")
    text = str(name)
    if not text:
        raise InputError(
            "the suite's name is empty; needed: a name, or a folder of checkpoints (. is the working folder)"
        )
    if text in {entry.name for entry in entries() if entry.where == "shipped"}:
        return folder_suite(SHIPPED / text, text)
    if Path(text).is_dir():
        return folder_suite(Path(text))
    if text.startswith("hf:"):
        return _from_pattern(text, text.removeprefix("hf:"), Disk(disk_budget))
    for known in _hub_suites():
        if known["name"] == text:
            return _from_catalogue(known, Disk(disk_budget))
    if isinstance(name, Path) or "/" in text or "\\" in text:
        hint = f"; for the repository on the Hub, write hf:{text}" if re.fullmatch(r"[\w.-]+/[\w.{}-]+", text) else ""
        raise InputError(f"there is no folder {text}; needed: a folder of checkpoints or a suite's name{hint}")
    raise InputError(f"there is no suite or folder called '{text}'; {nearest(text, names())}")


@cache
def _hub_suites() -> tuple[dict[str, Any], ...]:
    text = (Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["suite"])


def _from_catalogue(known: dict[str, Any], disk: Disk) -> Suite:
    name, seeds = known["name"], known.get("seeds", {})
    repositories: dict[int | None, str] = {None: known["original"]} if "original" in known else {}
    if isinstance(seeds, str):
        repositories |= dict(_spread(seeds))
    else:
        repositories |= {int(seed): repository for seed, repository in seeds.items()}
    return _suite(name, repositories, known.get("branches", STEP), disk)


def _from_pattern(name: str, pattern: str, disk: Disk) -> Suite:
    repositories: dict[int | None, str] = dict(_spread(pattern)) if "{" in pattern else {None: pattern}
    return _suite(name, repositories, STEP, disk)


def _suite(name: str, repositories: dict[int | None, str], branches: str, disk: Disk) -> Suite:
    runs = [
        HubRun(RunId(name, seed), check_repository(repository), branches, disk, _said(name, seed))
        for seed, repository in sorted(repositories.items(), key=lambda item: (item[0] is None, item[0] or 0))
    ]
    return Suite(name, tuple(runs))


def _said(name: str, seed: int | None) -> tuple[str, ...]:
    return tuple(note.says for note in notes(name, seed) if note.suspect)


def _spread(pattern: str) -> Iterator[tuple[int | None, str]]:
    """Seed → repository for a pattern such as `owner/name-seed{1..9}` or `owner/name-seed{1,3}`."""
    spans = list(_SPAN.finditer(pattern))
    if len(spans) != 1:
        raise InputError(f"'{pattern}' is not a pattern of repositories; write the seeds once, like name-seed{{1..9}}")
    (span,) = spans
    first, last, single = span.groups()
    seeds = [int(seed) for seed in single.split(",")] if single else list(range(int(first), int(last) + 1))
    if not seeds or len(seeds) > 1000:
        raise InputError(f"'{pattern}' names {len(seeds)} repositories; needed: 1 to 1000")
    for seed in seeds:
        yield seed, pattern[: span.start()] + str(seed) + pattern[span.end() :]
