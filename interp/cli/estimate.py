"""What a scan is about to download, said before it does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interp.emergence import Plan
    from interp.suites import Suite


def announce_download(suite: Suite, seeds: Sequence[int] | None, tasks: int, plan: Plan) -> None:
    """Say on stderr how much a scan may download, run by run; nothing where all is there, or lies in folders.

    A task that relapses may ask for more.
    """
    from interp.emergence import most_visits
    from interp.suites.connection import offline
    from interp.suites.disk import free_space, in_words
    from interp.suites.hub import HubRun

    if offline():
        return
    bound, each = 0, []
    for run in suite.select(seeds):
        if isinstance(run, HubRun):
            size, bytes_ = run.size, run.estimate(most_visits(run.steps, tasks, plan))
            bound += bytes_
            each += [f"{run.id} {in_words(bytes_)} ({in_words(size)} a checkpoint)"] if bytes_ else []
    if bound:
        shown = "; ".join(each[:4]) + (f"; and {len(each) - 4} more runs" if len(each) > 4 else "")
        print(f"up to {in_words(bound)} to download, {in_words(free_space())} free: {shown}", file=sys.stderr)
