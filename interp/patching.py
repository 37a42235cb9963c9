"""Donor patterns written into a recipient, head by head and jointly: Δp per prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from interp.models.batches import tensors
from interp.models.model import Attention, Model, mix
from interp.values import InputError, PromptSet

VERSION = 1

# rows of one forward pass; a memory bound, not a result: heads in a batch equal heads one by one
_BATCH = 512

# one tensor for each prompt length; `_`: these axes differ from tensor to tensor
Patterns = tuple[Float[Tensor, "layer _prompt head _dest _src"], ...]


class Effects(NamedTuple):
    """Δp of every head alone: p(answer) with the donor's pattern − p(answer) without; positive = the patch helps."""

    p_recipient: Float[np.ndarray, "prompt"]
    delta_p: Float[np.ndarray, "prompt layer head"]


def patterns(model: Model, prompts: PromptSet) -> Patterns:
    """The patterns of every head on every prompt, one tensor for each group of `prompts.by_length()`."""
    return tuple(model.patterns(tensors(prompts, group, model)[0]) for group in prompts.by_length())


def single(model: Model, prompts: PromptSet, donor: Patterns) -> Effects:
    """Δp of writing the donor's pattern into each head of the recipient alone.

    All rows of the head's pattern are replaced; every other head computes its own pattern from what it then sees.
    A model's own patterns give exactly 0.

    Raises:
        InputError: donor patterns of another shape, non-finite logits, or a patch that reaches no logit although
            patterns differ.
    """
    p = np.empty(len(prompts))
    delta = np.empty((len(prompts), model.n_layers, model.n_heads))
    for chosen, tokens, answers, given in _batches(model, prompts, donor, 1 + model.n_layers * model.n_heads):
        logits = _grow(model, tokens, given)
        _check(model, logits, tokens, given)
        found = _probability(logits, answers)
        p[chosen] = found[0]
        delta[chosen] = (found[1:] - found[0]).T.reshape(len(chosen), model.n_layers, model.n_heads)
    return Effects(p, delta)


def joint(
    model: Model, prompts: PromptSet, donor: Patterns, sets: Bool[np.ndarray, "variant layer head"]
) -> Float[np.ndarray, "variant prompt"]:
    """Δp of writing the donor's patterns into several heads at once, for each set of heads.

    Against `p_recipient` of an empty set in the same batch, so that a patch that changes nothing gives exactly 0.
    """
    with_none = np.concatenate([np.zeros_like(sets[:1]), sets])
    delta = np.empty((len(sets), len(prompts)))
    for chosen, tokens, answers, given in _batches(model, prompts, donor, len(with_none)):
        logits = _force(model, tokens, given, torch.from_numpy(with_none).to(model.device))
        found = _probability(logits, answers)
        delta[:, chosen] = found[1:] - found[0]
    return delta


def _batches(
    model: Model, prompts: PromptSet, donor: Patterns, variants: int
) -> Iterator[tuple[list[int], Int[Tensor, "prompt pos"], Int[Tensor, "prompt"], Tensor]]:
    size = max(1, _BATCH // variants)
    for group, given in zip(prompts.by_length(), donor, strict=True):
        length = len(prompts.prompts[group[0]].tokens)
        needed = (model.n_layers, len(group), model.n_heads, length, length)
        if tuple(given.shape) != needed:
            raise InputError(
                f"the donor's patterns have shape {tuple(given.shape)} and {model.checkpoint} needs {needed} "
                "(layers, prompts, heads, positions, positions): donor and recipient must have one shape"
            )
        for start in range(0, len(group), size):
            chosen = group[start : start + size]
            tokens, answers, _ = tensors(prompts, chosen, model)
            yield list(chosen), tokens, answers, given[:, start : start + size]


@torch.no_grad()
def _grow(
    model: Model, tokens: Int[Tensor, "prompt pos"], donor: Float[Tensor, "layer prompt head dest src"]
) -> Float[Tensor, "variant prompt vocab"]:
    """Logits of the unpatched model (variant 0) and of every head's patch, in one growing pass.

    The recipient's own forward runs once. At each layer that layer's variants are born from the recipient's residual
    stream, by adding W_O (A_donor − A_recipient) V, and join the batch that goes on through the later layers.
    """
    prompts, batch = len(tokens), model.embed(tokens)
    for layer in range(model.n_layers):
        first = model.first_needed(layer)
        pattern, value = model.attention(layer, batch, first)
        attended = model.project(layer, mix(Attention(pattern, value)))
        change = (donor[layer, :, :, first:] - pattern[:prompts]) @ value[:prompts]
        born = [attended[:prompts] + model.project_head(layer, h, change[:, h]) for h in range(model.n_heads)]
        batch = batch[:, first:]
        resid = torch.cat([batch, batch[:prompts].repeat(model.n_heads, 1, 1)])
        batch = model.finish(layer, resid, torch.cat([attended, *born]))
    logits = model.unembed(batch[:, -1])
    return logits.view(-1, prompts, logits.shape[-1])


@torch.no_grad()
def _force(
    model: Model,
    tokens: Int[Tensor, "prompt pos"],
    donor: Float[Tensor, "layer prompt head dest src"],
    sets: Bool[Tensor, "variant layer head"],
) -> Float[Tensor, "variant prompt vocab"]:
    """Logits with the donor's patterns in the heads of each set."""
    variants, prompts = len(sets), len(tokens)
    resid = model.embed(tokens).repeat(variants, 1, 1)
    for layer in range(model.n_layers):
        first = model.first_needed(layer)
        pattern, value = model.attention(layer, resid, first)
        written = sets[:, layer].repeat_interleave(prompts, 0)[:, :, None, None]
        forced = torch.where(written, donor[layer, :, :, first:].repeat(variants, 1, 1, 1), pattern)
        resid = model.finish(layer, resid[:, first:], model.project(layer, mix(Attention(forced, value))))
    logits = model.unembed(resid[:, -1])
    return logits.view(variants, prompts, logits.shape[-1])


def _probability(
    logits: Float[Tensor, "variant prompt vocab"], answers: Int[Tensor, "prompt"]
) -> Float[np.ndarray, "variant prompt"]:
    chosen = answers.expand(len(logits), -1)[..., None]
    return logits.double().log_softmax(-1).gather(-1, chosen)[..., 0].exp().cpu().numpy()


def _check(
    model: Model,
    logits: Float[Tensor, "variant prompt vocab"],
    tokens: Int[Tensor, "prompt pos"],
    donor: Float[Tensor, "layer prompt head dest src"],
) -> None:
    if not bool(torch.isfinite(logits).all()):
        model.logits(tokens)  # names the layer where the unpatched model is the cause
        raise InputError(f"{model.checkpoint}: patched logits are not finite; the donor's patterns are not to be used")
    if not torch.equal(logits[1:], logits[:1].expand_as(logits[1:])):
        return
    # patterns of one model in batches of two sizes can differ by a unit of rounding
    difference = float((donor - model.patterns(tokens)).abs().max())
    if difference > 8 * torch.finfo(donor.dtype).eps:
        raise InputError(
            f"{model.checkpoint}: donor and recipient patterns differ, and no patch changed any logit; "
            "the patch does not reach the output, so its effects are not results"
        )
