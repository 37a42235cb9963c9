"""Every checkpoint of a run held against the others: missing, equal, foreign, out of line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interp.models.continuity import breaks, leaps, moves
from interp.progress import tqdm
from interp.suites import Run, Suite
from interp.suites.integrity import equal_steps, foreign_steps, weight_files
from interp.suites.ladder import equal_to_final, identify, suspicions


@dataclass(frozen=True)
class Verified:
    """What is true of one run's checkpoints.

    `equal` lists groups of steps with the same weights; `foreign` those of them that come again after other weights.
    Of the `compared` checkpoints, whose files were on this disk, `discontinuous` are out of line with their neighbours,
    and the `orphans` do not descend from the checkpoint before them (the two steps are given).
    """

    run: str
    seed: int | None
    checkpoints: int
    missing: tuple[int, ...]
    equal: tuple[tuple[int, ...], ...]
    equal_to_final: tuple[int, ...]
    foreign: tuple[int, ...]
    compared: int
    discontinuous: tuple[int, ...]
    orphans: tuple[tuple[int, int], ...]
    suspect: tuple[str, ...]


def verify(suite: Suite, seeds: Sequence[int] | None = None, download: bool = False) -> list[Verified]:
    """Every run's checkpoints identified (on the Hub: one request each, no download) and held against one another.

    How far weights move is told of the checkpoints whose files are on this disk, of all with `download`.
    """
    return [verify_run(run, download) for run in suite.select(seeds)]


def verify_run(run: Run, download: bool = False) -> Verified:
    """See `verify`, for one run; files of a folder are read anew."""
    run.read_again()
    identify(run, tqdm([step for step in run.steps if step not in run.known], desc=f"verify {run.id}", leave=False))
    known = run.known
    folders = _folders(run, known, download)
    found = moves(folders)
    orphans = tuple((move.before, move.after) for move in breaks(found) if not move.descends)
    odd = tuple(sorted({*leaps(folders), *(move.after for move in breaks(found) if move.descends)}))
    suspect = [*suspicions(run)]
    suspect += [f"step {after} does not descend from step {before}" for before, after in orphans]
    suspect += [f"step {step} is out of line with its neighbours" for step in odd]
    return Verified(
        str(run.id), run.seed, len(known), run.missing, equal_steps(known), equal_to_final(run), foreign_steps(known),
        len(folders), odd, orphans, tuple(suspect),
    )  # fmt: skip


def _folders(run: Run, known: Mapping[int, str], download: bool) -> dict[int, Path]:
    """One step for each set of weights whose files are here."""
    firsts = {weights: step for step, weights in sorted(known.items(), reverse=True)}
    found = {}
    for step in tqdm(sorted(firsts.values()), desc=f"read {run.id}", leave=False):
        checkpoint = run.at(step)
        if download:
            run.fetch(checkpoint)
        if weight_files(checkpoint.folder):
            found[step] = checkpoint.folder
    return found
