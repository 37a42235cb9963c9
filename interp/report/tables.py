"""Store → view: every number of a report, gathered by run and task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from interp.report import formats
from interp.report.head_values import read_agreement, read_ranking, read_recipients, read_samples, read_signatures
from interp.report.joint import read_sets, recoveries
from interp.report.made import Settings, prompt_tables, provenance, settings_of
from interp.report.patterns import read_patterns
from interp.report.run_values import read_rows, read_training, read_uniform_beside
from interp.report.scan_values import read_curve, read_outcome
from interp.report.selection import PAIR_KINDS, Selection, consistent, differing, records, run_of, scan_beside, select
from interp.report.views import Ends, Pair, Training, View
from interp.store import Result, Store
from interp.values import Direction, InputError, RunId

_ROLES = ("search", "effect", "single")


def read(stores: Sequence[Store]) -> View:
    """The view of everything in these stores.

    Raises:
        InputError: the stores hold no result of a scan or of patching.
    """
    chosen = select(stores)
    pairs, unused = [], list(chosen.left_out)
    runs, tasks = _runs(chosen), _tasks(chosen)
    anchors: set[str] = set()
    for run in runs:
        trained = cache(partial(read_training, chosen, run))
        for task in tasks:
            pair = _pair(chosen, run, task, anchors, unused, trained)
            if pair is not None:
                pairs.append(pair)
    if not pairs:
        raise InputError("there is nothing to report: the stored results name no task of any run")
    prompts = sorted(prompt_tables(chosen.results["prompts"]), key=lambda of: (of.task, _ROLES.index(of.role)))
    made = tuple(provenance(chosen, run) for run in runs)
    return View(tuple(runs), tasks, tuple(pairs), tuple(prompts), made, tuple(dict.fromkeys(unused)))


def _runs(chosen: Selection) -> list[RunId]:
    found = {run_of(r) for kind in ("emergence", "evaluations", *PAIR_KINDS) for r in chosen.results[kind]}
    return sorted(found, key=lambda run: (run.suite, -1 if run.seed is None else run.seed))


def _tasks(chosen: Selection) -> tuple[str, ...]:
    """Tasks in the order of the scans, then those that only other results have."""
    scanned = [str(row["task"]) for result in chosen.results["emergence"] for row in records(result.frame)]
    others = {str(r.facts["task"]) for kind in ("evaluations", *PAIR_KINDS) for r in chosen.results[kind]}
    return tuple(dict.fromkeys([*scanned, *sorted(others)]))


def _pair(
    chosen: Selection,
    run: RunId,
    task: str,
    anchors: set[str],
    unused: list[str],
    trained: Callable[[Settings], Training | None],
) -> Pair | None:
    found = consistent(chosen, run, task, unused)
    reference = next(iter(found.values()), None)
    scan = scan_beside(chosen, run, task, reference, unused)
    beside = reference or (scan[0] if scan else None)
    evaluations = chosen.of_pair("evaluations", run, task)
    if beside is None:
        beside = next(iter(evaluations), None)
    if beside is None:
        return None
    evaluations = [result for result in evaluations if not differing(result, beside.facts)]
    stored = next((r.frame for r in chosen.of_pair("curves", run, task) if not differing(r, beside.facts)), None)
    row = scan[1] if scan else None
    return Pair(
        run=run,
        task=task,
        anchor=_anchor(run, task, anchors),
        settings=settings_of(beside),
        curve=read_curve(row, stored, evaluations),
        outcome=None if row is None else read_outcome(row),
        training=trained(settings_of(beside)),
        onsets=read_rows(chosen, "onsets", run, task, beside),
        changes=read_rows(chosen, "changes", run, task, beside),
        **_patched(chosen, run, found),
    )


def _patched(chosen: Selection, run: RunId, found: Mapping[str, Result]) -> dict[str, Any]:
    """The fields of a pair that come from patching."""
    frames = {kind: result.frame for kind, result in found.items()}
    reference = next(iter(found.values()), None)
    joint = read_sets(frames["joint"]) if "joint" in frames else ()
    samples = _samples(frames)
    uniform, scored_on = ({}, "") if reference is None else read_uniform_beside(chosen, run, reference)
    return {
        "ends": None if reference is None else _ends(reference),
        "samples": samples,
        "grids": {direction: values.mean(0) for direction, values in samples.items()},
        "asked": "" if reference is None else str(reference.facts.get("prompts", "")),
        "ranking": read_ranking(frames["heads"]) if "heads" in frames else {},
        "signatures": read_signatures(frames["heads"]) if "heads" in frames else {},
        "uniform": uniform,
        "scored_on": scored_on,
        "agreement": read_agreement(frames["agreement"]) if "agreement" in frames else (),
        "joint": joint,
        "recovery": recoveries(joint),
        "recipients": read_recipients(frames["recipients"]) if "recipients" in frames else (),
        "patterns": read_patterns(found["patterns"]) if "patterns" in found else None,
    }


def _samples(frames: Mapping[str, pd.DataFrame]) -> dict[Direction, np.ndarray]:
    """Δp by prompt; the stored means as if of one prompt, where only these are there."""
    if "effects" in frames:
        return read_samples(frames["effects"])
    return read_samples(frames["heads"].assign(prompt=0)) if "heads" in frames else {}


def _ends(result: Result) -> Ends:
    facts = result.facts
    return Ends(int(facts["pre"]), int(facts["post"]), tuple(facts["weights"]))


def _anchor(run: RunId, task: str, taken: set[str]) -> str:
    plain = f"run-{formats.run_slug(run)}-{formats.slug(task)}"
    name, n = plain, 1
    while name in taken:
        n += 1
        name = f"{plain}-{n}"
    taken.add(name)
    return name
