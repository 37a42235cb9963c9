"""A model proves at load that its patterns are real: read, causal, normalised, and written with effect."""

from __future__ import annotations

import torch
from torch import Tensor

from interp.models.model import Attention, Model, mix
from interp.values import InputError

_LENGTH = 8


@torch.no_grad()
def self_test(model: Model) -> None:
    """Raise `InputError`, naming the layer, unless patterns can be read from and written into every layer.

    Rows sum to one; no mass lies above the diagonal; a layer's own pattern changes nothing; random rows change the
    layer's output. A layer whose values are the same at every position cannot show the last one and is let through:
    there is nothing to move (true of hand-set weights).
    """
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(model.vocab_size, (2, _LENGTH), generator=generator).to(model.device)
    resid = model.embed(tokens)
    for layer in range(model.n_layers):
        attention = model.attention(layer, resid)
        after = model.finish(layer, resid, model.project(layer, mix(attention)))
        problem = _fault(model, layer, resid, attention, after, generator)
        if problem:
            raise InputError(f"{model.checkpoint}: layer {layer} fails the self-test at load: {problem}")
        resid = after


def _fault(
    model: Model, layer: int, resid: Tensor, attention: Attention, after: Tensor, generator: torch.Generator
) -> str | None:
    pattern = attention.pattern
    if not bool(torch.isfinite(pattern).all() and torch.isfinite(after).all()):
        return None  # the forward pass reports non-finite values, with its own words
    shape = (2, model.n_heads, _LENGTH, _LENGTH)
    if tuple(pattern.shape) != shape:
        return f"its patterns have shape {tuple(pattern.shape)}, not {shape}"
    # a softmax row of 8 entries is off by a few units of rounding
    if float((pattern.sum(-1) - 1).abs().max()) > 16 * torch.finfo(pattern.dtype).eps:
        return "its attention rows do not sum to one"
    if float(pattern.triu(1).abs().max()) != 0:
        return "it attends to the future"
    own = Attention(pattern.clone(), attention.value)
    if not torch.equal(model.finish(layer, resid, model.project(layer, mix(own))), after):
        return "writing its own pattern changes its output"
    rows = torch.rand(shape, generator=generator).tril().to(pattern)
    written = Attention(rows / rows.sum(-1, keepdim=True), attention.value)
    if _pattern_matters(model, layer, attention) and torch.equal(
        model.finish(layer, resid, model.project(layer, mix(written))), after
    ):
        return "writing random patterns changes nothing"
    return None


def _pattern_matters(model: Model, layer: int, attention: Attention) -> bool:
    """Whether positions differ in what attending to them writes."""
    prompts, heads, length, _ = attention.pattern.shape
    itself = torch.eye(length).to(attention.pattern).expand(prompts, heads, length, length)
    written = model.project(layer, mix(Attention(itself, attention.value)))
    return bool((written != written[:, :1]).any())
