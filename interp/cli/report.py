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
            help="Folders that scan, patch or demo wrote their results to.", parser=given_path, metavar="STORES"
        ),
    ],
    out: Annotated[Path, typer.Option(help="The file to write.", parser=given_path, metavar="PATH")] = Path(
        "reports/report.html"
    ),
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
) -> None:
    """Write stored results as one HTML file that opens offline."""
    from interp.store import Store

    kept = [Store(folder) for folder in stores]
    for one in kept:
        one.check_readable()
    from interp.report import write

    print(f"wrote {write(kept, out, title, 'interp report ' + ' '.join(map(str, stores)))}")
