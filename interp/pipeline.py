"""The method section: suite → brackets → effects → ranking → signatures → comparison, each stage's result stored.

This is the only module that knows the order of the stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from interp import comparison, emergence, evaluation, frames, patching, ranking, signatures
from interp.models.batches import tensors
from interp.models.loading import Loader
from interp.provenance import Options, facts, of_checkpoints, of_prompts, of_run
from interp.store import Store
from interp.suites import Run, Suite
from interp.suites.integrity import distinct_steps, equal_steps
from interp.tasks import Form, Task, TaskTokenizer, prompts, tokenizer
from interp.values import Bracket, Checkpoint, Direction, Head, InputError, PromptSet

# heads whose patterns are kept for the report, of each direction
_SHOWN = 2


@dataclass(frozen=True)
class Asked:
    """A task put to one tokenizer: prompts that the bracket is chosen on, and prompts that effects are measured on."""

    search: PromptSet
    effect: PromptSet


@dataclass
class Bench:
    """One run at work: its tasks as prompts, its one module of weights, and where results go."""

    run: Run
    asked: dict[str, Asked]
    store: Store
    options: Options
    known: TaskTokenizer
    loader: Loader

    @cached_property
    def checkpoints(self) -> dict[int, Checkpoint]:
        """Every checkpoint of the run, with the hash of its weights."""
        return {step: self.run.at(step) for step in self.run.steps}


def bench(run: Run, tasks: Iterable[tuple[Task, Form]], store: Store, options: Options) -> Bench:
    """A run with both prompt sets of every task; the single form has one prompt, which serves both."""
    known = tokenizer(run.tokenizer)
    asked: dict[str, Asked] = {}
    for task, form in tasks:
        name = task.name if form == "many" else f"{task.name}:single"
        if name in asked:
            raise InputError(f"the task {name} is given twice")
        roles = ("search", "effect") if form == "many" else ("single", "single")
        made = [prompts(task, known, role, options.prompts, options.bos) for role in roles]
        asked[name] = Asked(*(replace(one, task=name) for one in made))
    return Bench(run, asked, store, options, known, Loader(options.dtype, options.device))


def scan(
    suite: Suite,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    seeds: Sequence[int] | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
) -> pd.DataFrame:
    """When each task emerges in each run: table `emergence` with columns `suite, seed` in front."""
    store.check_writable()
    benches = [bench(run, tasks, store, options) for run in suite.select(seeds)]
    found = [scan_run(one) for one in tqdm(benches, desc=f"scan {suite.name}", unit="run")]
    return pd.concat(found, ignore_index=True)


def scan_run(bench: Bench) -> pd.DataFrame:
    """Emergence of every task of one run; all tasks share every checkpoint visited."""
    weights = {step: checkpoint.weights for step, checkpoint in bench.checkpoints.items()}
    steps = distinct_steps(weights)
    if len(steps) < 2:
        raise InputError(
            f"{bench.run.id} has {len(weights)} checkpoint{'s' * (len(weights) != 1)}, {len(steps)} with distinct "
            "weights; finding when a task emerges needs at least two"
        )
    thresholds = {task: asked.search.threshold for task, asked in bench.asked.items()}
    made_from = {
        "stage": ["emergence", emergence.VERSION, evaluation.VERSION],
        **of_run(bench.run.id), **bench.options.forward, "weights": list(weights.values()), "steps": list(weights),
        "tasks": [of_prompts(asked.search) | {"threshold": asked.search.threshold} for asked in bench.asked.values()],
        "search": bench.options.search, "tokenizer": bench.known.sha256,
    }  # fmt: skip
    more = {"equal": equal_steps(weights), "missing": bench.run.missing, "searched": steps}

    def compute() -> pd.DataFrame:
        seen: dict[int, dict[str, pd.DataFrame]] = {}

        def shares(step: int) -> dict[str, float]:
            asked = bench.asked.items()
            seen[step] = {task: evaluate(bench, bench.checkpoints[step], one.search) for task, one in asked}
            return {task: float(rows["solved"].to_numpy().mean()) for task, rows in seen[step].items()}

        found = emergence.search(steps, shares, thresholds, bench.options.search)
        ps = {
            task: {step: float(rows[task]["p"].to_numpy().mean()) for step, rows in seen.items()}
            for task in bench.asked
        }
        return frames.emergence_rows(found, ps)

    rows = bench.store.cached("emergence", made_from, facts(made_from, **more), compute)
    return _of_run(bench.run, rows)


def evaluate(bench: Bench, checkpoint: Checkpoint, asked: PromptSet) -> pd.DataFrame:
    """Verdicts of one checkpoint on one prompt set: table `evaluations`."""
    made_from = {
        "stage": ["evaluation", evaluation.VERSION],
        **of_checkpoints([checkpoint]), **of_prompts(asked), **bench.options.forward,
    }  # fmt: skip
    more = {"step": checkpoint.step, "threshold": asked.threshold, "ceiling": asked.ceiling}
    return bench.store.cached(
        "evaluations",
        made_from,
        facts(made_from, **more),
        lambda: evaluation.evaluate(bench.loader(checkpoint), asked).frame(),
    )


def patch(
    suite: Suite,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    seeds: Sequence[int] | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    pre: int | None = None,
    post: int | None = None,
) -> pd.DataFrame:
    """Heads ranked by Δp in both directions between the ends of each task's bracket: table `heads` of every run.

    `pre` and `post`, given together, take the place of the bracket. Where a task has no bracket in a run there is
    nothing to patch, and the run has no rows of it.
    """
    if (pre is None) != (post is None):
        raise InputError("--pre and --post choose the two ends together; one was given")
    store.check_writable()
    benches = [bench(run, tasks, store, options) for run in suite.select(seeds)]
    work = [
        (one, task, ends)
        for one in tqdm(benches, desc=f"scan {suite.name}", unit="run")
        for task, ends in _brackets(one, pre, post)
    ]
    found = [
        _of_run(one.run, patch_task(one, task, ends)).assign(task=task, pre=ends.pre, post=ends.post)
        for one, task, ends in tqdm(work, desc=f"patch {suite.name}", unit="task")
    ]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["suite", "seed", "task"])


def _brackets(bench: Bench, pre: int | None, post: int | None) -> list[tuple[str, Bracket]]:
    if pre is not None and post is not None:
        if bench.run.at(pre).weights == bench.run.at(post).weights:
            raise InputError(f"{bench.run.id}: steps {pre} and {post} have equal weights; there is nothing to patch")
        return [(task, Bracket(pre, post)) for task in bench.asked]
    rows = scan_run(bench).dropna(subset=["pre"])
    return [(row.task, Bracket(int(row.pre), int(row.post))) for row in rows.itertuples()]  # pyright: ignore


def patch_task(bench: Bench, task: str, bracket: Bracket) -> pd.DataFrame:
    """Effects, joint effects, signatures and their comparison for one task of one run: table `heads`."""
    work = Ends(bench, task, bracket)
    effects = work.cached("effects", {}, work.effects)
    options = {"resamples": bench.options.resamples}
    work.cached("prompts", {}, lambda: frames.prompt_rows(work.asked, bench.known))
    work.cached("joint", options | {"draws": bench.options.draws}, lambda: work.joint(effects))
    scores = {
        (end, kind): frames.scores_from_rows(work.signatures(end, kind))
        for end in ("pre", "post")
        for kind in ("task", "random")
    }
    pre, post = scores["pre", "random"], scores["post", "random"]
    heads = work.cached("heads", options, lambda: work.heads(effects, pre, post))
    work.cached("agreement", {}, lambda: work.agreement(effects, pre, post))
    shown = _top_heads(heads)
    work.cached("patterns", {"heads": [str(head) for head in shown]}, lambda: work.patterns(shown))
    return heads


def _top_heads(heads: pd.DataFrame) -> list[Head]:
    top = heads.loc[heads["rank"] <= _SHOWN].sort_values(by=["rank", "direction"])
    return list(dict.fromkeys(Head(int(row.layer), int(row.head)) for row in top.itertuples()))  # pyright: ignore


def _of_run(run: Run, rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.copy()
    rows.insert(0, "suite", run.id.suite)
    rows.insert(1, "seed", pd.array([run.seed] * len(rows), dtype="Int64"))
    return rows


class Ends:
    """The two ends of a bracket on one task's effect prompts; what is needed of them is computed when first asked."""

    def __init__(self, bench: Bench, task: str, bracket: Bracket):
        self.bench, self.task, self.asked = bench, task, bench.asked[task].effect
        self.at = {"pre": bench.run.at(bracket.pre), "post": bench.run.at(bracket.post)}
        self.made_from = {
            **of_checkpoints(list(self.at.values())), **of_prompts(self.asked), **bench.options.forward,
            "pre": bracket.pre, "post": bracket.post,
        }  # fmt: skip
        self._patterns: dict[str, patching.Patterns] = {}

    def cached(self, kind: str, settings: dict[str, Any], compute: Any) -> pd.DataFrame:
        """A stored table of this run and task."""
        stages = (patching, ranking, signatures, comparison, evaluation)
        made_from = self.made_from | settings | {"stage": [kind, *(stage.VERSION for stage in stages)]}
        first = self.asked.prompts[0]
        more = {
            "threshold": self.asked.threshold, "ceiling": self.asked.ceiling, "prompt_text": first.text,
            "pieces": self.bench.known.pieces(first.tokens), "answer_text": self.bench.known.piece(first.answer),
        }  # fmt: skip
        return self.bench.store.cached(kind, made_from, facts(made_from, **more), compute)

    def read(self, end: str) -> patching.Patterns:
        """The patterns of an end on the effect prompts."""
        if end not in self._patterns:
            self._patterns[end] = patching.patterns(self.bench.loader(self.at[end]), self.asked)
        return self._patterns[end]

    def effects(self) -> pd.DataFrame:
        """Table `effects`, both directions."""
        p = {end: evaluate(self.bench, self.at[end], self.asked)["p"].to_numpy() for end in self.at}
        found = []
        for direction, recipient, donor in _DIRECTIONS:
            given = self.read(donor)
            one = patching.single(self.bench.loader(self.at[recipient]), self.asked, given)
            found.append(frames.effect_rows(direction, one.delta_p, one.p_recipient, p[donor]))
        return pd.concat(found, ignore_index=True)

    def joint(self, effects: pd.DataFrame) -> pd.DataFrame:
        """Table `joint`: sets ranked on the even prompts, measured on the odd ones (on all where there is one)."""
        rows = []
        for direction, recipient, donor in _DIRECTIONS:
            delta_p, gap = frames.effects_from_rows(effects, direction)
            choose, measure = (slice(0, None, 2), slice(1, None, 2)) if len(gap) > 1 else (slice(None), slice(None))
            order = ranking.rank_heads(delta_p[choose], direction, resamples=1)
            sets = [*ranking.head_sets(order, self.bench.options.draws)]
            measured = self.asked.subset(measure)
            given = patching.patterns(self.bench.loader(self.at[donor]), measured)
            model = self.bench.loader(self.at[recipient])
            found = patching.joint(model, measured, given, np.stack([one.mask for one in sets]))
            size = ranking.interval(gap[measure], self.bench.options.resamples)
            for one, values in zip(sets, found, strict=True):
                effect = ranking.interval(values, self.bench.options.resamples)
                share = ranking.recovered(values, gap[measure], self.bench.options.resamples)
                rows.append(frames.joint_row(direction, one, effect, share, size))
        return pd.DataFrame(rows)

    def signatures(self, end: str, kind: str) -> pd.DataFrame:
        """Table `signatures` of one end, on the task's prompts or on repeated random tokens."""
        made_from = {
            "stage": ["signatures", signatures.VERSION], **of_checkpoints([self.at[end]]),
            **self.bench.options.forward, "tokenizer": self.bench.known.sha256, "prompts": kind,
        } | (of_prompts(self.asked) | {"prompts": kind} if kind == "task" else {})  # fmt: skip
        compute = self._task_signatures if kind == "task" else self._random_signatures
        more = {"step": self.at[end].step}
        return self.bench.store.cached(
            "signatures", made_from, facts(made_from, **more), lambda: frames.signature_rows(compute(end))
        )

    def _task_signatures(self, end: str) -> signatures.Signatures:
        model = self.bench.loader(self.at[end])
        tokens = [tensors(self.asked, group, model)[0] for group in self.asked.by_length()]
        return signatures.signatures(zip(tokens, self.read(end), strict=True))

    def _random_signatures(self, end: str) -> signatures.Signatures:
        model = self.bench.loader(self.at[end])
        bos = self.bench.known.bos_id if self.bench.options.bos else None
        samples = signatures.repeated_random(self.bench.known.plain_ids, bos)
        return signatures.signatures([(tokens, model.patterns(tokens.to(model.device))) for tokens in samples])

    def heads(self, effects: pd.DataFrame, pre: dict[str, frames.Grid], post: dict[str, frames.Grid]) -> pd.DataFrame:
        """Table `heads`, both directions."""
        found = []
        for direction, _, _ in _DIRECTIONS:
            delta_p, _ = frames.effects_from_rows(effects, direction)
            order = ranking.rank_heads(delta_p, direction, self.bench.options.resamples)
            found.append(frames.head_rows(order, pre, post))
        return pd.concat(found, ignore_index=True)

    def agreement(
        self, effects: pd.DataFrame, pre: dict[str, frames.Grid], post: dict[str, frames.Grid]
    ) -> pd.DataFrame:
        """Table `agreement`, both directions."""
        found = []
        for direction, _, _ in _DIRECTIONS:
            delta_p, _ = frames.effects_from_rows(effects, direction)
            found.append(frames.agreement_rows(direction, comparison.agreement(delta_p.mean(0), pre, post)))
        return pd.concat(found, ignore_index=True)

    def patterns(self, heads: Sequence[Head]) -> pd.DataFrame:
        """Table `patterns`: the first effect prompt."""
        found = []
        for end in self.at:
            model = self.bench.loader(self.at[end])
            tokens, _, _ = tensors(self.asked, (0,), model)
            found.append(frames.pattern_rows(end, heads, model.patterns(tokens)[:, 0].cpu().numpy()))
        return pd.concat(found, ignore_index=True)


_DIRECTIONS = ((Direction.DENOISING, "pre", "post"), (Direction.NOISING, "post", "pre"))
