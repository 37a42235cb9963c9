"""Time of Δp for every head: ours against TransformerLens's `get_act_patch_attn_head_pattern_all_pos`.

    python -m tests.benchmarks.patching 70m --prompts 8

Random weights of Pythia's exact shapes, fp32, gradients off for both, the same threads, the two in turn; medians.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformer_lens import patching as lens
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

import interp
from interp import patching
from interp.models import Model
from interp.models.loading import load
from interp.patching.memory import plan
from interp.values import Checkpoint, Prompt, PromptSet, RunId

SHAPES = {"14m": (6, 128, 4), "70m": (6, 512, 8), "160m": (12, 768, 12)}
TOKENS, THREADS, VOCAB = 32, 2, 50304


def write(folder: Path, shape: tuple[int, int, int], seed: int) -> Checkpoint:
    """A checkpoint of random weights of one of Pythia's shapes."""
    layers, width, heads = shape
    config = GPTNeoXConfig(
        vocab_size=VOCAB, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * width, max_position_embeddings=2048, rotary_pct=0.25, tie_word_embeddings=False,
    )  # fmt: skip
    torch.manual_seed(seed)
    module = GPTNeoXForCausalLM(config)
    folder.mkdir(parents=True)
    save_file(
        {k.replace("lm_head", "embed_out"): v for k, v in module.state_dict().items()}, folder / "model.safetensors"
    )
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    return Checkpoint(RunId("random", seed), 0, folder, folder, str(seed))


def prompt_set(n: int, length: int = TOKENS) -> PromptSet:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(1, VOCAB, (n, length + 1), generator=generator).tolist()
    prompts = tuple(Prompt("", tuple(row[:-1]), row[-1], None, "random") for row in rows)
    return PromptSet("random", 1, "effect", 0.75, 0.1, prompts, "none", True)


def lens_effects(checkpoint: Checkpoint, donor: Checkpoint, prompts: PromptSet) -> Callable[[], torch.Tensor]:
    to, source = interp.bridge(checkpoint), interp.bridge(donor)
    tokens = torch.tensor([prompt.tokens for prompt in prompts.prompts])
    answers = torch.tensor([prompt.answer for prompt in prompts.prompts])
    _, cache = source.run_with_cache(tokens)

    def p(logits: torch.Tensor) -> torch.Tensor:
        return logits[:, -1].softmax(-1).gather(1, answers[:, None]).mean()

    def run() -> torch.Tensor:
        with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):  # its progress bars
            return effects()

    def effects() -> torch.Tensor:
        return lens.get_act_patch_attn_head_pattern_all_pos(to, tokens, cache, p) - p(to(tokens))

    return run


def products(shape: tuple[int, int, int], n: int, rows: int, tokens: int = TOKENS) -> dict[tuple[int, ...], float]:
    """The matrix products that the effects of all heads need: (batch, m, k, n) → how many, in parts of `rows` rows.

    By formula, from the method alone: layer l carries 1 + heads × l variants of n prompts; its own variants are born by
    one product of the heads' rows of W_O; the last layer's queries, MLP and W_O are at one position; unembedding too.
    """
    layers, width, heads = shape
    found: dict[tuple[int, ...], float] = {}

    def add(m: int, k: int, columns: int, batch: int = 1, times: float = 1) -> None:
        key = (batch, m, k, columns)
        found[key] = found.get(key, 0) + times

    size = min(rows, heads * layers * n + n)
    for layer in range(layers):
        last = layer == layers - 1
        at = 1 if last else tokens
        parts = (1 + heads * layer) * n / size
        if last:
            add(size, width, width, times=parts)
            add(size * tokens, width, 2 * width, times=parts)
        else:
            add(size * tokens, width, 3 * width, times=parts)
        add(at, width // heads, tokens, batch=size * heads, times=parts)
        add(at, tokens, width // heads, batch=size * heads, times=parts)
        for k, columns in ((width, width), (width, 4 * width), (4 * width, width)):
            add(size * at, k, columns, times=parts)
        add(n * at, width // heads, width, batch=heads)
    add((1 + heads * layers) * n, width, VOCAB)
    return found


def at_matmul_rate(needed: dict[tuple[int, ...], float], rounds: int = 5) -> tuple[float, float]:
    """Seconds that torch takes for these products alone, and their operations (2 m k n each)."""
    seconds = operations = 0.0
    for (batch, m, k, columns), times in needed.items():
        a, b = torch.randn(batch, m, k), torch.randn(batch, columns, k).transpose(1, 2)
        call = (lambda a=a, b=b: torch.mm(a[0], b[0])) if batch == 1 else (lambda a=a, b=b: torch.bmm(a, b))
        call()
        seconds += times * statistics.median(timed(call) for _ in range(rounds))
        operations += times * 2 * batch * m * k * columns
    return seconds, operations


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(shape: str, n: int, rounds: int) -> None:
    """Print both medians, their ratio, and the largest difference of the two results beside the largest |Δp|."""
    prompts = prompt_set(n)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        pre, post = (write(Path(folder) / str(seed), SHAPES[shape], seed) for seed in (0, 1))
        donor = patching.patterns(load(post), prompts)
        model: Model = load(pre)
        theirs = lens_effects(pre, post, prompts)
        found = torch.from_numpy(patching.single(model, prompts, donor).delta_p).mean(0)
        difference, largest = (found - theirs()).abs().max(), found.abs().max()
        times = [(timed(lambda: patching.single(model, prompts, donor)), timed(theirs)) for _ in range(rounds)]
        rows = plan(model, TOKENS, 1 + model.n_layers * model.n_heads).rows
        ideal, operations = at_matmul_rate(products(SHAPES[shape], n, max(n, rows)))
    ours, other = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(b / a for a, b in times)
    print(
        f"{shape:>5} {n} prompts × {TOKENS} tokens, {THREADS} threads: ours {ours * 1e3:8.1f} ms, "
        f"TransformerLens {other * 1e3:8.1f} ms, ratio {ratio:5.1f}, "
        f"largest difference {difference:.1e} of {largest:.1e}; {operations / ours / 1e9:.0f} GFLOP/s, "
        f"{ideal / ours:.0%} of the rate of torch's products alone",
        flush=True,
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Compare the shapes that are named, such as `70m`, or all."""
    torch.set_num_threads(THREADS)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", choices=[[], *SHAPES], help="default: all")
    parser.add_argument("--prompts", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    for n in chosen.prompts:
        for shape in chosen.shapes or SHAPES:
            compare(shape, n, chosen.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
