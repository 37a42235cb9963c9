"""Which heads may be called causal: four conditions, each in a direction; NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from interp.values import Direction

VERSION = 1

# of the gap between the two ends; a smaller effect is no cause worth the name
SMALLEST_SHARE = 0.05
# candidates whose controls are computed, and other heads that make up the control of noising
MOST = 16

Grid = Float[np.ndarray, "layer head"]


@dataclass(frozen=True)
class Evidence:
    """What a claim rests on, for every head of one direction: mean Δp and its simultaneous interval, and the gap.

    `gap` is the mean of p_donor − p_recipient, NaN where it is too near zero for a share of it to mean anything.
    """

    direction: Direction
    mean: Grid
    low: Grid
    high: Grid
    gap: float

    @property
    def sign(self) -> int:
        """+1 where a rise of p(answer) is wanted (denoising), −1 where a fall is (noising)."""
        return 1 if self.direction is Direction.DENOISING else -1

    def candidates(self) -> Bool[np.ndarray, "layer head"]:
        """Heads with the right sign, a simultaneous interval that excludes 0, and at least 5 % of the gap."""
        nearest = self.low if self.sign > 0 else -self.high
        large = self.sign * self.mean >= SMALLEST_SHARE * abs(self.gap)
        return (nearest > 0) & large & bool(np.isfinite(self.gap))

    def causal(self, permuted_95: Grid) -> Bool[np.ndarray, "layer head"]:
        """Candidates beyond the 95th percentile of the source-permuted control (NaN: no control, no claim)."""
        with np.errstate(invalid="ignore"):
            return self.candidates() & (self.sign * self.mean > self.sign * permuted_95)


def controlled(evidence: Evidence, seed: int = 0) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Heads whose source-permuted effects are needed: candidates, first-ranked first, and others drawn at random."""
    wanted = evidence.candidates()
    order = np.argsort(-evidence.sign * evidence.mean, axis=None, kind="stable")
    pairs = [divmod(int(i), wanted.shape[1]) for i in order]
    others = [pair for pair in pairs if not wanted[pair]]
    drawn = np.random.default_rng(seed).permutation(len(others))[:MOST]
    return [pair for pair in pairs if wanted[pair]][:MOST], [others[i] for i in sorted(drawn)]


def permuted_95(
    direction: Direction,
    shape: tuple[int, int],
    own: dict[tuple[int, int], Float[np.ndarray, "_draw"]],
    others: dict[tuple[int, int], Float[np.ndarray, "_draw"]],
) -> Grid:
    """The 95th percentile, in the direction's sign, of mean Δp of source-permuted donor patterns, for each candidate.

    Denoising: over the draws of the head itself, since a pattern is claimed to bring something that its weights in
    other places do not. Noising: over the draws of the other heads, since any wrong pattern breaks a needed head;
    what is claimed is that it breaks more than a wrong pattern in any head does. NaN for heads without a control.
    """
    found = np.full(shape, np.nan)
    for head, draws in own.items():
        if direction is Direction.DENOISING:
            found[head] = np.quantile(draws, 0.95)
        elif others:
            found[head] = np.quantile(np.concatenate(list(others.values())), 0.05)
    return found
