"""One run over training: curves and onsets of its tasks, scores of its heads at every evaluated step, what changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from interp import changes, comparison, curves, evaluation, frames, patching, signatures
from interp.bench import DIRECTIONS, Bench, evaluate
from interp.observing import observe
from interp.provenance import facts, of_checkpoints, of_prompts
from interp.values import Bracket, Direction

Scores = dict[str, frames.Grid]


class _Seen(NamedTuple):
    """One step: the verdicts of every task, and the scores of every head on random words (`None`) and on tasks."""

    verdicts: Mapping[str, pd.DataFrame]
    scores: Mapping[str | None, Scores]


@dataclass
class Trace:
    """A run's evaluated steps; each is visited once, and only if a table that needs it is not in the store."""

    bench: Bench
    steps: tuple[int, ...]
    brackets: Mapping[str, Bracket | None]

    @cached_property
    def _seen(self) -> dict[int, _Seen]:
        return {step: self._visit(step) for step in self.steps}

    def _visit(self, step: int) -> _Seen:
        checkpoint, run = self.bench.run.at(step), self.bench.run
        following = [one for one in self.steps if one > step][:1]
        verdicts = {
            task: evaluate(self.bench, checkpoint, asked.search, lambda: run.prefetch(following))
            for task, asked in self.bench.asked.items()
        }
        prompts = (None, *self.bench.asked)
        return _Seen(
            verdicts, {task: frames.scores_from_rows(observe(self.bench, checkpoint, task)) for task in prompts}
        )

    def _outcomes(self, task: str) -> curves.Outcomes:
        rows = [self._seen[step].verdicts[task] for step in self.steps]

        def grid(column: str) -> np.ndarray:
            return np.stack([one[column].to_numpy() for one in rows])

        return curves.Outcomes(self.steps, grid("p"), grid("log_p"), grid("margin"), grid("solved"))

    def _cached(self, kind: str, made_from: dict[str, Any], compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """A stored table of this run over its evaluated steps."""
        versions = [stage.VERSION for stage in (curves, changes, evaluation, signatures)]
        made_from = {
            "stage": [kind, *versions], **of_checkpoints([self.bench.run.at(step) for step in self.steps]),
            **self.bench.forward, "tokenizer": self.bench.known.sha256, **made_from,
        }  # fmt: skip
        return self.bench.store.cached(kind, made_from, facts(made_from), compute)

    def curve(self, task: str) -> pd.DataFrame:
        """Table `curves` of a task."""
        asked, resamples = self.bench.asked[task].search, self.bench.options.resamples
        return self._cached(
            "curves", of_prompts(asked) | {"resamples": resamples},
            lambda: curves.curve(self._outcomes(task), resamples),
        )  # fmt: skip

    def onsets(self) -> pd.DataFrame:
        """Table `onsets`, all tasks."""
        resamples = self.bench.options.resamples
        made_from = {"tasks": [of_prompts(one.search) for one in self.bench.asked.values()], "resamples": resamples}

        def compute() -> pd.DataFrame:
            found = []
            for task in self.bench.asked:
                outcomes = self._outcomes(task)
                lasting = [-1 if step is None else step for step in outcomes.lasting_steps()]
                rows = pd.DataFrame([one._asdict() for one in curves.onsets(outcomes, resamples)])
                rows.insert(0, "task", task)
                found.append(rows.assign(prompt_steps=[lasting if m == "lasting" else [] for m in rows["measure"]]))
            return pd.concat(found, ignore_index=True)

        return self._cached("onsets", made_from, compute)

    def changes(self) -> pd.DataFrame:
        """Table `changes`: scores on random words beside every task's bracket, on a task's prompts beside its own."""
        known = {task: [one.pre, one.post] if one else None for task, one in self.brackets.items()}
        made_from = {"tasks": [of_prompts(one.effect) for one in self.bench.asked.values()], "brackets": known}

        def compute() -> pd.DataFrame:
            found = [changes.changes(self._followed(None), "random", self.brackets)]
            for task, bracket in self.brackets.items():
                found.append(changes.changes(self._followed(task), "task", {task: bracket}))
            return pd.concat(found, ignore_index=True)

        return self._cached("changes", made_from, compute)

    def _followed(self, prompts: str | None) -> dict[int, Scores]:
        return {
            step: {name: grid for name, grid in seen.scores[prompts].items() if name in signatures.COMPARED}
            for step, seen in self._seen.items()
        }


def agreement_over_seeds(task: str, runs: Sequence[tuple[Bench, Bracket, pd.DataFrame]]) -> pd.DataFrame:
    """Table `agreement_seeds` of a task with column `suite` in front: every run's bench, bracket and table `heads`."""
    first = runs[0][0]
    at = [(one.run.at(bracket.pre), one.run.at(bracket.post)) for one, bracket, _ in runs]
    made_from = {
        "stage": ["agreement_seeds", comparison.VERSION, patching.VERSION, signatures.VERSION],
        "suite": first.run.id.suite, "seed": None, "seeds": [one.run.seed for one, _, _ in runs],
        "brackets": [[bracket.pre, bracket.post] for _, bracket, _ in runs],
        "steps": sorted({end.step for pair in at for end in pair}),
        "weights": [end.weights for pair in at for end in pair],
        **of_prompts(first.asked[task].effect), **first.forward,
    }  # fmt: skip

    def compute() -> pd.DataFrame:
        every = [_measured(one.run.seed, heads) for one, _, heads in runs]
        found = []
        for direction in every[0]:
            rows = pd.DataFrame(comparison.over_seeds([one[direction] for one in every], direction))
            rows["seeds"] = [[one.run.seed for one, _, _ in runs]] * len(rows)
            rows.insert(0, "direction", str(direction))
            found.append(rows.assign(p_holm=comparison.holm(rows["p_layer"].to_numpy())))
        return pd.concat(found, ignore_index=True)

    rows = first.store.cached("agreement_seeds", made_from, facts(made_from), compute)
    rows.insert(0, "suite", first.run.id.suite)
    return rows.assign(task=task)


def _measured(seed: int | None, heads: pd.DataFrame) -> dict[Direction, comparison.Measured]:
    """What one run's table `heads` brings to a comparison over seeds, by direction."""
    found = {}
    for direction, _, _ in DIRECTIONS:
        rows = heads.loc[heads["direction"] == str(direction)].sort_values(by=["layer", "head"])
        shape = (int(rows["layer"].to_numpy().max()) + 1, -1)
        before, after = (
            {name: rows[f"{name}_{end}"].to_numpy().reshape(shape) for name in signatures.COMPARED}
            for end in ("pre", "post")
        )
        found[direction] = comparison.Measured(seed, rows["delta_p"].to_numpy().reshape(shape), before, after)
    return found
