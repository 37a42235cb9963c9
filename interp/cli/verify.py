"""`interp verify`: can claims about a suite's steps be trusted?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interp.cli.answering import answering
from interp.cli.options import DiskBudget, Json, Seeds, SuiteName, chosen_budget, chosen_seeds
from interp.cli.text import print_json, print_table

if TYPE_CHECKING:
    from interp.verification import Verified


@answering
def verify(
    suite: SuiteName,
    seeds: Seeds = None,
    download: Annotated[
        bool, typer.Option(help="Download every checkpoint, to tell how far the weights move between all of them.")
    ] = False,
    disk_budget: DiskBudget = None,
    json: Json = False,
) -> None:
    """List missing, equal, foreign and discontinuous checkpoints; on the Hub without downloading any."""
    from interp import verification
    from interp.suites import suite as find

    found = verification.verify(find(suite, chosen_budget(disk_budget)), chosen_seeds(seeds), download)
    if json:
        print_json([asdict(one) for one in found])
    else:
        print_table([_row(one) for one in found], "there is no run to verify")
        _say(found)


def _row(one: Verified) -> dict[str, Any]:
    return {
        "run": one.run, "checkpoints": one.checkpoints, "missing": _listed(one.missing),
        "equal": "; ".join("=".join(map(str, steps)) for steps in one.equal) if len(one.equal) < 4 else len(one.equal),
        "equal to final": _listed(one.equal_to_final), "compared": one.compared,
        "discontinuous": _listed(one.discontinuous), "suspect": bool(one.suspect),
    }  # fmt: skip


def _listed(steps: tuple[int, ...]) -> str:
    from interp.suites.ladder import some

    return some(steps) or "–"


def _say(found: list[Verified]) -> None:
    for one in found:
        for sentence in one.suspect:
            print(f"{one.run} is suspect: {sentence}")
