"""Store → one HTML file, two stores side by side, and the plain tables that a terminal shows of heads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interp.report import assembly, html, text
from interp.report.blocks import Page
from interp.report.comparing import matching
from interp.report.comparing import page as comparing
from interp.report.tables import read
from interp.store import Store
from interp.values import InputError

__all__ = ["compare", "text_tables", "write"]


def write(stores: Sequence[Store] | Store, out: Path, title: str | None = None, command: str | None = None) -> Path:
    """Write the report of everything in the stores as one HTML file that opens without a network; gives its path.

    Where a result was made more than once, the newest counts. `command` is shown as what made the report.

    Raises:
        InputError: the stores hold no results, or the file cannot be written.
    """
    view = read([stores] if isinstance(stores, Store) else list(stores))
    return _write(assembly.page(view, title, command), out)


def compare(first: Store, second: Store, out: Path, title: str | None = None, command: str | None = None) -> Path:
    """Write two stores side by side as one HTML file: two suites, two sizes, before and after a change.

    Runs are matched by suite and seed, or by seed where each store holds another suite. A difference is second − first.

    Raises:
        InputError: a store holds no results, the two are one, or the file cannot be written.
    """
    if first.root.resolve() == second.root.resolve():
        raise InputError(f"both stores are {first.root}; two different ones are set side by side")
    names = (first.root.name, second.root.name)
    if names[0] == names[1]:
        names = (str(first.root), str(second.root))
    return _write(comparing.page(matching.compare(names, read([first]), read([second])), title, command), out)


def _write(page: Page, out: Path) -> Path:
    document = html.document(page)
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
