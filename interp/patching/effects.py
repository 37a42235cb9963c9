"""Effects of patches: of every head alone, of sets of heads, of one row at a time, and greedily one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from interp.models.model import Model, Where
from interp.patching.memory import MEMORY, Plan
from interp.patching.outcomes import Outcomes, Reader
from interp.patching.reading import Given, Patterns
from interp.patching.running import over_batches, row_mask, written_into
from interp.patching.writing import Sets
from interp.values import Head, PromptSet


class Effects(NamedTuple):
    """What patches do to each prompt; axes of `patched`: prompt first, then layer and head, or the variant.

    `recipient` is the model without a patch, in the same passes.
    """

    recipient: Outcomes
    patched: Outcomes

    @property
    def p_recipient(self) -> Float[np.ndarray, "prompt"]:
        """p(answer) without a patch."""
        return self.recipient.p

    @property
    def delta_p(self) -> Float[np.ndarray, "prompt *axes"]:
        """p(answer) with the donor's pattern − p(answer) without; positive = the patch helps."""
        return self.patched.p - _beside(self.recipient.p, self.patched.log_p)

    @property
    def delta_log_p(self) -> Float[np.ndarray, "prompt *axes"]:
        """Log p(answer) with the patch − without, in nats; positive = the patch helps."""
        return self.patched.log_p - _beside(self.recipient.log_p, self.patched.log_p)

    @property
    def delta_margin(self) -> Float[np.ndarray, "prompt *axes"]:
        """Margin of the answer with the patch − without, in logits; positive = the patch helps."""
        return self.patched.margin - _beside(self.recipient.margin, self.patched.margin)

    @property
    def solved(self) -> Bool[np.ndarray, "prompt *axes"]:
        """Whether the answer is the strict argmax with the patch."""
        return self.patched.solved


def single(
    model: Model,
    prompts: PromptSet,
    donor: Patterns,
    *,
    memory: int = MEMORY,
    held: Bool[np.ndarray, "layer head"] | None = None,
    rows: Sequence[int] | None = None,
) -> Effects:
    """Δp (and Δ log p, Δ margin) of writing the donor's pattern into each head of the recipient alone.

    All rows of the head's pattern are replaced, or only the destinations `rows` (−1: the answer row); every other head
    computes its own pattern from what it then sees. `held` heads hold the donor's pattern throughout, in the recipient
    too: effects are then those of one head more. A model's own patterns give exactly 0.

    Raises:
        InputError: donor patterns of another shape, non-finite logits, too little memory, or a patch that reaches no
            logit although patterns differ.
    """
    heads = [Head(layer, head) for layer in range(model.n_layers) for head in range(model.n_heads)]
    found = of_heads(model, prompts, donor, heads, memory=memory, held=held, rows=rows)
    shape = (len(prompts), model.n_layers, model.n_heads)
    return Effects(found.recipient, Outcomes(*(x.reshape(shape) for x in found.patched)))


def of_heads(
    model: Model,
    prompts: PromptSet,
    donor: Patterns,
    heads: Sequence[Head],
    *,
    memory: int = MEMORY,
    held: Bool[np.ndarray, "layer head"] | None = None,
    rows: Sequence[int] | None = None,
) -> Effects:
    """`single` for some heads: axes of `patched` are prompt and head, in the order given."""
    sets = np.stack([one_head(model, head) for head in heads])

    def chosen(length: int) -> Bool[Tensor, "variant dest"] | None:
        return None if rows is None else row_mask(rows, length).expand(len(sets), -1)

    return _effects(model, prompts, donor, sets, chosen, memory, held=held)


def written(
    model: Model,
    prompts: PromptSet,
    donor: Patterns,
    sets: Bool[np.ndarray, "variant layer head"],
    *,
    memory: int = MEMORY,
    rows: Bool[np.ndarray, "variant dest"] | None = None,
    where: Where = "pattern",
) -> Effects:
    """Effects of writing the donor's patterns into several heads at once, for each set: axes prompt and variant.

    `rows`: the destinations written, per variant (prompts must then be of one length). `where="scores"`: the donor is
    scores before softmax (`patterns(…, where="scores")`) and is written there.
    """
    chosen = None if rows is None else torch.from_numpy(rows)
    return _effects(model, prompts, donor, sets, lambda _: chosen, memory, where)


def _effects(
    model: Model,
    prompts: PromptSet,
    donor: Patterns,
    sets: Bool[np.ndarray, "variant _layer _head"],
    rows: Callable[[int], Bool[Tensor, "variant dest"] | None],
    memory: int,
    where: Where = "pattern",
    held: Bool[np.ndarray, "_layer _head"] | None = None,
) -> Effects:
    """Effects of every set beside the recipient; `rows` gives what is written by the length of the prompts."""
    none = np.zeros((1, model.n_layers, model.n_heads), dtype=bool) if held is None else held[None]
    masks = torch.from_numpy(np.concatenate([none, sets | none]))

    def run(given: Given, sizes: Plan, reader: Reader) -> tuple[Outcomes, bool]:
        chosen = rows(given.tokens.shape[1])
        if chosen is not None:  # the recipient's row says what is held, and where
            chosen = torch.cat([chosen[:1], chosen])
        return written_into(model, given, Sets(masks, chosen), sizes, reader, where)

    return Effects(*over_batches(model, prompts, donor, len(masks), memory, run))


def joint(
    model: Model,
    prompts: PromptSet,
    donor: Patterns,
    sets: Bool[np.ndarray, "variant _layer _head"],
    *,
    memory: int = MEMORY,
) -> Float[np.ndarray, "variant prompt"]:
    """Δp of writing the donor's patterns into several heads at once, for each set of heads."""
    return written(model, prompts, donor, sets, memory=memory).delta_p.T


def greedy(
    model: Model, prompts: PromptSet, donor: Patterns, sign: int, most: int = 16, *, memory: int = MEMORY
) -> list[tuple[Head, Float[np.ndarray, "prompt"]]]:
    """Heads in the order in which each adds most Δp (times `sign`) to those before, with the Δp of all up to it.

    The choice and the effect are on the same prompts, so the effects of later heads flatter; docs/patching.md.
    """
    held = np.zeros((model.n_layers, model.n_heads), dtype=bool)
    found: list[tuple[Head, Float[np.ndarray, "prompt"]]] = []
    before: Float[np.ndarray, "prompt"] | None = None
    for _ in range(min(most, held.size)):
        effects = single(model, prompts, donor, memory=memory, held=held)
        before = effects.p_recipient if before is None else before
        gain = np.where(held, -np.inf, sign * effects.delta_p.mean(0))
        layer, head = (int(i) for i in np.unravel_index(np.argmax(gain), gain.shape))
        held[layer, head] = True
        found.append((Head(layer, head), effects.patched.p[:, layer, head] - before))
    return found


def destinations(
    model: Model, prompts: PromptSet, donor: Patterns, heads: Sequence[Head], *, memory: int = MEMORY
) -> list[Float[np.ndarray, "_prompt _head _dest"]]:
    """Δp of writing a single row of a head's pattern: one array for each group of `prompts.by_length()`."""
    found = []
    for group, given in zip(prompts.by_length(), donor, strict=True):
        length = given.shape[-1]
        some = prompts.some(group)
        sets = np.stack([one_head(model, head) for head in heads for _ in range(length)])
        rows = np.tile(np.eye(length, dtype=bool), (len(heads), 1))
        delta = written(model, some, (given,), sets, memory=memory, rows=rows).delta_p
        found.append(delta.reshape(len(group), len(heads), length))
    return found


def one_head(model: Model, head: Head) -> Bool[np.ndarray, "layer head"]:
    """The set of one head."""
    mask = np.zeros((model.n_layers, model.n_heads), dtype=bool)
    mask[head.layer, head.head] = True
    return mask


def _beside(recipient: Float[np.ndarray, "prompt"], patched: np.ndarray) -> np.ndarray:
    return recipient.reshape(-1, *[1] * (patched.ndim - 1))
