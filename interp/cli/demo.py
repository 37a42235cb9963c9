"""`interp demo`: the whole main job on the suite that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.answering import answering
from interp.cli.emerged import print_emergence
from interp.cli.options import Jobs, Seeds, StoreFolder, chosen_seeds, chosen_tasks, given_path, workers
from interp.execution import cores

TASKS = ["string", "named_item", "counting", "ioi"]


@answering
def demo(
    suite: Annotated[str, typer.Option(help="The suite to look at.")] = "nano-3l",
    task: Annotated[
        list[str] | None, typer.Option("--task", "-t", help="Tasks. Default: " + ", ".join(TASKS) + ".")
    ] = None,
    seeds: Seeds = None,
    store: StoreFolder = Path(".interp/demo"),
    out: Annotated[Path, typer.Option(help="The report to write.", parser=given_path, metavar="PATH")] = Path(
        "reports/demo.html"
    ),
    jobs: Jobs = min(2, cores()),
) -> None:
    """Find when four capabilities emerge in several seeds, rank and follow the heads, and write a report."""
    with workers(jobs) as engine:  # first of all, so that the workers are getting ready while this process is
        import torch

        from interp import pipeline
        from interp.provenance import Options
        from interp.store import Store
        from interp.suites import suite as find

        torch.set_num_threads(1)  # models this small only lose time to a second thread, most of all on a busy machine
        kept, tasks, chosen = Store(store), chosen_tasks(task or TASKS), chosen_seeds(seeds)
        options = Options(draws=5)  # fewer random controls than `interp patch` draws: a first look is to be quick
        scanned = pipeline.scan(find(suite), tasks, kept, chosen, options, engine)
        pipeline.patch(find(suite), tasks, kept, chosen, options, engine=engine)
        pipeline.trace(find(suite), tasks, kept, (), chosen, options, engine)
    from interp.report import text_tables, write

    print_emergence(scanned)
    print()
    print(text_tables(kept))
    print(f"wrote {write(kept, out, command='interp demo')}")
