"""Do the heads with large effects carry the signatures? Rank correlation of |Δp| with each signature's change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

VERSION = 1


class Agreement(NamedTuple):
    """Spearman's ρ over heads of |Δp| with |change of a score|; p two-sided by permutation. NaN if one is constant."""

    score: str
    rho: float
    p_value: float


def agreement(
    delta_p: Float[np.ndarray, "layer head"],
    before: Mapping[str, Float[np.ndarray, "layer head"]],
    after: Mapping[str, Float[np.ndarray, "layer head"]],
    permutations: int = 2000,
) -> list[Agreement]:
    """How well the size of a head's effect goes with the change of each signature between the bracket's ends.

    Heads within a layer are not independent, so p describes and does not decide.
    """
    effect = np.abs(delta_p).ravel()
    return [_agree(name, effect, np.abs(after[name] - before[name]).ravel(), permutations) for name in after]


def _agree(name: str, effect: np.ndarray, change: np.ndarray, permutations: int) -> Agreement:
    known = np.isfinite(change)
    effect, change = stats.rankdata(effect[known]), stats.rankdata(change[known])
    if len(effect) < 3 or np.ptp(effect) == 0 or np.ptp(change) == 0:
        return Agreement(name, float("nan"), float("nan"))
    effect, change = effect - effect.mean(), change - change.mean()
    scale = np.sqrt((effect**2).sum() * (change**2).sum())
    random = np.random.default_rng(0)
    shuffled = random.permuted(np.tile(change, (permutations, 1)), axis=1) @ effect / scale
    rho = float(effect @ change / scale)
    # a hair below rho, so that rounding does not make an equal permutation count as smaller
    extreme = int((np.abs(shuffled) >= abs(rho) - 1e-12).sum())
    return Agreement(name, rho, (1 + extreme) / (1 + permutations))
