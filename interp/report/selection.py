"""Which stored results a report uses: the newest, and never two sets of weights for one step of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from interp.report import formats
from interp.store import Result, Store
from interp.values import InputError, RunId

PAIR_KINDS = ("heads", "effects", "joint", "agreement", "patterns")
KINDS = ("prompts", "evaluations", "emergence", "signatures", *PAIR_KINDS)
_SAME = ("pre", "post", "weights", "tokenizer", "bos", "dtype", "role", "prompts")


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
        return tuple(result for result in self.of_run(kind, run) if result.facts.get("task") == task)


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


def run_of(result: Result) -> RunId:
    """The run that a result is about."""
    seed = result.facts["seed"]
    return RunId(result.facts["suite"], None if seed is None else int(seed))


def same_conditions(result: Result, other: Result) -> bool:
    """Whether two results of a run and task were measured on the same weights, prompts' tokens and numerics."""
    return all(result.facts.get(fact) == other.facts.get(fact) for fact in _SAME)


def name(result: Result) -> str:
    """A result in words: `heads of nano/seed1 · string`."""
    task = result.facts.get("task")
    return f"{result.kind} of {run_of(result)}" + (f" · {task}" if task else "")


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
