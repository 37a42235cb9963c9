"""Donor patterns in a user's own forward passes of the Hugging Face module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from interp.models.bridged import Bridged
from interp.models.decoder import Decoder
from interp.models.model import Model
from interp.values import Head, InputError

Donor = Model | Float[Tensor, "layer prompt head dest src"]


@contextmanager
def patched(model: Model, heads: Iterable[Head | str], donor: Donor) -> Iterator[PreTrainedModel]:
    """While it lasts, every forward pass of `model.module` has the donor's patterns in these heads.

    Args:
        model: the recipient, as `interp.load` gives it; its module is also what is yielded.
        heads: heads, or their names such as `L5H3`.
        donor: another model, whose patterns on the same tokens are written, or patterns
            [layer, prompt, head, dest, src].

    The hooks are on this module alone and are gone afterwards, also after an exception or an interrupt.

    Raises:
        InputError: heads that the model does not have, patterns of another shape, padded or cached passes.
    """
    chosen = sorted({Head.parse(head) if isinstance(head, str) else head for head in heads})
    for head in chosen:
        if not (0 <= head.layer < model.n_layers and 0 <= head.head < model.n_heads):
            raise InputError(
                f"{head} is no head of {model.checkpoint}, which has {model.n_layers} layers × {model.n_heads} heads"
            )
    pass_ = _Pass(model, chosen, donor)
    with ExitStack() as hooks:
        hooks.enter_context(model.module.register_forward_pre_hook(pass_.begin, with_kwargs=True))
        if isinstance(model, Decoder):
            for layer in sorted({head.layer for head in chosen}):
                for handle in pass_.hook(model, layer):
                    hooks.enter_context(handle)
        elif isinstance(model, Bridged):
            hooks.enter_context(model.writing(pass_.write))
        yield model.module


class _Pass:
    """One forward pass: the donor's patterns on its tokens, and the stream before the layer at work."""

    def __init__(self, model: Model, heads: list[Head], donor: Donor):
        self._model, self._heads, self._donor = model, heads, donor
        self._given: Tensor | None = None
        self._stream: dict[int, Tensor] = {}

    def begin(self, module: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Read the donor on the pass's tokens."""
        tokens = args[0] if args else options.get("input_ids")
        if not isinstance(tokens, Tensor):
            raise InputError("a patched pass needs its tokens as ids: the module's first argument, or input_ids")
        mask, cache = options.get("attention_mask"), options.get("past_key_values")
        if mask is not None and not bool(mask.all()):
            raise InputError("the attention mask hides positions; patch prompts of one length, without padding")
        if cache is not None and cache.get_seq_length() > 0:
            raise InputError("the pass continues from a cache; patterns are written into whole passes only")
        given = self._donor.patterns(tokens) if isinstance(self._donor, Model) else self._donor
        needed = (self._model.n_layers, len(tokens), self._model.n_heads, tokens.shape[1], tokens.shape[1])
        if tuple(given.shape) != needed:
            raise InputError(f"the donor's patterns have shape {tuple(given.shape)}, and this pass needs {needed}")
        self._given = given

    def write(self, layer: int, own: Tensor) -> Tensor:
        """A layer's patterns with the donor's in the chosen heads."""
        heads = [head.head for head in self._heads if head.layer == layer]
        if not heads or self._given is None:
            return own
        new = own.clone()
        new[:, heads] = self._given[layer][:, heads].to(own)
        return new

    def hook(self, model: Decoder, layer: int) -> list[Any]:
        """Hooks that keep the stream before a layer, and add the patched heads' change to its attention."""

        def keep(module: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
            self._stream[layer] = args[0] if args else options["hidden_states"]

        def change(module: Any, args: Any, output: tuple[Tensor, ...]) -> tuple[Any, ...]:
            pattern, value = model.attention(layer, self._stream.pop(layer))
            new = self.write(layer, pattern)
            moved = torch.einsum("phts,phsd,hdm->ptm", new - pattern, value, model.head_out(layer))
            shown = [None if weights is None else self.write(layer, weights) for weights in output[1:]]
            return (output[0] + moved, *shown)

        return [
            model.block(layer).register_forward_pre_hook(keep, with_kwargs=True),
            model.attention_module(layer).register_forward_hook(change),
        ]
