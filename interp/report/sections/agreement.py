"""Do the heads that matter carry the signatures? What is stored of the agreement of |Δp| with changes of scores."""

from __future__ import annotations

import math
from collections.abc import Mapping

from interp.report import formats
from interp.report.blocks import Block, Caption, Heading, Missing, Rows
from interp.report.commands import command
from interp.report.display import Table
from interp.report.views import Pair, score_name

_READING = (
    "ρ is the rank correlation, over all heads, of |Δp| with |change of the score| between the two checkpoints. "
    "It says whether heads that matter are heads whose pattern changed in that way, not that the change is why "
    "they matter; with {heads} a sizeable ρ can arise by chance, and {scores} scores are looked at."
)
_MORE = (
    " In brackets: 95 % intervals over prompts. p within layers: heads shuffled within their layers, since layers "
    "differ in both; p (Holm): the same, corrected over all rows. Precision: the share of the K heads whose score "
    "changed most that are among the K of largest effect, K being the number of causal heads; by chance: its mean "
    "when heads are shuffled within layers."
)


def blocks(pair: Pair) -> tuple[Block, ...]:
    """The table and how to read it, or the command that makes it."""
    found = table(pair)
    if found is None:
        return (Missing("No agreement is stored.", command("patch", pair), "computes it."),)
    heads = formats.counted(len(pair.signatures), "head") if pair.signatures else "few heads"
    scores = len({of.score for of in pair.agreement})
    more = _MORE if any("p_layer" in of.numbers for of in pair.agreement) else ""
    return (
        Heading("Do the heads that matter carry the signatures?"),
        Rows("Agreement of effects with changes of the scores", found),
        Caption(_READING.format(heads=heads, scores=scores) + more),
    )


def table(pair: Pair) -> Table | None:
    """One row for each direction and score, with the columns that are stored."""
    if not pair.agreement:
        return None
    stored = {name for of in pair.agreement for name in of.numbers}
    columns = [of for of in _COLUMNS if of[1] in stored]
    rows = tuple(
        (str(of.direction), score_name(of.score), *(_cell(of.numbers, *column[1:]) for column in columns))
        for of in sorted(pair.agreement, key=lambda of: str(of.direction))
    )
    return Table(("direction", "score", *(name for name, *_ in columns)), rows, words=2)


_COLUMNS = (
    ("ρ", "rho", "signed"),
    ("p", "p_value", "plain"),
    ("p within layers", "p_layer", "plain"),
    ("p (Holm)", "p_holm", "plain"),
    ("K", "k", "count"),
    ("precision", "precision", "plain"),
    ("by chance", "precision_layer", "plain"),
    ("p of precision", "p_precision", "plain"),
)


def _cell(numbers: Mapping[str, float], name: str, how: str) -> str:
    value = numbers.get(name, math.nan)
    if how == "count":
        return formats.NONE if math.isnan(value) else f"{value:.0f}"
    write = formats.signed if how == "signed" else formats.probability
    low, high = numbers.get(f"{name}_low", math.nan), numbers.get(f"{name}_high", math.nan)
    return write(value) + ("" if math.isnan(low) else f" [{write(low)}, {write(high)}]")
