"""Cost of Δp for every head over prompts, tokens and sizes: a table, and a plot as reports/patching_cost.html.

Seconds of processor time on one thread, so that what else the machine does matters little; beside them how many plain
forward passes of the same prompts take as long, which is to stay below the number of heads.

    python -m tests.benchmarks.plots 14m 70m
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from plotly.subplots import make_subplots

from interp import patching
from interp.models.loading import load
from tests.benchmarks.patching import SHAPES, prompt_set, write

PROMPTS, LENGTHS = (1, 2, 4, 8), (16, 32, 64, 128)
# what is held while the other is varied
FEW, SHORT = 4, 32
ROUNDS = 3


class Cost(NamedTuple):
    """Processor seconds of the effects of all heads, and of one plain forward pass of the same prompts."""

    effects: float
    forward: float


def processor(call: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def costs(shape: str) -> dict[tuple[int, int], Cost]:
    """By number of prompts and of tokens."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        pre, post = (load(write(Path(folder) / str(seed), SHAPES[shape], seed)) for seed in (0, 1))
        for n, length in dict.fromkeys([*((n, SHORT) for n in PROMPTS), *((FEW, length) for length in LENGTHS)]):
            prompts = prompt_set(n, length)
            donor = patching.patterns(post, prompts)
            tokens = torch.tensor([prompt.tokens for prompt in prompts.prompts])
            pre.logits(tokens)
            effects = processor(lambda prompts=prompts, donor=donor: patching.single(pre, prompts, donor))
            found[n, length] = Cost(effects, processor(lambda tokens=tokens: pre.logits(tokens)))
    return found


def draw(shapes: Sequence[str], out: Path = Path("reports/patching_cost.html")) -> Path:
    """Measure, print the table in Markdown, and draw; both axes logarithmic: linear cost is a line of slope 1."""
    titles = (f"over prompts ({SHORT} tokens)", f"over tokens ({FEW} prompts)")
    figure = make_subplots(cols=2, subplot_titles=titles)
    print("| shape | layers × heads | prompts | tokens | seconds | forward passes |\n|---|---|---|---|---|---|")
    for shape in shapes:
        layers, _, heads = SHAPES[shape]
        found = costs(shape)
        for (n, length), cost in found.items():
            all_heads, passes = f"{layers} × {heads} = {layers * heads}", cost.effects / cost.forward
            print(f"| {shape} | {all_heads} | {n} | {length} | {cost.effects:.3f} | {passes:.0f} |", flush=True)
        name = f"{shape}: {layers} × {heads} heads"
        over = [found[n, SHORT].effects for n in PROMPTS], [found[FEW, length].effects for length in LENGTHS]
        for column, (x, y) in enumerate(zip((PROMPTS, LENGTHS), over, strict=True), 1):
            figure.add_scatter(x=x, y=y, name=name, legendgroup=name, showlegend=column == 1, row=1, col=column)
    figure.update_xaxes(type="log").update_yaxes(type="log", title="seconds")
    figure.update_layout(title="Δp of every head: processor time of one call", template="plotly_white")
    out.parent.mkdir(exist_ok=True)
    figure.write_html(out, include_plotlyjs=True)
    return out


def main(shapes: Sequence[str] = ()) -> None:
    torch.set_num_threads(1)
    print(f"wrote {draw(shapes or ('14m', '70m'))}")


if __name__ == "__main__":
    main(sys.argv[1:])
