"""What is trained and sampled: energies whose parameters have unit normal priors.

Three parametrisations of one model: logits with the values marginalised; logits and values; query and key matrices
with the values marginalised. All depend on the data by second moments only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from interp.labs.copy_head import energy
from interp.labs.copy_head.energy import Batch
from interp.labs.copy_head.sequences import Moments
from interp.labs.copy_head.setting import Attention, Setting

Parameters = Float[np.ndarray, "chain parameter"]


class Evaluation(NamedTuple):
    """Energy in nats, its gradient, and the loss."""

    energy: Float[np.ndarray, " chain"]
    gradient: Parameters
    loss: Float[np.ndarray, " chain"]


class Posterior(ABC):
    """An energy over parameters whose prior is the unit normal."""

    setting: Setting
    attention: Attention

    @abstractmethod
    def __call__(self, at: Parameters) -> Evaluation:
        """Energy, gradient and loss of each chain."""

    @abstractmethod
    def pattern(self, at: Parameters) -> Batch:
        """Attention of each chain."""

    @abstractmethod
    def start(self, lead: float, noise: float, chains: int, rng: np.random.Generator) -> Parameters:
        """Parameters whose previous position leads by `lead` logits, plus normal noise of this size."""


@dataclass(frozen=True)
class Logits(Posterior):
    """Attention logits, the values marginalised (`occam`) or minimised over (MAP of logits and values)."""

    setting: Setting
    moments: Moments
    attention: Attention
    occam: bool

    def __call__(self, at: Parameters) -> Evaluation:
        """Energy, gradient and loss of each chain."""
        pattern, spread = self.pattern(at), self.setting.logit_variance**0.5
        found = energy.data_action(self.setting, self.moments, pattern, self.occam)
        slope = spread * energy.by_free(self.setting, self.attention, pattern, found.gradient)
        return Evaluation(found.action + np.square(at).sum(1) / 2, at + slope.reshape(at.shape), found.loss)

    def pattern(self, at: Parameters) -> Batch:
        """Attention of each chain."""
        free = self.setting.logit_variance**0.5 * at.reshape(-1, self.setting.length, self.setting.length)
        return energy.pattern_of(self.setting, self.attention, free)

    def start(self, lead: float, noise: float, chains: int, rng: np.random.Generator) -> Parameters:
        """Parameters whose previous position leads by `lead` logits, plus normal noise of this size."""
        mean = energy.copying(self.setting, lead).ravel() / self.setting.logit_variance**0.5
        spread = rng.standard_normal((chains, mean.size))
        # a sum of the other sign than the shift's leads linear attention into a metastable minimum
        spread += np.abs(spread.mean(1, keepdims=True)) - spread.mean(1, keepdims=True)
        return mean + noise * spread


@dataclass(frozen=True)
class LogitsAndValues(Posterior):
    """Attention logits and values, both explicit: what stochastic-gradient Langevin dynamics moves in.

    With `batches` one of them, drawn at every evaluation, stands for all sequences (its moments scaled up), so the
    gradient is stochastic; else the gradient is that of all sequences.
    """

    setting: Setting
    moments: Moments
    attention: Attention
    batches: tuple[Moments, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rng", np.random.default_rng(self.seed))

    def __call__(self, at: Parameters) -> Evaluation:
        """Energy, gradient and loss of each chain."""
        setting, moments = self.setting, self._moments()
        pattern, values = self.pattern(at), self._values(at)
        gram, cross = energy.features(setting, moments, pattern)
        fitted = gram @ values
        entries = moments.sequences * setting.length
        error = entries - 2 * np.einsum("cab,cab->c", cross, values) + np.einsum("cab,cab->c", values, fitted)
        outer = values @ values.swapaxes(1, 2) / (2 * setting.tau)
        by_pattern = energy.by_features(setting, moments, pattern, outer, -values / setting.tau)
        slopes = (
            setting.logit_variance**0.5 * energy.by_free(setting, self.attention, pattern, by_pattern),
            setting.value_variance**0.5 * (fitted - cross) / setting.tau,
        )
        slope = at + np.concatenate([one.reshape(len(at), -1) for one in slopes], 1)
        return Evaluation(error / (2 * setting.tau) + np.square(at).sum(1) / 2, slope, error / entries)

    def pattern(self, at: Parameters) -> Batch:
        """Attention of each chain."""
        length = self.setting.length
        free = self.setting.logit_variance**0.5 * at[:, : length**2].reshape(-1, length, length)
        return energy.pattern_of(self.setting, self.attention, free)

    def start(self, lead: float, noise: float, chains: int, rng: np.random.Generator) -> Parameters:
        """Logits as asked, with noise, and the values that fit best there."""
        logits = Logits(self.setting, self.moments, self.attention, False).start(lead, noise, chains, rng)
        best = energy.data_action(self.setting, self.moments, self.pattern(logits), False).values
        return np.concatenate([logits, best.reshape(chains, -1) / self.setting.value_variance**0.5], 1)

    def _values(self, at: Parameters) -> Float[np.ndarray, "chain vocab vocab"]:
        vocab = self.setting.vocab
        return self.setting.value_variance**0.5 * at[:, -(vocab**2) :].reshape(-1, vocab, vocab)

    def _moments(self) -> Moments:
        if not self.batches:
            return self.moments
        one = self.batches[self._rng.integers(len(self.batches))]  # pyright: ignore[reportAttributeAccessIssue]
        return Moments(one.second * (self.moments.sequences / one.sequences), self.moments.sequences)


@dataclass(frozen=True)
class QueriesAndKeys(Posterior):
    """Query and key matrices of inner width d, G = σ_B W_Q W_Kᵀ/√d, the values marginalised or minimised over.

    Sampled with d ≥ 2L this is nearly the Gaussian model. A MAP of it is not (docs/copy_head.md): the prior energy of
    the best factors is the nuclear norm √d ‖G‖_*/σ_B, which makes the state without attention stable at every P.
    """

    setting: Setting
    moments: Moments
    attention: Attention
    occam: bool
    width: int

    def __call__(self, at: Parameters) -> Evaluation:
        """Energy, gradient and loss of each chain."""
        pattern = self.pattern(at)
        queries, keys = self._factors(at)
        found = energy.data_action(self.setting, self.moments, pattern, self.occam)
        by_g = self._scale * energy.by_free(self.setting, self.attention, pattern, found.gradient)
        slope = np.stack([by_g @ keys, by_g.swapaxes(1, 2) @ queries], 1).reshape(at.shape)
        return Evaluation(found.action + np.square(at).sum(1) / 2, at + slope, found.loss)

    def pattern(self, at: Parameters) -> Batch:
        """Attention of each chain."""
        queries, keys = self._factors(at)
        return energy.pattern_of(self.setting, self.attention, self._scale * queries @ keys.swapaxes(1, 2))

    def start(self, lead: float, noise: float, chains: int, rng: np.random.Generator) -> Parameters:
        """Balanced factors of logits with this lead, plus normal noise of this size."""
        left, sizes, right = np.linalg.svd(energy.copying(self.setting, lead) / self._scale)
        kept = min(self.width, self.setting.length)
        factors = np.zeros((2, self.setting.length, self.width))
        roots = np.sqrt(sizes[:kept])
        factors[0, :, :kept], factors[1, :, :kept] = left[:, :kept] * roots, right[:kept].T * roots
        return factors.reshape(1, -1) + noise * rng.standard_normal((chains, factors.size))

    @property
    def _scale(self) -> float:
        return (self.setting.logit_variance / self.width) ** 0.5

    def _factors(self, at: Parameters) -> tuple[np.ndarray, np.ndarray]:
        both = at.reshape(-1, 2, self.setting.length, self.width)
        return both[:, 0], both[:, 1]
