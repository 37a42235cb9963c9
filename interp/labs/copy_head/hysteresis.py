"""Hysteresis: where a run that starts small jumps, where one that starts copying falls back, and which is deeper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import softmax
from interp.labs.copy_head.experiment import Experiment, Lab, Size
from interp.labs.copy_head.posteriors import Logits
from interp.labs.copy_head.sequences import sample as draw
from interp.labs.copy_head.setting import Attention
from interp.labs.copy_head.training import Adam, train
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title, vertical
from interp.values import InputError

_Unit = tuple[Size, Attention, int, int]


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of attention, seed (of the sequences), P, start (small, copying), a_1, a_G, energy, loss."""
    branches: tuple[tuple[Attention, int], ...] = (("softmax", 1), ("linear", 3))
    units: list[_Unit] = [
        (lab.size, attention, p, seed)
        for seed in range(lab.size.seeds)
        for attention, every in branches
        for p in sequences(lab.size)[::every]
    ]
    rows = lab.engine.map(measure, units, "training", "point")
    return pd.DataFrame([row for found in rows for row in found])


def sequences(size: Size) -> list[int]:
    """P from below the lower spinodal to above the upper one, closest around P*."""
    found = softmax.transition(size.setting)
    if found is None:
        raise InputError(f"{size.setting} has no first-order transition, so there is no hysteresis to show")
    wide = np.geomspace(found.lower * 0.93, found.upper * 1.08, 12)
    return sorted({round(float(p)) for p in (*wide, found.equal * 0.96, found.equal, found.equal * 1.04)})


def measure(unit: _Unit) -> list[dict[str, Any]]:
    """Adam from both starts at one P and seed."""
    size, attention, p, seed = unit
    ends = train(Logits(size.setting, draw(size.setting, p, seed), attention, occam=False), Adam(steps=size.adam_steps))
    return [
        {
            "attention": attention, "seed": seed, "sequences": p, "start": one.start, "a_1": one.a_1, "a_G": one.a_g,
            "energy": one.energy, "loss": one.loss, "length": size.setting.length,
            **{f"theory_{k}": v for k, v in _window(size).items()},
        }
        for one in ends
    ]  # fmt: skip


def _window(size: Size) -> dict[str, float]:
    found = softmax.transition(size.setting)
    return {} if found is None else {"lower": found.lower, "equal": found.equal, "upper": found.upper}


def figures(frame: pd.DataFrame) -> list[Plot]:
    """a_G of both branches over P with the theory's window, softmax and linear."""
    return [
        _branches(frame.loc[frame["attention"] == attention], str(attention)) for attention in ("softmax", "linear")
    ]


def _branches(frame: pd.DataFrame, attention: str) -> Plot:
    traces = []
    for name, colour, symbol in (("small", style.BLUE, "circle"), ("copying", style.ORANGE, "diamond-open")):
        one = frame.loc[frame["start"] == name].sort_values(["seed", "sequences"])
        traces.append({
            "type": "scatter", "mode": "markers", "x": one["sequences"].tolist(), "y": one["a_G"].round(4).tolist(),
            "name": f"{name} start", "marker": {"color": colour, "symbol": symbol, "size": 8, "line": {"width": 1.4}},
            "text": [f"seed {s}" for s in one["seed"]],
            "hovertemplate": "P = %{x}, a_G %{y:.3f}, %{text}<extra></extra>",
        })  # fmt: skip
    lines = (
        [vertical(float(frame[f"theory_{k}"].iloc[0]), dash) for k, dash in _DASHES] if attention == "softmax" else []
    )
    heading = title(
        f"{attention} attention: where Adam ends" + (", and the theory's window and P* (solid)" if lines else "")
    )
    axes = {"xaxis": {"title": {"text": "training sequences P"}}, "yaxis": {"title": {"text": "a_G"}}}
    return plot(traces, 340, axes | {"title": heading, "shapes": lines, "margin": {"t": 70}})


_DASHES = (("lower", "dot"), ("equal", "solid"), ("upper", "dot"))


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """By seed: between which P the small start jumps, the copying one falls, and the energies cross; beside theory."""
    rows = []
    for seed, group in frame.loc[frame["attention"] == "softmax"].groupby("seed"):
        wide = group.pivot(index="sequences", columns="start", values=["a_G", "energy"]).sort_index()
        apart = wide["energy"]["copying"] < wide["energy"]["small"] - 1e-6
        half = wide["a_G"].to_numpy().max() / 2
        theory = {name: float(group[f"theory_{name}"].max()) for name, _ in _DASHES}
        rows.append({
            "seed": seed,
            "copying start holds from P": _first(wide["a_G"]["copying"] > half), "theory, lower": theory["lower"],
            "copying deeper from P": _first(apart | (wide["a_G"]["small"] > half)), "theory, equal": theory["equal"],
            "small start jumps at P": _first(wide["a_G"]["small"] > half), "theory, upper": theory["upper"],
        })  # fmt: skip
    flat = frame.loc[frame["attention"] == "linear"].pivot_table(
        index=["seed", "sequences"], columns="start", values="a_G"
    )
    for row in rows:
        row["linear, largest difference"] = float((flat["small"] - flat["copying"]).abs().max())
    return rows


def _first(holds: pd.Series) -> list[int] | None:
    """The neighbouring P between which something begins to hold for good."""
    p, true = holds.index.to_numpy(), holds.to_numpy()
    false = np.flatnonzero(~true)
    if not false.size or false[-1] + 1 == len(p):
        return None
    return [int(p[false[-1]]), int(p[false[-1] + 1])]


HYSTERESIS = Experiment(
    "hysteresis", "Hysteresis",
    "A run from a small start stays pooled up to the upper spinodal, though copying is the deeper minimum from P* on; "
    "one that starts copying holds down to the lower spinodal. Linear attention ends in one state from both starts.",
    compute, figures, short,
)  # fmt: skip
