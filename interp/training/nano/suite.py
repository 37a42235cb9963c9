"""Trains the seeds of a nano size into a folder that is a suite like any other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

from interp.training.manifest import (
    Manifest,
    claim,
    gather,
    write_manifest,
)
from interp.training.nano.corpus import corpus, corpus_hash
from interp.training.nano.recipe import SIZES, Recipe
from interp.training.nano.tokenizer import build_tokenizer, write_tokenizer
from interp.training.nano.vocabulary import lexicon, vocabulary
from interp.training.trainer import Evaluate, Plan, Watch, train_run
from interp.values import InputError, nearest


def train(
    size: str,
    seeds: Sequence[int],
    out: Path,
    evaluate: Evaluate | None = None,
    evaluate_every: int = 50,
    progress: bool = True,
) -> None:
    """Train the seeds of a size (`nano-2l`, `nano-3l`) into `out`, a suite's folder: seed<S>/step<N>/.

    Run again after an interruption, it goes on from the last saved state to the same bytes; finished seeds
    are skipped. `evaluate(model, step)` returns named values for the log. Two trainings may write different
    seeds of one suite at once. `InputError` for an unknown size and for a folder that holds something else.
    """
    if size not in SIZES:
        raise InputError(f"there is no size called '{size}'; {nearest(size, SIZES)}")
    train_recipe(SIZES[size], seeds, out, Watch(evaluate_every, evaluate, progress))


def train_recipe(recipe: Recipe, seeds: Sequence[int], out: Path, watch: Watch) -> None:
    """Train the seeds of any recipe into `out`; see `train`."""
    words = lexicon()
    tokens = vocabulary(words)
    rows = corpus(recipe.mixture, words, tokens, recipe.tokens, recipe.row, recipe.corpus_seed)
    tokenizer = build_tokenizer(tokens)
    tokenizer_hash = hashlib.sha256(tokenizer.to_str(pretty=True).encode()).hexdigest()
    # Through JSON, so that what is compared is what is written: tuples become lists.
    plain = json.loads(json.dumps(asdict(recipe)))
    manifest = claim(out, Manifest(recipe.name, plain, corpus_hash(rows), tokenizer_hash))
    gather(out, manifest)  # a damaged seed is met now, not after hours of training
    write_tokenizer(tokenizer, out, recipe.positions)
    for seed in seeds:
        train_run(
            lambda: build_model(recipe, len(tokens)),
            torch.from_numpy(rows),
            Plan(recipe.optimisation, seed, recipe.saved),
            out / f"seed{seed}",
            replace(watch, title=f"{recipe.name} seed {seed}"),
        )
        write_manifest(out, gather(out, manifest))


def build_model(recipe: Recipe, vocab: int) -> GPTNeoXForCausalLM:
    """A freshly initialised model of the recipe's shape; draws from torch's global generator."""
    config = GPTNeoXConfig(
        vocab_size=-(-vocab // 8) * 8,
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=recipe.inner,
        max_position_embeddings=recipe.positions,
        initializer_range=recipe.spread,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0},
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return GPTNeoXForCausalLM(config)
