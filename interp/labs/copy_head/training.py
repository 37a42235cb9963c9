"""Adam on a posterior's energy: the MAP, from a small and from a copying start, hysteresis and all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from interp.labs.copy_head.order import order, upright
from interp.labs.copy_head.posteriors import Parameters, Posterior
from interp.labs.copy_head.setting import Attention, Setting


@dataclass(frozen=True)
class Adam:
    """Steps, rate, and the size of the noise of both starts. Nothing here is the paper's: it does not say.

    The rate is held for half the steps, then falls along a cosine.
    """

    steps: int = 1000
    rate: float = 0.03
    small: float = 0.05
    seed: int = 0


class Trained(NamedTuple):
    """Where one start ended."""

    start: str
    a_1: float
    a_g: float
    energy: float
    loss: float
    coverage: float
    pattern: Float[np.ndarray, "dest src"]


def train(posterior: Posterior, adam: Adam = Adam()) -> list[Trained]:
    """Where Adam ends from the small and from the copying start, in this order."""
    rng = np.random.default_rng(adam.seed)
    lead = copying_lead(posterior.setting, posterior.attention)
    starts = {name: posterior.start(h, adam.small, 1, rng) for name, h in (("small", 0.0), ("copying", lead))}
    ends = descend(posterior, np.concatenate(list(starts.values())), adam)
    found, patterns = posterior(ends), upright(posterior.attention, posterior.pattern(ends))
    at = order(patterns)
    numbers = zip(at.a_1, at.a_g, found.energy, found.loss, at.coverage, strict=True)
    return [
        Trained(name, float(a_1), float(a_g), float(energy), float(loss), float(coverage), pattern)
        for name, (a_1, a_g, energy, loss, coverage), pattern in zip(starts, numbers, patterns, strict=True)
    ]


def lowest(trained: list[Trained]) -> Trained:
    """The branch of lowest energy: the global minimum, as far as the starts reach it."""
    return min(trained, key=lambda one: one.energy)


def copying_lead(setting: Setting, attention: Attention) -> float:
    """Logits of a start that copies: 3.5 in softmax, the saturated a_G in linear attention (C = L A)."""
    return 3.5 if attention == "softmax" else setting.length * setting.saturated_shift


def descend(posterior: Posterior, at: Parameters, adam: Adam) -> Parameters:
    """Parameters after Adam's steps (Kingma & Ba 2015, algorithm 1, with their constants).

    Own code: importing torch's optimisers takes longer than all steps of a small run.
    """
    mean, square = np.zeros_like(at), np.zeros_like(at)
    half = adam.steps // 2
    for step in range(adam.steps):
        falling = 1.0 if step < half else 0.5 * (1 + np.cos(np.pi * (step - half) / (adam.steps - half)))
        slope = posterior(at).gradient
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * np.square(slope)
        size = np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8
        at = at - adam.rate * falling * mean / (1 - 0.9 ** (step + 1)) / size
    return at
