"""Store → view: every number of a report, gathered by run and task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from interp.report import formats
from interp.report.head_values import (
    distance,
    read_agreement,
    read_gaps,
    read_grids,
    read_ranking,
    read_signatures,
    read_uniform,
    records,
)
from interp.report.joint import read_sets, recoveries
from interp.report.patterns import read_patterns
from interp.report.selection import PAIR_KINDS, Selection, run_of, same_conditions, select
from interp.report.selection import name as result_name
from interp.report.views import (
    Curve,
    Ends,
    JointSet,
    Outcome,
    Pair,
    PromptRow,
    PromptTable,
    Provenance,
    Signature,
    View,
)
from interp.store import Result, Store
from interp.values import Bracket, Direction, Head, InputError, RunId, Status

PROMPTS_SHOWN = 6
_ROLES = ("search", "effect", "single")


def read(stores: Sequence[Store]) -> View:
    """The view of everything in these stores.

    Raises:
        InputError: the stores hold no result of a scan or of patching.
    """
    chosen = select(stores)
    scans = _scans(chosen)
    pairs, unused = [], list(chosen.left_out)
    runs = sorted({run for run, _ in scans} | _runs(chosen), key=_order)
    tasks = _tasks(chosen, scans)
    anchors: set[str] = set()
    for run in runs:
        for task in tasks:
            pair = _pair(chosen, run, task, scans.get((run, task)), anchors, unused)
            if pair is not None:
                pairs.append(pair)
    if not pairs:
        raise InputError("there is nothing to report: the stored results name no task of any run")
    prompts = tuple(sorted(_prompt_tables(chosen.results["prompts"]), key=lambda of: (of.task, _ROLES.index(of.role))))
    provenance = tuple(_provenance(chosen, run) for run in runs)
    return View(tuple(runs), tasks, tuple(pairs), prompts, provenance, tuple(unused))


def _order(run: RunId) -> tuple[str, int]:
    return run.suite, -1 if run.seed is None else run.seed


def _scans(chosen: Selection) -> dict[tuple[RunId, str], Mapping[str, Any]]:
    """The newest row of every run and task."""
    rows: dict[tuple[RunId, str], Mapping[str, Any]] = {}
    for result in chosen.results["emergence"]:
        for row in records(result.frame):
            rows.setdefault((run_of(result), str(row["task"])), row)
    return rows


def _results(chosen: Selection) -> Iterable[Result]:
    return (r for kind in ("evaluations", *PAIR_KINDS) for r in chosen.results[kind])


def _runs(chosen: Selection) -> set[RunId]:
    return {run_of(result) for result in _results(chosen)}


def _tasks(chosen: Selection, scans: Iterable[tuple[RunId, str]]) -> tuple[str, ...]:
    """Tasks in the order of the scans, then those that only other results have."""
    others = sorted({str(result.facts["task"]) for result in _results(chosen)})
    return tuple(dict.fromkeys([*(task for _, task in scans), *others]))


def _pair(
    chosen: Selection,
    run: RunId,
    task: str,
    scan: Mapping[str, Any] | None,
    anchors: set[str],
    unused: list[str],
) -> Pair | None:
    found = _consistent(chosen, run, task, unused)
    evaluations = chosen.of_pair("evaluations", run, task)
    if scan is None and not found and not evaluations:
        return None
    reference = next(iter(found.values()), None)
    frames = {kind: result.frame for kind, result in found.items()}
    joint = read_sets(frames["joint"]) if "joint" in frames else ()
    signatures = read_signatures(frames["heads"]) if "heads" in frames else {}
    measured = frames.get("effects", frames.get("heads"))
    uniform, scored_on = ({}, "") if reference is None else _uniform(chosen, reference, signatures)
    return Pair(
        run=run,
        task=task,
        anchor=_anchor(run, task, anchors),
        curve=_curve(scan, evaluations),
        outcome=None if scan is None else _outcome(scan),
        ends=None if reference is None else _ends(reference),
        grids={} if measured is None else read_grids(measured),
        ranking=read_ranking(frames["heads"], _gaps(frames, joint)) if "heads" in frames else {},
        signatures=signatures,
        uniform=uniform,
        scored_on=scored_on,
        agreement=read_agreement(frames["agreement"]) if "agreement" in frames else (),
        joint=joint,
        recovery=recoveries(joint),
        patterns=read_patterns(found["patterns"]) if "patterns" in found else None,
    )


def _consistent(chosen: Selection, run: RunId, task: str, unused: list[str]) -> dict[str, Result]:
    """The newest result of each kind that was measured between the same two checkpoints as the newest of all."""
    every = [result for kind in PAIR_KINDS for result in chosen.of_pair(kind, run, task)]
    if not every:
        return {}
    reference = max(every, key=lambda result: (result.facts["made"], result.key))
    found: dict[str, Result] = {}
    for result in every:
        if not same_conditions(result, reference):
            unused.append(f"{result_name(result)}: the newest results are between other checkpoints or settings")
        else:
            found.setdefault(result.kind, result)
    return found


def _anchor(run: RunId, task: str, taken: set[str]) -> str:
    plain = f"run-{formats.run_slug(run)}-{formats.slug(task)}"
    name, n = plain, 1
    while name in taken:
        n += 1
        name = f"{plain}-{n}"
    taken.add(name)
    return name


def _outcome(row: Mapping[str, Any]) -> Outcome:
    known = not (pd.isna(row["pre"]) or pd.isna(row["post"]))
    return Outcome(
        status=Status.LOST if row.get("lasting_status") == "lost" else Status(row["status"]),
        bracket=Bracket(int(row["pre"]), int(row["post"])) if known else None,
        share=(float(row["share_pre"]), float(row["share_post"])),
        p=(float(row["p_pre"]), float(row["p_post"])),
        threshold=float(row["threshold"]),
        monotone=bool(row["monotone"]),
    )


def _curve(row: Mapping[str, Any] | None, evaluations: Sequence[Result]) -> Curve | None:
    """What the scan saw; without a scan, what the evaluations of the prompts it would use say."""
    if row is not None:
        seen = {int(s): (float(x), float(p)) for s, x, p in zip(row["steps"], row["shares"], row["ps"], strict=True)}
    else:
        seen = {}
        for result in evaluations:
            if result.facts["role"] in ("search", "single"):
                solved, p = (result.frame[name].to_numpy(dtype=float).mean() for name in ("solved", "p"))
                seen.setdefault(int(result.facts["step"]), (float(solved), float(p)))
    steps = tuple(sorted(seen))
    return Curve(steps, tuple(seen[s][0] for s in steps), tuple(seen[s][1] for s in steps)) if steps else None


def _ends(result: Result) -> Ends:
    facts = result.facts
    return Ends(int(facts["pre"]), int(facts["post"]), tuple(facts["weights"]))


def _gaps(frames: Mapping[str, pd.DataFrame], joint: Iterable[JointSet]) -> dict[Direction, float]:
    """p(donor) − p(recipient) by direction, from the effects or from the joint patch."""
    return read_gaps(frames["effects"]) if "effects" in frames else {one.direction: one.gap[0] for one in joint}


def _uniform(chosen: Selection, reference: Result, beside: Mapping[Head, Signature]) -> tuple[dict[str, float], str]:
    """Each score of uniform attention on the prompts that the heads were scored on, and which prompts these are."""
    task, post = reference.facts["task"], reference.facts["post"]
    scored = [
        result
        for result in chosen.of_run("signatures", run_of(reference))
        if result.facts["step"] == post and result.facts.get("task", task) == task
    ]
    if not scored or not beside:
        return {}, ""
    nearest = min(scored, key=lambda result: distance(result.frame, beside))
    return read_uniform(nearest.frame), str(nearest.facts["prompts"])


def _prompt_tables(results: Iterable[Result]) -> Iterable[PromptTable]:
    """The newest prompts of every task, tokenizer and role."""
    seen: set[tuple[str, ...]] = set()
    for result in results:
        facts = result.facts
        key = (str(facts["task"]), str(facts["tokenizer"]), str(facts["role"]))
        if key not in seen:
            seen.add(key)
            yield PromptTable(
                task=key[0],
                role=key[2],
                tokenizer=key[1],
                threshold=float(facts["threshold"]),
                ceiling=float(facts["ceiling"]),
                version=int(facts["task_version"]),
                total=len(result.frame),
                shown=tuple(map(_prompt, records(result.frame.head(PROMPTS_SHOWN)))),
            )


def _prompt(row: Mapping[str, Any]) -> PromptRow:
    foil = int(row["foil"])
    return PromptRow(
        pieces=tuple(map(str, row["pieces"])),
        tokens=tuple(map(int, row["tokens"])),
        answer=(str(row["answer_text"]), int(row["answer"])),
        foil=None if foil < 0 else (str(row["foil_text"]), foil),
    )


def _provenance(chosen: Selection, run: RunId) -> Provenance:
    results = [r for kind, every in chosen.results.items() if kind != "prompts" for r in every if run_of(r) == run]

    def values(fact: str) -> tuple[str, ...]:
        return tuple(sorted({_said(r.facts[fact]) for r in results if fact in r.facts}))

    made = sorted(str(result.facts["made"]) for result in results)
    scans = chosen.of_run("emergence", run)
    equal = {tuple(map(int, group)) for scan in scans for group in scan.facts.get("equal", ())}
    return Provenance(
        run=run,
        search=values("search"),
        tokenizers=values("tokenizer"),
        bos=values("bos"),
        dtypes=values("dtype"),
        devices=values("device"),
        versions=values("versions"),
        made=(made[0], made[-1]),
        hashes=dict(sorted(chosen.hashes.get(run, {}).items())),
        equal=tuple(sorted(equal)),
        missing=tuple(sorted({int(step) for scan in scans for step in scan.facts.get("missing", ())})),
    )


def _said(value: object) -> str:
    """A fact in words: yes or no, `torch 2.13.0, …`, or as it stands."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in sorted(value.items()))
    return str(value)
