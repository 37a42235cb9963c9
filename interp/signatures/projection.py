"""Order parameters: least-squares coefficients of attention patterns on a basis of patterns, and their coverage."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class OrderParameters(NamedTuple):
    """Coefficients on the basis patterns, and coverage: the share of the pattern's squared size that they explain.

    Coverage is 1 − residual/total; NaN for a pattern that is zero on all rows.
    """

    coefficients: Float[Tensor, "*head basis"]
    coverage: Float[Tensor, "*head"]


def order_parameters(
    pattern: Float[Tensor, "*head dest src"],
    basis: Float[Tensor, "basis dest src"],
    rows: slice | Tensor = slice(None),
) -> OrderParameters:
    """The coefficients that bring Σ_b c_b basis_b closest to each pattern, over the rows given (all by default).

    Args:
        pattern: attention of any kind, rows need not sum to one (linear attention); leading axes are kept.
        basis: patterns of the same size, such as `causal_basis(length)` or {uniform, cyclic shift}.
        rows: a slice, a mask or indices of `dest`.
    """
    chosen = pattern[..., rows, :].double().flatten(-2)
    onto = basis[:, rows].double().flatten(-2)
    return solve(onto @ onto.T, chosen @ onto.T, chosen.square().sum(-1))


def solve(
    gram: Float[Tensor, "basis basis"], overlap: Float[Tensor, "*head basis"], total: Float[Tensor, "*head"]
) -> OrderParameters:
    """The fit, given the sums of products: of basis patterns, of them with each pattern, and of it with itself."""
    coefficients = overlap @ torch.linalg.pinv(gram, hermitian=True)
    return OrderParameters(coefficients, (coefficients * overlap).sum(-1) / total)


def uniform_pattern(length: int) -> Float[Tensor, "dest src"]:
    """Causal attention that weighs every visible position alike."""
    causal = torch.ones(length, length, dtype=torch.float64).tril()
    return causal / causal.sum(-1, keepdim=True)


def shift_pattern(length: int) -> Float[Tensor, "dest src"]:
    """All attention on the previous position; the first row is zero."""
    return torch.ones(length, length, dtype=torch.float64).tril(-1).triu(-1)


def first_pattern(length: int) -> Float[Tensor, "dest src"]:
    """All attention on the first position."""
    first = torch.zeros(length, length, dtype=torch.float64)
    first[:, 0] = 1
    return first


def causal_basis(length: int) -> Float[Tensor, "basis dest src"]:
    """{uniform, shift, first-token}: the causal patterns that the order parameters a_1, a_G and sink weigh."""
    return torch.stack([uniform_pattern(length), shift_pattern(length), first_pattern(length)])
