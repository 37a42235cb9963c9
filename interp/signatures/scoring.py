"""Scores of every head from its patterns: previous-token, induction, first-token …, entropy, order parameters.

All scores read rows from the third on (`FIRST_ROW`): in the second row the previous token is also the first, and a sink
would read as previous-token or pooling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from interp.signatures.projection import OrderParameters, first_pattern, solve, uniform_pattern

FIRST_ROW = 2
# heads whose rows are drawn at random, for what a score is worth by chance
RANDOM_HEADS = 16

MASS_SCORES: tuple[str, ...] = ("previous_token", "induction", "duplicate_token", "first_token")
ORDER_PARAMETERS = ("a_1", "a_G", "sink")
PATTERN_SCORES = (
    *MASS_SCORES, "uniform", "entropy", "entropy_ratio", *ORDER_PARAMETERS, "coverage", "a_I", "coverage_induction",
)  # fmt: skip
SCORES = (*PATTERN_SCORES, "ov_copying")
# scores of unit 1 that say different things: nats are another unit, and entropy_ratio orders heads as they do
COMPARED = tuple(name for name in SCORES if name != "entropy")

Grid = Float[np.ndarray, "layer head"]
# `_`: these axes differ from sample to sample
Tokens = Int[Tensor, "_prompt _pos"]
Pattern = Float[Tensor, "layer _prompt head _dest _src"]


@dataclass(frozen=True)
class Signatures:
    """Scores of every head, and the same scores of uniform and of random causal attention on the same tokens.

    Random attention has rows drawn evenly from all that sum to one (Dirichlet(1)); given is the mean over such heads. A
    score is NaN where no row has a source of its kind (no repeated token: no induction), and `ov_copying`, which is
    read off weights, has no reference.
    """

    value: Mapping[str, Grid]
    uniform: Mapping[str, float]
    random: Mapping[str, float]


def sources(tokens: Int[Tensor, "prompt pos"]) -> dict[str, Float[Tensor, "prompt dest src"]]:
    """1 where attention from `dest` to `src` counts for a mass score, else 0; rows before the third are 0.

    previous_token: src = dest − 1. duplicate_token: src < dest holds the token of dest. induction: src < dest follows
    an earlier copy of the token of dest (prefix matching, Olsson et al. 2022). first_token: src = 0.
    """
    length = tokens.shape[1]
    before = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril(-1)
    duplicate = (tokens[:, :, None] == tokens[:, None, :]) & before
    after_copy = torch.zeros_like(duplicate)
    after_copy[:, :, 1:] = duplicate[:, :, :-1]
    place = torch.arange(length, device=tokens.device)
    previous = (place[:, None] - 1 == place).expand_as(duplicate)
    first = (place == 0).expand_as(duplicate)
    found = {
        "previous_token": previous,
        "induction": after_copy & before,
        "duplicate_token": duplicate,
        "first_token": first,
    }
    return {name: (mask & (place >= FIRST_ROW)[:, None]).double() for name, mask in found.items()}


class _Sample:
    """What of the scores depends on the tokens of one length alone.

    `weights`: patterns that a head's own is multiplied with and summed: the masks of the mass scores, uniform, and, on
    rows that have an induction source, uniform, induction (spread evenly over the sources) and first.
    """

    def __init__(self, tokens: Tokens):
        self.tokens = tokens.cpu()
        prompts, length = self.tokens.shape
        rows = slice(FIRST_ROW, None)
        self.uniform = uniform_pattern(length)[rows]
        masks = {name: mask[:, rows] for name, mask in sources(self.tokens).items()}
        induction = masks["induction"]
        counted = induction.sum(-1, keepdim=True)
        self.inducing = (counted > 0).double()  # [prompt, dest, 1]
        every = self.uniform.expand(prompts, -1, -1)
        special = [every, induction / counted.clamp(min=1), first_pattern(length)[rows].expand_as(every)]
        self.weights = torch.stack([*masks.values(), every, *(one * self.inducing for one in special)])
        self.rows = torch.tensor([float(mask.any(-1).sum()) for mask in masks.values()])
        self.counted = prompts * max(length - FIRST_ROW, 0)
        self.entropy = float(torch.special.entr(every).sum())
        basis = self.weights[[4, 0, 3]]  # uniform, shift, first
        self.gram = torch.einsum("apds,bpds->ab", basis, basis)
        self.gram_induction = torch.einsum("apds,bpds->ab", self.weights[5:], self.weights[5:])


class _Sums:
    """Sums over rows of what the scores are made from, for every head of one sample."""

    def __init__(self, sample: _Sample, pattern: Float[Tensor, "layer _prompt head _dest _src"]):
        rows = pattern[..., FIRST_ROW:, :].cpu()
        self.products = torch.einsum("lphds,kpds->lhk", rows.double(), sample.weights)
        squares = rows.square().sum(-1).double()
        self.total = squares.sum((1, 3))
        self.total_induction = torch.einsum("lphd,pd->lh", squares, sample.inducing[..., 0])
        self.entropy = torch.special.entr(rows).sum(-1).double().sum((1, 3))
        self.overlap = torch.minimum(rows, sample.uniform.to(rows.dtype)).sum(-1).double().sum((1, 3))


class Scorer:
    """Scores of heads on given tokens; what depends on the tokens alone is worked out once, for many models."""

    def __init__(self, tokens: Iterable[Tokens]):
        self._samples = [_Sample(one) for one in tokens]
        flat = [uniform_pattern(n).expand(1, prompts, 1, -1, -1) for prompts, n in self._shapes()]
        generator = torch.Generator().manual_seed(0)
        drawn = [_random_pattern((1, prompts, RANDOM_HEADS, n, n), generator) for prompts, n in self._shapes()]
        self.uniform, self.random = (
            {name: float(grid.mean()) for name, grid in self._scores(patterns).items()} for patterns in (flat, drawn)
        )

    def _shapes(self) -> list[tuple[int, int]]:
        return [(one.tokens.shape[0], one.tokens.shape[1]) for one in self._samples]

    def _gram(self, name: str) -> Tensor:
        return torch.stack([getattr(one, name) for one in self._samples]).sum(0)

    def __call__(self, patterns: Iterable[Pattern], more: Mapping[str, Grid] | None = None) -> Signatures:
        """The scores, given the patterns on each sample of tokens in turn; `more`: scores that come from elsewhere."""
        return Signatures(self._scores(patterns) | dict(more or {}), self.uniform, self.random)

    def _scores(self, patterns: Iterable[Pattern]) -> dict[str, Grid]:
        pairs = zip(self._samples, patterns, strict=True)
        sums = [_Sums(sample, pattern) for sample, pattern in pairs]

        def total(name: str) -> Tensor:
            return torch.stack([getattr(one, name) for one in sums]).sum(0)

        products, counted = total("products"), sum(one.counted for one in self._samples)
        rows = torch.stack([one.rows for one in self._samples]).sum(0)
        found = dict(zip(MASS_SCORES, (products[..., :4] / rows).unbind(-1), strict=True))
        found["uniform"] = total("overlap") / counted
        found["entropy"] = total("entropy") / counted
        found["entropy_ratio"] = total("entropy") / sum(one.entropy for one in self._samples)
        pooled = solve(self._gram("gram"), products[..., [4, 0, 3]], total("total"))
        found |= dict(zip((*ORDER_PARAMETERS, "coverage"), _columns(pooled), strict=True))
        repeated = solve(self._gram("gram_induction"), products[..., 5:], total("total_induction"))
        _, found["a_I"], _, found["coverage_induction"] = _columns(repeated)
        if not rows[1]:
            found["a_I"] = found["a_I"] * torch.nan
        return {name: found[name].numpy() for name in PATTERN_SCORES}


def _columns(found: OrderParameters) -> list[Tensor]:
    return [*found.coefficients.unbind(-1), found.coverage]


def _random_pattern(shape: tuple[int, ...], generator: torch.Generator) -> Pattern:
    """Causal attention with rows drawn evenly from all that sum to one: exponential variates, divided by their sum."""
    drawn = torch.empty(shape, dtype=torch.float64).exponential_(generator=generator).tril()
    return drawn / drawn.sum(-1, keepdim=True)


def signatures(samples: Iterable[tuple[Tokens, Pattern]]) -> Signatures:
    """Scores of every head over samples of tokens with their patterns, each sample of one length."""
    samples = list(samples)
    return Scorer(tokens for tokens, _ in samples)(pattern for _, pattern in samples)
