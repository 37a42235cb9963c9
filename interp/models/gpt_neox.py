"""The GPT-NeoX decoder (Pythia), parallel or sequential residual, any rotary fraction."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding

from interp.models.decoder import Affine, Decoder, Scores
from interp.values import Checkpoint


class _Tables(NamedTuple):
    """What depends on the length alone: cosines and sines of the rotary embedding (of each half), and the mask."""

    cos: Tensor
    sin: Tensor
    mask: Tensor


class GPTNeoX(Decoder):
    """GPT-NeoX computed from the parts of a `GPTNeoXForCausalLM`."""

    module: GPTNeoXForCausalLM

    def __init__(self, module: GPTNeoXForCausalLM, checkpoint: Checkpoint):
        super().__init__(module, checkpoint)
        self.n_layers = module.config.num_hidden_layers
        self.n_heads = module.config.num_attention_heads
        self.parallel = module.config.use_parallel_residual
        self._blocks = list(module.gpt_neox.layers)
        self._known: dict[int, _Tables] = {}

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
        """See `Decoder.embed`."""
        return self.module.gpt_neox.embed_in(tokens)

    def scores(self, layer: int, resid: Float[Tensor, "prompt src d_model"], first: int = 0) -> Scores:
        """See `Decoder.scores`."""
        attention, tables = self._blocks[layer].attention, self._tables(resid)
        prompts, length, width = resid.shape
        normed = self._blocks[layer].input_layernorm(resid)
        # NeoX fuses per head: [head, (query, key, value), d_head]
        fused = attention.query_key_value(normed).view(prompts, length, self.n_heads, 3, -1)
        # turned and in the order that products take them, in one go: [query or key, prompt, head, pos, d_head]
        turned = fused.new_empty(2, prompts, self.n_heads, length, width // self.n_heads)
        _rotate(fused[:, :, :, :2].permute(3, 0, 2, 1, 4), tables, turned)
        query, key = turned.flatten(1, 2)
        mask = tables.mask[first:].expand(len(query), -1, -1)
        scores = torch.baddbmm(mask, query[:, first:], key.transpose(1, 2), alpha=attention.scaling)
        return Scores(scores.unflatten(0, (prompts, self.n_heads)), fused[:, :, :, 2].transpose(1, 2))

    def attention_module(self, layer: int) -> Any:
        """See `Decoder.attention_module`."""
        return self._blocks[layer].attention

    def attention_out(self, layer: int) -> Affine:
        """See `Decoder.attention_out`."""
        dense = self._blocks[layer].attention.dense
        return Affine(dense.weight.T, dense.bias)

    def head_value(self, layer: int) -> Float[Tensor, "head d_model d_head"]:
        """See `Model.head_value`."""
        fused = self._blocks[layer].attention.query_key_value.weight
        return fused.view(self.n_heads, 3, -1, fused.shape[1])[:, 2].transpose(1, 2)

    def attention_norm(self, layer: int) -> Any:
        """See `Model.attention_norm`."""
        return self._blocks[layer].input_layernorm

    def final_norm(self) -> Any:
        """See `Model.final_norm`."""
        return self.module.gpt_neox.final_layer_norm

    def mlp_hidden(
        self, layer: int, resid: Float[Tensor, "prompt pos d_model"]
    ) -> Float[Tensor, "prompt pos d_hidden"]:
        """See `Decoder.mlp_hidden`."""
        block = self._blocks[layer]
        return block.mlp.act(block.mlp.dense_h_to_4h(block.post_attention_layernorm(resid)))

    def mlp_out(self, layer: int) -> Affine:
        """See `Decoder.mlp_out`."""
        dense = self._blocks[layer].mlp.dense_4h_to_h
        return Affine(dense.weight.T, dense.bias)

    def unembed(self, resid: Float[Tensor, "prompt d_model"]) -> Float[Tensor, "prompt vocab"]:
        """See `Decoder.unembed`."""
        return self.module.get_output_embeddings()(self.module.gpt_neox.final_layer_norm(resid))

    def _tables(self, resid: Float[Tensor, "prompt src d_model"]) -> _Tables:
        length = resid.shape[1]
        if length not in self._known:
            positions = torch.arange(length, device=resid.device)[None]
            cos, sin = (table[0].chunk(2, -1)[0] for table in self.module.gpt_neox.rotary_emb(resid, positions))
            self._known = {length: _Tables(cos, sin, causal_mask(length, resid))}
        return self._known[length]


def _rotate(x: Float[Tensor, "*rows pos d_head"], tables: _Tables, out: Float[Tensor, "*rows pos d_head"]) -> None:
    """Turn the first dimensions of x by the rotary embedding, in halves, and copy the rest."""
    half = tables.cos.shape[-1]
    a, b = x[..., :half], x[..., half : 2 * half]
    torch.mul(a, tables.cos, out=out[..., :half]).addcmul_(b, tables.sin, value=-1)
    torch.mul(b, tables.cos, out=out[..., half : 2 * half]).addcmul_(a, tables.sin)
    out[..., 2 * half :] = x[..., 2 * half :]


def causal_mask(length: int, like: Tensor) -> Float[Tensor, "dest src"]:
    """0 on and below the diagonal, −inf above: not a large number, since real models have scores below −1e5."""
    return torch.full((length, length), -torch.inf, dtype=like.dtype, device=like.device).triu(1)
