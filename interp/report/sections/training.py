"""Signatures over training: what the patterns of the first heads look like at every evaluated step."""

from __future__ import annotations

from interp.report import figures, formats
from interp.report.blocks import Block, Caption, Figure, Missing, Rows, Section
from interp.report.commands import command
from interp.report.display import Table
from interp.report.figures.training import shown_heads
from interp.report.views import Pair, score_name

_READING = (
    "The scores of the first heads by Δp at every evaluated step (thin lines: the other heads), on random words told "
    "twice. The bracket of this task is shaded; the dotted line is the same score of uniform attention. A signature "
    "that rises in the bracket came with the capability, one that rises before was there already."
)
_CHANGES = (
    "When a head's score changed most: from its value before to its value after, between two steps, and where that "
    "lies beside the task's bracket. Abrupt: most of the change falls between neighbouring evaluated steps."
)
_VERDICTS = {"in": "in the bracket", "before": "before the bracket", "after": "after the bracket"}


def section(pair: Pair) -> Section:
    """Scores by step, then changes beside the bracket."""
    anchor, title = f"{pair.anchor}-training", "Signatures over training"
    drawn = figures.training(pair)
    blocks: list[Block] = []
    if drawn is None:
        blocks.append(
            Missing(
                "Signatures are not stored at several steps.", command("scan", pair) + " --signatures", "takes them."
            )
        )
    else:
        blocks += [
            Figure("training", drawn, f"Scores of the first heads by step, {pair.name}", 860),
            Caption(_READING),
            Rows("Scores by step", by_step(pair), folded=True),
        ]
    table = changes(pair)
    if table is not None:
        blocks += [Rows("When scores changed", table), Caption(_CHANGES)]
    return Section(anchor, title, tuple(blocks))


def by_step(pair: Pair) -> Table:
    """Steps down; every key score of every shown head across."""
    assert pair.training is not None
    known = pair.training
    of = [(score, head) for score in figures.training_scores(pair) for head in shown_heads(pair)]
    columns = ("step", *(f"{head} {score_name(score)}" for score, head in of))
    rows = tuple(
        (
            formats.step(step),
            *(formats.probability(float(known.values[score][i, head.layer, head.head])) for score, head in of),
        )
        for i, step in enumerate(known.steps)
    )
    return Table(columns, rows, words=0)


def changes(pair: Pair) -> Table | None:
    """The stored changes of the shown heads' scores; of all heads, where no effects are stored."""
    shown = {str(head) for head in shown_heads(pair)}
    rows = []
    for row in pair.changes:
        head = f"L{row['layer']}H{row['head']}"
        if shown and head not in shown:
            continue
        relation = str(row.get("relation", ""))
        rows.append(
            (
                head,
                score_name(str(row["score"])),
                str(row["verdict"]),
                _VERDICTS.get(relation, relation),
                f"{formats.optional(row['from_step'])} → {formats.optional(row['to_step'])}",
                f"{formats.optional(row['before'])} → {formats.optional(row['after'])}",
            )
        )
    columns = ("head", "score", "change", "beside the bracket", "steps", "score before → after")
    return Table(columns, tuple(rows), words=4) if rows else None
