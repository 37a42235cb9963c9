"""A decoder taken apart into the pieces that a fast attention-pattern intervention needs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from interp.models.model import Attention, Model, Where, Write, mix


class Affine(NamedTuple):
    """x → x @ weight + bias."""

    weight: Float[Tensor, "d_in d_out"]
    bias: Float[Tensor, "d_out"] | None


class Scores(NamedTuple):
    """What a layer's attention computes before softmax: scores, −inf above the diagonal, and values."""

    scores: Float[Tensor, "prompt head dest src"]
    value: Float[Tensor, "prompt head src d_head"]


class Decoder(Model):
    """A decoder computed from the parts of its Hugging Face module, without hooks: the module's forward is untouched.

    `parallel`: the MLP reads the stream before the layer's attention is added (Pythia), not after (GPT-2).
    """

    parallel: bool
    _blocks: list[Any]

    def block(self, layer: int) -> Any:
        """A layer's module."""
        return self._blocks[layer]

    @abstractmethod
    def attention_module(self, layer: int) -> Any:
        """A layer's attention module."""

    @abstractmethod
    def embed(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "prompt pos d_model"]:
        """The residual stream before the first layer, in memory of its own."""

    @abstractmethod
    def scores(self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0) -> Scores:
        """The scores and values that a layer computes from the residual stream before it.

        Destinations from position `first` on only (−1: the last), every source.
        """

    @abstractmethod
    def attention_out(self, layer: int) -> Affine:
        """A layer's W_O, heads one after the other in its rows, and its bias."""

    @abstractmethod
    def mlp_hidden(
        self, layer: int, resid: Float[Tensor, "prompt pos d_model"]
    ) -> Float[Tensor, "prompt pos d_hidden"]:
        """A layer's MLP activations, given the stream that it reads."""

    @abstractmethod
    def mlp_out(self, layer: int) -> Affine:
        """The second half of a layer's MLP."""

    @abstractmethod
    def unembed(self, resid: Float[Tensor, "prompt d_model"]) -> Float[Tensor, "prompt vocab"]:
        """Logits from the final residual stream at one position."""

    def attention(self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0) -> Attention:
        """The patterns and values that a layer computes from the residual stream before it; see `scores`."""
        scores, value = self.scores(layer, resid, first)
        return Attention(scores.softmax(-1), value)

    def head_out(self, layer: int) -> Float[Tensor, "head d_head d_model"]:
        """See `Model.head_out`."""
        return self.attention_out(layer).weight.unflatten(0, (self.n_heads, -1))

    def project(
        self, layer: int, mixed: Float[Tensor, "prompt dest head d_head"]
    ) -> Float[Tensor, "prompt dest d_model"]:
        """A layer's attention output from its heads' mixed values: W_O and its bias."""
        weight, bias = self.attention_out(layer)
        out = mixed.flatten(2) @ weight
        return out if bias is None else out + bias

    def project_head(
        self, layer: int, head: int, mixed: Float[Tensor, "prompt dest d_head"]
    ) -> Float[Tensor, "prompt dest d_model"]:
        """One head's part of a layer's attention output: its rows of W_O, without the bias."""
        return mixed @ self.head_out(layer)[head]

    def finish(
        self,
        layer: int,
        resid: Float[Tensor, "prompt pos d_model"],
        attended: Float[Tensor, "prompt pos d_model"],
    ) -> Float[Tensor, "prompt pos d_model"]:
        """The residual stream after a layer, given the stream before it and the layer's attention output."""
        after = resid + attended
        hidden = self.mlp_hidden(layer, resid if self.parallel else after)
        return add_(after, self.mlp_out(layer), hidden)

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

    @torch.no_grad()
    def logits_with(
        self, tokens: Int[Tensor, "prompt pos"], write: Write | None = None, where: Where = "pattern"
    ) -> Float[Tensor, "prompt vocab"]:
        """See `Model.logits_with`."""
        resid = self.embed(tokens)
        if write is None:
            return self.resume(resid, after=-1)
        for layer in range(self.n_layers):
            first = self.first_needed(layer)
            scores, value = self.scores(layer, resid, first)
            pattern = write(layer, scores).softmax(-1) if where == "scores" else write(layer, scores.softmax(-1))
            resid = self.finish(layer, resid[:, first:], self.project(layer, mix(Attention(pattern, value))))
        return self.unembed(resid[:, -1])

    @torch.no_grad()
    def residuals(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "layer prompt pos d_model"]:
        """See `Model.residuals`."""
        stream = [self.embed(tokens)]
        for layer in range(self.n_layers):
            stream.append(self.layer(layer, stream[-1]))
        return torch.stack(stream)

    @torch.no_grad()
    def patterns(
        self, tokens: Int[Tensor, "prompt pos"], where: Where = "pattern"
    ) -> Float[Tensor, "layer prompt head dest src"]:
        """See `Model.patterns`."""
        resid, found = self.embed(tokens), []
        for layer in range(self.n_layers):
            scores, value = self.scores(layer, resid)
            pattern = scores.softmax(-1)
            found.append(scores if where == "scores" else pattern)
            if layer < self.n_layers - 1:
                resid = self.finish(layer, resid, self.project(layer, mix(Attention(pattern, value))))
        return torch.stack(found)


def add_(resid: Float[Tensor, "*rows d_out"], map_: Affine, x: Float[Tensor, "*rows d_in"]) -> Tensor:
    """Add an affine map of x to a contiguous residual stream, in place, as one matrix product."""
    if map_.bias is not None:
        resid += map_.bias
    resid.view(-1, resid.shape[-1]).addmm_(x.reshape(-1, x.shape[-1]), map_.weight)
    return resid
