"""View → tables of words, the same for the page and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from interp.report import formats
from interp.report.views import Curve, Outcome, Pair, View
from interp.values import Direction, Status


@dataclass(frozen=True)
class Table:
    """Words in rows; the first `words` columns are text, the others numbers.

    `reference` is a row under the heading. `ids` name the rows for anchors, `links` are the anchors that their first
    cells lead to (empty: none); `marked` rows stand out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    reference: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    marked: frozenset[int] = field(default_factory=frozenset)


def outcomes(pairs: Sequence[Pair]) -> Table:
    """When each task emerged in each run."""
    columns = ("run", "task", "status", "fails at", "passes at", "solved there", "p there", "threshold", "evaluated")
    judged = [(pair, pair.outcome, pair.curve) for pair in pairs if pair.outcome and pair.curve]
    links = tuple(pair.anchor for pair, _, _ in judged)
    return Table(columns, tuple(_outcome(*of) for of in judged), words=3, links=links)


def _outcome(pair: Pair, outcome: Outcome, curve: Curve) -> tuple[str, ...]:
    bracket = outcome.bracket
    passes = curve.steps[0] if outcome.status is Status.FROM_START else bracket.post if bracket else None
    return (
        str(pair.run),
        pair.task,
        status_words(outcome, curve),
        formats.step(bracket.pre if bracket else None),
        formats.step(passes),
        change(*outcome.share) if bracket else formats.probability(curve.shares[0 if passes is not None else -1]),
        change(*outcome.p) if bracket else formats.probability(curve.ps[0 if passes is not None else -1]),
        formats.probability(outcome.threshold),
        formats.counted(len(curve.steps), "step"),
    )


def status_words(outcome: Outcome, curve: Curve) -> str:
    """A status with the step it depends on."""
    last = formats.step(curve.steps[-1])
    if outcome.status is Status.EMERGED:
        return "emerged" if outcome.monotone else "emerged, with a later relapse"
    if outcome.status is Status.FROM_START:
        return "passes from the start"
    if outcome.status is Status.LOST:
        return f"lost: passed, fails at {last}"
    return f"censored: never passes by {last}"


def change(before: float, after: float) -> str:
    """`.200 → .920`."""
    return f"{formats.probability(before)} → {formats.probability(after)}"


def answers(view: View) -> Table:
    """What the report found, task by task."""
    columns = ("task", "emerged", "first passing step", "first head by denoising", "top heads recover", "random sets")
    rows = [_answer(task, view.of_task(task)) for task in view.tasks]
    links = tuple(next((pair.anchor for pair in view.of_task(task)), "") for task in view.tasks)
    return Table(columns, tuple(rows), words=2, links=links)


def _answer(task: str, pairs: Sequence[Pair]) -> tuple[str, ...]:
    emerged = [pair.outcome.bracket.post for pair in pairs if pair.emerges and pair.outcome and pair.outcome.bracket]
    judged = [pair for pair in pairs if pair.outcome is not None]
    firsts = [str(first.head) for pair in pairs if (first := pair.first_clear(Direction.DENOISING))]
    found = [r for pair in pairs if (r := pair.recovery.get(Direction.DENOISING))]
    parts = [r for r in found if r.verdict != "gap too small"]
    shares = ranged([r.share for r in parts]) if parts else "gap too small" if found else formats.NONE
    return (
        task,
        f"{len(emerged)} of {formats.counted(len(judged), 'run')}" if judged else "not scanned",
        formats.span(emerged) if emerged else formats.NONE,
        ", ".join(dict.fromkeys(firsts)) if firsts else formats.NONE,
        shares,
        ranged([value for r in parts for value in r.random]) if parts else formats.NONE,
    )


def ranged(values: Sequence[float]) -> str:
    """`.380 to .820`, or the one value."""
    low, high = formats.probability(min(values)), formats.probability(max(values))
    return low if low == high else f"{low} to {high}"


def curve(pair: Pair) -> Table | None:
    """Share solved and mean p at each evaluated step."""
    if pair.curve is None:
        return None
    seen = zip(pair.curve.steps, pair.curve.shares, pair.curve.ps, strict=True)
    rows = tuple((formats.step(s), formats.probability(share), formats.probability(p)) for s, share, p in seen)
    bracket = pair.outcome.bracket if pair.outcome is not None and pair.emerges else None
    ends = {bracket.pre, bracket.post} if bracket else set()
    marked = frozenset(i for i, step in enumerate(pair.curve.steps) if step in ends)
    return Table(("step", "share solved", "mean p(answer)"), rows, words=0, marked=marked)
