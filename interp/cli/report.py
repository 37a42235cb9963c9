"""`interp report`: stored results as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.answering import answering
from interp.cli.options import given_path


@answering
def report(
    stores: Annotated[
        list[Path],
        typer.Argument(
            help="The folder that scan, patch or demo wrote to; a second one is set beside it.",
            parser=given_path,
            metavar="STORES",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file to write.", parser=given_path, metavar="PATH")] = Path(
        "reports/report.html"
    ),
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
) -> None:
    """Write a store's results, or two stores side by side, as one HTML file that opens offline."""
    import shlex

    from interp.store import Store
    from interp.values import InputError

    command = shlex.join(["interp", "report", *map(str, stores)])
    kept = [Store(folder) for folder in stores]
    if len(kept) > 2:
        raise InputError(f"{len(kept)} stores were given; a report is of one store, or sets two side by side")
    for one in kept:
        one.check_readable()
    from interp.labs import stored
    from interp.report import compare, write

    if len(kept) == 2:
        print(f"wrote {compare(kept[0], kept[1], out, title, command)}")
    else:
        print(f"wrote {write(kept, out, title, command, stored.sections(kept))}")
