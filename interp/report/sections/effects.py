"""Δp of every head, layer by head."""

from __future__ import annotations

from interp.report import figures, formats
from interp.report.blocks import Beside, Block, Caption, Figure, Missing, Rows, Section
from interp.report.commands import command
from interp.report.display import Table
from interp.report.views import Pair
from interp.values import Direction, Status

_READING = (
    "Denoising writes a later pattern into the earlier checkpoint: a positive Δp says that this pattern alone brings "
    "some of the behaviour. Noising writes an earlier pattern into the later checkpoint: a negative Δp says that the "
    "behaviour needs it. Denoising finds the last link of a chain, noising the earlier ones; a head that is blank in "
    "one may matter in the other, and single effects do not add up. One colour scale, centred at 0, for both. "
    "Outlined: causal heads."
)


def section(pair: Pair) -> Section:
    """Both directions side by side, or why there are no effects."""
    blocks: tuple[Block, ...]
    if not pair.grids:
        blocks = (Missing(_none(pair), command("patch", pair), _then(pair)),)
    else:
        drawn = figures.grids(pair)
        blocks = (
            Beside(
                tuple(
                    Figure(f"grid-{direction}", plot, f"Mean Δp of every head, {direction}, {pair.name}")
                    for direction, plot in drawn.items()
                )
            ),
            Caption(_exchanged(pair) + _READING),
            *(
                Rows(f"Δp by layer and head, {direction}", grid(pair, direction), folded=True)
                for direction in pair.grids
            ),
        )
    return Section(f"{pair.anchor}-grid", "Δp by layer and head", blocks)


def grid(pair: Pair, direction: Direction) -> Table:
    """Mean Δp of every head, layers down and heads across."""
    values = pair.grids[direction]
    columns = ("layer", *(f"H{head}" for head in range(values.shape[1])))
    rows = tuple((f"L{layer}", *(formats.signed(float(v)) for v in row)) for layer, row in enumerate(values))
    return Table(columns, rows, words=1)


def _exchanged(pair: Pair) -> str:
    if pair.ends is None:
        return ""
    of_scan = pair.outcome.bracket if pair.outcome is not None else None
    other = of_scan is not None and (of_scan.pre, of_scan.post) != (pair.ends.pre, pair.ends.post)
    ends = f"step {formats.step(pair.ends.pre)} and step {formats.step(pair.ends.post)}"
    return f"Patterns are exchanged between {ends}, one head at a time{' (not the scan’s bracket)' if other else ''}. "


def _none(pair: Pair) -> str:
    if pair.outcome is None or pair.emerges:
        return "No effects are stored for this run and task."
    words = "passes from the start" if pair.outcome.status is Status.FROM_START else "is censored"
    return f"This task {words} here, so no effects were measured."


def _then(pair: Pair) -> str:
    known = pair.outcome is not None and not pair.emerges
    return "measures them, once two checkpoints are named with --pre and --post." if known else "measures them."
