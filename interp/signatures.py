"""What a head's attention pattern looks like: previous-token, induction, first-token …, and order parameters.

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

VERSION = 1
FIRST_ROW = 2
RANDOM_LENGTHS = (6, 12, 20)

MASS_SCORES: tuple[str, ...] = ("previous_token", "induction", "duplicate_token", "first_token")
ORDER_PARAMETERS = ("a_1", "a_G", "sink")
SCORES = (*MASS_SCORES, *ORDER_PARAMETERS, "coverage")


@dataclass(frozen=True)
class Signatures:
    """Scores of every head, and the same scores of uniform causal attention on the same tokens.

    A mass score is NaN where no row has a source of its kind (no repeated token: no induction).
    """

    value: Mapping[str, Float[np.ndarray, "layer head"]]
    uniform: Mapping[str, float]


# tokens and patterns of one length; `_`: these axes differ from sample to sample
Sample = tuple[Int[Tensor, "_prompt _pos"], Float[Tensor, "layer _prompt head _dest _src"]]


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


def uniform_pattern(length: int) -> Float[Tensor, "dest src"]:
    """Causal attention that weighs every visible position alike."""
    causal = torch.ones(length, length, dtype=torch.float64).tril()
    return causal / causal.sum(-1, keepdim=True)


def causal_basis(length: int) -> Float[Tensor, "basis dest src"]:
    """{uniform, shift, first-token}: the causal patterns that the order parameters a_1, a_G and sink weigh."""
    shift = torch.ones(length, length, dtype=torch.float64).tril(-1).triu(-1)
    first = torch.zeros(length, length, dtype=torch.float64)
    first[:, 0] = 1
    return torch.stack([uniform_pattern(length), shift, first])


class Projection:
    """Least squares of patterns on a basis of patterns, gathered over prompts of several lengths.

    `gram` and `overlap` are sums over prompts and rows of products of basis patterns with each other and with the
    head's pattern; the coefficients minimise the summed squared difference, and coverage is the share of the pattern's
    squared size that the fit explains (1 − residual/total).
    """

    def __init__(self, n_basis: int, heads: tuple[int, ...]):
        self._gram = torch.zeros(n_basis, n_basis, dtype=torch.float64)
        self._overlap = torch.zeros(*heads, n_basis, dtype=torch.float64)
        self._total = torch.zeros(heads, dtype=torch.float64)

    def add(
        self,
        pattern: Float[Tensor, "layer prompt head dest src"],
        basis: Float[Tensor, "basis dest src"],
        rows: slice = slice(FIRST_ROW, None),
    ) -> None:
        """Take in the patterns of prompts of one length, on the rows given."""
        basis = basis[:, rows]
        pattern = pattern[..., rows, :].double().cpu()
        self._gram += pattern.shape[1] * torch.einsum("ads,bds->ab", basis, basis)
        self._overlap += torch.einsum("lphds,ads->lha", pattern, basis)
        self._total += pattern.square().sum((1, 3, 4))

    def solve(self) -> tuple[Float[Tensor, "layer head basis"], Float[Tensor, "layer head"]]:
        """Coefficients and coverage of every head."""
        coefficients = self._overlap @ torch.linalg.pinv(self._gram, hermitian=True)
        return coefficients, (coefficients * self._overlap).sum(-1) / self._total


def signatures(samples: Iterable[Sample]) -> Signatures:
    """Scores of every head over samples of tokens with their patterns, each sample of one length.

    Mass scores are means, over all rows that have a source of the kind, of the attention that falls on such sources.
    Order parameters are the least-squares coefficients on {uniform, shift, first-token} (docs/design.md §2).
    """
    samples = list(samples)
    value = _scores([(tokens, pattern.double().cpu()) for tokens, pattern in samples])
    flat = [(t, uniform_pattern(t.shape[1]).expand(1, len(t), 1, -1, -1)) for t, _ in samples]
    uniform = {name: float(score[0, 0]) for name, score in _scores(flat).items()}
    return Signatures(value, uniform)


def _scores(samples: list[Sample]) -> dict[str, Float[np.ndarray, "layer head"]]:
    layers, _, heads = samples[0][1].shape[:3]
    mass = {name: torch.zeros(layers, heads, dtype=torch.float64) for name in MASS_SCORES}
    rows = dict.fromkeys(MASS_SCORES, 0)
    projection = Projection(len(ORDER_PARAMETERS), (layers, heads))
    for tokens, pattern in samples:
        for name, mask in sources(tokens.cpu()).items():
            mass[name] += torch.einsum("lphds,pds->lh", pattern, mask)
            rows[name] += int(mask.any(-1).sum())
        projection.add(pattern, causal_basis(tokens.shape[1]))
    coefficients, coverage = projection.solve()
    found = {name: (mass[name] / rows[name] if rows[name] else mass[name] * torch.nan).numpy() for name in MASS_SCORES}
    found |= {name: coefficients[..., i].numpy() for i, name in enumerate(ORDER_PARAMETERS)}
    return found | {"coverage": coverage.numpy()}


def repeated_random(
    vocab: Iterable[int],
    bos: int | None,
    lengths: tuple[int, ...] = (6, 12, 20),
    each: int = 8,
    seed: int = 0,
) -> list[Int[Tensor, "prompt pos"]]:
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


def label(scores: Mapping[str, float]) -> str:
    """One word for a head: previous-token, induction, first-token, uniform, mixed or none.

    A mass score counts from .4 on. One counts, and is at least 4/3 of every other: its name. Several count: mixed.
    None counts: uniform if a_1 ≥ .6 and coverage ≥ .6, else none. The cuts are ours; the scores stand beside the label.
    """
    names = {"previous_token": "previous-token", "induction": "induction", "first_token": "first-token"}
    ranked = sorted(
        ((scores[name], word) for name, word in names.items() if scores[name] == scores[name]), reverse=True
    )
    if ranked and ranked[0][0] >= 0.4:
        return ranked[0][1] if len(ranked) == 1 or ranked[0][0] >= ranked[1][0] * 4 / 3 else "mixed"
    return "uniform" if scores["a_1"] >= 0.6 and scores["coverage"] >= 0.6 else "none"
