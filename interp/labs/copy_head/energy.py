"""−log p(targets | attention) with the values marginalised exactly, and gradients by hand, many patterns at once.

Logits are written as C = √Q G √Q with G of independent entries of variance σ_B², where Q = I + b² 11ᵀ is what the
bilinear form on [position, constant] gives them.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from interp.labs.copy_head.sequences import Moments
from interp.labs.copy_head.setting import Attention, Setting

Batch = Float[np.ndarray, "chain dest src"]


class Evaluated(NamedTuple):
    """Action of the data in nats and its gradient by the pattern, loss at the values' posterior mean, and that mean."""

    action: Float[np.ndarray, " chain"]
    gradient: Batch
    loss: Float[np.ndarray, " chain"]
    values: Float[np.ndarray, "chain vocab vocab"]


def data_action(setting: Setting, moments: Moments, pattern: Batch, occam: bool) -> Evaluated:
    """S_data(A) = (V/2) logdet(I + σ_w² N/τ) [if occam] + (PL − tr Rᵀ(N + τ/σ_w²)⁻¹R)/(2τ); N = ΦᵀΦ, R = ΦᵀY, Φ = AX.

    With `occam` it is −log p(Y|A) up to (VPL/2) log 2πτ; without, the minimum over W of the joint energy (MAP).
    """
    tau, vocab, ridge = setting.tau, setting.vocab, setting.tau / setting.value_variance
    gram, cross = features(setting, moments, pattern)
    grown = gram + ridge * np.eye(vocab)
    inverse = np.linalg.inv(grown)
    values = inverse @ cross
    explained = np.einsum("cab,cab->c", cross, values)
    entries = moments.sequences * setting.length
    action = (entries - explained) / (2 * tau)
    by_gram = values @ values.swapaxes(1, 2) / (2 * tau)
    if occam:
        action = action + vocab / 2 * (np.linalg.slogdet(grown)[1] - vocab * np.log(ridge))
        by_gram = by_gram + vocab / 2 * inverse
    gradient = by_features(setting, moments, pattern, by_gram, -values / tau)
    fitted = np.einsum("cab,cab->c", values, gram @ values)
    return Evaluated(action, gradient, 1 - (2 * explained - fitted) / entries, values)


def features(
    setting: Setting, moments: Moments, pattern: Batch
) -> tuple[Float[np.ndarray, "chain vocab vocab"], Float[np.ndarray, "chain vocab vocab"]]:
    """N = Σ XᵀAᵀAX and R = Σ XᵀAᵀY, from second moments."""
    n, length, _ = pattern.shape
    transposed, pairs = pattern.swapaxes(1, 2), np.empty((2, n, length, length))
    np.matmul(transposed, pattern, out=pairs[0])
    # AᵀΠ: (AᵀΠ)[s, s'] = A[s' + 1, s]
    pairs[1, :, :, :-1], pairs[1, :, :, -1] = transposed[:, :, 1:], transposed[:, :, 0]
    gram, cross = (pairs.reshape(2 * n, -1) @ moments.second).reshape(2, n, setting.vocab, setting.vocab)
    return gram, cross


def by_features(setting: Setting, moments: Moments, pattern: Batch, by_gram: np.ndarray, by_cross: np.ndarray) -> Batch:
    """Gradient by the pattern, given those by N (symmetric) and by R."""
    n, length, _ = pattern.shape
    stacked = np.concatenate([by_gram, by_cross]).reshape(2 * n, setting.vocab**2)
    first, second = (stacked @ moments.second.T).reshape(2, n, length, length)
    found, turned = 2 * pattern @ first, second.swapaxes(1, 2)
    found[:, 1:] += turned[:, :-1]
    found[:, 0] += turned[:, -1]
    return found


@functools.cache
def mixing(setting: Setting) -> Float[np.ndarray, "pos pos"]:
    """√Q: 1 on differences of positions, √q on their mean."""
    length = setting.length
    return np.eye(length) + (np.sqrt(setting.uniform_gain) - 1) / length


def logits(setting: Setting, free: Batch) -> Batch:
    """C = √Q G √Q."""
    return mixing(setting) @ free @ mixing(setting)


def pattern_of(setting: Setting, attention: Attention, free: Batch) -> Batch:
    """A = C/L, or the softmax of every row of C."""
    scores = logits(setting, free)
    if attention == "linear":
        return scores / setting.length
    grown = np.exp(scores - scores.max(-1, keepdims=True))
    return grown / grown.sum(-1, keepdims=True)


def by_free(setting: Setting, attention: Attention, pattern: Batch, by_pattern: Batch) -> Batch:
    """Gradient by G, given that by the pattern."""
    if attention == "linear":
        by_logits = by_pattern / setting.length
    else:
        by_logits = pattern * (by_pattern - (pattern * by_pattern).sum(-1, keepdims=True))
    return mixing(setting) @ by_logits @ mixing(setting)


def copying(setting: Setting, lead: float) -> Float[np.ndarray, "dest src"]:
    """G of logits that are this lead on the previous position, and 0 elsewhere."""
    inverse = np.linalg.inv(mixing(setting))
    return inverse @ np.roll(np.eye(setting.length), 1, 0) @ inverse * lead
