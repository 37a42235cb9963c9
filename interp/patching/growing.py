"""The fast path: the effect of every head alone, in one pass that grows.

The recipient's own forward runs once. At each layer that layer's patched variants are born from the recipient's stream,
by adding [(A_donor − A_recipient) V] W_O, one product for all heads of the layer; they join the batch, which goes on
through the later layers. With a parallel residual the layer's MLP output is the recipient's for all of them. The last
layer and the unembedding are computed at the answer position alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from interp.models.decoder import Decoder, add_
from interp.models.model import Attention, mix
from interp.values import Head

# a pattern within this many units of rounding of the recipient's own is the recipient's own: its effect is exactly 0
OWN = 32


class Patch(NamedTuple):
    """What is written: the donor's patterns; `held`: heads written in every variant; `rows`: destinations written."""

    donor: Float[Tensor, "layer prompt head dest src"]
    held: Bool[Tensor, "layer head"] | None = None
    rows: Bool[Tensor, "dest"] | None = None


class Grown(NamedTuple):
    """Final streams of the recipient (variant 0) and of every head's patch; `own`: the pattern was the recipient's."""

    final: Float[Tensor, "variant prompt d_model"]
    own: Bool[Tensor, "patched prompt"]


@torch.no_grad()
def grow(model: Decoder, tokens: Int[Tensor, "prompt pos"], patch: Patch, heads: Sequence[Head], rows: int) -> Grown:
    """Final streams at the last position, for each of the heads (ordered by layer) patched alone."""
    prompts, length = tokens.shape
    base = model.embed(tokens)
    stream = base.new_empty(1 + len(heads), prompts, length, base.shape[-1])
    stream[0] = base
    alive, own = 1, []
    for layer in range(model.n_layers):
        here = [head.head for head in heads if head.layer == layer]
        first = model.first_needed(layer)
        after = stream if first == 0 else stream[:, :, first:].contiguous()
        attention = _advance(model, layer, stream[:alive], after[:alive], patch, rows)
        if here:
            change, same = _change(attention, patch, layer, here, first)
            weight = model.head_out(layer)[here]
            born = after[alive : alive + len(here)].view(len(here), -1, base.shape[-1])
            torch.baddbmm(after[0].view(1, -1, base.shape[-1]).expand_as(born), change, weight, out=born)
            alive += len(here)
            own.append(same)
        if not model.parallel:
            for part in _parts(after[:alive], rows):
                add_(part, model.mlp_out(layer), model.mlp_hidden(layer, part))
        stream = after
    return Grown(stream[:, :, -1], torch.cat(own))


def _parts(stream: Float[Tensor, "variant prompt pos d_model"], rows: int) -> Iterator[Tensor]:
    prompts = stream.shape[1]
    yield from stream.flatten(0, 1).split(max(1, rows // prompts) * prompts)  # whole variants


def _advance(model: Decoder, layer: int, before: Tensor, after: Tensor, patch: Patch, rows: int) -> Attention:
    """Bring variants through a layer, `after` in place (with a sequential residual, through its attention alone).

    Returns the recipient's own attention: the patterns and values of variant 0.
    """
    found: Attention | None = None
    first, prompts = model.first_needed(layer), before.shape[1]
    for part, out in zip(_parts(before, rows), _parts(after, rows), strict=True):
        attention = model.attention(layer, part, first)
        if patch.held is not None:
            _hold(attention.pattern, patch, layer)
        if found is None:  # the first part holds all prompts of variant 0
            found = Attention(*(x[:prompts].clone() for x in attention))
        mixed = mix(attention).flatten(2)
        if model.parallel:
            add_(out, model.mlp_out(layer), model.mlp_hidden(layer, part[:, first:]))
        add_(out, model.attention_out(layer), mixed)
    assert found is not None
    return found


def _hold(pattern: Float[Tensor, "row head dest src"], patch: Patch, layer: int) -> None:
    """Write the held heads' donor patterns, in place; rows of `pattern` are whole variants, prompt by prompt."""
    assert patch.held is not None
    heads = patch.held[layer].nonzero()[:, 0]
    if not len(heads):
        return
    dest = pattern.shape[2]
    donor = patch.donor[layer][:, heads, -dest:]
    variants = pattern.view(-1, donor.shape[0], *pattern.shape[1:])
    written = donor.expand(len(variants), *donor.shape)
    if patch.rows is not None:
        written = torch.where(patch.rows[-dest:, None], written, variants[:, :, heads])
    variants[:, :, heads] = written


def _change(
    attention: Attention, patch: Patch, layer: int, heads: list[int], first: int
) -> tuple[Float[Tensor, "head row d_head"], Bool[Tensor, "head prompt"]]:
    """(A_donor − A_recipient) V of heads, and on which prompts the donor's pattern is the recipient's own."""
    pattern = attention.pattern[:, heads]
    change = patch.donor[layer][:, heads, first:].to(pattern) - pattern
    if patch.rows is not None:
        change *= patch.rows[first:, None]
    same = change.abs().amax((2, 3)) <= OWN * torch.finfo(pattern.dtype).eps
    change.masked_fill_(same[:, :, None, None], 0)
    mixed = (change @ attention.value[:, heads]).transpose(0, 1)
    return mixed.flatten(1, 2), same.T
