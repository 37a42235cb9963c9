"""Which of a run's saved steps ship: a coarse grid, and the two neighbours around every emergence."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from interp.training import log
from interp.training.checkpoints import step_folder
from interp.training.manifest import MANIFEST, Finished, mark_finished, read_manifest, write_manifest
from interp.values import InputError


@dataclass(frozen=True)
class Thinning:
    """The rule: `always` these steps, `count` steps in all, and the emergence of these tasks, the first ones first.

    A task passes where its logged solved share (`task/solved`) is at least `threshold`; the pairs of steps around its
    emergence are multiples of `spacing`. A wider pair brackets more of the rise: effects between its ends are larger.
    """

    always: tuple[int, ...]
    count: int
    tasks: tuple[str, ...]
    threshold: float = 0.75
    spacing: int = 1


def kept_steps(rows: Sequence[log.LogRow], saved: Sequence[int], rule: Thinning) -> Mapping[int, str]:
    """The steps to keep, ascending, each with the reason: `rule.count` of them, or all if fewer are saved.

    Taken in this order until the count is reached: the steps that are always kept; for each task the pair of
    neighbouring evaluated steps at which it comes to pass for good; for each task the pair at which it first
    passes; then, one by one, the saved step nearest the middle of the widest gap. A pair is taken whole or not
    at all.
    """
    kept = {step: "always" for step in rule.always if step in saved}
    known = [row for row in rows if row.step in saved and row.evaluation and row.step % rule.spacing == 0]
    for reason, pair in _brackets(known, rule):
        fresh = [step for step in pair if step not in kept]
        if len(kept) + len(fresh) <= rule.count:
            kept |= dict.fromkeys(fresh, reason)
    while len(kept) < min(rule.count, len(saved)):
        kept[_middle(sorted(kept), saved)] = "widest gap"
    return dict(sorted(kept.items()))


def _brackets(rows: Sequence[log.LogRow], rule: Thinning) -> Iterator[tuple[str, tuple[int, int]]]:
    """Reason and pair (fails, passes): every task's lasting pass, then every task's first pass."""
    for which, choose in (("lasting", max), ("first", min)):
        for task in rule.tasks:
            passes = [(row.step, row.evaluation[f"{task}/solved"] >= rule.threshold) for row in rows]
            rises = [(a, b) for (a, before), (b, after) in pairwise(passes) if after and not before]
            if rises and (passes[-1][1] or which == "first"):
                yield f"{task} {which}", choose(rises)


def _middle(kept: Sequence[int], saved: Sequence[int]) -> int:
    """The unkept saved step nearest the middle of the widest gap that holds one; of equals the earliest."""
    bounds = kept if len(kept) > 1 else [min(saved), max(saved)]
    candidates = [
        (before - after, abs(2 * step - before - after), step)
        for before, after in pairwise(bounds)
        for step in saved
        if before <= step <= after and step not in kept
    ]
    return min(candidates)[2]


def thin(source: Path, target: Path, seeds: Iterable[int], rule: Thinning) -> None:
    """Copy a trained suite's seeds into a new folder: the steps that the rule keeps, and the evaluated log.

    The manifest says of every kept step why. `InputError` for a seed that is not finished and for an existing
    target.
    """
    manifest = read_manifest(source)
    if manifest is None:
        raise InputError(f"{source} has no {MANIFEST}; needed: the folder of a trained suite")
    if target.exists():
        raise InputError(f"{target} exists already; give a new folder")
    target.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(source / name, target / name)
    kept = {seed: _thin_seed(source, target, seed, manifest.seeds, rule) for seed in seeds}
    note = (
        f"thinned to {rule.count} steps a seed: {', '.join(map(str, rule.always))}, and the two neighbours around "
        f"a task's rise to {rule.threshold}; each seed's `why` gives the reason of every step"
    )
    write_manifest(target, replace(manifest, seeds=kept, notes=(*manifest.notes, note)))


def _thin_seed(source: Path, target: Path, seed: int, finished: Mapping[int, Finished], rule: Thinning) -> Finished:
    if seed not in finished:
        raise InputError(f"{source} has not finished seed {seed}; finished: {sorted(finished)}")
    run, copy = source / f"seed{seed}", target / f"seed{seed}"
    rows = [row for row in log.read(run) if row.evaluation]
    for task in rule.tasks:
        if not any(f"{task}/solved" in row.evaluation for row in rows):
            raise InputError(f"{run / log.LOG} has no {task}/solved; needed: a training that evaluated its tasks")
    why = kept_steps(rows, finished[seed].steps, rule)
    for step in why:
        shutil.copytree(step_folder(run, step), step_folder(copy, step))
    log.write(copy, rows)
    thinned = replace(finished[seed], steps=tuple(why), why=why)
    mark_finished(copy, thinned)
    return thinned
