"""A table of words, the same for the page and the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Table:
    """Words in rows; the first `words` columns are text, the others numbers.

    `reference` is a row under the heading. `ids` name the rows for anchors, `links` are the anchors that their first
    cells lead to (empty: none); `marked` rows stand out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    reference: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    marked: frozenset[int] = field(default_factory=frozenset)
