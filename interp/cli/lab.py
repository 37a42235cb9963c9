"""`interp lab copy-head`: the controlled experiments of the source papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.answering import answering
from interp.cli.options import DEFAULT_STORE, Json, StoreFolder, given_path
from interp.cli.text import print_json, print_table

app = typer.Typer(help="Controlled experiments of the source papers.", no_args_is_help=True)


@app.command("copy-head")
@answering
def copy_head(
    name: Annotated[
        str,
        typer.Argument(
            help="claims, phase-diagram, hysteresis, precursor, landscape, scaling, end-point, traps, bridge, or all."
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="A small setting that takes seconds.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The HTML file to write. Default: reports/copy-head-NAME.html", parser=given_path, metavar="PATH"
        ),
    ] = None,
    store: StoreFolder = DEFAULT_STORE,
    suites: Annotated[
        list[str] | None,
        typer.Option("--suite", help="Real heads: a suite or folder; repeatable. Default: the shipped."),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", help="Processes. Default: one a core.")] = None,
    json: Json = False,
) -> None:
    """The copy-head phase transition: theory, training and sampling of one attention layer; real heads beside it."""
    from interp.execution import cores, engine
    from interp.labs.copy_head import catalogue, page
    from interp.labs.copy_head.experiment import FULL, QUICK, SHIPPED, Lab
    from interp.labs.copy_head.section import Done
    from interp.store import Store
    from interp.suites import suite

    chosen, keep = catalogue.named(name), Store(store)
    keep.check_writable()
    for one in suites or ():
        suite(one)  # a wrong name is said before anything is computed
    jobs = (1 if quick else cores()) if jobs is None else jobs
    with engine(jobs, preload="interp.labs.copy_head.catalogue") as workers:
        lab = Lab(QUICK if quick else FULL, workers, keep, tuple(suites or (("nano-3l",) if quick else SHIPPED)))
        done = [Done(one, one.table(lab)) for one in chosen]
    rows = [row for one in done for row in one.experiment.short(one.frame)]
    if json:
        print_json(rows)
        return
    for one in done:
        print(one.experiment.title)
        print_table(one.experiment.short(one.frame), "nothing to show")
    command = f"interp lab copy-head {name}" + (" --quick" if quick else "")
    file = out or Path(f"reports/copy-head-{name}.html")
    print(f"wrote {page.write(done, file, command, str(lab.size.setting))}")
