"""Checkpoints of random weights, of any architecture: sharp enough for patterns to matter."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from interp.values import Checkpoint, Prompt, PromptSet, RunId
from tests.planted import write_tokenizer

VOCAB = 61


def write(folder: Path, config: Any, seed: int, scale: float = 10.0) -> Checkpoint:
    """A checkpoint of random weights, its matrices scaled so that attention is far from uniform."""
    torch.manual_seed(seed)
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.ndim > 1:
                parameter.mul_(scale)
            else:  # biases and norms: away from 0 and 1, so that none can be forgotten
                parameter.add_(0.1 * torch.randn_like(parameter))
    module.save_pretrained(folder)
    if not (folder / "tok").exists():
        write_tokenizer(folder / "tok")
    return Checkpoint(RunId(config.model_type, seed), 0, folder, folder / "tok", f"{folder} {seed}")


def prompt_set(n: int = 6, lengths: tuple[int, ...] = (7, 9), vocab: int = VOCAB) -> PromptSet:
    random = np.random.default_rng(0)
    prompts = []
    for i in range(n):
        tokens = tuple(map(int, random.integers(2, vocab, lengths[i % len(lengths)])))
        prompts.append(Prompt("", tokens, int(random.integers(2, vocab)), None, f"layout {i % 3}"))
    return PromptSet("random", 1, "effect", 0.75, 0.2, tuple(prompts), "none", True)
