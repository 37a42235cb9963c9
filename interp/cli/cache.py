"""`interp cache`: what was downloaded, and its removal."""

from __future__ import annotations

from typing import Annotated

import typer

from interp.cli.answering import answering
from interp.cli.options import Json
from interp.cli.text import print_json, print_table

app = typer.Typer(help="What was downloaded from the Hub, and its removal.", no_args_is_help=True)


@app.command("list")
@answering
def listed(json: Json = False) -> None:
    """List the checkpoints in the Hub cache that interp has used."""
    from interp.suites.disk import in_words, kept, sizes

    rows = [
        {"repository": one.repository, "commit": one.commit, "size": one.size, "downloaded_by_interp": one.ours}
        for one in kept()
    ]
    if json:
        print_json(rows)
        return
    print_table([row | {"commit": row["commit"][:8], "size": in_words(row["size"])} for row in rows], "nothing")
    ours, others = sizes(True), sizes(False)
    print(f"{in_words(ours)} downloaded by interp, {in_words(others)} that lay there before")


@app.command("prune")
@answering
def prune(
    repository: Annotated[str | None, typer.Argument(help="One repository, owner/name. Default: all.")] = None,
    others: Annotated[
        bool, typer.Option("--others", help="Also weights that interp has used but did not download.")
    ] = False,
) -> None:
    """Remove downloaded weights, and parts that stopped downloads left; results, and what is known of steps, stay."""
    from interp.suites.disk import in_words, kept, remove, remove_parts
    from interp.suites.ledger import Ledger

    chosen = [one for one in kept() if (one.ours or others) and repository in (None, one.repository)]
    freed = sum(remove(one) for one in chosen)
    freed += sum(remove_parts(one.repository) for one in Ledger.all() if repository in (None, one.repository))
    print(f"removed {len(chosen)} checkpoints, {in_words(freed)}")
