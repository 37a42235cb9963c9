"""The commands that would make, or make again, what a report shows."""

from __future__ import annotations

import shlex

from interp.report.views import Pair


def command(verb: str, pair: Pair) -> str:
    """The command that would fill in what is missing of a run and task."""
    seed = [] if pair.run.seed is None else ["--seeds", str(pair.run.seed)]
    return shlex.join(["interp", verb, pair.run.suite, *seed, "--task", pair.task])
