"""Store → one HTML file, two stores side by side, and the plain tables that a terminal shows of heads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interp.report import assembly, html, text
from interp.report.blocks import Section
from interp.report.cohorts import cohort
from interp.report.comparing import matching
from interp.report.comparing import page as comparing
from interp.report.tables import read
from interp.store import Store
from interp.values import InputError

__all__ = ["compare", "text_tables", "write"]


def write(
    stores: Sequence[Store] | Store,
    out: Path,
    title: str | None = None,
    command: str | None = None,
    beside: Sequence[Section] = (),
) -> Path:
    """Write the report of everything in the stores as one HTML file that opens without a network; gives its path.

    Where a result was made more than once, the newest counts. `command` is shown as what made the report.
    `beside` are sections about other stored results, such as those of labs.

    Raises:
        InputError: the stores hold no results, or the file cannot be written.
    """
    chosen = [stores] if isinstance(stores, Store) else list(stores)
    view = read(chosen)
    scanned = any(pair.outcome is not None for pair in view.pairs)
    return html.write(assembly.page(view, cohort(*chosen) if scanned else None, title, command, beside), out)


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
    return html.write(comparing.page(matching.compare(names, read([first]), read([second])), title, command), out)


def text_tables(store: Store) -> str:
    """The first five heads of each run, task and direction with their signatures, and the answer in three sentences.

    Raises:
        InputError: the store holds no results.
    """
    return text.render(read([store]))
