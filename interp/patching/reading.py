"""A donor's patterns, and batches of prompts with the patterns that belong to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Tensor

from interp.models.batches import tensors
from interp.models.model import Model, Where
from interp.values import InputError, PromptSet

# one tensor for each prompt length; `_`: these axes differ from tensor to tensor
Patterns = tuple[Float[Tensor, "layer _prompt head _dest _src"], ...]

# prompts whose patterns are read in one pass
_READ = 64


class Given(NamedTuple):
    """Prompts of one length, with the donor's patterns on them; `chosen`: their places in the prompt set."""

    chosen: list[int]
    tokens: Int[Tensor, "prompt pos"]
    answers: Int[Tensor, "prompt"]
    donor: Float[Tensor, "layer prompt head dest src"]


def patterns(model: Model, prompts: PromptSet, where: Where = "pattern") -> Patterns:
    """The patterns of every head on every prompt, one tensor for each group of `prompts.by_length()`.

    `where="scores"` reads the scores before softmax instead.
    """
    from torch import cat

    found = []
    for group in prompts.by_length():
        tokens = tensors(prompts, group, model).tokens
        found.append(cat([model.patterns(part, where) for part in tokens.split(_READ)], 1))
    return tuple(found)


def batches(model: Model, prompts: PromptSet, donor: Patterns, sizes: dict[int, int]) -> Iterator[Given]:
    """The prompts in batches of one length; `sizes[length]`: prompts of a batch."""
    for group, given in zip(prompts.by_length(), donor, strict=True):
        length = len(prompts.prompts[group[0]].tokens)
        needed = (model.n_layers, len(group), model.n_heads, length, length)
        if tuple(given.shape) != needed:
            raise InputError(
                f"the donor's patterns have shape {tuple(given.shape)} and {model.checkpoint} needs {needed} "
                "(layers, prompts, heads, positions, positions): donor and recipient must have one shape"
            )
        size = sizes[length]
        for start in range(0, len(group), size):
            chosen = group[start : start + size]
            tokens, answers, _ = tensors(prompts, chosen, model)
            yield Given(list(chosen), tokens, answers, given[:, start : start + size])
