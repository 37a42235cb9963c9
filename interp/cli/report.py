"""`interp report`: stored results as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.answering import answering


@answering
def report(
    stores: Annotated[list[Path], typer.Argument(help="Folders that scan, patch or demo wrote their results to.")],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("reports/report.html"),
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
) -> None:
    """Write stored results as one HTML file that opens offline."""
    from interp.report import write
    from interp.store import Store

    command = "interp report " + " ".join(map(str, stores))
    print(f"wrote {write([Store(folder) for folder in stores], out, title, command)}")
