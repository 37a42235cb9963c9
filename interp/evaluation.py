"""A model on a task: probability, rank and margin of the answer, per prompt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from interp.models.batches import tensors
from interp.models.model import Model
from interp.values import PromptSet

VERSION = 1


@dataclass(frozen=True)
class Verdicts:
    """What a model says after each prompt, in the prompts' order.

    `rank` counts the tokens with a larger logit than the answer (0: the answer is first). `margin` is logit(answer) −
    the largest other logit. `tie`: |margin| is below the dtype's numerical noise. `solved`: the margin is positive, so
    that a dead heat is never a success. `foil_margin` is logit(answer) − logit(foil), NaN without a foil. `top` is the
    argmax token.
    """

    log_p: Float[np.ndarray, "prompt"]
    rank: Int[np.ndarray, "prompt"]
    margin: Float[np.ndarray, "prompt"]
    tie: Bool[np.ndarray, "prompt"]
    top: Int[np.ndarray, "prompt"]
    foil_margin: Float[np.ndarray, "prompt"]

    @property
    def p(self) -> Float[np.ndarray, "prompt"]:
        """Probability of the answer."""
        return np.exp(self.log_p)

    @property
    def solved(self) -> Bool[np.ndarray, "prompt"]:
        """Whether the answer is the strict argmax over the vocabulary."""
        return self.margin > 0

    def frame(self) -> pd.DataFrame:
        """One row per prompt, columns as in docs/design.md §6."""
        columns = {"prompt": np.arange(len(self.log_p)), "p": self.p, "solved": self.solved}
        return pd.DataFrame(columns | vars(self))


def noise(logits: Float[Tensor, "prompt vocab"]) -> Float[Tensor, "prompt"]:
    """How large a difference of two logits rounding alone can make: 100 units of rounding at the largest logit.

    fp32 forwards of one model differ by about this much between implementations (1.2e-5 × max(1, max |logit|)).
    """
    return 100 * torch.finfo(logits.dtype).eps * logits.abs().amax(-1).clamp(min=1).double()


def judge(
    logits: Float[Tensor, "prompt vocab"], answers: Int[Tensor, "prompt"], foils: Int[Tensor, "prompt"]
) -> Verdicts:
    """The verdicts that logits at the answer position give; `foils` is −1 where a prompt has none."""
    exact = logits.double()
    own = exact.gather(1, answers[:, None])
    others = exact.scatter(1, answers[:, None], -torch.inf)
    margin = own[:, 0] - others.amax(-1)
    foil = exact.gather(1, foils.clamp(min=0)[:, None])[:, 0]
    return Verdicts(
        log_p=(own[:, 0] - exact.logsumexp(-1)).cpu().numpy(),
        rank=(others > own).sum(-1).cpu().numpy(),
        margin=margin.cpu().numpy(),
        tie=(margin.abs() < noise(logits)).cpu().numpy(),
        top=exact.argmax(-1).cpu().numpy(),
        foil_margin=torch.where(foils < 0, torch.nan, own[:, 0] - foil).cpu().numpy(),
    )


def evaluate(model: Model, prompts: PromptSet, batch: int = 64) -> Verdicts:
    """Verdicts of a model on every prompt; batches hold prompts of one length, so nothing is ever padded.

    Raises:
        InputError: non-finite logits, or prompts that do not fit the model (tokens beyond its vocabulary).
    """
    order, parts = [], []
    for group in prompts.by_length():
        for start in range(0, len(group), batch):
            chosen = group[start : start + batch]
            tokens, answers, foils = tensors(prompts, chosen, model)
            parts.append(judge(model.logits(tokens), answers, foils))
            order.extend(chosen)
    back = np.argsort(order)
    return Verdicts(*(np.concatenate([getattr(part, name) for part in parts])[back] for name in vars(parts[0])))
