"""Sets of heads written at once: full forwards whose patterns (or scores) are passed through a writer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from interp.models.model import Model, Where
from interp.patching.growing import OWN
from interp.patching.reading import Given


class Sets(NamedTuple):
    """For each variant, the heads that are written and the destinations at which they are (`None`: all)."""

    masks: Bool[Tensor, "variant layer head"]
    rows: Bool[Tensor, "variant dest"] | None

    def split(self, step: int) -> Iterator[Sets]:
        """Sets of at most `step` variants."""
        for start in range(0, len(self.masks), step):
            part = slice(start, start + step)
            yield Sets(self.masks[part], None if self.rows is None else self.rows[part])


@torch.no_grad()
def force(model: Model, given: Given, sets: Sets, where: Where = "pattern") -> tuple[Float[Tensor, "row vocab"], bool]:
    """Logits of each variant on each prompt (variant-major); whether anything written differed from the model's own.

    A head's pattern that is the recipient's own within rounding is left as it is, so that it changes exactly nothing.
    """
    masks = sets.masks.to(model.device)
    rows = None if sets.rows is None else sets.rows.to(model.device)
    variants, prompts = len(masks), len(given.tokens)
    differed = False

    def write(layer: int, own: Tensor) -> Tensor:
        nonlocal differed
        if not bool(masks[:, layer].any()):
            return own
        seen = own.unflatten(0, (variants, prompts))
        donor = given.donor[layer][:, :, -own.shape[2] :].to(own)
        on = masks[:, layer, None, :, None, None]
        if rows is not None:
            on = on & rows[:, None, None, -own.shape[2] :, None]
        on = on & ~_same(seen, donor, where)[..., None, None]
        differed |= bool(on.any())
        return torch.where(on, donor, seen).flatten(0, 1)

    return model.logits_with(given.tokens.repeat(variants, 1), write, where), differed


def _same(own: Tensor, donor: Tensor, where: Where) -> Bool[Tensor, "variant prompt head"]:
    """Whether a head's pattern is the same within rounding."""
    if where == "scores":
        own, donor = own.softmax(-1), donor.softmax(-1)
    return (donor - own).abs().amax((-2, -1)) <= OWN * torch.finfo(own.dtype).eps
