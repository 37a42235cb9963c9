"""Time of a run's next step, and memory of many: ours against resident tensors and against TransformerLens.

Pythia's exact shapes as float16 `.bin` files with the old buffers, random weights, fp32 models. Times are medians, the
rivals in turn in one process; memory is anonymous resident memory above what the imports take, each in a process of
its own (Linux).
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from interp.models.loading import Loader, load
from interp.models.weights import WeightFiles, match
from interp.suites.hashes import sha256_of
from interp.values import Checkpoint, RunId
from tests.hub.pythia import SHAPES, config, tensors

THREADS, STEPS, ROUNDS = 1, 3, 7  # copying is bound by memory; one thread is steadier


def write(folder: Path, size: str) -> list[Checkpoint]:
    """Checkpoints of random weights of one of Pythia's sizes, as Pythia stores them."""
    found = []
    for step in range(STEPS):
        place = folder / size / f"step{step}"
        place.mkdir(parents=True)
        (place / "config.json").write_bytes(config(SHAPES[size]))
        torch.save(tensors(SHAPES[size], step, on=False), place / "pytorch_model.bin")
        found.append(Checkpoint(RunId(size, None), step, place, place, str(step)))
    return found


def seconds(work: Callable[[int], object]) -> float:
    """The median time of some rounds, after one that does not count."""
    work(0)
    times = []
    for i in range(1, ROUNDS + 1):
        begun = time.perf_counter()
        work(i)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


@torch.no_grad()
def next_step(checkpoints: list[Checkpoint]) -> dict[str, float]:
    """Seconds: our next step; casting resident tensors into the same model; TransformerLens; hashing the file."""
    loader = Loader()
    ours = seconds(lambda i: loader(checkpoints[i % STEPS]))
    module = loader(checkpoints[0]).module
    targets = dict(module.named_parameters())
    with WeightFiles(checkpoints[0].folder) as files:
        names = match(module, checkpoints[0], files.shapes())
        resident = {names[name]: value.clone() for name, value in files.tensors() if name in names}

    def cast(_: int) -> None:
        for name, value in resident.items():
            targets[name].copy_(value)

    casting = seconds(cast)
    hashing = seconds(lambda i: sha256_of(checkpoints[i % STEPS].folder / "pytorch_model.bin"))
    return {"ours": ours, "casting": casting, "lens": lens(checkpoints), "hashing": hashing}


def lens(checkpoints: list[Checkpoint]) -> float:
    """Seconds of TransformerLens's own loading of the next step from the same folder."""
    from transformer_lens.model_bridge import TransformerBridge
    from transformers import PreTrainedTokenizerFast

    from tests.planted import write_tokenizer

    times = []
    with tempfile.TemporaryDirectory() as folder:
        write_tokenizer(Path(folder) / "tokenizer")
        known = PreTrainedTokenizerFast.from_pretrained(Path(folder) / "tokenizer")
        for checkpoint in checkpoints:
            place, dtype = str(checkpoint.folder), torch.float32
            begun = time.perf_counter()
            TransformerBridge.boot_transformers(place, tokenizer=known, device="cpu", dtype=dtype)
            times.append(time.perf_counter() - begun)
    return statistics.median(times)


def anonymous() -> int:
    """Bytes of anonymous resident memory of this process."""
    text = Path("/proc/self/status").read_text()
    return int(text.split("RssAnon:")[1].split()[0]) * 1024


class Peak:
    """The most anonymous memory while it is open, above what there was before. A context manager."""

    def __enter__(self) -> "Peak":
        self._before, self.bytes, self._open = anonymous(), 0, True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while self._open:
            self.bytes = max(self.bytes, anonymous() - self._before)
            time.sleep(0.001)

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._thread.join()


def memory(folder: str, kind: str) -> float:
    """Peak over fp32 weights of one model or a pair, or growth from 5 checkpoints to 30."""
    places = sorted(Path(folder).glob("step*"))
    checkpoints = [Checkpoint(RunId("m", None), i, place, place, str(i)) for i, place in enumerate(places)]
    load(checkpoints[0])  # what is imported and made ready at first use is not the model's
    gc.collect()
    if kind == "growth":
        loader, seen = Loader(), []
        for i in range(30):
            model = loader(checkpoints[i % STEPS])
            model.logits(torch.arange(16)[None])
            seen.append(anonymous())
        return seen[29] / seen[4]
    with Peak() as peak:
        held = [load(checkpoint) for checkpoint in checkpoints[: 1 if kind == "one" else 2]]
    weights = sum(p.numel() * 4 for p in held[0].module.parameters())
    return peak.bytes / weights


def measured(folder: Path, kinds: Sequence[str] = ("one", "pair", "growth")) -> dict[str, float]:
    """See `memory`, kind by kind."""
    code = f"from tests.benchmarks.loading import memory; print([memory({str(folder)!r}, kind) for kind in {kinds!r}])"
    # a fixed threshold, so that what is freed goes back to the system and is not taken again uncounted
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return dict(zip(kinds, json.loads(done.stdout.splitlines()[-1]), strict=True))


def main() -> None:
    """Print every ratio beside what it must be."""
    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as folder:
        for size in ("70m", "160m"):
            checkpoints = write(Path(folder), size)
            took = next_step(checkpoints)
            print(json.dumps({"size": size, "seconds": {name: round(value, 4) for name, value in took.items()}}))
            print(f"{size} next step / casting resident tensors: {took['ours'] / took['casting']:.2f} (at most 2.5)")
            print(f"{size} TransformerLens / next step: {took['lens'] / took['ours']:.1f} (at least 10)")
            held = measured(Path(folder) / size)
            print(f"{size} memory after 30 checkpoints / after 5: {held['growth']:.4f} (at most 1.03)")
            print(f"{size} peak / fp32 weights, one model: {held['one']:.3f} (at most 1.3)")
            print(f"{size} peak / fp32 weights, a pair: {held['pair']:.3f} (at most 2.3)")


if __name__ == "__main__":
    main()
