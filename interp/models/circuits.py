"""The linear maps from a token to a token through one head: embedding, W_V, W_O, unembedding, with norms folded in."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from interp.models.model import Model


class Circuits(NamedTuple):
    """Row vectors go through these from the left: token → embed → value → out → unembedᵀ → logits.

    What a norm does linearly is folded in: its scale, and the removal of the mean where it removes one. Its division by
    the stream's size is a positive factor for each token and left out, and so are biases, MLPs and other heads.
    """

    embed: Float[Tensor, "vocab d_model"]
    value: Float[Tensor, "layer head d_model d_head"]
    out: Float[Tensor, "layer head d_head d_model"]
    unembed: Float[Tensor, "vocab d_model"]


@torch.no_grad()
def circuits(model: Model) -> Circuits | None:
    """The circuits of every head; `None` where the model's parts do not have this form."""
    embedding: Any = model.module.get_input_embeddings()
    unembedding: Any = model.module.get_output_embeddings()
    try:
        heads = [(model.head_value(layer), model.head_out(layer)) for layer in range(model.n_layers)]
        norms = [folded(model.attention_norm(layer), embedding.weight) for layer in range(model.n_layers)]
        last = folded(model.final_norm(), embedding.weight)
    except (AttributeError, NotImplementedError):
        return None
    value = torch.stack([norm @ value for norm, (value, _) in zip(norms, heads, strict=True)])
    return Circuits(embedding.weight, value, torch.stack([out for _, out in heads]), unembedding.weight @ last.T)


def folded(norm: Any, like: Float[Tensor, "_ d_model"]) -> Float[Tensor, "d_model d_model"]:
    """The linear map that a norm is on streams of mean square 1: diagonal, or after the mean is removed.

    Found by trying it, so that it holds of any norm: on alternating signs, of mean 0, it gives its scale and bias, and
    on a constant its bias alone where it removes the mean.
    """
    size = 100.0  # far above any epsilon under the root
    alternating = torch.ones(like.shape[1], dtype=like.dtype, device=like.device)
    alternating[1::2] = -1
    constant = torch.ones_like(alternating)

    def odd(x: Tensor) -> Tensor:
        return (norm(size * x[None, None]) - norm(-size * x[None, None]))[0, 0] / 2

    scale = odd(alternating) * alternating
    diagonal = torch.diag(scale)
    removes_mean = bool(odd(constant).abs().max() < 0.01 * scale.abs().max())
    return diagonal - scale[None, :] / len(scale) if removes_mean else diagonal
