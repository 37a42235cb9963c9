"""Training sequences as second moments, so that an evaluation costs the same for any number of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from interp.labs.copy_head.setting import Number, Setting


@dataclass(frozen=True)
class Moments:
    """Σ over sequences of x_sa x_s'b, rows (s, s'), columns (a, b), and the number of sequences P."""

    second: Float[np.ndarray, "pair_of_positions pair_of_tokens"]
    sequences: Number


def sample(setting: Setting, sequences: int, seed: int) -> Moments:
    """P sequences of uniform tokens."""
    return of_tokens(setting, np.random.default_rng(seed).integers(setting.vocab, size=(sequences, setting.length)))


def of_tokens(setting: Setting, tokens: Int[np.ndarray, "sequence pos"]) -> Moments:
    """Moments of given sequences."""
    length, vocab = setting.length, setting.vocab
    flat = np.eye(vocab)[tokens].reshape(len(tokens), length * vocab)
    second = (flat.T @ flat).reshape(length, vocab, length, vocab).transpose(0, 2, 1, 3)
    return Moments(np.ascontiguousarray(second.reshape(length**2, vocab**2)), len(tokens))


def averaged(setting: Setting, sequences: Number) -> Moments:
    """Moments of P sequences as they are on average: 1/V² between positions, I/V within one."""
    length, vocab = setting.length, setting.vocab
    second = np.full((length**2, vocab**2), 1 / vocab**2)
    second[:: length + 1] = np.eye(vocab).ravel() / vocab
    return Moments(sequences * second, sequences)
