"""What a model says of the answer: log-probability and margin, from final residual streams or logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from interp.values import InputError


class Outcomes(NamedTuple):
    """Log p(answer) in nats, and margin = logit(answer) − the largest other logit; axes as the owner says."""

    log_p: Float[np.ndarray, "*axes"]
    margin: Float[np.ndarray, "*axes"]

    @property
    def p(self) -> Float[np.ndarray, "*axes"]:
        """Probability of the answer."""
        return np.exp(self.log_p)

    @property
    def solved(self) -> Bool[np.ndarray, "*axes"]:
        """Whether the answer is the strict argmax."""
        return self.margin > 0


class Reader:
    """Reads logits of many variants of the same prompts; knows whether any variant differed from the first."""

    def __init__(self, answers: Int[Tensor, "prompt"], refuse: Callable[[], InputError]):
        self._answers, self._refuse = answers, refuse
        self._base: Float[Tensor, "prompt vocab"] | None = None
        self._done = 0
        self.moved = False

    def read(self, logits: Float[Tensor, "row vocab"]) -> Float[Tensor, "2 row"]:
        """Log p and margin of the next rows, rows being variant-major over the prompts; overwrites the logits.

        Raises:
            InputError: non-finite logits.
        """
        first, self._done = self._done, self._done + len(logits)
        whose = torch.arange(first, self._done, device=logits.device) % len(self._answers)
        self._compare(logits, first, whose)
        answers = self._answers[whose][:, None]
        own = logits.gather(1, answers)
        others = logits.scatter_(1, answers, -torch.inf).amax(-1, keepdim=True)
        top = torch.maximum(own, others)
        rest = _sum(logits.sub_(top).exp_())
        gap = (own - top)[:, 0].double()
        log_p = gap - (rest + gap.exp()).log()
        if not bool(torch.isfinite(log_p).all()):
            raise self._refuse()
        return torch.stack([log_p, (own.double() - others.double())[:, 0]])

    def _compare(self, logits: Tensor, first: int, whose: Tensor) -> None:
        prompts = len(self._answers)
        if first < prompts:
            seen = logits[: prompts - first].clone()
            self._base = seen if self._base is None else torch.cat([self._base, seen])
        known = self._base
        if not self.moved and known is not None and len(known) == prompts:
            # the first row that differs ends it
            pairs = zip(reversed(logits.unbind()), reversed(whose.tolist()), strict=True)
            self.moved = any(not torch.equal(row, known[prompt]) for row, prompt in pairs)


def _sum(x: Float[Tensor, "row vocab"]) -> Float[Tensor, "row"]:
    """Row sums in float64, since Δp is a small difference of them: of short sums, whose rounding averages out."""
    whole = x.shape[1] // 128 * 128
    blocks = x[:, :whole].unflatten(1, (-1, 128)).sum(-1) if whole else x[:, :0]
    return blocks.double().sum(-1) + x[:, whole:].double().sum(-1)


def outcomes(read: list[Float[Tensor, "2 _row"]], prompts: int) -> Outcomes:
    """Outcomes[variant, prompt] from what a reader read."""
    log_p, margin = torch.cat(read, 1).cpu().numpy().reshape(2, -1, prompts)
    return Outcomes(log_p, margin)
