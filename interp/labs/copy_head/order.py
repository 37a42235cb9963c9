"""Order parameters of measured patterns: the cyclic form of `interp.signatures`.

On {J/L, Π} and all rows a pure cyclic shift is (0, 1). A head of a real model cannot be one: its first row must
attend to itself, so a perfect previous-token head on L positions has (1/(L−1), 1 − 1/(L−1)) by this formula, which is
(.03, .97) at L = 30; on the causal basis from the third row on it is (0, 1) again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from interp.labs.copy_head.setting import Attention
from interp.signatures import order_parameters


class Order(NamedTuple):
    """a_1, a_G, coverage (share of ‖A‖² that they explain) and centred coverage (share of ‖A − mean(A)‖²).

    Centred coverage is NaN where the pattern is even to one part in a million, for then it is 0/0.
    """

    a_1: Float[np.ndarray, " chain"]
    a_g: Float[np.ndarray, " chain"]
    coverage: Float[np.ndarray, " chain"]
    centred: Float[np.ndarray, " chain"]


def cyclic_basis(length: int) -> Float[torch.Tensor, "basis dest src"]:
    """{J/L, Π}: even attention, and attention to the position before, the first's being the last."""
    even = torch.full((length, length), 1 / length, dtype=torch.float64)
    return torch.stack([even, torch.roll(torch.eye(length, dtype=torch.float64), 1, 0)])


def order(pattern: Float[np.ndarray, "chain dest src"]) -> Order:
    """Order parameters of each pattern on {J/L, Π}, all rows."""
    length = pattern.shape[-1]
    found = order_parameters(torch.from_numpy(np.ascontiguousarray(pattern)), cyclic_basis(length))
    a_1, a_g = found.coefficients.numpy().T
    spread = np.square(pattern - pattern.mean((1, 2), keepdims=True)).sum((1, 2))
    known = spread > 1e-6 * np.square(pattern).sum((1, 2))
    # ‖Π − J/L‖² = L − 1
    centred = np.where(known, a_g**2 * (length - 1) / np.where(known, spread, 1.0), np.nan)
    return Order(a_1, a_g, found.coverage.numpy(), centred)


def upright(attention: Attention, pattern: Float[np.ndarray, "chain dest src"]) -> Float[np.ndarray, "chain dest src"]:
    """Patterns turned to positive sums: linear attention's sign is free, for W may take it."""
    if attention == "softmax":
        return pattern
    sums = pattern.sum((1, 2), keepdims=True)
    return np.where(sums < 0, -pattern, pattern)


def copying_rows(pattern: Float[np.ndarray, "chain dest src"]) -> Float[np.ndarray, " chain"]:
    """Share of the rows of each pattern that give more than .3 to the position before, the first's being the last."""
    places = np.arange(pattern.shape[-1])
    return (pattern[:, places, places - 1] > 0.3).mean(1)
