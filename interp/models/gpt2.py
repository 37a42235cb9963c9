"""The GPT-2 decoder."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from interp.models.decoder import Affine, Decoder, Scores
from interp.models.gpt_neox import causal_mask
from interp.values import Checkpoint, InputError


class GPT2(Decoder):
    """GPT-2 computed from the parts of a `GPT2LMHeadModel`."""

    module: GPT2LMHeadModel
    parallel = False

    def __init__(self, module: GPT2LMHeadModel, checkpoint: Checkpoint):
        super().__init__(module, checkpoint)
        self.n_layers, self.n_heads = module.config.n_layer, module.config.n_head
        self._blocks = list(module.transformer.h)

    @classmethod
    def build(cls, config: GPT2Config, dtype: torch.dtype, device: str) -> GPT2LMHeadModel:
        """A module of this shape with its weights left unset (they are copied in)."""
        if config.add_cross_attention:
            raise InputError("a GPT-2 with cross-attention is no decoder on its own; interp cannot compute it")
        with torch.device("meta"):
            module = GPT2LMHeadModel._from_config(config, dtype=dtype, attn_implementation="eager")
        module.to_empty(device=device)
        module.tie_weights()  # to_empty gives tied weights a memory each
        return module

    def embed(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "prompt pos d_model"]:
        """See `Decoder.embed`."""
        stem, length = self.module.transformer, tokens.shape[1]
        if length > stem.wpe.weight.shape[0]:
            raise InputError(
                f"{self.checkpoint}: a prompt has {length} tokens, and the model's positions end at "
                f"{stem.wpe.weight.shape[0]}"
            )
        return stem.wte(tokens) + stem.wpe.weight[:length]

    def scores(self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0) -> Scores:
        """See `Decoder.scores`."""
        block = self._blocks[layer]
        fused = block.attn.c_attn(block.ln_1(resid))
        query, key, value = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in fused.chunk(3, dim=-1))
        scores = query[:, :, first:] @ key.transpose(2, 3)
        mask = causal_mask(resid.shape[1], resid)[first:]
        return Scores(scores.mul_(block.attn.scaling).add_(mask), value)

    def attention_module(self, layer: int) -> Any:
        """See `Decoder.attention_module`."""
        return self._blocks[layer].attn

    def attention_out(self, layer: int) -> Affine:
        """See `Decoder.attention_out`."""
        return _affine(self._blocks[layer].attn.c_proj)

    def head_value(self, layer: int) -> Float[Tensor, "head d_model d_head"]:
        """See `Model.head_value`."""
        fused = self._blocks[layer].attn.c_attn.weight
        return fused[:, -fused.shape[0] :].unflatten(1, (self.n_heads, -1)).transpose(0, 1)

    def attention_norm(self, layer: int) -> Any:
        """See `Model.attention_norm`."""
        return self._blocks[layer].ln_1

    def final_norm(self) -> Any:
        """See `Model.final_norm`."""
        return self.module.transformer.ln_f

    def mlp_hidden(
        self, layer: int, resid: Float[Tensor, "prompt pos d_model"]
    ) -> Float[Tensor, "prompt pos d_hidden"]:
        """See `Decoder.mlp_hidden`."""
        block = self._blocks[layer]
        return block.mlp.act(block.mlp.c_fc(block.ln_2(resid)))

    def mlp_out(self, layer: int) -> Affine:
        """See `Decoder.mlp_out`."""
        return _affine(self._blocks[layer].mlp.c_proj)

    def unembed(self, resid: Float[Tensor, "prompt d_model"]) -> Float[Tensor, "prompt vocab"]:
        """See `Decoder.unembed`."""
        return self.module.lm_head(self.module.transformer.ln_f(resid))


def _affine(conv: Any) -> Affine:
    """GPT-2's Conv1D holds its weight the other way round than a linear layer."""
    return Affine(conv.weight, conv.bias)
