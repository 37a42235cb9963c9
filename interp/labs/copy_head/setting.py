"""Sizes and prior variances of one copy-head problem, and the named ones that figures and tests use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

Attention = Literal["linear", "softmax"]
# numbers of sequences: whole in an experiment, real along a theory line
Number = float | int
# a number or an array of them; the theory works entry by entry
Values = np.ndarray | np.floating | float | int
ATTENTIONS: tuple[Attention, ...] = ("linear", "softmax")


@dataclass(frozen=True)
class Setting:
    """One copy task and the priors of the layer that learns it.

    Tokens are uniform and independent, `length` (L) of `vocab` (V) kinds; the target is the token before, cyclically.
    `noise` (κ) sets the likelihood's variance τ = κL per component. Values times readout have prior variance
    `value_variance` (σ_w²), attention logits `logit_variance` (σ_B²) per entry of the bilinear form. `bias` (b²) is the
    squared constant feature that the average token contributes to every position; 1/V where it is None.

    Conventions inferred, not the paper's: loss summed over V and averaged over L, variances that do not fall with L or
    V, linear attention A = C/L, and attention that reads token + position.
    """

    length: int
    vocab: int
    noise: float = 1.0
    value_variance: float = 1.0
    logit_variance: float = 1.0
    bias: float | None = None

    def __post_init__(self) -> None:
        positive = (self.noise, self.value_variance, self.logit_variance)
        if self.length < 2 or self.vocab < 2 or min(positive) <= 0 or (self.bias is not None and self.bias < 0):
            raise ValueError(f"{self}: length and vocab must be at least 2, variances positive, the bias not negative")

    def __str__(self) -> str:
        return f"L = {self.length}, V = {self.vocab}, σ_w² = {self.value_variance:g}, σ_B² = {self.logit_variance:g}"

    @property
    def tau(self) -> float:
        """The likelihood's noise variance per output component, τ = κL."""
        return self.noise * self.length

    @property
    def uniform_gain(self) -> float:
        """Q = 1 + L b²: the prior's eigenvalue on the uniform direction; 1 on every other."""
        return 1 + self.length * (1 / self.vocab if self.bias is None else self.bias)

    @property
    def multiplicity(self) -> int:
        """V − 1: how often the eigenspace of token differences counts."""
        return self.vocab - 1

    def alpha(self, sequences: Values) -> Values:
        """α = σ_w² P / τ: how far P sequences overrule the prior of the values."""
        return self.value_variance * sequences / self.tau

    @property
    def saturated_shift(self) -> float:
        """a_G of linear attention as P → ∞ (MAP): (V σ_B² / (σ_w² L² (L − 1 + 1/q²)))^¼; a_1 → 0."""
        spread = self.length**2 * (self.length - 1 + self.uniform_gain**-2)
        return (self.vocab * self.logit_variance / (self.value_variance * spread)) ** 0.25

    def copy_weight(self, a_g: float) -> float:
        """The attention to the previous position of a row-normalised pattern with this a_G."""
        return a_g + (1 - a_g) / self.length

    def logit(self, a_g: float) -> float:
        """H = ln(a (L − 1)/(1 − a)): the logit lead of the previous position that gives this a_G in softmax."""
        weight = self.copy_weight(a_g)
        return math.log(weight * (self.length - 1) / (1 - weight))


FIGURE = Setting(length=30, vocab=10, value_variance=0.1, logit_variance=4.0)
"""The setting of the figures: picked by a scan for a large, well separated jump; not typical."""

UNIT = Setting(length=30, vocab=10)
"""All variances 1."""

SMALL = Setting(length=16, vocab=5, value_variance=0.2, logit_variance=4.0)
"""The setting of the quick forms and the tests."""

FIGURE_SEQUENCES = (75, 100, 125, 150, 200, 250, 300, 400, 500, 700, 1000, 1400, 2000)
SMALL_SEQUENCES = (20, 40, 80, 120, 200, 400, 800)
