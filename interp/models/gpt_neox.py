"""The GPT-NeoX decoder (Pythia), parallel or sequential residual, any rotary fraction."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding, apply_rotary_pos_emb

from interp.models.model import Attention, Model
from interp.values import Checkpoint


class GPTNeoX(Model):
    """GPT-NeoX computed from the parts of a `GPTNeoXForCausalLM`."""

    module: GPTNeoXForCausalLM

    def __init__(self, module: GPTNeoXForCausalLM, checkpoint: Checkpoint):
        super().__init__(module, checkpoint)
        self.n_layers = module.config.num_hidden_layers
        self.n_heads = module.config.num_attention_heads
        self._layers: list[Any] = list(module.gpt_neox.layers)
        self._parallel = module.config.use_parallel_residual

    @classmethod
    def build(cls, config: GPTNeoXConfig, dtype: torch.dtype, device: str) -> GPTNeoXForCausalLM:
        """A module of this shape with its weights left unset (they are copied in), its rotary table computed."""
        with torch.device("meta"):
            module = GPTNeoXForCausalLM._from_config(config, dtype=dtype, attn_implementation="eager")
        module.to_empty(device=device)
        module.tie_weights()  # to_empty parts what the config ties
        # its frequencies are no parameters: no file holds them, and to_empty leaves them unset
        module.gpt_neox.rotary_emb = GPTNeoXRotaryEmbedding(config).to(device)
        return module

    def embed(self, tokens: Int[Tensor, "prompt pos"]) -> Float[Tensor, "prompt pos d_model"]:
        """See `Model.embed`."""
        return self.module.gpt_neox.embed_in(tokens)

    def attention(self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0) -> Attention:
        """See `Model.attention`."""
        block = self._layers[layer]
        prompts, length, _ = resid.shape
        fused = block.attention.query_key_value(block.input_layernorm(resid))
        # NeoX fuses per head: [head, (query, key, value), d_head]
        query, key, value = fused.view(prompts, length, self.n_heads, -1).transpose(1, 2).chunk(3, dim=-1)
        positions = torch.arange(length, device=resid.device)[None]
        cos, sin = self.module.gpt_neox.rotary_emb(resid, positions)
        query, key = apply_rotary_pos_emb(query, key, cos, sin)
        scores = query[:, :, first:] @ key.transpose(2, 3) * block.attention.scaling
        # -inf, not a large number: real models have scores below −1e5
        future = torch.ones(length, length, dtype=torch.bool, device=resid.device).triu(1)[first:]
        return Attention(scores.masked_fill(future, -torch.inf).softmax(-1), value)

    def project(
        self, layer: int, mixed: Float[Tensor, "prompt dest head d_head"]
    ) -> Float[Tensor, "prompt dest d_model"]:
        """See `Model.project`."""
        return self._layers[layer].attention.dense(mixed.flatten(2))

    def project_head(
        self, layer: int, head: int, mixed: Float[Tensor, "prompt dest d_head"]
    ) -> Float[Tensor, "prompt dest d_model"]:
        """See `Model.project_head`."""
        width = mixed.shape[-1]
        return mixed @ self._layers[layer].attention.dense.weight[:, head * width : (head + 1) * width].T

    def finish(
        self,
        layer: int,
        resid: Float[Tensor, "prompt pos d_model"],
        attended: Float[Tensor, "prompt pos d_model"],
    ) -> Float[Tensor, "prompt pos d_model"]:
        """See `Model.finish`."""
        block = self._layers[layer]
        if self._parallel:
            return block.mlp(block.post_attention_layernorm(resid)) + attended + resid
        middle = attended + resid
        return block.mlp(block.post_attention_layernorm(middle)) + middle

    def unembed(self, resid: Float[Tensor, "prompt d_model"]) -> Float[Tensor, "prompt vocab"]:
        """See `Model.unembed`."""
        return self.module.get_output_embeddings()(self.module.gpt_neox.final_layer_norm(resid))
