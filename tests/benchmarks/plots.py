"""Cost of Δp for every head over prompts, tokens and sizes, as reports/patching_cost.html."""

import statistics
import tempfile
from pathlib import Path

import torch
from plotly.subplots import make_subplots

from interp import patching
from interp.models.loading import load
from tests.benchmarks.patching import SHAPES, prompt_set, timed, write

PROMPTS, LENGTHS = (1, 2, 4, 8, 16), (8, 16, 32, 64, 128)


def seconds(shape: str, n: int, tokens: int, rounds: int = 3) -> float:
    """Median time of the effects of all heads."""
    prompts = prompt_set(n, tokens)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        pre, post = (write(Path(folder) / str(seed), SHAPES[shape], seed) for seed in (0, 1))
        donor = patching.patterns(load(post), prompts)
        model = load(pre)
        return statistics.median(timed(lambda: patching.single(model, prompts, donor)) for _ in range(rounds))


def draw(out: Path = Path("reports/patching_cost.html"), shapes: tuple[str, ...] = ("14m", "70m")) -> Path:
    """Measure and draw; both axes logarithmic, so that linear cost is a line of slope 1."""
    figure = make_subplots(cols=2, subplot_titles=("over prompts (32 tokens)", "over tokens (4 prompts)"))
    for shape in shapes:
        layers, _, heads = SHAPES[shape]
        name = f"{shape}: {layers} × {heads} heads"
        by_prompts = [seconds(shape, n, 32) for n in PROMPTS]
        by_tokens = [seconds(shape, 4, length) for length in LENGTHS]
        figure.add_scatter(x=PROMPTS, y=by_prompts, name=name, row=1, col=1)
        figure.add_scatter(x=LENGTHS, y=by_tokens, name=name, showlegend=False, row=1, col=2)
        growth = by_prompts[-1] / by_prompts[0] / (PROMPTS[-1] / PROMPTS[0])
        print(f"{name}: {PROMPTS[-1]} prompts cost {growth:.2f} × as much each as one")
    figure.update_xaxes(type="log").update_yaxes(type="log", title="seconds")
    figure.update_layout(title="Δp of every head: time of one call", template="plotly_white")
    out.parent.mkdir(exist_ok=True)
    figure.write_html(out, include_plotlyjs=True)
    return out


def main() -> None:
    print(f"wrote {draw()}")
