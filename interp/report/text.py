"""View → the plain tables and the answer that a terminal shows."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator

from interp.report import formats, sentences
from interp.report.display import Table
from interp.report.sections.heads import first_heads
from interp.report.views import Pair, View
from interp.values import Direction

TOP = 5


def render(view: View) -> str:
    """The first heads of each direction for every run and task; at the end the answer in three sentences."""
    blocks = [block for pair in view.pairs for block in _heads(pair)]
    if not any(pair.ranking for pair in view.pairs):
        blocks.append("Heads: no effects are stored.")
    blocks += [textwrap.fill(formats.visible(sentence), 118) for sentence in sentences.answer(view)]
    return "\n\n".join(blocks) + "\n"


def _heads(pair: Pair) -> Iterator[str]:
    for direction in Direction:
        table = first_heads(pair, direction, TOP)
        if table is not None:
            ends = f", steps {formats.step(pair.ends.pre)} and {formats.step(pair.ends.post)}" if pair.ends else ""
            yield formats.visible(f"{pair.run} · {pair.task} · {direction.value}{ends}") + "\n" + aligned(table)


def aligned(table: Table) -> str:
    """A table in columns, words to the left and numbers to the right."""
    rows = [table.columns, *table.rows, *([table.reference] if table.reference else [])]
    cells = [[formats.visible(cell) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            _padded(cell, width, i < table.words) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def _padded(cell: str, width: int, left: bool) -> str:
    gap = " " * (width - _width(cell))
    return cell + gap if left else gap + cell


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)
