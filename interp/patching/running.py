"""Batches of prompts and pieces of variants brought through the passes within a bound on memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from interp.models.decoder import Decoder
from interp.models.model import Model, Where
from interp.models.room import FRESH, Room
from interp.patching.growing import Patch, grow
from interp.patching.memory import Plan, plan
from interp.patching.outcomes import Outcomes, Reader, outcomes
from interp.patching.reading import Given, Patterns, batches
from interp.patching.writing import Sets, force
from interp.values import InputError, PromptSet

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


def written_into(
    model: Model, given: Given, sets: Sets, sizes: Plan, reader: Reader, where: Where = "pattern"
) -> tuple[Outcomes, bool]:
    """Outcomes of every set, set 0 being what the recipient holds; whether anything written was not its own."""
    if isinstance(model, Decoder) and where == "pattern":
        return _grown(model, given, sets, sizes, reader)
    return _forced(model, given, sets, sizes, reader, where)


def _grown(model: Decoder, given: Given, sets: Sets, sizes: Plan, reader: Reader) -> tuple[Outcomes, bool]:
    """By the fast path, in pieces of at most `sizes.variants`, each with the recipient in front."""
    device, room = given.tokens.device, Room()
    whole = Patch(given.donor, sets.masks.to(device), None if sets.rows is None else sets.rows.to(device))
    births = whole.births()
    order = sorted(range(1, len(births)), key=lambda variant: births[variant])
    read, changed = [], []
    for start in range(0, len(order), sizes.variants - 1):
        chosen = [0, *order[start : start + sizes.variants - 1]]
        rows = None if whole.rows is None else whole.rows[chosen]
        piece = grow(model, given.tokens, Patch(given.donor, whole.masks[chosen], rows), sizes.rows, room)
        skipped = int(start > 0)  # the recipient is read once
        for final in piece.final[skipped:].flatten(0, 1).split(sizes.logits):
            read.append(reader.read(unembedded(model, final, room)))
        changed.append(piece.changed[skipped:])
    found, moved = outcomes(read, len(given.tokens)), torch.cat(changed).cpu().numpy()
    back = np.argsort([0, *order])
    for values in found:  # rounding differs between rows of a product by where they stand in it
        values[...] = np.where(moved, values, values[0])[back]
    return found, bool(moved.any())


@torch.no_grad()
def unembedded(model: Decoder, rows: Tensor, room: Room = FRESH) -> Tensor:
    """Logits of final streams."""
    return model.unembed(rows, room)


def _forced(model: Model, given: Given, sets: Sets, sizes: Plan, reader: Reader, where: Where) -> tuple[Outcomes, bool]:
    """By full forwards."""
    read, differed = [], False
    for part in sets.split(max(1, sizes.rows // len(given.tokens))):
        logits, changed = force(model, given, part, where)
        differed |= changed
        read.extend(reader.read(one) for one in logits.split(sizes.logits))
    return outcomes(read, len(given.tokens)), differed


def row_mask(rows: Sequence[int], length: int) -> Bool[Tensor, "dest"]:
    """The destinations that `rows` name; negative ones count from the answer row, −1."""
    mask = torch.zeros(length, dtype=torch.bool)
    for row in rows:
        if not -length <= row < length:
            raise InputError(f"row {row} was asked for, and a prompt has {length} positions")
        mask[row] = True
    return mask
