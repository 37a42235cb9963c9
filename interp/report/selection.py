"""Which stored results a report uses: the newest, never two sets of weights for one step, or two settings at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from interp.report import formats
from interp.store import Result, Store
from interp.values import InputError, RunId

PAIR_KINDS = ("heads", "effects", "joint", "agreement", "patterns", "recipients")
RUN_KINDS = ("signatures", "curves", "onsets", "changes")
KINDS = ("prompts", "evaluations", "emergence", *RUN_KINDS, *PAIR_KINDS)
FORWARD = ("tokenizer", "bos", "dtype", "device", "config")
_SAME = ("pre", "post", "weights", "task_version", "role", "prompts", *FORWARD)
_WORDS = {"bos": "BOS", "prompts": "prompts", "task_version": "version of the task"}


@dataclass(frozen=True)
class Selection:
    """Usable results by kind, newest first; the weight hash of each run's steps; what was not used."""

    results: Mapping[str, tuple[Result, ...]]
    hashes: Mapping[RunId, Mapping[int, str]]
    left_out: tuple[str, ...]

    def of_run(self, kind: str, run: RunId) -> tuple[Result, ...]:
        """The results of a kind for a run, newest first."""
        return tuple(result for result in self.results[kind] if run_of(result) == run)

    def of_pair(self, kind: str, run: RunId, task: str) -> tuple[Result, ...]:
        """The results of a kind for a run and task, newest first."""
        return tuple(result for result in self.of_run(kind, run) if result.facts.get("task", task) == task)


def select(stores: Sequence[Store]) -> Selection:
    """The results to report from these stores.

    Raises:
        InputError: no store holds anything about a run.
    """
    found = {kind: _newest_first(stores, kind) for kind in KINDS}
    if not any(found[kind] for kind in ("evaluations", "emergence", *PAIR_KINDS)):
        raise InputError(_nothing(stores, found))
    hashes = _hashes(found)
    left_out: list[str] = []
    kept = {kind: tuple(_current(results, hashes, left_out)) for kind, results in found.items()}
    return Selection(kept, hashes, tuple(left_out))


def records(frame: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    """The rows of a table as mappings."""
    return ({str(name): value for name, value in row.items()} for row in frame.to_dict("records"))


def run_of(result: Result) -> RunId:
    """The run that a result is about."""
    seed = result.facts["seed"]
    return RunId(result.facts["suite"], None if seed is None else int(seed))


def differing(result: Result, other: Mapping[str, Any], facts: Sequence[str] = FORWARD) -> list[str]:
    """The facts that both results tell, and tell differently."""
    return [f for f in facts if f in result.facts and f in other and result.facts[f] != other[f]]


def name(result: Result) -> str:
    """A result in words: `heads of nano/seed1 · string`."""
    task = result.facts.get("task")
    return f"{result.kind} of {run_of(result)}" + (f" · {task}" if task else "")


def consistent(chosen: Selection, run: RunId, task: str, left_out: list[str]) -> dict[str, Result]:
    """The newest result of each kind that was measured as the newest of all was: checkpoints, prompts and numerics."""
    every = [result for kind in PAIR_KINDS for result in chosen.of_pair(kind, run, task)]
    if not every:
        return {}
    reference = max(every, key=lambda result: (result.facts["made"], result.key))
    found: dict[str, Result] = {}
    for result in every:
        unlike = differing(result, reference.facts, _SAME)
        if unlike:
            left_out.append(f"{name(result)}: {_unlike(result, reference, unlike)}")
        else:
            found.setdefault(result.kind, result)
    return found


def scan_beside(
    chosen: Selection, run: RunId, task: str, reference: Result | None, left_out: list[str]
) -> tuple[Result, Mapping[str, Any]] | None:
    """The newest scan of a task in a run made with the settings of its effects (any, where there are none)."""
    found = None
    for scan in chosen.of_run("emergence", run):
        row = next((row for row in records(scan.frame) if str(row["task"]) == task), None)
        if row is None:
            continue
        beside = reference.facts if reference is not None else found[0].facts if found else {}
        unlike = differing(scan, beside) + _other_task(scan, beside, task)
        if unlike:
            left_out.append(f"emergence of {run} · {task}: {_settings(unlike)} than {_than(reference)}")
        elif found is None:
            found = scan, row
    return found


def asked(scan: Result, task: str) -> Mapping[str, Any]:
    """What a scan tells of a task's prompts: version and digest; nothing where it does not."""
    return next((of for of in scan.made_from.get("tasks", ()) if of.get("task") == task), {})


def _other_task(scan: Result, beside: Mapping[str, Any], task: str) -> list[str]:
    """Whether a scan asked other prompts, or another version of the task, than what stands beside it."""
    of = asked(scan, task)
    version = ["task_version"] if of.get("task_version") != beside.get("task_version", of.get("task_version")) else []
    known = beside.get("search_prompts", of.get("prompts"))
    if "tasks" in beside:
        known = next((one.get("prompts") for one in beside["tasks"] if one.get("task") == task), of.get("prompts"))
    return version + (["prompts"] if of.get("prompts") != known else [])


def _than(reference: Result | None) -> str:
    return "the newest effects" if reference is not None else "the newest scan"


def _settings(unlike: Sequence[str]) -> str:
    return f"made with other {formats.listed(_WORDS.get(fact, fact) for fact in unlike)}"


def _unlike(result: Result, reference: Result, unlike: Sequence[str]) -> str:
    settings = [fact for fact in unlike if fact not in ("pre", "post", "weights")]
    if settings:
        return f"{_settings(settings)} than the newest results"
    ends = [
        f"{formats.step(int(r.facts['pre']))} and {formats.step(int(r.facts['post']))}" for r in (result, reference)
    ]
    return f"between steps {ends[0]}, the newest results are between {ends[1]}"


def _newest_first(stores: Sequence[Store], kind: str) -> list[Result]:
    every = [result for store in stores for result in store.results(kind)]
    return sorted(every, key=lambda result: (result.facts["made"], result.key), reverse=True)


def _nothing(stores: Sequence[Store], found: Mapping[str, Sequence[Result]]) -> str:
    where = formats.listed(str(store.root) for store in stores) if stores else "no store"
    held = [formats.counted(len(results), f"{kind} table") for kind, results in found.items() if results]
    return (
        f"there is nothing to report: {where} holds {formats.listed(held) if held else 'no results'}; "
        "needed are the results of a scan (`interp scan …`) or of patching (`interp patch …`)"
    )


def _stamps(result: Result) -> Iterator[tuple[int, str]]:
    """The steps whose weight hash a result tells."""
    facts = result.facts
    steps = facts.get("steps") or ([facts["step"]] if "step" in facts else [facts["pre"], facts["post"]])
    for step, digest in zip(steps, facts["weights"], strict=True):
        yield int(step), str(digest)


def _hashes(found: Mapping[str, Sequence[Result]]) -> dict[RunId, dict[int, str]]:
    every = [r for kind, results in found.items() if kind != "prompts" for r in results]
    hashes: dict[RunId, dict[int, str]] = {}
    for result in sorted(every, key=lambda result: result.facts["made"], reverse=True):
        for step, digest in _stamps(result):
            hashes.setdefault(run_of(result), {}).setdefault(step, digest)
    return hashes


def _current(
    results: Sequence[Result], hashes: Mapping[RunId, Mapping[int, str]], left_out: list[str]
) -> Iterator[Result]:
    for result in results:
        stale = [] if result.kind == "prompts" else _replaced(result, hashes[run_of(result)])
        if stale:
            steps = formats.step(stale[0]) + (f" and {len(stale) - 1} more" if len(stale) > 1 else "")
            left_out.append(f"{name(result)}: newer results have other weights at step {steps}")
        else:
            yield result


def _replaced(result: Result, known: Mapping[int, str]) -> list[int]:
    """The steps at which a result has other weights than the newest result."""
    return [step for step, digest in _stamps(result) if known[step] != digest]
