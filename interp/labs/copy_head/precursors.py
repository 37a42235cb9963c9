"""Do samples fluctuate more before a transition? Spread of a_1 and a_G in HMC below it, against that without data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from interp.labs.copy_head import dressed
from interp.labs.copy_head.experiment import Experiment, Lab, Size
from interp.labs.copy_head.posteriors import Logits
from interp.labs.copy_head.sampling import HMC, mixing, sample
from interp.labs.copy_head.sequences import sample as draw
from interp.labs.copy_head.setting import ATTENTIONS, Attention, Setting
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, plot, title

_NOTHING = 0.02
_FRACTIONS = (_NOTHING, 0.3, 0.5, 0.7, 0.85, 0.95)
_SEVERAL = (_NOTHING, 0.85, 0.95)
_Unit = tuple[Size, Attention, float, float, int]


class Growth(NamedTuple):
    """A fluctuation over the one without data (mean over data seeds), and its least and greatest over data seeds."""

    mean: float
    least: float
    greatest: float

    def __str__(self) -> str:
        if self.least == self.greatest:
            return f"× {self.mean:.2f}"
        return f"× {self.mean:.2f} ({self.least:.2f} to {self.greatest:.2f})"


def compute(lab: Lab) -> pd.DataFrame:
    """One row per attention, fraction (of the P at which samples order) and seed of the sequences.

    Columns beside: P, a_1_rms, a_1_sd, a_G_sd, mean a_G, copying_rows and copying_rows_sd (share of rows with more than
    .3 on the previous position), ess, r_hat. Several seeds without data and next to the transition, else one; one in
    the quick form.
    """
    ordered = {attention: ordering(lab.size.setting, attention) for attention in ATTENTIONS}
    several = 2 * lab.size.seeds - 1
    units: list[_Unit] = [
        (lab.size, attention, fraction, ordered[attention], seed)
        for attention in ATTENTIONS
        for fraction in _FRACTIONS
        for seed in range(several if fraction in _SEVERAL else 1)
    ]
    return pd.DataFrame(lab.engine.map(measure, units, "sampling", "point"))


def ordering(setting: Setting, attention: Attention) -> float:
    """P at which samples order, by the dressed theory: pooling sets in (linear), a_G rises fastest over ln P (softmax).

    For linear attention the first P of a fine grid with a_1 above .05; for softmax the middle of the steepest interval,
    which at a jump is P* of samples.
    """
    grid = np.geomspace(10, 4000, 120)
    if attention == "linear":
        return next(float(p) for p in grid if dressed.linear_minimum(setting, float(p)).a_1 > 0.05)
    a_g = [dressed.softmax_states(setting, float(p))[0].a_g for p in grid[::3]]
    steepest = int(np.argmax(np.diff(a_g)))
    return float(np.sqrt(grid[::3][steepest] * grid[::3][steepest + 1]))


def measure(unit: _Unit) -> dict[str, Any]:
    """Chains that start at the prior, at a fraction of the ordering P."""
    size, attention, fraction, at, seed = unit
    p = max(2, round(fraction * at))
    sampler = replace(HMC, warmup=size.warmup, draws=2 * size.draws, chains=size.chains, seed=seed)
    found = sample(Logits(size.setting, draw(size.setting, p, seed), attention, occam=True), sampler)[0]
    return {
        "attention": attention, "fraction": fraction, "seed": seed, "sequences": p, "ordering": at,
        # linear samples are turned upright: without order, the signed spread is the root mean square
        "a_1_rms": float(np.sqrt(np.mean(found.a_1**2))), "a_1_sd": float(found.a_1.std()),
        "a_G_sd": float(found.a_g.std()), "a_G": float(found.a_g.mean()), "a_G_ess": mixing(found.a_g).ess,
        "copying_rows": float(found.copying.mean()), "copying_rows_sd": float(found.copying.std()),
        "a_1_ess": mixing(found.a_1).ess, "r_hat": mixing(found.a_g).r_hat,
    }  # fmt: skip


def growth(frame: pd.DataFrame, attention: Attention, fluctuation: str) -> dict[float, Growth]:
    """The fluctuation at each fraction, divided by its mean at the smallest, which is that without data."""
    one = frame.loc[frame["attention"] == attention]
    nothing = float(one.loc[one["fraction"] == one["fraction"].min(), fluctuation].mean())
    over = (one[fluctuation] / nothing).groupby(one["fraction"])
    return {
        float(at): Growth(float(values.mean()), float(values.min()), float(values.max()))  # pyright: ignore
        for at, values in over
    }


_SHOWN: tuple[tuple[Attention, str, str, str], ...] = (
    ("linear", "a_1_rms", style.BLUE, "linear, a₁"),
    ("linear", "a_G_sd", style.GREEN, "linear, a_G"),
    ("softmax", "a_G_sd", style.ORANGE, "softmax, a_G = 1 − a₁"),
)


def figures(frame: pd.DataFrame) -> list[Plot]:
    """Spread over the spread without data, by fraction of the ordering P; bars: least and greatest over data seeds."""
    traces = [_grown(growth(frame, attention, what), colour, name) for attention, what, colour, name in _SHOWN]
    axes = {
        "xaxis": {"title": {"text": "P / P at which samples order"}},
        "yaxis": {"title": {"text": "spread / spread without data"}},
    }
    return [plot(traces, 340, axes | {"title": title("Fluctuations before the transition"), "margin": {"t": 80}})]


def _grown(values: Mapping[float, Growth], colour: str, name: str) -> Attributes:
    bars = {
        "type": "data", "symmetric": False, "color": colour, "thickness": 1, "width": 3,
        "array": [round(one.greatest - one.mean, 3) for one in values.values()],
        "arrayminus": [round(one.mean - one.least, 3) for one in values.values()],
    }  # fmt: skip
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "line": {"color": colour}, "x": list(values),
        "y": [round(one.mean, 3) for one in values.values()], "error_y": bars,
    }  # fmt: skip


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The spreads."""
    keep = ["attention", "fraction", "seed", "sequences", "a_1_rms", "a_G_sd", "a_G", "copying_rows",
            "copying_rows_sd", "a_G_ess", "r_hat"]  # fmt: skip
    return frame[keep].to_dict("records")  # pyright: ignore


PRECURSOR = Experiment(
    "precursor",
    "Fluctuations before the transition",
    "A continuous transition announces itself: the spread of its order parameter grows. A first-order one need not.",
    compute,
    figures,
    short,
)
