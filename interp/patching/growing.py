"""The fast path: the effects of many sets of heads, in one pass that grows.

The recipient's own forward runs once. At each layer the variants whose first patched head is there are born from the
recipient's stream, by adding [(A_donor − A_recipient) V] W_O of their heads; they join the batch, which goes on through
the later layers, where a set's further heads are written into the pattern. With a parallel residual the layer's MLP
output is the recipient's for all that are born in it. The last layer and the unembedding are computed at the answer
position alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from interp.models.decoder import Decoder, add_
from interp.models.model import Attention, mix
from interp.models.room import Room

# a pattern within this many units of rounding of the recipient's own is the recipient's own: its effect is exactly 0
OWN = 32


class Patch(NamedTuple):
    """The donor's patterns, and for each variant the heads and destinations (`None`: all) that they are written into.

    Variant 0 is the recipient: what it holds, every variant holds.
    """

    donor: Float[Tensor, "layer prompt head dest src"]
    masks: Bool[Tensor, "variant layer head"]
    rows: Bool[Tensor, "variant dest"] | None = None

    def births(self) -> list[int]:
        """For each variant the layer at which it first differs from the recipient (variants without: the last)."""
        differs = (self.masks & ~self.masks[0]).any(2)
        differs[:, -1] = True
        return [0, *differs[1:].int().argmax(1).tolist()]


class Grown(NamedTuple):
    """Final streams of the variants; `changed`: something was written that was not the recipient's own pattern."""

    final: Float[Tensor, "variant prompt d_model"]
    changed: Bool[Tensor, "variant prompt"]


@torch.no_grad()
def grow(model: Decoder, tokens: Int[Tensor, "prompt pos"], patch: Patch, rows: int, room: Room) -> Grown:
    """Final streams at the last position of every variant, the variants being in the order of their births."""
    prompts, length = tokens.shape
    base, births = model.embed(tokens), patch.births()
    stream = base.new_empty(len(births), prompts, length, base.shape[-1])
    stream[0] = base
    changed = torch.zeros(len(births), prompts, dtype=torch.bool, device=base.device)
    alive = 1
    for layer in range(model.n_layers):
        first = model.first_needed(layer)
        after = stream if first == 0 else stream[:, :, first:].contiguous()
        pass_ = _Pass(model, layer, first, patch, rows, room)
        own = pass_.advance(stream[:alive], after[:alive], changed)
        born = slice(alive, alive + sum(birth == layer for birth in births[1:]))
        pass_.bear(own, after, born, changed)
        alive = born.stop
        if not model.parallel:
            for part in _parts(after[:alive], rows):
                add_(part, model.mlp_out(layer), model.mlp_hidden(layer, part, room))
        stream = after
    return Grown(stream[:, :, -1], changed)


def _parts(stream: Float[Tensor, "variant prompt pos d_model"], rows: int) -> Iterator[Tensor]:
    prompts = stream.shape[1]
    yield from stream.flatten(0, 1).split(max(1, rows // prompts) * prompts)  # whole variants


class _Pass(NamedTuple):
    """One layer at work, at the destinations from `first` on."""

    model: Decoder
    layer: int
    first: int
    patch: Patch
    rows: int
    room: Room

    def advance(self, before: Tensor, after: Tensor, changed: Bool[Tensor, "variant prompt"]) -> Attention:
        """Bring variants through the layer, `after` in place (with a sequential residual, through its attention alone).

        Returns the recipient's own attention: the patterns and values of variant 0.
        """
        found: Attention | None = None
        model, layer, prompts, start = self.model, self.layer, before.shape[1], 0
        for part, out in zip(_parts(before, self.rows), _parts(after, self.rows), strict=True):
            attention = model.attention(layer, part, self.first, self.room)
            at = slice(start, start + len(part) // prompts)
            self._write(attention.pattern.unflatten(0, (-1, prompts)), at, changed)
            if found is None:  # the first part holds all prompts of variant 0
                found = Attention(*(x[:prompts].clone() for x in attention))
            if model.parallel:
                add_(out, model.mlp_out(layer), model.mlp_hidden(layer, part[:, self.first :], self.room))
            add_(out, model.attention_out(layer), mix(attention).flatten(2))
            start = at.stop
        assert found is not None
        return found

    def _write(
        self, pattern: Float[Tensor, "part prompt head dest src"], at: slice, changed: Bool[Tensor, "variant prompt"]
    ) -> None:
        """Write the donor's patterns into the heads of these variants, in place, where they are not their own."""
        masks = self.patch.masks[at, self.layer]
        heads = masks.any(0).nonzero()[:, 0]
        if not len(heads):
            return
        donor = self.patch.donor[self.layer][:, heads, self.first :].to(pattern)
        seen = pattern[:, :, heads]
        on = masks[:, None, heads, None, None]
        if self.patch.rows is not None:
            on = on & self.patch.rows[at, None, None, self.first :, None]
        differs = _differs(torch.where(on, donor - seen, 0).abs().amax((-2, -1)))
        pattern[:, :, heads] = torch.where(on & differs[..., None, None], donor, seen)
        changed[at] |= (differs & ~self.patch.masks[0, self.layer, heads]).any(-1)

    def bear(self, own: Attention, after: Tensor, born: slice, changed: Bool[Tensor, "variant prompt"]) -> None:
        """The streams of the variants that are born in this layer, from that of variant 0."""
        masks = self.patch.masks[born, self.layer] & ~self.patch.masks[0, self.layer]
        after[born] = after[0]
        rows = None if self.patch.rows is None else self.patch.rows[born, self.first :]
        for head in masks.any(0).nonzero()[:, 0].tolist():
            pattern = own.pattern[:, head]
            change = self.patch.donor[self.layer][:, head, self.first :].to(pattern) - pattern
            largest = change.abs().amax(-1)
            whole = _differs(largest.amax(-1))
            change *= whole[:, None, None]  # exactly nothing where nothing differs
            moved = self.model.project_head(self.layer, head, change @ own.value[:, head])
            for place in masks[:, head].nonzero()[:, 0].tolist():
                variant = born.start + place
                if rows is None:
                    after[variant] += moved
                    changed[variant] |= whole
                else:
                    here = _differs((largest * rows[place]).amax(-1))
                    after[variant].addcmul_(moved, (here[:, None] & rows[place])[..., None].to(moved))
                    changed[variant] |= here


def _differs(largest: Tensor) -> Bool[Tensor, "*axes"]:
    """Whether the largest difference of two patterns is more than rounding; one that is not a number is."""
    return ~(largest <= OWN * torch.finfo(largest.dtype).eps)
