"""Random tokens told twice: prompts on which a previous-token and an induction head show what they are."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from jaxtyping import Int
from torch import Tensor

RANDOM_LENGTHS = (6, 12, 20)


def repeated_random(
    vocab: Iterable[int],
    bos: int | None,
    lengths: tuple[int, ...] = RANDOM_LENGTHS,
    each: int = 8,
    seed: int = 0,
) -> list[Int[Tensor, "_prompt _pos"]]:
    """Random tokens told twice, in several lengths (at most as many as there are), after BOS where there is one.

    Several lengths, since a head that looks back a learned distance passes for an induction head at one length.
    """
    known = torch.tensor(sorted(set(vocab) - {bos}))
    generator = torch.Generator().manual_seed(seed)
    found = []
    for length in lengths:
        order = torch.stack([torch.randperm(len(known), generator=generator)[:length] for _ in range(each)])
        once = known[order]
        start = torch.full((each, 0 if bos is None else 1), -1 if bos is None else bos)
        found.append(torch.cat([start, once, once], 1))
    return found
