"""Stored scans → cohorts: which runs may stand together, which are kept apart, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interp.cohorts import Cohorts, Part, Which, summarise, time_of
from interp.cohorts.times import shared
from interp.report import formats
from interp.report.head_values import records
from interp.report.selection import run_of, select
from interp.store import Result, Store
from interp.values import InputError, RunId, nearest

# what a verdict on a run depends on beside its weights: the name of a fact, and what it is called
_SETTINGS = {
    "dtype": "dtype", "bos": "BOS", "tokenizer": "tokenizer", "search": "search", "resolution": "resolution",
    "max_probes": "most probes",
}  # fmt: skip
_OF_TASK = {"task_version": "task version", "prompts": "prompts", "threshold": "threshold"}
# what suites may differ in and still be held against each other; prompts are other ids in another tokenizer
_FREE = ("tokenizer", "prompts")


@dataclass(frozen=True)
class _Scanned:
    """One task in one run, as one scan tells it."""

    run: RunId
    task: str
    row: Mapping[str, Any]
    facts: Mapping[str, Any]
    settings: tuple[tuple[str, str], ...]

    @property
    def grid(self) -> tuple[int, ...]:
        """The steps that the search could stand on."""
        return tuple(int(step) for step in self.facts.get("searched") or self.facts["steps"])


def cohort(
    *stores: Store | str | Path, task: str | Sequence[str] | None = None, which: Which = "first",
    horizon: int | None = None,
) -> Cohorts:  # fmt: skip
    """Emergence over the seeds of every suite and task in these stores, from the newest scan of each run.

    `which`: `first` known emergence, or `lasting` (passes there and at every later evaluated step). `horizon`: the step
    up to which restricted means are taken. Steps throughout. The estimators are those of docs/cohorts.md.

    Raises:
        InputError: a folder that is not there, no scans, an unknown task, scans without lasting emergence.
    """
    if which not in ("first", "lasting"):
        raise InputError(f"'{which}' is not an emergence; known: first, lasting")
    opened = [store if isinstance(store, Store) else Store(store) for store in stores]
    scanned, notes = _scans(opened)
    wanted = [task] if isinstance(task, str) else task
    chosen = _of_tasks(scanned, wanted)
    parts: list[Part] = []
    for suite, name in dict.fromkeys((one.run.suite, one.task) for one in chosen):
        of_both = [one for one in chosen if (one.run.suite, one.task) == (suite, name)]
        parts += _parts(_one_setting(of_both, notes), which, notes)
    tasks = list(dict.fromkeys(one.task for one in chosen))
    parts.sort(key=lambda part: (tasks.index(part.task), part.parameters or 0))
    return summarise(parts, which, horizon, list(dict.fromkeys(notes)))


def _scans(stores: Sequence[Store]) -> tuple[list[_Scanned], list[str]]:
    """Every task of every stored scan, newest first; what is not used."""
    for store in stores:
        if not store.root.is_dir():
            raise InputError(f"there is no folder {store.root}; needed: a store that `interp scan` wrote")
    if not any(any(store.results("emergence")) for store in stores):
        where = formats.listed(str(store.root) for store in stores) if stores else "no store"
        raise InputError(f"{where} holds no scan; needed: the results of `interp scan`")
    chosen = select(stores)
    found = [one for result in chosen.results["emergence"] for one in _tasks(result)]
    return found, [f"not used: {said}" for said in chosen.left_out if said.startswith("emergence")]


def _tasks(result: Result) -> Iterator[_Scanned]:
    facts = result.facts
    for i, row in enumerate(records(result.frame)):
        asked = facts["tasks"][i] if "tasks" in facts else {}
        known = {named: facts.get(fact) for fact, named in _SETTINGS.items()}
        known |= {named: asked.get(fact) for fact, named in _OF_TASK.items()} | {"threshold": row["threshold"]}
        settings = tuple((named, str(value)) for named, value in known.items() if value is not None)
        yield _Scanned(run_of(result), str(row["task"]), row, facts, settings)


def _of_tasks(scanned: Sequence[_Scanned], wanted: Sequence[str] | None) -> list[_Scanned]:
    known = dict.fromkeys(one.task for one in scanned)
    for name in wanted or ():
        if name not in known:
            raise InputError(f"no scan holds the task '{name}'; {nearest(name, known)}")
    in_order = sorted(scanned, key=lambda one: (list(known).index(one.task), one.run.suite))
    return [one for one in in_order if wanted is None or one.task in wanted]


def _one_setting(scanned: Sequence[_Scanned], notes: list[str]) -> list[_Scanned]:
    """The newest scan of every run in the setting that most runs have (of equally many the newest)."""
    by_setting: dict[tuple[tuple[str, str], ...], dict[RunId, _Scanned]] = {}
    for one in scanned:
        by_setting.setdefault(one.settings, {}).setdefault(one.run, one)
    best = max(by_setting.values(), key=len)
    kept = next(iter(best.values())).settings
    for settings, runs in by_setting.items():
        if settings != kept:
            differs = [f"{name} {_short(value)}" for name, value in settings if (name, value) not in kept]
            what = formats.listed(differs) or "fewer settings recorded"
            first = next(iter(runs.values()))
            where = formats.listed(f"seed {run.seed}" if run.seed is not None else "the original" for run in runs)
            notes.append(f"not used: scans of {first.run.suite} · {first.task} with {what} ({where})")
    return sorted(best.values(), key=lambda one: (one.run.seed is not None, one.run.seed or 0))


def _short(value: str) -> str:
    return formats.short(value) if len(value) == 64 else value


def _parts(scanned: Sequence[_Scanned], which: Which, notes: list[str]) -> Iterator[Part]:
    """The seeds that repeat each other, and those that do not, each kind in a part of its own."""
    by_kind: dict[tuple[str, ...], list[_Scanned]] = {}
    for one in scanned:
        by_kind.setdefault(_kind(one), []).append(one)
    sizes = {kind: len(runs) for kind, runs in by_kind.items() if kind[0] == ""}
    main = max(sizes, key=lambda kind: sizes[kind], default=None)
    for kind, runs in sorted(by_kind.items(), key=lambda item: item[0] != main):
        apart = "" if kind == main else _reason(kind, main)
        if apart and (main is not None or kind[0] == "suspect"):
            who = formats.listed(str(one.run) for one in runs)
            why = f": {_suspect(runs[0])}" if kind[0] == "suspect" else ""
            notes.append(f"kept apart: {who} ({apart}{why})")
        yield _part(runs, apart, which)


def _suspect(one: _Scanned) -> str:
    return "; ".join(one.facts.get("suspect") or ())


def _kind(one: _Scanned) -> tuple[str, ...]:
    """What runs must have in common to be each other's repetitions."""
    source = "original run" if one.run.seed is None else "suspect" if _suspect(one) else ""
    return source, str(one.facts.get("config") or ""), str(one.grid[0]), str(one.grid[-1])


def _reason(kind: tuple[str, ...], main: tuple[str, ...] | None) -> str:
    names = (
        "",
        "another config",
        f"first step {formats.step(int(kind[2]))}",
        f"last step {formats.step(int(kind[3]))}",
    )
    differs = [name for name, a, b in zip(names, kind, main or kind, strict=True) if a != b and name]
    return ", ".join([*([kind[0]] if kind[0] else []), *differs])


def _part(runs: Sequence[_Scanned], apart: str, which: Which) -> Part:
    first = runs[0]
    sizes = Counter(one.facts.get("parameters") for one in runs)
    conditions = tuple(f"{name} {_short(value)}" for name, value in first.settings if name not in _FREE)
    return Part(
        first.run.suite,
        first.task,
        apart,
        tuple(time_of(one.run, one.row, which) for one in runs),
        shared([one.grid for one in runs]),
        sizes.most_common(1)[0][0] if len(sizes) == 1 else None,
        conditions,
    )
