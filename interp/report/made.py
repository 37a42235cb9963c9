"""How results were made: settings, prompts and provenance, read from the facts that stand beside stored tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interp.report.selection import Selection, records, run_of
from interp.store import Result
from interp.values import RunId

PROMPTS_SHOWN = 6


@dataclass(frozen=True)
class Settings:
    """What a forward pass depends on beside weights and tokens."""

    tokenizer: str
    bos: bool
    dtype: str
    device: str

    def __str__(self) -> str:
        return f"{self.dtype} on {self.device}, {'BOS' if self.bos else 'no BOS'}, tokenizer {self.tokenizer[:8]}"


def settings_of(result: Result) -> Settings:
    """The settings that a result was made with."""
    facts = result.facts
    return Settings(str(facts["tokenizer"]), bool(facts["bos"]), str(facts["dtype"]), str(facts["device"]))


@dataclass(frozen=True)
class PromptRow:
    """One prompt: its tokens as strings and ids, the answer and the foil (`None`: there is none) as (string, id)."""

    pieces: tuple[str, ...]
    tokens: tuple[int, ...]
    answer: tuple[str, int]
    foil: tuple[str, int] | None


@dataclass(frozen=True)
class PromptTable:
    """The prompts of a task for one tokenizer and role, and how many there are."""

    task: str
    role: str
    tokenizer: str
    threshold: float
    ceiling: float
    version: int
    total: int
    shown: tuple[PromptRow, ...]


@dataclass(frozen=True)
class Provenance:
    """How one run's results were made; several values where results differ. `suspect`: reasons to doubt the run."""

    run: RunId
    search: tuple[str, ...]
    settings: tuple[Settings, ...]
    versions: tuple[str, ...]
    made: tuple[str, str]
    hashes: Mapping[int, str]
    commits: Mapping[int, str]
    equal: tuple[tuple[int, ...], ...]
    missing: tuple[int, ...]
    suspect: tuple[str, ...]
    identified: int | None


def prompt_tables(results: Iterable[Result]) -> Iterable[PromptTable]:
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


def provenance(chosen: Selection, run: RunId) -> Provenance:
    """How the results of a run were made."""
    results = [r for kind, every in chosen.results.items() if kind != "prompts" for r in every if run_of(r) == run]
    made = sorted(str(result.facts["made"]) for result in results)
    scans = chosen.of_run("emergence", run)
    facts = [scan.facts for scan in scans]
    commits = {int(step): str(c) for of in facts for step, c in of.get("commits", {}).items() if c}
    known = [int(of["identified"]) for of in facts if "identified" in of]
    return Provenance(
        run=run,
        search=tuple(sorted({str(of["search"]) for of in facts if "search" in of})),
        settings=tuple(sorted({settings_of(result) for result in results}, key=str)),
        versions=tuple(sorted({_versions(r.facts["versions"]) for r in results if "versions" in r.facts})),
        made=(made[0], made[-1]),
        hashes=dict(sorted(chosen.hashes.get(run, {}).items())),
        commits=dict(sorted(commits.items())),
        equal=tuple(sorted({tuple(map(int, group)) for of in facts for group in of.get("equal", ())})),
        missing=tuple(sorted({int(step) for of in facts for step in of.get("missing", ())})),
        suspect=tuple(dict.fromkeys(str(reason) for of in facts for reason in of.get("suspect", ()))),
        identified=max(known) if known else None,
    )


def _versions(value: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {item}" for key, item in sorted(value.items()))
