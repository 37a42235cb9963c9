"""What the heads look like at a checkpoint, on random words told twice and on a task's prompts: table `signatures`."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd
import torch
from torch import Tensor

from interp import frames, signatures
from interp.bench import Bench
from interp.models import Model
from interp.models.circuits import circuits
from interp.provenance import facts, of_checkpoints, of_prompts
from interp.tasks import TaskTokenizer
from interp.tasks.words import word_list
from interp.values import Checkpoint, InputError

# token ids of one prompt after the other, one entry for each length
Rows = tuple[tuple[tuple[int, ...], ...], ...]


def observe(bench: Bench, checkpoint: Checkpoint, task: str | None) -> pd.DataFrame:
    """Table `signatures` of a checkpoint, on a task's effect prompts, or on random words told twice (`None`)."""
    tokens = random_tokens(bench) if task is None else _task_tokens(bench, task)
    made_from = {
        "stage": ["signatures", signatures.VERSION], **of_checkpoints([checkpoint]),
        **bench.forward, "tokenizer": bench.known.sha256,
    }  # fmt: skip
    made_from |= {"tokens": tokens} if task is None else of_prompts(bench.asked[task].effect)
    more = {"step": checkpoint.step, "prompts": "random" if task is None else "task"}

    def compute() -> pd.DataFrame:
        model = bench.loader(checkpoint)
        scorer = _scorer(tokens)
        patterns = [model.patterns(_on(model, rows)) for rows in tokens]
        weights = {} if task is not None else _weight_scores(model, bench.known)
        return frames.signature_rows(scorer(patterns, weights))

    return bench.store.cached("signatures", made_from, facts(made_from, **more), compute)


def random_tokens(bench: Bench) -> Rows:
    """Random words told twice, as the bench's tokenizer has them."""
    return _random_tokens(bench.known, bench.known.bos_id if bench.options.bos else None)


@lru_cache(maxsize=8)
def _random_tokens(known: TaskTokenizer, bos: int | None) -> Rows:
    return tuple(tuple(map(tuple, one.tolist())) for one in signatures.repeated_random(_random_pool(known), bos))


def _random_pool(known: TaskTokenizer) -> tuple[int, ...]:
    """Ids to draw random tokens from: words where the tokenizer has enough of them, else all its plain ids.

    A small model's heads work on words it has met in such places, and not on, say, random punctuation (measured on
    nano-3l: the same head scores .95 on random words and .15 on ids drawn from the whole vocabulary).
    """
    words = tuple(known.encode(" " + word)[0] for word in word_list("things") if known.is_one_token(" " + word))
    return words if len(words) >= max(signatures.RANDOM_LENGTHS) else known.plain_ids


def _task_tokens(bench: Bench, task: str) -> Rows:
    asked = bench.asked[task].effect
    return tuple(tuple(asked.prompts[i].tokens for i in group) for group in asked.by_length())


@lru_cache(maxsize=32)
def _scorer(tokens: Rows) -> signatures.Scorer:
    return signatures.Scorer(torch.tensor(rows) for rows in tokens)


def _on(model: Model, rows: tuple[tuple[int, ...], ...]) -> Tensor:
    largest = max(map(max, rows))
    if largest >= model.vocab_size:
        raise InputError(
            f"a prompt holds token {largest}, and {model.checkpoint} has {model.vocab_size} tokens: the tokenizer is "
            "not the model's"
        )
    return torch.tensor(rows, device=model.device)


def _weight_scores(model: Model, known: TaskTokenizer) -> dict[str, frames.Grid]:
    """OV copying over the tokenizer's plain tokens; nothing where the weights do not have that form."""
    found = circuits(model)
    if found is None:
        return {}
    tokens = torch.tensor([one for one in _plain_ids(known) if one < model.vocab_size], device=model.device)
    return {"ov_copying": signatures.ov_copying(found.value, found.out, found.embed[tokens], found.unembed[tokens])}


@lru_cache(maxsize=8)
def _plain_ids(known: TaskTokenizer) -> tuple[int, ...]:
    return known.plain_ids
