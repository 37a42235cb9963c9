"""The explicit model: attention reads token + position, one-hot, so its pattern differs from sequence to sequence.

The reduction to positions and a constant of size b² = 1/V is checked against it. Its MAP agrees; its samples do not
(docs/copy_head.md): the four blocks of the bilinear form give logits four times the variance, part of it noise that
differs from token to token, and that moves the jump to more sequences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from interp.labs.copy_head.energy import Batch
from interp.labs.copy_head.posteriors import Evaluation, Parameters, Posterior
from interp.labs.copy_head.setting import Attention, Setting


@dataclass(frozen=True, eq=False)
class TokensAndPositions(Posterior):
    """The bilinear form on [token, position], the values marginalised or minimised over; costs grow with P."""

    setting: Setting
    tokens: torch.Tensor
    attention: Attention
    occam: bool

    def __call__(self, at: Parameters) -> Evaluation:
        """Energy, gradient and loss of each chain."""
        found = [self._one(row) for row in at]
        energy, slope, loss = zip(*found, strict=True)
        return Evaluation(np.array(energy), np.stack(slope), np.array(loss))

    def pattern(self, at: Parameters) -> Batch:
        """Attention of each chain, averaged over the sequences."""
        return np.stack([self._patterns(torch.from_numpy(row)).mean(0).numpy() for row in at])

    def start(self, lead: float, noise: float, chains: int, rng: np.random.Generator) -> Parameters:
        """A bilinear form whose previous position leads by `lead` logits, plus normal noise of this size."""
        size, vocab = self.setting.vocab + self.setting.length, self.setting.vocab
        form = np.zeros((size, size))
        form[vocab:, vocab:] = np.roll(np.eye(self.setting.length), 1, 0) * lead / self.setting.logit_variance**0.5
        return form.reshape(1, -1) + noise * rng.standard_normal((chains, size**2))

    def _one(self, row: np.ndarray) -> tuple[float, np.ndarray, float]:
        at = torch.from_numpy(row.copy()).requires_grad_()
        setting, tau = self.setting, self.setting.tau
        one_hot = F.one_hot(self.tokens, setting.vocab).double()
        passed = (self._patterns(at) @ one_hot).flatten(0, 1)
        target = torch.roll(one_hot, 1, 1).flatten(0, 1)
        ridge = tau / setting.value_variance
        grown = passed.T @ passed + ridge * torch.eye(setting.vocab, dtype=torch.float64)
        cross = passed.T @ target
        values = torch.linalg.solve(grown, cross)
        energy = (len(target) - (cross * values).sum()) / (2 * tau) + at.square().sum() / 2
        if self.occam:
            energy = energy + setting.vocab / 2 * torch.logdet(grown / ridge)
        energy.backward()
        loss = (target - passed @ values).square().sum() / len(target)
        assert at.grad is not None
        return float(energy.detach()), at.grad.numpy(), float(loss.detach())

    def _patterns(self, row: torch.Tensor) -> torch.Tensor:
        """Attention of every sequence: sequence, dest, src."""
        setting = self.setting
        size = setting.vocab + setting.length
        form = setting.logit_variance**0.5 * row.reshape(size, size)
        places = torch.eye(setting.length, dtype=torch.float64).expand(len(self.tokens), -1, -1)
        read = torch.cat([F.one_hot(self.tokens, setting.vocab).double(), places], -1)
        logits = read @ form @ read.transpose(1, 2)
        return logits / setting.length if self.attention == "linear" else logits.softmax(-1)


def draw(setting: Setting, sequences: int, seed: int) -> torch.Tensor:
    """P sequences of uniform tokens: sequence, position."""
    return torch.from_numpy(np.random.default_rng(seed).integers(setting.vocab, size=(sequences, setting.length)))
