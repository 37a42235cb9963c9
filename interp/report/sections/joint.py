"""The top-K curve: the first heads patched together, beside every control."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from interp.report import figures, formats
from interp.report.blocks import Beside, Block, Caption, Figure, Missing, Rows, Section
from interp.report.commands import command
from interp.report.display import Table
from interp.report.formats import ranged
from interp.report.views import JointSet, Pair
from interp.values import Direction

_READING = (
    "The patterns of the top K heads written together, as a fraction of the gap: 0 is the recipient, 1 (dotted) "
    "the donor. Heads enter in the order of their single effects, ranked on half of the prompts and measured on "
    "the other half; no set is searched for. The shaded band holds every random set of equal size. Controls in "
    "the same heads: mismatched, the patterns of a prompt of another layout; permuted, patterns whose weights "
    "keep and whose places lose their order (an arrowhead: outside of the figure, since a wrong pattern can break "
    "more than the gap). A fraction above all of these says that these heads' patterns carry the behaviour; a "
    "small fraction says only that patterns alone do not (values, MLPs and embeddings are never written). All "
    "heads together can do less than a few: the others' later patterns may harm."
)
_SETS = {
    "top": "top K",
    "random": "random",
    "mismatched": "mismatched in the top K",
    "permuted": "permuted in the top K",
    "all": "all",
    "own": "own patterns",
}


def section(pair: Pair) -> Section:
    """Both directions side by side, then every set in a table."""
    anchor, title = f"{pair.anchor}-joint", "Top heads together"
    table = joint(pair)
    if table is None:
        said = Missing("No joint patch is stored.", command("patch", pair), "measures it.")
        return Section(anchor, title, (said,))
    drawn = tuple(
        Figure(f"joint-{direction}", plot, f"Recovered fraction by number of heads, {direction}, {pair.name}")
        for direction, plot in figures.joint_patch(pair).items()
    )
    small: list[Block] = [
        Missing(
            f"In {found.direction} the gap of {formats.measured(found.gap)} is too near zero to divide by, so Δp is "
            "shown and no fraction."
        )
        for found in pair.recovery.values()
        if found.verdict == "gap too small"
    ]
    table_of = Rows("Every set that was patched together", table, folded=True)
    return Section(anchor, title, (Beside(drawn), *small, Caption(_READING), table_of))


def joint(pair: Pair) -> Table | None:
    """Every set that was patched together; the random sets of one size in one row."""
    if not pair.joint:
        return None
    names = [*_SETS, *dict.fromkeys(one.name for one in pair.joint if one.name not in _SETS)]
    rows = []
    for direction, name in itertools.product(Direction, names):
        of = [one for one in pair.joint if one.direction is direction and one.name == name]
        for k in sorted({one.k for one in of}):
            rows.append((direction.value, _SETS.get(name, name), *_row([one for one in of if one.k == k])))
    columns = ("direction", "set", "heads", "size", "Δp", "recovered", "gap")
    return Table(columns, tuple(rows), words=3)


def _row(draws: Sequence[JointSet]) -> tuple[str, ...]:
    one = draws[0]
    if one.name == "random":
        deltas = [draw.delta_p[0] for draw in draws]
        said = f"{formats.counted(len(draws), 'draw')}, smallest to largest"
        delta = f"{formats.signed(min(deltas))} to {formats.signed(max(deltas))}"
        share = ranged([draw.recovered[0] for draw in draws])
    else:
        said = ", ".join(one.heads) if len(one.heads) <= 8 else f"{len(one.heads)} heads"
        delta = formats.measured(one.delta_p)
        known = one.recovered[0] == one.recovered[0]
        share = (
            f"{formats.probability(one.recovered[0])} {formats.interval(*one.recovered[1:])}" if known else formats.NONE
        )
    return said, str(one.k), delta, share, formats.measured(one.gap)
