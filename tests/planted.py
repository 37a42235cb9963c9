"""A GPT-NeoX run on disk, built by hand-set weights, in which a known head is switched on at a known step.

Two layers of four heads, 16 tokens, width 64. Token t sits in residual dimension t; head L1H2 copies what it attends to
into dimension 16 + t, and the unembedding reads those. Its query and key weights are zero: biases alone, turned by the
rotary embedding, make its pattern, and they are zero before the planted step (uniform attention) and from then on put
nearly all attention on the previous token. Everything else is noise of a small size, different at every step, so that
no two checkpoints are equal and every head has some effect. The task: the answer is the token before the last.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

from interp.values import Head

WORDS = [
    "<|endoftext|>",
    "<unk>",
    "salt",
    "bear",
    "moon",
    "fox",
    "stone",
    "lamp",
    "boat",
    "tree",
    "king",
    "bird",
    "fish",
    "wolf",
    "gold",
    "iron",
]
STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
HEAD = Head(1, 2)
LAYERS, HEADS, WIDTH, D_HEAD = 2, 4, 64, 16
# bias size that gives a previous-token pattern of .9987 at the tenth position; see `expected_previous_token`
BIAS = 7.6


@dataclass(frozen=True)
class PlantedRun:
    folder: Path
    task: Path
    head: Head
    planted_at: int
    failing: int


def plant(folder: Path, planted_at: int = 64, steps: tuple[int, ...] = STEPS) -> PlantedRun:
    """Write the run and its task; return where they are and what is true of them."""
    suite = folder / "planted"
    write_tokenizer(suite)
    for step in steps:
        write_step(suite / "seed0" / f"step{step}", step, on=step >= planted_at)
    failing = max((step for step in steps if step < planted_at), default=-1)
    return PlantedRun(suite, write_task(folder), HEAD, planted_at, failing)


def config() -> GPTNeoXConfig:
    return GPTNeoXConfig(
        vocab_size=len(WORDS), hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=32, max_position_embeddings=64, rotary_pct=1.0, tie_word_embeddings=False,
        bos_token_id=0, eos_token_id=0, use_parallel_residual=True,
    )  # fmt: skip


def write_step(folder: Path, step: int, on: bool) -> None:
    folder.mkdir(parents=True)
    module = hand_set(step, on)
    tensors = {name.replace("lm_head", "embed_out"): value.half() for name, value in module.state_dict().items()}
    save_file(tensors, folder / "model.safetensors")
    stated = config().to_dict() | {"architectures": ["GPTNeoXForCausalLM"], "dtype": "float16"}
    (folder / "config.json").write_text(json.dumps(stated))


@torch.no_grad()
def hand_set(step: int, on: bool) -> GPTNeoXForCausalLM:
    module = GPTNeoXForCausalLM(config())
    generator = torch.Generator().manual_seed(step)
    for name, parameter in module.named_parameters():
        if "norm" not in name:
            parameter.copy_(0.005 * torch.randn(parameter.shape, generator=generator))
    tokens = torch.arange(len(WORDS))
    module.gpt_neox.embed_in.weight[tokens, tokens] += 1
    module.get_output_embeddings().weight[tokens, 16 + tokens] += 4
    attention = module.gpt_neox.layers[HEAD.layer].attention
    fused = attention.query_key_value
    weight, bias = fused.weight.view(HEADS, 3, D_HEAD, WIDTH), fused.bias.view(HEADS, 3, D_HEAD)
    weight[HEAD.head] = 0
    bias[HEAD.head] = 0
    weight[HEAD.head, 2, tokens, tokens] = 1
    attention.dense.weight[16 + tokens, HEAD.head * D_HEAD + tokens] += 1
    if on:
        bias[HEAD.head, 0], bias[HEAD.head, 1] = (torch.from_numpy(b) for b in previous_token_biases())
    return module


def frequencies() -> np.ndarray:
    return 10_000.0 ** (-np.arange(0, D_HEAD, 2) / D_HEAD)


def previous_token_biases() -> tuple[np.ndarray, np.ndarray]:
    """Query and key biases whose rotated product is BIAS² Σ cos((i − j − 1) ω): largest at j = i − 1."""
    cos, sin = np.cos(frequencies()), np.sin(frequencies())
    query = BIAS * np.concatenate([cos, -sin])  # the key's direction, turned back by one position
    key = BIAS * np.concatenate([np.ones_like(cos), np.zeros_like(cos)])
    return query, key


def expected_previous_token(dest: int) -> float:
    """Attention of the planted head from `dest` to `dest` − 1, from the formula alone."""
    offsets = dest - np.arange(dest + 1) - 1
    scores = BIAS**2 * np.cos(offsets[:, None] * frequencies()).sum(1) / np.sqrt(D_HEAD)
    weights = np.exp(scores - scores.max())
    return float(weights[dest - 1] / weights.sum())


def write_tokenizer(folder: Path) -> None:
    folder.mkdir(parents=True)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"bos_token": "<|endoftext|>", "tokenizer_class": "PreTrainedTokenizerFast"})
    )


def write_task(folder: Path, n: int = 64) -> Path:
    """Prompts of 6 to 9 different words; the answer is the word before the last."""
    random = np.random.default_rng(0)
    rows = []
    for _ in range(2 * n):
        words = random.permutation(WORDS[2:])[: random.integers(6, 10)]
        rows.append({"prompt": " ".join(words), "answer": " " + words[-2]})
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    task = folder / "before_last.toml"
    task.write_text(
        'name = "before_last"\nversion = 1\ntitle = "the word before the last"\nceiling = 0.2\n'
        'shortcut = "any word of the prompt"\nthreshold = 0.75\nreference = "hand-set weights"\n\n'
        '[family]\nkind = "rows"\npath = "rows.jsonl"\n'
    )
    return task
