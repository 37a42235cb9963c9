"""`interp report`: stored results as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.answering import answering


@answering
def report(
    stores: Annotated[
        list[Path], typer.Argument(help="The folder that scan, patch or demo wrote to; a second one is set beside it.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("reports/report.html"),
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
) -> None:
    """Write a store's results, or two stores side by side, as one HTML file that opens offline."""
    import shlex

    from interp.report import compare, write
    from interp.store import Store
    from interp.values import InputError

    command = shlex.join(["interp", "report", *map(str, stores)])
    if len(stores) > 2:
        raise InputError(f"{len(stores)} stores were given; a report is of one store, or sets two side by side")
    if len(stores) == 2:
        print(f"wrote {compare(Store(stores[0]), Store(stores[1]), out, title, command)}")
    else:
        print(f"wrote {write(Store(stores[0]), out, title, command)}")
