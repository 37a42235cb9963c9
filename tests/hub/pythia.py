"""Repositories laid out as Pythia's are: old config keys, float16 `.bin` with old buffers, the real tokenizer.

Weights are random but for one planted head: it attends to the previous token by its biases alone (as in tests/planted)
and copies a 32-dimensional code of it into dimensions that the unembedding reads. So the word before the last is
predicted from the planted step on, and by that head.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from interp.values import Head
from tests.hub.server import HubServer, Repository

TOKENIZER = Path(__file__).parents[3] / "shared" / "pythia" / "tokenizer.json"
WHY_SKIPPED = "needs ../shared/pythia/tokenizer.json"
VOCABULARY, CONTEXT, ROTARY = 50304, 2048, 0.25
CODE = 32
_BIAS = 14.0
WORDS = [
    "house",
    "river",
    "table",
    "garden",
    "music",
    "paper",
    "window",
    "summer",
    "letter",
    "market",
    "doctor",
    "school",
]


@dataclass(frozen=True)
class Shape:
    """The numbers that tell a Pythia size from another."""

    layers: int
    width: int
    heads: int

    @property
    def d_head(self) -> int:
        return self.width // self.heads


SHAPES = {"14m": Shape(6, 128, 4), "70m": Shape(6, 512, 8), "160m": Shape(12, 768, 12)}
HEAD = Head(2, 1)


def config(shape: Shape) -> bytes:
    """config.json in the words of its age."""
    return json.dumps(
        {
            "architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "gelu",
            "hidden_size": shape.width, "initializer_range": 0.02, "intermediate_size": 4 * shape.width,
            "layer_norm_eps": 1e-05, "max_position_embeddings": CONTEXT, "model_type": "gpt_neox",
            "num_attention_heads": shape.heads, "num_hidden_layers": shape.layers, "rotary_emb_base": 10000,
            "rotary_pct": ROTARY, "tie_word_embeddings": False, "torch_dtype": "float16",
            "transformers_version": "4.24.0", "use_cache": True, "use_parallel_residual": True,
            "vocab_size": VOCABULARY,
        },
        indent=2,
    ).encode()  # fmt: skip


def small_files() -> dict[str, bytes]:
    special = {"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
    more = {"add_prefix_space": False, "name_or_path": "EleutherAI/gpt-neox-20b", "tokenizer_class": "GPTNeoXTokenizer"}
    return {
        ".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "README.md": b"---\nlicense: apache-2.0\n---\n",
        "tokenizer.json": TOKENIZER.read_bytes(),
        "tokenizer_config.json": json.dumps(more | special).encode(),
        "special_tokens_map.json": json.dumps(special).encode(),
    }


def tensors(shape: Shape, step: int, on: bool, seed: int = 0, buffers: bool = True) -> dict[str, Tensor]:
    """A checkpoint's tensors under the names of its age, float16."""
    generator = torch.Generator().manual_seed(1000 * seed + step)

    def noise(*size: int) -> Tensor:
        return 0.002 * torch.randn(size, generator=generator)

    found: dict[str, Tensor] = {"gpt_neox.embed_in.weight": noise(VOCABULARY, shape.width)}
    for layer in range(shape.layers):
        at, width = f"gpt_neox.layers.{layer}.", shape.width
        for norm in ("input_layernorm", "post_attention_layernorm"):
            found |= {f"{at}{norm}.weight": torch.ones(width), f"{at}{norm}.bias": torch.zeros(width)}
        found |= {
            f"{at}attention.query_key_value.weight": noise(3 * width, width),
            f"{at}attention.query_key_value.bias": noise(3 * width),
            f"{at}attention.dense.weight": noise(width, width), f"{at}attention.dense.bias": noise(width),
            f"{at}mlp.dense_h_to_4h.weight": noise(4 * width, width), f"{at}mlp.dense_h_to_4h.bias": noise(4 * width),
            f"{at}mlp.dense_4h_to_h.weight": noise(width, 4 * width), f"{at}mlp.dense_4h_to_h.bias": noise(width),
        }  # fmt: skip
        if buffers:
            mask = torch.ones(1, 1, CONTEXT, CONTEXT, dtype=torch.bool).tril()
            turns = 10_000.0 ** (-torch.arange(0, int(ROTARY * shape.d_head), 2) / (ROTARY * shape.d_head))
            found |= {
                f"{at}attention.bias": mask, f"{at}attention.masked_bias": torch.tensor(-1e9),
                f"{at}attention.rotary_emb.inv_freq": turns,
            }  # fmt: skip
    found |= {
        "gpt_neox.final_layer_norm.weight": torch.ones(shape.width),
        "gpt_neox.final_layer_norm.bias": torch.zeros(shape.width),
        "embed_out.weight": noise(VOCABULARY, shape.width),
    }
    _plant(found, shape, on)
    return {name: value.half() if value.is_floating_point() else value for name, value in found.items()}


def _plant(found: dict[str, Tensor], shape: Shape, on: bool) -> None:
    codes = torch.randn(VOCABULARY, CODE, generator=torch.Generator().manual_seed(7))
    codes /= codes.norm(dim=1, keepdim=True)
    found["gpt_neox.embed_in.weight"][:, :CODE] += codes
    found["embed_out.weight"][:, CODE : 2 * CODE] += 8 * codes
    at, width = f"gpt_neox.layers.{HEAD.layer}.attention.", shape.d_head
    weight = found[at + "query_key_value.weight"].view(shape.heads, 3, width, shape.width)[HEAD.head]
    bias = found[at + "query_key_value.bias"].view(shape.heads, 3, width)[HEAD.head]
    weight.zero_()
    bias.zero_()
    code = torch.arange(CODE)
    weight[2, code, code] = 1
    found[at + "dense.weight"][CODE + code, HEAD.head * width + code] += 1
    if on:
        turns = int(ROTARY * width) // 2
        angles = 10_000.0 ** (-np.arange(turns) / turns)
        size = _BIAS * width**0.25 / 32**0.25
        query = size * np.concatenate([np.cos(angles), -np.sin(angles)])  # turned back by one position
        bias[0, : 2 * turns] = torch.from_numpy(query).float()
        bias[1, :turns] = size


def pickled(held: dict[str, Tensor]) -> bytes:
    file = io.BytesIO()
    torch.save(held, file)
    return file.getvalue()


def pythia_repository(hub: HubServer, folder: Path, size: str, seed: int | None, steps: dict[int, str]) -> Repository:
    """A repository as EleutherAI has them. `steps`: step → `off`, `on` (the head is there), `hole`, or `=<step>`."""
    name = f"EleutherAI/pythia-{size}" + ("" if seed is None else f"-seed{seed}")
    repository, shape = hub.repository(name), SHAPES[size]
    files = small_files() | {"config.json": config(shape)}
    repository.commit("main", {"README.md": b"the weights are on the step branches"})
    for step, kind in steps.items():
        if kind == "hole":
            repository.commit(f"step{step}", files)
        elif kind.startswith("="):
            repository.branches[f"step{step}"] = repository.branches[f"step{kind[1:]}"]
        else:
            path = folder / f"{size}-{seed}-{step}.bin"
            torch.save(tensors(shape, step, kind == "on", seed or 0), path)
            repository.commit(f"step{step}", files | {"pytorch_model.bin": path})
    return repository


def write_task(folder: Path) -> Path:
    """Words in a row; the answer is the word before the last."""
    random = np.random.default_rng(0)
    chosen = [random.permutation(WORDS)[: random.integers(4, 8)] for _ in range(64)]
    rows = [{"prompt": " " + " ".join(words), "answer": " " + words[-2]} for words in chosen]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = folder / "before_last.toml"
    task.write_text(
        'name = "before_last"\nversion = 1\ntitle = "the word before the last"\nceiling = 0.2\n'
        'shortcut = "any word of the prompt"\nthreshold = 0.75\nreference = "hand-set weights"\n\n'
        '[family]\nkind = "rows"\npath = "rows.jsonl"\n'
    )
    return task
