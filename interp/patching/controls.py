"""Donor patterns that should not bring a behaviour: another prompt's, and the donor's own with its sources permuted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from interp.patching.reading import Patterns
from interp.values import Head, PromptSet


def mismatched(prompts: PromptSet, donor: Patterns, seed: int = 0) -> tuple[PromptSet, Patterns]:
    """The donor's patterns of a different prompt of another layout and equal length, and the prompts that have one.

    Prompts of one layout need the same pattern, so that a prompt is never paired within its layout; a prompt without a
    partner is left out. The set may be empty.
    """
    random = np.random.default_rng(seed)
    kept: list[int] = []
    found: list[Tensor] = []
    for group, given in zip(prompts.by_length(), donor, strict=True):
        layouts = [prompts.prompts[i].layout for i in group]
        partners = [[j for j, other in enumerate(layouts) if other != own] for own in layouts]
        pairs = [(i, int(random.choice(others))) for i, others in enumerate(partners) if others]
        if pairs:
            kept += [group[i] for i, _ in pairs]
            found.append(given[:, [j for _, j in pairs]])
    return prompts.some(sorted(kept)), tuple(found)


def permuted(donor: Patterns, seed: int = 0, heads: Iterable[Head] | None = None) -> Patterns:
    """The donor's patterns with the weights of every row shuffled among the sources that the row can see.

    Every head, prompt and row has a permutation of its own; rows keep their weights and stay causal. Where `heads` are
    given the others keep the donor's own patterns.
    """
    generator = torch.Generator().manual_seed(seed)
    found = []
    for given in donor:
        layers, _, n_heads, length, _ = given.shape
        everyone = (Head(layer, head) for layer in range(layers) for head in range(n_heads))
        # a source that the row cannot see keeps its place: its key is its index, above all random ones
        unseen = torch.ones(length, length, dtype=torch.bool).triu(1)
        new = given.clone()
        for one_head in everyone if heads is None else heads:
            at = one_head.layer, slice(None), one_head.head
            one = given[at]
            keys = torch.rand(one.shape, generator=generator)
            keys = torch.where(unseen, torch.arange(1.0, length + 1), keys)
            new[at] = one.gather(-1, keys.argsort(-1).to(given.device))
        found.append(new)
    return tuple(found)
