"""Every architecture without a decoder of its own, through TransformerLens's hooks: slower, the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel

from interp.models.model import Model, Where, Write
from interp.models.weights import assign
from interp.values import Checkpoint, InputError

if TYPE_CHECKING:
    from transformer_lens.model_bridge import TransformerBridge

_HOOK = {"pattern": "hook_pattern", "scores": "hook_attn_scores"}


class Bridged(Model):
    """A model whose patterns are read and written by hooks of a `TransformerBridge`.

    The bridge wraps the module's parts in place, so that `module` is the bridge's own: a plain copy is
    `interp.bridge(checkpoint)` or the library's. Where keys and values are shared, patterns are those of query heads.
    """

    def __init__(self, module: PreTrainedModel, checkpoint: Checkpoint):
        super().__init__(module, checkpoint)
        self._bridge = _wrap(module, checkpoint)
        self.n_layers, self.n_heads = self._bridge.cfg.n_layers, self._bridge.cfg.n_heads

    @classmethod
    def build(cls, config: PreTrainedConfig, dtype: torch.dtype, device: str) -> PreTrainedModel:
        """A module of this shape, its weights yet to be copied in."""
        return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="eager").to(device)

    def logits_with(
        self, tokens: Int[Tensor, "prompt pos"], write: Write | None = None, where: Where = "pattern"
    ) -> Float[Tensor, "prompt vocab"]:
        """See `Model.logits_with`."""

        def hooked(own: Tensor, hook: Any, layer: int) -> Tensor:
            return own if write is None else write(layer, own)

        hooks = [
            (f"blocks.{layer}.attn.{_HOOK[where]}", partial(hooked, layer=layer)) for layer in range(self.n_layers)
        ]
        return self._run(tokens, hooks if write else [])

    def patterns(
        self, tokens: Int[Tensor, "prompt pos"], where: Where = "pattern"
    ) -> Float[Tensor, "layer prompt head dest src"]:
        """See `Model.patterns`."""
        found: dict[int, Tensor] = {}

        def keep(layer: int, own: Tensor) -> Tensor:
            found[layer] = own.detach().clone()
            return own

        self.logits_with(tokens, keep, where)
        if len(found) < self.n_layers:
            absent = next(layer for layer in range(self.n_layers) if layer not in found)
            raise InputError(f"{self.checkpoint}: layer {absent} shows no attention {where} to TransformerLens's hooks")
        return torch.stack([found[layer] for layer in range(self.n_layers)])

    def residuals(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "layer prompt pos d_model"]:
        """See `Model.residuals`."""
        found: list[Tensor] = []

        def keep(stream: Tensor, hook: Any) -> None:
            found.append(stream.detach().clone())

        places = ["blocks.0.hook_in", *(f"blocks.{layer}.hook_out" for layer in range(self.n_layers))]
        self._run(tokens, [(place, keep) for place in places])
        return torch.stack(found)

    def head_value(self, layer: int) -> Float[Tensor, "head d_model d_head"]:
        """See `Model.head_value`."""
        value = self._bridge.blocks[layer].attn.W_V
        return value.repeat_interleave(self.n_heads // len(value), 0)

    def head_out(self, layer: int) -> Float[Tensor, "head d_head d_model"]:
        """See `Model.head_out`."""
        return self._bridge.blocks[layer].attn.W_O

    def attention_norm(self, layer: int) -> Any:
        """See `Model.attention_norm`."""
        return self._bridge.blocks[layer].ln1

    def final_norm(self) -> Any:
        """See `Model.final_norm`."""
        return self._bridge.ln_final

    def swap(self, checkpoint: Checkpoint) -> None:
        """See `Model.swap`; the bridge is made anew, since it keeps split copies of fused weights."""
        device = str(self.device)
        module = self.build(self.module.config, self.dtype, device)
        assign(module, checkpoint)
        type(self).__init__(self, module, checkpoint)

    @contextmanager
    def writing(self, write: Write) -> Iterator[None]:
        """While it lasts, every forward pass of `module` has its patterns passed through `write`."""

        def hooked(own: Tensor, hook: Any, layer: int) -> Tensor:
            return write(layer, own)

        places = [f"blocks.{layer}.attn.hook_pattern" for layer in range(self.n_layers)]
        hooks: Any = [(place, partial(hooked, layer=layer)) for layer, place in enumerate(places)]
        with self._bridge.hooks(fwd_hooks=hooks):
            yield

    @torch.no_grad()
    def _run(self, tokens: Int[Tensor, "prompt pos"], hooks: list[Any]) -> Float[Tensor, "prompt vocab"]:
        found: Any = self._bridge.run_with_hooks(tokens, return_type="logits", fwd_hooks=hooks)
        return found[:, -1].clone()


def _wrap(module: PreTrainedModel, checkpoint: Checkpoint) -> TransformerBridge:
    from transformer_lens.model_bridge import TransformerBridge
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(checkpoint.tokenizer / "tokenizer.json"))
    try:
        return TransformerBridge.boot_transformers(
            str(checkpoint.folder), hf_model=module, tokenizer=tokenizer, device=str(module.device), dtype=module.dtype
        )
    except ValueError as error:
        kind = module.config.model_type
        raise InputError(
            f"{checkpoint} is a '{kind}' model, which neither interp nor TransformerLens can take apart: {error}"
        ) from error
