"""`interp cohort`: emergence over seeds and sizes, from stored scans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from interp.cli.answering import answering
from interp.cli.options import Json
from interp.cli.text import print_json

if TYPE_CHECKING:
    from interp.cohorts import Cohorts


@answering
def cohort(
    stores: Annotated[list[Path], typer.Argument(help="Folders that scan or demo wrote their results to.")],
    task: Annotated[
        list[str] | None,
        typer.Option("--task", "-t", help="A task's name; repeatable. Default: all that were scanned."),
    ] = None,
    which: Annotated[
        Literal["first", "lasting"], typer.Option(help="first known emergence, or lasting: never failed again.")
    ] = "first",
    horizon: Annotated[
        int | None, typer.Option(help="Step up to which restricted means are taken. Default: the earliest last step.")
    ] = None,
    json: Json = False,
) -> None:
    """When tasks emerge over the seeds of each suite, how surely, and whether suites differ."""
    from interp.report.cohort_tables import comparisons, outcomes, sentences
    from interp.report.cohorts import cohort as gather
    from interp.report.text import aligned

    found = gather(*stores, task=task, which=which, horizon=horizon)
    if json:
        print_json(_rows(found))
        return
    print(f"{found.which} emergence, in steps; 95 % intervals\n{aligned(outcomes(found))}\n")
    print(aligned(comparisons(found)))
    for sentence in sentences(found):
        print(sentence)


def _rows(found: Cohorts) -> Iterator[dict[str, Any]]:
    """The rows of every table, each with the table's name in front, then the notes."""
    for name, frame in found.tables.items():
        yield from (
            {"table": name} | {str(key): value for key, value in row.items()} for row in frame.to_dict("records")
        )
    yield from ({"table": "notes", "said": said} for said in found.notes)
