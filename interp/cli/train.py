"""`interp train`: the shipped suites from nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interp.cli.answering import answering
from interp.cli.options import chosen_tasks, given_path
from interp.values import parse_seeds


@answering
def train(
    size: Annotated[str, typer.Argument(help="nano-2l or nano-3l.")],
    out: Annotated[
        Path,
        typer.Option(
            help="The folder to write the suite to; a run that was stopped goes on.", parser=given_path, metavar="PATH"
        ),
    ],
    seeds: Annotated[str, typer.Option(help="Seeds, such as 0-5.")] = "0-5",
) -> None:
    """Train a suite of small models, with checkpoints, as a folder that every other command reads."""
    from interp.training import train as run
    from interp.watching import watch_tasks

    run(size, parse_seeds(seeds), out, watch_tasks(out, chosen_tasks(None)))
    print(f"wrote {out}")
