"""The data term of the action when tokens are averaged over: two eigenspaces of the token kernel.

Values are marginalised, or, in the MAP form, minimised over. Averaging over uniform tokens leaves the mean mode `0`
(multiplicity 1) and the token differences `⊥` (multiplicity V − 1). Our own derivation (docs/copy_head.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interp.labs.copy_head.setting import Setting, Values


class Modes(NamedTuple):
    """λ and C of both modes: size of what attention passes on, and its overlap with the target.

    λ_0 = ‖A1‖²/V, C_0 = 1ᵀA1/V, λ_⊥ = ‖A‖²/V, C_⊥ = tr(ΠᵀA)/V, Π the cyclic shift.
    """

    size_0: Values
    overlap_0: Values
    size: Values
    overlap: Values


def of_pattern(setting: Setting, a_1: Values, a_g: Values) -> Modes:
    """Modes of A = a_1 J/L + a_G Π."""
    length, vocab, total = setting.length, setting.vocab, a_1 + a_g
    size = (total**2 + (length - 1) * a_g**2) / vocab
    return Modes(length * total**2 / vocab, length * total / vocab, size, (total + (length - 1) * a_g) / vocab)


def data_action(setting: Setting, sequences: Values, modes: Modes, occam: bool) -> Values:
    """−ln p(targets | A) up to a constant, in nats; without its log-determinant (MAP over A and W) if not `occam`."""
    alpha, value = setting.alpha(sequences), sequences / (2 * setting.tau) * setting.length
    for n, size, overlap in _each(setting, modes):
        value = value - sequences / (2 * setting.tau) * n * alpha * overlap**2 / (1 + alpha * size)
        if occam:
            value = value + setting.vocab / 2 * n * np.log1p(alpha * size)
    return value


def slopes(setting: Setting, sequences: Values, modes: Modes, occam: bool) -> Modes:
    """∂S/∂(λ_0, C_0, λ_⊥, C_⊥) of `data_action`, in the places of the modes."""
    alpha, ratio, found = setting.alpha(sequences), sequences / setting.tau, []
    for n, size, overlap in _each(setting, modes):
        grown = 1 + alpha * size
        penalty = setting.vocab / 2 * n * alpha / grown if occam else 0.0
        found += [ratio / 2 * n * (alpha * overlap / grown) ** 2 + penalty, -ratio * n * alpha * overlap / grown]
    return Modes(*found)


def curvatures(
    setting: Setting, sequences: Values, modes: Modes, occam: bool
) -> tuple[tuple[Values, Values, Values], ...]:
    """(S_λλ, S_λC, S_CC) of the mean mode, then of the differences."""
    alpha, ratio, found = setting.alpha(sequences), sequences / setting.tau, []
    for n, size, overlap in _each(setting, modes):
        grown = 1 + alpha * size
        penalty = setting.vocab / 2 * n * (alpha / grown) ** 2 if occam else 0.0
        found.append((
            -ratio * n * alpha**3 * overlap**2 / grown**3 - penalty,
            ratio * n * alpha**2 * overlap / grown**2,
            -ratio * n * alpha / grown,
        ))  # fmt: skip
    return tuple(found)


def loss(setting: Setting, sequences: Values, modes: Modes, sampled: bool = False) -> Values:
    """Squared error summed over V, averaged over positions, with W at its posterior mean; 1 = nothing learned.

    `sampled` adds the posterior variance of W, as an average over samples of W does.
    """
    alpha, value = setting.alpha(sequences), 1.0
    for n, size, overlap in _each(setting, modes):
        weight = alpha * overlap / (1 + alpha * size)
        value = value - n * (2 * weight * overlap - weight**2 * size) / setting.length
        if sampled:
            spread = setting.value_variance / (1 + alpha * size)
            value = value + setting.vocab * n * size * spread / setting.length
    return value


def _each(setting: Setting, modes: Modes) -> tuple[tuple[int, Values, Values], ...]:
    return (1, modes.size_0, modes.overlap_0), (setting.multiplicity, modes.size, modes.overlap)
