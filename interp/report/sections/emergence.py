"""When each task emerged, over seeds and sizes: every run's bracket on one axis, censored ones marked."""

from __future__ import annotations

from collections.abc import Sequence

from interp.report import figures, formats
from interp.report.blocks import Block, Caption, Figure, Heading, Missing, Rows, Section
from interp.report.display import Table
from interp.report.formats import change
from interp.report.views import Curve, Outcome, Pair, View
from interp.values import Status

_READING = (
    "Each row is one run. A filled circle is the first evaluated checkpoint that passes, and its bar reaches back to "
    "the last one before it that fails: the capability arose somewhere inside the bar, not at the circle. An orange "
    "bar is the lasting bracket, where the task passes for good only later; a cross at the end: it was lost. Open "
    "marks are no emergences. A censored task is known only not to have passed so far, and must not be averaged in as "
    "if it emerged at the last step. Pale ticks are the checkpoints that were evaluated; between two of them nothing "
    "is known."
)


def section(view: View, survival: Sequence[Block] = ()) -> Section:
    """Survival curves (those given), then brackets."""
    drawn = figures.overview(view.pairs)
    blocks: list[Block] = list(survival)
    if drawn is None:
        blocks.append(Missing("No scan is stored.", "interp scan SUITE", "finds when each task emerges."))
    else:
        blocks += [
            Heading("Brackets of every run"),
            Figure("overview", drawn, "Steps at which each task emerged, one row for each run", 520),
            Caption(_READING),
            Rows("Emergence by run and task", outcomes(view.pairs)),
        ]
    return Section("emergence", "Emergence over seeds and sizes", tuple(blocks))


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
    first = {
        Status.EMERGED: "emerged",
        Status.FROM_START: "passes from the start",
        Status.CENSORED: f"censored: never passes by {last}",
    }.get(outcome.status, outcome.status.value)
    if outcome.lost:
        return f"{first}, lost: fails at {last}"
    if outcome.later is not None:
        return f"{first}, for good only from {formats.step(outcome.later.post)}"
    return first if outcome.monotone else f"{first}, with a later relapse"
