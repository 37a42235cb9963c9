"""Stored tables about a run's training → scores of its heads by step, onsets and changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from interp.report.head_values import read_scores, read_uniform
from interp.report.made import Settings, settings_of
from interp.report.selection import Selection, differing, records
from interp.report.views import Training
from interp.store import Result
from interp.values import RunId


def read_training(chosen: Selection, run: RunId, settings: Settings) -> Training | None:
    """Scores over training on random words, made with these settings."""
    found = {
        int(result.facts["step"]): result
        for result in reversed(chosen.of_run("signatures", run))  # the newest of a step is the last to be written
        if result.facts["prompts"] == "random" and settings_of(result) == settings
    }
    return training_of(found[step] for step in sorted(found)) if len(found) > 1 else None


def training_of(results: Iterable[Result]) -> Training:
    """The scores of `signatures` results, one for each step."""
    every = list(results)
    grids = [read_scores(result.frame) for result in every]
    shared = [score for score in grids[-1] if all(score in grid for grid in grids)]
    return Training(
        steps=tuple(int(result.facts["step"]) for result in every),
        values={score: np.stack([grid[score] for grid in grids]) for score in shared},
        uniform=read_uniform(every[-1].frame),
        scored_on=str(every[-1].facts["prompts"]),
    )


def read_uniform_beside(chosen: Selection, run: RunId, reference: Result) -> tuple[dict[str, float], str]:
    """Each score of uniform attention on the prompts that heads are scored on, and which prompts these are."""
    post = int(reference.facts["post"])
    scored = [
        result
        for result in chosen.of_run("signatures", run)
        if int(result.facts["step"]) == post and settings_of(result) == settings_of(reference)
    ]
    for kind in ("random", "task"):
        for result in scored:
            if (
                result.facts["prompts"] == kind
                and result.facts.get("task", reference.facts["task"]) == (reference.facts["task"])
            ):
                return read_uniform(result.frame), kind
    return {}, ""


def read_rows(chosen: Selection, kind: str, run: RunId, task: str, beside: Result) -> tuple[Mapping[str, Any], ...]:
    """The rows about a task of the newest table of this kind made with the settings of what it stands beside."""
    for result in chosen.of_run(kind, run):
        if not differing(result, beside.facts):
            return tuple(row for row in records(result.frame) if row.get("task", task) == task)
    return ()
