"""Prompts as tensors for a model."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from interp.models.model import Model
from interp.values import InputError, PromptSet


class Batch(NamedTuple):
    """Token ids of prompts of one length, with their answers and foils (−1: none)."""

    tokens: Int[Tensor, "prompt pos"]
    answers: Int[Tensor, "prompt"]
    foils: Int[Tensor, "prompt"]


def tensors(prompts: PromptSet, chosen: tuple[int, ...], model: Model) -> Batch:
    """Some prompts of one length, on the model's device; tokens beyond the model's vocabulary are refused."""
    some = [prompts.prompts[i] for i in chosen]
    largest = max(max(prompt.answer, *prompt.tokens) for prompt in some)
    if largest >= model.vocab_size:
        raise InputError(
            f"{prompts.task}: a prompt or answer holds token {largest}, and {model.checkpoint} has "
            f"{model.vocab_size} tokens: the tokenizer is not the model's"
        )
    length, room = len(some[0].tokens), getattr(model.module.config, "max_position_embeddings", None)
    if room is not None and length > room:
        raise InputError(f"{prompts.task}: a prompt has {length} tokens, and {model.checkpoint} has {room} positions")
    foils = [-1 if prompt.foil is None else prompt.foil for prompt in some]
    columns = [prompt.tokens for prompt in some], [prompt.answer for prompt in some], foils
    return Batch(*(torch.tensor(column, device=model.device) for column in columns))
