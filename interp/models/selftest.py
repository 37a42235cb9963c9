"""A model proves at load that its patterns are real: read, causal, normalised, and written with effect."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from interp.models.decoder import Decoder
from interp.models.model import Attention, Model, mix
from interp.values import InputError

_LENGTH = 8


def self_test(model: Model) -> None:
    """Raise `InputError`, naming the layer, unless patterns can be read from and written into every layer.

    Rows sum to one; no mass lies above the diagonal; a layer's own pattern changes nothing; random rows change the
    layer's output. A layer whose values are the same at every position cannot show the last one and is let through:
    there is nothing to move (true of hand-set weights).
    """
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(model.vocab_size, (2, _LENGTH), generator=generator).to(model.device)
    if isinstance(model, Decoder):
        _test_decoder(model, tokens, generator)
    else:
        _test_hooks(model, tokens, generator)


@torch.no_grad()
def _test_decoder(model: Decoder, tokens: Tensor, generator: torch.Generator) -> None:
    resid = model.embed(tokens)
    for layer in range(model.n_layers):
        attention = model.attention(layer, resid)
        after = model.finish(layer, resid, model.project(layer, mix(attention)))
        problem = _fault(model, layer, resid, attention, after, generator)
        if problem:
            raise _failed(model, layer, problem)
        resid = after


def _test_hooks(model: Model, tokens: Tensor, generator: torch.Generator) -> None:
    """The same for a model that is reached by hooks: what is written must reach the logits."""
    plain, found = model.logits_with(tokens), model.patterns(tokens)
    # libraries compute softmax in float32 whatever the model's dtype
    eps = max(torch.finfo(found.dtype).eps, torch.finfo(torch.float32).eps)
    for layer, pattern in enumerate(found):
        problem = _pattern_fault(model, pattern, eps)
        if problem:
            raise _failed(model, layer, problem)
        rows = torch.rand(pattern.shape, generator=generator).tril().to(pattern)
        for what, given, moves in (("its own", pattern, False), ("random", rows / rows.sum(-1, keepdim=True), True)):
            with warnings.catch_warnings():  # what a late hook is warned of is what is tested here
                warnings.simplefilter("ignore", UserWarning)
                after = model.logits_with(tokens, lambda at, own, to=layer, new=given: new if at == to else own)
            if torch.equal(after, plain) == moves:
                change = "changes nothing" if moves else "changes the logits"
                raise _failed(model, layer, f"writing {what} patterns {change}")


def _failed(model: Model, layer: int, problem: str) -> InputError:
    return InputError(f"{model.checkpoint}: layer {layer} fails the self-test at load: {problem}")


def _pattern_fault(model: Model, pattern: Tensor, eps: float) -> str | None:
    shape = (2, model.n_heads, _LENGTH, _LENGTH)
    if tuple(pattern.shape) != shape:
        return f"its patterns have shape {tuple(pattern.shape)}, not {shape}"
    # a softmax row of 8 entries is off by a few units of rounding
    if float((pattern.sum(-1) - 1).abs().max()) > 16 * eps:
        return "its attention rows do not sum to one"
    if float(pattern.triu(1).abs().max()) != 0:
        return "it attends to the future"
    return None


def _fault(
    model: Decoder, layer: int, resid: Tensor, attention: Attention, after: Tensor, generator: torch.Generator
) -> str | None:
    pattern = attention.pattern
    if not bool(torch.isfinite(pattern).all() and torch.isfinite(after).all()):
        return None  # the forward pass reports non-finite values, with its own words
    problem = _pattern_fault(model, pattern, torch.finfo(pattern.dtype).eps)
    if problem:
        return problem
    own = Attention(pattern.clone(), attention.value)
    if not torch.equal(model.finish(layer, resid, model.project(layer, mix(own))), after):
        return "writing its own pattern changes its output"
    rows = torch.rand(pattern.shape, generator=generator).tril().to(pattern)
    written = Attention(rows / rows.sum(-1, keepdim=True), attention.value)
    if _pattern_matters(model, layer, attention) and torch.equal(
        model.finish(layer, resid, model.project(layer, mix(written))), after
    ):
        return "writing random patterns changes nothing"
    return None


def _pattern_matters(model: Decoder, layer: int, attention: Attention) -> bool:
    """Whether positions differ in what attending to them writes."""
    prompts, heads, length, _ = attention.pattern.shape
    itself = torch.eye(length).to(attention.pattern).expand(prompts, heads, length, length)
    written = model.project(layer, mix(Attention(itself, attention.value)))
    return bool((written != written[:, :1]).any())
