"""p(answer) and the share solved over steps, with the bracket."""

from __future__ import annotations

from interp.report import figures, formats
from interp.report.blocks import Block, Caption, Figure, Missing, Rows, Section
from interp.report.commands import command
from interp.report.display import Table
from interp.report.views import Pair

_READING = (
    "The share of search prompts solved greedily, and the mean p of the answer. The bracket is shaded; it was "
    "chosen on these very prompts, so the rise across it looks a little steeper than on others. Lines between "
    "marks only guide the eye. A share can jump while p rises smoothly: the jump alone does not show that "
    "learning was abrupt."
)
_INTERVALS = " Shaded around the lines: 95 % intervals over prompts (p: bootstrap; share: Wilson)."
_MEASURES = {"p": "mean p(answer)", "margin": "mean margin", "share": "share solved"}


def section(pair: Pair) -> Section:
    """The curve of one run and task, and how sharp its rise is."""
    drawn, table = figures.curve(pair), curve(pair)
    blocks: list[Block] = []
    if drawn is None or table is None or pair.curve is None:
        blocks.append(
            Missing("No scan of this run and task is stored.", command("scan", pair), "finds when it emerges.")
        )
    else:
        blocks += [
            Figure("curve", drawn, f"Share solved and mean p by step, {pair.name}"),
            Caption(_READING + (_INTERVALS if pair.curve.p_bounds else "")),
            Rows("Share and p by step", table, folded=True),
        ]
        blocks += _onsets(pair)
    return Section(f"{pair.anchor}-curve", "p over steps", tuple(blocks))


def curve(pair: Pair) -> Table | None:
    """Share solved and mean p at each evaluated step; the bracket's ends stand out."""
    seen = pair.curve
    if seen is None:
        return None
    bounds = bool(seen.p_bounds)
    rows = []
    for i, step in enumerate(seen.steps):
        share, p = formats.probability(seen.shares[i]), formats.probability(seen.ps[i])
        if bounds:
            share, p = f"{share} {_interval(seen.share_bounds[i])}", f"{p} {_interval(seen.p_bounds[i])}"
        rows.append((formats.step(step), share, p))
    bracket = pair.outcome.bracket if pair.outcome is not None else None
    ends = {bracket.pre, bracket.post} if bracket else set()
    marked = frozenset(i for i, step in enumerate(seen.steps) if step in ends)
    return Table(("step", "share solved", "mean p(answer)"), tuple(rows), words=0, marked=marked)


def _interval(bounds: tuple[float, float]) -> str:
    return f"[{formats.probability(bounds[0])}, {formats.probability(bounds[1])}]"


def _onsets(pair: Pair) -> list[Block]:
    if not pair.onsets:
        return []
    rows = []
    for row in pair.onsets:
        low, high, width, *bounds = (
            formats.optional(row.get(name))
            for name in ("low_step", "high_step", "doublings", "doublings_low", "doublings_high")
        )
        rows.append(
            (_MEASURES.get(str(row["measure"]), str(row["measure"])), low, high, f"{width} [{', '.join(bounds)}]")
        )
    columns = ("measure", "10 % by step", "90 % by step", "doublings of the step between them")
    said = (
        "How sharp the rise is: the steps at which a measure has gone 10 % and 90 % of the way to its final level, and "
        "how often the number of steps doubles between them, with 95 % intervals over prompts. A rise of the margin, "
        "which has no threshold, tells more about learning than that of the share, which has one."
    )
    return [Rows("How sharp the rise is", Table(columns, tuple(rows), words=1)), Caption(said)]
