"""A checkpoint that runs: logits, attention patterns, and logits with patterns written into it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from interp.models.weights import assign
from interp.values import Checkpoint, InputError

# where a pattern is written: after softmax, or its scores before
Where = Literal["pattern", "scores"]
# a layer and its own pattern (or scores), axes prompt head dest src → what is used in its place. Where only the last
# positions matter, `dest` holds only those.
Write = Callable[[int, Tensor], Tensor]


class Attention(NamedTuple):
    """What one layer's attention computes before heads are mixed: patterns after softmax, and values."""

    pattern: Float[Tensor, "prompt head dest src"]
    value: Float[Tensor, "prompt head src d_head"]


class Model(ABC):
    """A checkpoint's weights in a Hugging Face module, and a decoder whose patterns can be read and written.

    The weights are never changed but by `swap`. All methods run without gradients. `dest` is the position that attends,
    `src` the one attended to. Heads are counted by query where keys and values are shared.
    """

    n_layers: int
    n_heads: int

    def __init__(self, module: PreTrainedModel, checkpoint: Checkpoint):
        self.module = module.eval().requires_grad_(False)
        self.checkpoint = checkpoint
        embedding: Any = module.get_input_embeddings()
        self.vocab_size: int = embedding.weight.shape[0]

    @property
    def dtype(self) -> torch.dtype:
        """The dtype that the model computes in."""
        return next(self.module.parameters()).dtype

    @property
    def device(self) -> torch.device:
        """The device that holds the weights."""
        return next(self.module.parameters()).device

    @abstractmethod
    def logits_with(
        self, tokens: Int[Tensor, "prompt pos"], write: Write | None = None, where: Where = "pattern"
    ) -> Float[Tensor, "prompt vocab"]:
        """Logits of the token after the last position, each layer's patterns (or scores) passed through `write`."""

    @abstractmethod
    def residuals(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "layer prompt pos d_model"]:
        """The residual stream after the embedding and after every layer: n_layers + 1 entries."""

    @abstractmethod
    def patterns(
        self, tokens: Int[Tensor, "prompt pos"], where: Where = "pattern"
    ) -> Float[Tensor, "layer prompt head dest src"]:
        """Attention of every head after softmax (or scores before it); rows sum to one, no mass above the diagonal."""

    @abstractmethod
    def head_value(self, layer: int) -> Float[Tensor, "head d_model d_head"]:
        """A layer's W_V, one for each query head; a row vector goes through it from the left."""

    @abstractmethod
    def head_out(self, layer: int) -> Float[Tensor, "head d_head d_model"]:
        """Each head's rows of a layer's W_O."""

    @abstractmethod
    def attention_norm(self, layer: int) -> Any:
        """The norm between the residual stream and a layer's attention."""

    @abstractmethod
    def final_norm(self) -> Any:
        """The norm between the residual stream and the unembedding."""

    def logits(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "prompt vocab"]:
        """Logits of the token after the last position; non-finite ones raise, naming step and layer."""
        logits = self.logits_with(tokens)
        if not bool(torch.isfinite(logits).all()):
            raise self._not_finite(tokens)
        return logits

    def swap(self, checkpoint: Checkpoint) -> None:
        """Copy another checkpoint's weights into this model, in place; its files must be on disk, shapes equal."""
        assign(self.module, checkpoint)
        self.checkpoint = checkpoint

    def _not_finite(self, tokens: Int[Tensor, "prompt pos"]) -> InputError:
        stream = self.residuals(tokens)
        finite = torch.isfinite(stream).flatten(1).all(1)
        bad = [i for i, ok in enumerate(finite.tolist()) if not ok]
        place = "the unembedding" if not bad else "the embedding" if bad[0] == 0 else f"layer {bad[0] - 1}"
        return InputError(
            f"{self.checkpoint}: the logits are not finite (NaN or infinite); the first such values come from {place}, "
            f"in {str(self.dtype).removeprefix('torch.')}; such a checkpoint is neither solved nor unsolved"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.checkpoint}, {self.n_layers} layers × {self.n_heads} heads, {self.dtype})"


def mix(attention: Attention) -> Float[Tensor, "prompt dest head d_head"]:
    """Each head's values weighted by its pattern."""
    return (attention.pattern @ attention.value).transpose(1, 2)
