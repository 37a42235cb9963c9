"""Values as small HTML tables, which notebooks show; every text is escaped, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

# rows shown of a long table: what follows is counted, not shown
_MOST = 24


def facts(title: str, rows: Mapping[str, object]) -> str:
    """A value's name over its facts, one a line."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{_cell(value)}</td></tr>'
        for name, value in rows.items()
    )
    return f"<div><strong>{escape(title)}</strong><table><tbody>{cells}</tbody></table></div>"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A value's name over a table of what it holds, at most 24 rows of it."""
    every = list(rows)
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{_cell(value)}</td>' for value in row) + "</tr>"
        for row in every[:_MOST]
    )
    more = f"<p>… and {len(every) - _MOST:,} more</p>" if len(every) > _MOST else ""
    return (
        f"<div><strong>{escape(title)}</strong>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple | list):
        return ", ".join(map(_cell, value)) or "–"
    return f'<span style="white-space:pre-wrap">{escape(str(value))}</span>'
