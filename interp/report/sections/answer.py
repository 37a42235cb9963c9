"""The answer in three sentences, and task by task."""

from __future__ import annotations

from collections.abc import Sequence

from interp.report import formats, sentences
from interp.report.blocks import Caption, Rows, Said, Section
from interp.report.display import Table
from interp.report.formats import ranged
from interp.report.joint import REPORTED_K
from interp.report.views import Pair, View
from interp.values import Direction

_READING = (
    "A head is causal in a direction when its Δp has the right sign, its simultaneous 95 % interval over all heads "
    "excludes 0, it is at least 5 % of the gap between the two checkpoints, and it lies beyond the source-permuted "
    "control, in which the pattern keeps its weights and loses their places. Denoising writes a later pattern into "
    f"the earlier checkpoint, noising the reverse. The top {REPORTED_K} heads (a number fixed beforehand) are said to "
    "recover a task when their joint patch has an interval above 0 and exceeds every random set of equal size in that "
    "run; the ranges beside are over all runs whose gap is not near zero. Heads of different seeds have no common "
    "numbering. All this is about these prompts and these two checkpoints of each run."
)


def section(view: View) -> Section:
    """What emerged, when, which heads, and how sure that is."""
    said = Said(sentences.answer(view), ("When", "Which heads", "How sure"))
    return Section("answer", "The answer", (said, Rows("The answer by task", by_task(view)), Caption(_READING)))


def by_task(view: View) -> Table:
    """What the report found, one row for each task."""
    columns = ("task", "emerged", "first passing step", "for good", "causal in denoising", "top heads recover",
        "random sets", "shown to recover")  # fmt: skip
    rows = tuple(_row(task, view.of_task(task)) for task in view.tasks)
    links = tuple(next((pair.anchor for pair in view.of_task(task)), "") for task in view.tasks)
    return Table(columns, rows, words=2, links=links)


def _row(task: str, pairs: Sequence[Pair]) -> tuple[str, ...]:
    emerged = [pair.outcome.bracket.post for pair in pairs if pair.emerges and pair.outcome and pair.outcome.bracket]
    judged = [pair for pair in pairs if pair.outcome is not None]
    lasting = [p.outcome.lasting_bracket.post for p in judged if p.outcome and p.outcome.lasting_bracket]
    firsts = [str(first.head) for pair in pairs if (first := pair.first_causal(Direction.DENOISING))]
    found = [r for pair in pairs if (r := pair.recovery.get(Direction.DENOISING))]
    parts = [r for r in found if r.verdict != "gap too small"]
    shares = ranged([r.share for r in parts]) if parts else "gap near zero" if found else formats.NONE
    return (
        task,
        f"{len(emerged)} of {formats.counted(len(judged), 'run')}" if judged else "not scanned",
        formats.span(emerged) if emerged else formats.NONE,
        formats.span(lasting) if lasting else formats.NONE,
        ", ".join(dict.fromkeys(firsts)) if firsts else formats.NONE,
        shares,
        ranged([value for r in parts for value in r.random]) if parts else formats.NONE,
        f"{sum(r.verdict == 'recovered' for r in found)} of {len(found)}" if found else formats.NONE,
    )
