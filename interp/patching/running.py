"""Batches of prompts and pieces of variants brought through the passes within a bound on memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from interp.models.decoder import Decoder
from interp.models.model import Model, Where
from interp.patching.growing import Patch, grow
from interp.patching.memory import Plan, plan
from interp.patching.outcomes import Outcomes, Reader, outcomes
from interp.patching.reading import Given, Patterns, batches
from interp.patching.writing import Sets, force
from interp.values import Head, InputError, PromptSet

Run = Callable[[Given, Plan, Reader], tuple[Outcomes, bool]]


def over_batches(
    model: Model, prompts: PromptSet, donor: Patterns, variants: int, memory: int, run: Run
) -> tuple[Outcomes, Outcomes]:
    """Outcomes of the recipient, [prompt], and of the patches, [prompt, variant].

    `run` gives the outcomes of one batch, [1 + variant, prompt], and whether any written pattern differed.
    """
    lengths = {len(prompt.tokens) for prompt in prompts.prompts}
    plans = {length: plan(model, length, variants, memory) for length in lengths}
    log_p, margin = np.empty((2, len(prompts), variants))
    for given in batches(model, prompts, donor, {length: one.prompts for length, one in plans.items()}):
        reader = Reader(given.answers, lambda given=given: _not_finite(model, given))
        found, differed = run(given, plans[given.tokens.shape[1]], reader)
        if differed and not reader.moved:
            raise InputError(
                f"{model.checkpoint}: donor and recipient patterns differ, and no patch changed any logit; "
                "the patch does not reach the output, so its effects are not results"
            )
        log_p[given.chosen], margin[given.chosen] = found.log_p.T, found.margin.T
    return Outcomes(log_p[:, 0], margin[:, 0]), Outcomes(log_p[:, 1:], margin[:, 1:])


def _not_finite(model: Model, given: Given) -> InputError:
    model.logits(given.tokens)  # names the layer where the unpatched model is the cause
    return InputError(f"{model.checkpoint}: patched logits are not finite; the donor's patterns are not to be used")


def grown(
    model: Decoder, given: Given, heads: list[Head], patch: Patch, sizes: Plan, reader: Reader
) -> tuple[Outcomes, bool]:
    """Outcomes of every head alone by the fast path, in pieces of at most `sizes.variants`."""
    step, read, own = sizes.variants - 1, [], []
    for start in range(0, len(heads), step):
        piece = grow(model, given.tokens, patch, heads[start : start + step], sizes.rows)
        final = piece.final if start == 0 else piece.final[1:]
        for rows in final.flatten(0, 1).split(sizes.logits):
            read.append(reader.read(unembedded(model, rows)))
        own.append(piece.own)
    same = torch.cat(own).cpu().numpy()
    found = outcomes(read, len(given.tokens))
    for values in found:  # rounding differs between rows of a product by where they stand in it
        values[1:] = np.where(same, values[0], values[1:])
    return found, not bool(same.all())


@torch.no_grad()
def unembedded(model: Decoder, rows: Tensor) -> Tensor:
    """Logits of final streams."""
    return model.unembed(rows)


def forced(
    model: Model,
    given: Given,
    sets: Sets,
    held: Bool[np.ndarray, "layer head"] | None,
    sizes: Plan,
    reader: Reader,
    where: Where = "pattern",
) -> tuple[Outcomes, bool]:
    """Outcomes of every set by full forwards; the recipient holds the `held` heads."""
    none = torch.zeros_like(sets.masks[:1]) if held is None else torch.from_numpy(held)[None]
    rows = None if sets.rows is None else torch.cat([torch.zeros_like(sets.rows[:1]), sets.rows])
    whole = Sets(torch.cat([none, sets.masks]), rows)
    read, differed = [], False
    for part in whole.split(max(1, sizes.rows // len(given.tokens))):
        logits, changed = force(model, given, part, where)
        differed |= changed
        read.extend(reader.read(one) for one in logits.split(sizes.logits))
    return outcomes(read, len(given.tokens)), differed


def patch_of(given: Given, held: Bool[np.ndarray, "layer head"] | None, rows: Sequence[int] | None) -> Patch:
    """What is written into one batch."""
    device, length = given.tokens.device, given.tokens.shape[1]
    mask = None if held is None or not held.any() else torch.from_numpy(held).to(device)
    return Patch(given.donor, mask, None if rows is None else row_mask(rows, length).to(device))


def row_mask(rows: Sequence[int], length: int) -> Bool[Tensor, "dest"]:
    """The destinations that `rows` name; negative ones count from the answer row, −1."""
    mask = torch.zeros(length, dtype=torch.bool)
    for row in rows:
        if not -length <= row < length:
            raise InputError(f"row {row} was asked for, and a prompt has {length} positions")
        mask[row] = True
    return mask
