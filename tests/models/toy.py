"""Toy checkpoints of GPT-NeoX in files as the Pythia files of old write them, and what transformers makes of them."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

from interp.suites.integrity import weights_hash
from interp.values import Checkpoint, RunId

LAYERS, HEADS, WIDTH, VOCAB = 3, 4, 64, 90
Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Shape:
    """A config.json as the Pythia files of old write it."""

    parallel: bool = True
    rotary: float = 0.25
    layers: int = LAYERS
    width: int = WIDTH

    def config(self) -> dict[str, object]:
        return {
            "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "vocab_size": VOCAB,
            "hidden_size": self.width, "num_hidden_layers": self.layers, "num_attention_heads": HEADS,
            "intermediate_size": 2 * self.width, "max_position_embeddings": 64, "hidden_act": "gelu",
            "rotary_pct": self.rotary, "rotary_emb_base": 10000, "use_parallel_residual": self.parallel,
            "tie_word_embeddings": False, "layer_norm_eps": 1e-5, "bos_token_id": 0, "eos_token_id": 0,
            "torch_dtype": "float16",
        }  # fmt: skip


SHAPES = [Shape(parallel, rotary) for parallel in (True, False) for rotary in (0.25, 1.0)]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"parallel={s.parallel} rotary={s.rotary}")


def tensors(shape: Shape = Shape(), seed: int = 0) -> Tensors:
    """Random weights, large enough that attention is sharp and logits are tens, as files of old name them."""
    module = GPTNeoXForCausalLM(GPTNeoXConfig(**shape.config()))  # pyright: ignore[reportArgumentType]
    generator = torch.Generator().manual_seed(seed)
    made = {}
    for name, value in module.state_dict().items():
        noise = torch.randn(value.shape, generator=generator)
        size = 0.3 if name.endswith("bias") else 1.5 if "embed" in name or "lm_head" in name else 2.5 / math.sqrt(WIDTH)
        made[name.replace("lm_head", "embed_out")] = 1 + 0.3 * noise if "norm.weight" in name else size * noise
    return made


def write(folder: Path, given: Tensors, shape: Shape = Shape(), step: int = 5, **config: object) -> Checkpoint:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(shape.config() | config))
    save_file(given, folder / "model.safetensors")
    return at(folder, step)


def at(folder: Path, step: int = 5) -> Checkpoint:
    return Checkpoint(RunId("toy", 0), step, folder, folder, weights_hash(folder))


def plain(checkpoint: Checkpoint, dtype: torch.dtype = torch.float32, attention: str = "eager") -> GPTNeoXForCausalLM:
    """What transformers itself makes of the folder."""
    found = GPTNeoXForCausalLM.from_pretrained(checkpoint.folder, dtype=dtype, attn_implementation=attention)
    return found.eval()


def fifty_prompts() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(VOCAB, (10, length), generator=generator) for length in (1, 2, 7, 16, 40)]


TOKENS = fifty_prompts()[3]
