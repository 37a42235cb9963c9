"""One run at work: what each stage makes of it, computed once and kept in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from interp import claims, comparison, evaluation, frames, patching, ranking, signatures
from interp.models.batches import tensors
from interp.models.loading import Loader
from interp.provenance import Options, facts, of_checkpoints, of_prompts, of_run, prompts_digest
from interp.store import Store
from interp.suites import Run
from interp.tasks import Form, Task, TaskTokenizer, prompts, tokenizer
from interp.values import Bracket, Checkpoint, Direction, Head, InputError, PromptSet

# direction, recipient, donor
DIRECTIONS = ((Direction.DENOISING, "pre", "post"), (Direction.NOISING, "post", "pre"))


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
    def forward(self) -> dict[str, Any]:
        """What a forward pass depends on beside weights and tokens."""
        return self.options.forward | {"config": self.run.shape}


def bench(run: Run, tasks: Iterable[tuple[Task, Form]], store: Store, options: Options) -> Bench:
    """A run with both prompt sets of every task; the single form has one prompt, which serves both."""
    known = tokenizer(run.tokenizer)
    asked: dict[str, Asked] = {}
    for pair in tasks:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"{pair!r} is not a task with its form; needed: what interp.tasks.parse('string') gives")
        task, form = pair
        name = task.name if form == "many" else f"{task.name}:single"
        if name in asked:
            raise InputError(f"the task {name} is given twice")
        roles = ("search", "effect") if form == "many" else ("single", "single")
        made = [prompts(task, known, role, options.prompts, options.bos) for role in roles]
        if not all(made):
            raise InputError(f"the task {name} has too few rows; needed: two or more, for search and effect prompts")
        asked[name] = Asked(*(replace(one, task=name) for one in made))
    if not asked:
        raise InputError("no task is given; needed: one or more")
    return Bench(run, asked, store, options, known, Loader(options.dtype, options.device, run.fetch))


def evaluate(
    bench: Bench, checkpoint: Checkpoint, asked: PromptSet, meanwhile: Callable[[], None] | None = None
) -> pd.DataFrame:
    """Verdicts of one checkpoint on one prompt set: table `evaluations`.

    `meanwhile` is called where there is something to evaluate, once the model is there.
    """
    made_from = {
        "stage": ["evaluation", evaluation.VERSION],
        **of_checkpoints([checkpoint]), **of_prompts(asked), **bench.forward,
    }  # fmt: skip
    more = {"step": checkpoint.step}

    def compute() -> pd.DataFrame:
        model = bench.loader(checkpoint)
        if meanwhile is not None:
            meanwhile()
        return evaluation.evaluate(model, asked).frame()

    return bench.store.cached("evaluations", made_from, facts(made_from, **more), compute)


def keep_prompts(bench: Bench, asked: PromptSet) -> pd.DataFrame:
    """A prompt set as it was asked: table `prompts`."""
    made_from = {
        "stage": ["prompts"], **of_run(bench.run.id), **of_prompts(asked), "bos": asked.bos,
        "threshold": asked.threshold, "ceiling": asked.ceiling,
    }  # fmt: skip
    more: dict[str, Any] = {"weights": [], "steps": []}
    more |= {name: bench.forward[name] for name in ("dtype", "device")}
    return bench.store.cached(
        "prompts", made_from, facts(made_from, **more), lambda: frames.prompt_rows(asked, bench.known)
    )


class Ends:
    """The two ends of a bracket on one task's effect prompts; what is needed of them is computed when first asked."""

    def __init__(self, bench: Bench, task: str, bracket: Bracket):
        self.bench, self.task, self.asked = bench, task, bench.asked[task].effect
        self.at = {"pre": bench.run.at(bracket.pre), "post": bench.run.at(bracket.post)}
        self.made_from = {
            **of_checkpoints(list(self.at.values())), **of_prompts(self.asked), **bench.forward,
            "pre": bracket.pre, "post": bracket.post,
        }  # fmt: skip
        self._patterns: dict[str, patching.Patterns] = {}

    def _key(self, kind: str, settings: dict[str, Any]) -> dict[str, Any]:
        stages = (patching, ranking, claims, signatures, comparison, evaluation)
        return self.made_from | settings | {"stage": [kind, *(stage.VERSION for stage in stages)]}

    def has(self, kind: str, settings: dict[str, Any]) -> bool:
        """Whether a table of this run and task is in the store."""
        return self.bench.store.path(kind, self._key(kind, settings)).exists()

    def cached(self, kind: str, settings: dict[str, Any], compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """A stored table of this run and task."""
        made_from = self._key(kind, settings)
        first = self.asked.prompts[0]
        more = {
            "prompt_text": first.text,
            "search_prompts": prompts_digest(self.bench.asked[self.task].search),
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
        for direction, recipient, donor in DIRECTIONS:
            given = self.read(donor)
            model = self.bench.loader(self.at[recipient])
            one = patching.single(model, self.asked, given, memory=self.bench.options.memory)
            more = {"delta_log_p": one.delta_log_p, "delta_margin": one.delta_margin, "solved": one.solved}
            found.append(frames.effect_rows(direction, one.delta_p, one.p_recipient, p[donor], more))
        return pd.concat(found, ignore_index=True)

    def agreement(
        self, effects: pd.DataFrame, heads: pd.DataFrame, pre: dict[str, frames.Grid], post: dict[str, frames.Grid]
    ) -> pd.DataFrame:
        """Table `agreement`, both directions; `heads` says how many may be called causal."""
        found = []
        before, after = ({name: one[name] for name in signatures.COMPARED if name in one} for one in (pre, post))
        for direction, _, _ in DIRECTIONS:
            delta_p, _ = frames.effects_from_rows(effects, direction)
            causal = int(heads.loc[heads["direction"] == str(direction), "causal"].to_numpy().sum())
            rows = comparison.agreement(
                delta_p, direction, before, after, causal, resamples=self.bench.options.resamples
            )
            found.append(frames.agreement_rows(direction, rows))
        return pd.concat(found, ignore_index=True)

    def patterns(self, heads: Sequence[Head]) -> pd.DataFrame:
        """Table `patterns`: the first effect prompt."""
        found = []
        for end in self.at:
            model = self.bench.loader(self.at[end])
            tokens, _, _ = tensors(self.asked, (0,), model)
            found.append(frames.pattern_rows(end, heads, model.patterns(tokens)[:, 0].float().cpu().numpy()))
        return pd.concat(found, ignore_index=True)
