"""What patterns of another seed do in denoising, the best single head and all heads at once: reported, not bounded.

The recipient is the failing end of its run's bracket; its donor is the passing end of its own run's bracket, or of
another run's. On a suite of several seeds:

    python -m tests.benchmarks.strangers nano-3l string named_item
"""

import sys
import tempfile
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

import interp
from interp import evaluation, patching, pipeline
from interp.models.loading import Loader
from interp.provenance import Options
from interp.store import Store
from interp.tasks import parse, prompts, tokenizer


def rows(suite: str, task: str) -> list[dict[str, object]]:
    """One row for each recipient and donor."""
    where, (asked, form) = interp.suite(suite), parse(task)
    with tempfile.TemporaryDirectory() as folder:
        found = pipeline.scan(where, [(asked, form)], Store(folder), options=Options())
    brackets = {int(row.seed): (int(row.pre), int(row.post)) for row in found.dropna(subset=["pre"]).itertuples()}
    effect = prompts(asked, tokenizer(where.runs[0].tokenizer), "effect", 64, True)
    to, source, out = Loader(), Loader(), []
    for seed, (pre, _) in brackets.items():
        recipient = to(where.run(seed).at(pre))
        every = np.ones((1, recipient.n_layers, recipient.n_heads), dtype=bool)
        p = evaluation.evaluate(recipient, effect).p.mean()
        for other, (_, post) in brackets.items():
            given = patching.patterns(source(where.run(other).at(post)), effect)
            single = patching.single(recipient, effect, given).delta_p.mean(0)
            all_heads = patching.joint(recipient, effect, given, every)[0].mean()
            out.append(
                {
                    "task": task, "donor": "own run" if other == seed else "other seed", "p": p,
                    "best": single.max(), "worst": single.min(), "all heads": all_heads,
                }
            )  # fmt: skip
    return out


def main(arguments: Sequence[str]) -> None:
    """Print, by task and kind of donor, the mean over pairs of runs of Δp (and its extremes over pairs)."""
    torch.set_num_threads(1)
    suite, *tasks = arguments
    frame = pd.DataFrame([row for task in tasks for row in rows(suite, task)])
    print("| task | donor | pairs | p(answer) unpatched | best single head | worst single head | all heads |")
    print("|---|---|---|---|---|---|---|")
    for (task, donor), part in frame.groupby(["task", "donor"], sort=False):
        cells = [
            f"{part[name].mean():+.3f} ({part[name].min():+.3f} … {part[name].max():+.3f})"
            for name in ("best", "worst", "all heads")
        ]
        print(f"| {task} | {donor} | {len(part)} | {part['p'].mean():.3f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
