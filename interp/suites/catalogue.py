"""The suites that are known by name, and the one door to all: `suite(name_or_folder)`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from interp.suites.folder import folder_suite
from interp.suites.suite import Suite
from interp.values import InputError, nearest

SHIPPED = Path(__file__).parent / "shipped"

PYTHIA_SEEDED = ("14m", "31m", "70m", "160m", "410m")
PYTHIA_SIZES = (*PYTHIA_SEEDED, "1b", "1.4b", "2.8b", "6.9b", "12b")


@dataclass(frozen=True)
class Entry:
    """A name in the catalogue: where its checkpoints are, and one line about it."""

    name: str
    where: str
    about: str


def names() -> tuple[str, ...]:
    """Every name that the catalogue knows."""
    return tuple(entry.name for entry in entries())


def entries() -> Iterator[Entry]:
    """The catalogue: shipped suites first, then those of the Hub."""
    for folder in sorted(SHIPPED.glob("*/manifest.json")):
        yield Entry(folder.parent.name, "shipped", "small models trained for this package; works offline")
    for size in PYTHIA_SIZES:
        seeds = "original run and seeds 1–9" if size in PYTHIA_SEEDED else "original run"
        yield Entry(f"pythia-{size}", "hub", f"EleutherAI/pythia-{size}, 154 steps, {seeds}")


def suite(name: str | Path) -> Suite:
    """The suite of this name, or of this folder; a wrong name is answered with the nearest right ones."""
    text = str(name)
    if text in {entry.name for entry in entries() if entry.where == "shipped"}:
        return folder_suite(SHIPPED / text, text)
    if Path(text).is_dir():
        return folder_suite(Path(text))
    if text in names():
        raise InputError(
            f"{text} is on the Hub, which this version cannot read yet; download its step branches into "
            f"folders {text}/seed<S>/step<N>/ and give that folder"
        )
    if isinstance(name, Path) or "/" in text or "\\" in text:
        raise InputError(f"there is no folder {text}; needed: a folder of checkpoints or a suite's name")
    raise InputError(f"there is no suite or folder called '{text}'; {nearest(text, names())}")
