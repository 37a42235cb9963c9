"""One run searched for the step at which its tasks emerge: visited steps only, the next ones fetched meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pandas as pd

from interp import emergence
from interp.bench import Bench, evaluate
from interp.emergence import Emergence
from interp.suites import MissingError
from interp.suites.ladder import Ladder
from interp.values import InputError


@dataclass(frozen=True)
class Searched:
    """What a search found: emergence by task, the steps it could stand on, and the verdicts at those it visited."""

    tasks: Mapping[str, Emergence]
    steps: tuple[int, ...]
    seen: Mapping[int, Mapping[str, pd.DataFrame]]

    def p(self, step: int, task: str) -> float:
        """The mean probability of the answers at a visited step."""
        return float(self.seen[step][task]["p"].to_numpy().mean())


def search_run(bench: Bench, thresholds: Mapping[str, float]) -> Searched:
    """The emergence of every task of a run, over steps that are there and distinct as far as the search stood on them.

    A step that turns out to be a hole, or equal to another one, is dropped and the search begins anew; what was
    evaluated stays known, so that only what the change brings is computed.
    """
    ladder = Ladder(bench.run)
    seen: dict[int, dict[str, pd.DataFrame]] = {}
    shares: dict[int, dict[str, float]] = {}
    while True:
        steps = ladder.steps()
        if len(steps) < 2:
            known = len(bench.run.steps)
            raise InputError(
                f"{bench.run.id} has {known} checkpoint{'s' * (known != 1)}, {len(steps)} with distinct weights; "
                "finding when a task emerges needs at least two"
            )
        visit = _Visit(bench, steps, thresholds, seen, shares)
        try:
            found = emergence.search(steps, visit, thresholds, bench.options.plan)
        except MissingError:
            continue  # the run knows it as a hole now
        if ladder.steps() == steps:
            visited = {step: seen[step] for one in found.values() for step in one.steps}
            return Searched(found, steps, visited)


@dataclass
class _Visit:
    """The shares of solved prompts at a step, each step evaluated once."""

    bench: Bench
    steps: tuple[int, ...]
    thresholds: Mapping[str, float]
    seen: dict[int, dict[str, pd.DataFrame]]
    shares: dict[int, dict[str, float]]

    def __call__(self, step: int) -> Mapping[str, float]:
        if step not in self.shares:
            checkpoint, run = self.bench.run.at(step), self.bench.run
            asked = self.bench.asked.items()

            @cache  # once, for whichever task is evaluated first
            def meanwhile() -> None:
                run.prefetch(
                    emergence.upcoming(self.steps, self.shares, step, self.thresholds, self.bench.options.plan)
                )

            self.seen[step] = {task: evaluate(self.bench, checkpoint, one.search, meanwhile) for task, one in asked}
            found = self.seen[step].items()
            self.shares[step] = {task: float(rows["solved"].to_numpy().mean()) for task, rows in found}
            run.pin(emergence.ends(self.shares, self.thresholds))
        return self.shares[step]
