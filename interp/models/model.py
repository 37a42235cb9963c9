"""A decoder taken apart into the pieces that an attention-pattern intervention needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from interp.models.weights import assign
from interp.values import Checkpoint, InputError


class Attention(NamedTuple):
    """What one layer's attention computes before heads are mixed: patterns after softmax, and values."""

    pattern: Float[Tensor, "prompt head dest src"]
    value: Float[Tensor, "prompt head src d_head"]


class Model(ABC):
    """A checkpoint's weights in a Hugging Face module, and the decoder computed from that module's parts.

    Nothing here is hooked or patched: the module's own forward stays what it was. All methods run without gradients.
    `dest` is the position that attends, `src` the one attended to.
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
    def embed(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "prompt pos d_model"]:
        """The residual stream before the first layer."""

    @abstractmethod
    def attention(self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0) -> Attention:
        """The patterns and values that a layer computes from the residual stream before it.

        Destinations from position `first` on only (−1: the last), every source.
        """

    @abstractmethod
    def project(
        self, layer: int, mixed: Float[Tensor, "prompt dest head d_head"]
    ) -> Float[Tensor, "prompt dest d_model"]:
        """A layer's attention output from its heads' mixed values: W_O and its bias."""

    @abstractmethod
    def project_head(
        self, layer: int, head: int, mixed: Float[Tensor, "prompt dest d_head"]
    ) -> Float[Tensor, "prompt dest d_model"]:
        """One head's part of a layer's attention output: its columns of W_O, without the bias."""

    @abstractmethod
    def finish(
        self,
        layer: int,
        resid: Float[Tensor, "prompt pos d_model"],
        attended: Float[Tensor, "prompt pos d_model"],
    ) -> Float[Tensor, "prompt pos d_model"]:
        """The residual stream after a layer, given the stream before it and the layer's attention output."""

    @abstractmethod
    def unembed(self, resid: Float[Tensor, "prompt d_model"]) -> Float[Tensor, "prompt vocab"]:
        """Logits from the final residual stream at one position."""

    def first_needed(self, layer: int) -> int:
        """The first position at which a layer's output still matters to the last position's logits."""
        return -1 if layer == self.n_layers - 1 else 0

    def layer(
        self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0
    ) -> Float[Tensor, "prompt dest d_model"]:
        """The residual stream after a layer, at the positions from `first` on."""
        attended = self.project(layer, mix(self.attention(layer, resid, first)))
        return self.finish(layer, resid[:, first:], attended)

    @torch.no_grad()
    def resume(self, resid: Float[Tensor, "prompt pos d_model"], after: int) -> Float[Tensor, "prompt vocab"]:
        """Logits at the last position, given the residual stream after layer `after` (−1: the embedding)."""
        for layer in range(after + 1, self.n_layers):
            resid = self.layer(layer, resid, self.first_needed(layer))
        return self.unembed(resid[:, -1])

    def logits(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "prompt vocab"]:
        """Logits of the token after the last position; non-finite ones raise, naming step and layer."""
        with torch.no_grad():
            logits = self.resume(self.embed(tokens), after=-1)
        if not bool(torch.isfinite(logits).all()):
            raise self._not_finite(tokens)
        return logits

    @torch.no_grad()
    def residuals(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "layer prompt pos d_model"]:
        """The residual stream after the embedding and after every layer: n_layers + 1 entries."""
        stream = [self.embed(tokens)]
        for layer in range(self.n_layers):
            stream.append(self.layer(layer, stream[-1]))
        return torch.stack(stream)

    @torch.no_grad()
    def patterns(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "layer prompt head dest src"]:
        """Attention after softmax of every head; rows sum to one, and nothing lies above the diagonal."""
        resid, found = self.embed(tokens), []
        for layer in range(self.n_layers):
            attention = self.attention(layer, resid)
            found.append(attention.pattern)
            resid = self.finish(layer, resid, self.project(layer, mix(attention)))
        return torch.stack(found)

    def swap(self, checkpoint: Checkpoint) -> None:
        """Copy another checkpoint's weights into this model, in place; its files must be on disk, shapes equal."""
        assign(self.module, checkpoint)
        self.checkpoint = checkpoint

    @torch.no_grad()
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
