"""Do the heads that matter carry the signatures, over the seeds of a suite?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from interp.report import formats
from interp.report.blocks import Block, Caption, Missing, OfTask, Rows, Section
from interp.report.display import Table
from interp.report.scores import score_name
from interp.report.views import OverSeeds, View

_READING = (
    "ρ: the rank correlation of |Δp| with |change of the score| over heads, its mean over seeds, and the smallest and "
    "largest of them; p: heads shuffled within the layers of every seed, corrected over the table (Holm). Alike: how "
    "alike the first heads of different seeds are in this score (1: equal), beside heads drawn from the same layers."
)


def section(view: View) -> Section | None:
    """One table for each task; nothing where no suite has two runs."""
    if not view.over_seeds:
        suites = [suite for suite, n in Counter(run.suite for run in view.runs).items() if n > 1]
        if not suites or not any(pair.ranking for pair in view.pairs):
            return None
        said = "Whether the heads of different seeds agree was not computed."
        blocks: tuple[Block, ...] = (Missing(said, f"interp trace {suites[0]}", "computes it."),)
    else:
        tables = (OfTask(of.task, (Rows(f"{of.suite} · {of.task}", _table(of)),)) for of in view.over_seeds)
        blocks = (*tables, Caption(_READING))
    return Section("seeds", "Signatures over seeds", blocks)


def _table(of: OverSeeds) -> Table:
    columns = ("task", "direction", "score", "seeds", "ρ (smallest, largest)", "p (Holm)", "alike", "by chance", "p")
    return Table(columns, tuple(_row(of.task, row) for row in of.rows), words=3)


def _row(task: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    low, high = formats.signed(float(row["rho_min"])), formats.signed(float(row["rho_max"]))
    return (
        task,
        str(row["direction"]),
        score_name(str(row["score"])),
        str(len(row["seeds"])),
        f"{formats.signed(float(row['rho']))} ({low}, {high})",
        *(formats.probability(float(row[name])) for name in ("p_holm", "alike", "alike_layer", "p_alike")),
    )
