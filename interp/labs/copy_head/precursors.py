"""Do samples fluctuate more before a transition? Spread of a_1 and a_G in HMC below it, against that without data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import dressed
from interp.labs.copy_head.experiment import Experiment, Lab, Size
from interp.labs.copy_head.posteriors import Logits
from interp.labs.copy_head.sampling import HMC, mixing, sample
from interp.labs.copy_head.sequences import sample as draw
from interp.labs.copy_head.setting import ATTENTIONS, Attention, Setting
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title

_FRACTIONS = (0.02, 0.3, 0.5, 0.7, 0.85, 0.95)
_Unit = tuple[Size, Attention, float, float]


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of attention, fraction (of the P at which samples order), P, a_1_rms, a_1_sd, a_G_sd, mean a_G, ess."""
    units: list[_Unit] = [
        (lab.size, attention, fraction, ordering(lab.size.setting, attention))
        for attention in ATTENTIONS
        for fraction in _FRACTIONS
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
    size, attention, fraction, at = unit
    p = max(2, round(fraction * at))
    sampler = replace(HMC, warmup=size.warmup, draws=2 * size.draws, chains=size.chains)
    found = sample(Logits(size.setting, draw(size.setting, p, 0), attention, occam=True), sampler)[0]
    return {
        "attention": attention, "fraction": fraction, "sequences": p, "ordering": at,
        # linear samples are turned upright: without order, the signed spread is the root mean square
        "a_1_rms": float(np.sqrt(np.mean(found.a_1**2))), "a_1_sd": float(found.a_1.std()),
        "a_G_sd": float(found.a_g.std()), "a_G": float(found.a_g.mean()), "a_G_ess": mixing(found.a_g).ess,
        "a_1_ess": mixing(found.a_1).ess, "r_hat": mixing(found.a_g).r_hat,
    }  # fmt: skip


def growth(frame: pd.DataFrame, attention: Attention, fluctuation: str) -> list[float]:
    """The fluctuation at each fraction, divided by the one at the smallest."""
    values = frame.loc[frame["attention"] == attention].sort_values("fraction")[fluctuation].to_numpy()
    return (values / values[0]).tolist()


_SHOWN: tuple[tuple[Attention, str, str, str], ...] = (
    ("linear", "a_1_rms", style.BLUE, "linear, a₁"),
    ("linear", "a_G_sd", style.GREEN, "linear, a_G"),
    ("softmax", "a_G_sd", style.ORANGE, "softmax, a_G = 1 − a₁"),
)


def figures(frame: pd.DataFrame) -> list[Plot]:
    """Spread over the spread without data, by fraction of the ordering P."""
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "name": name, "line": {"color": colour},
            "x": sorted(set(frame["fraction"])), "y": np.round(growth(frame, attention, what), 3).tolist(),
        }
        for attention, what, colour, name in _SHOWN
    ]  # fmt: skip
    axes = {
        "xaxis": {"title": {"text": "P / P at which samples order"}},
        "yaxis": {"title": {"text": "spread / spread without data"}},
    }
    return [plot(traces, 340, axes | {"title": title("Fluctuations before the transition"), "margin": {"t": 80}})]


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The spreads."""
    keep = ["attention", "fraction", "sequences", "a_1_rms", "a_G_sd", "a_G", "a_G_ess", "r_hat"]
    return frame[keep].to_dict("records")  # pyright: ignore


PRECURSOR = Experiment(
    "precursor",
    "Fluctuations before the transition",
    "A continuous transition announces itself: the spread of its order parameter grows. A first-order one need not.",
    compute,
    figures,
    short,
)
