"""Store → one HTML file, and the plain tables that a terminal shows of heads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interp.report import html, text
from interp.report.tables import read
from interp.store import Store
from interp.values import InputError

__all__ = ["text_tables", "write"]


def write(stores: Sequence[Store] | Store, out: Path, title: str | None = None, command: str | None = None) -> Path:
    """Write the report of everything in the stores as one HTML file that opens without a network; gives its path.

    Where a result was made more than once, the newest counts. `command` is shown as what made the report.

    Raises:
        InputError: the stores hold no results, or the file cannot be written.
    """
    view = read([stores] if isinstance(stores, Store) else list(stores))
    document = html.page(view, title, command)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(out.name + ".part")
        try:
            part.write_text(document, encoding="utf-8")
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"the report {out} cannot be written: {error.strerror}") from error
    return out


def text_tables(store: Store) -> str:
    """The first five heads of each run, task and direction with their signatures.

    Raises:
        InputError: the store holds no results.
    """
    return text.render(read([store]))
