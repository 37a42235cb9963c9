"""The phase diagram: order parameters and loss over the number of sequences P, by theory, Adam and HMC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import dressed, linear, softmax
from interp.labs.copy_head.experiment import Experiment, Lab, Size
from interp.labs.copy_head.linear import State
from interp.labs.copy_head.posteriors import Logits
from interp.labs.copy_head.sampling import HMC, Samples, mixing, sample
from interp.labs.copy_head.sequences import sample as draw
from interp.labs.copy_head.setting import ATTENTIONS, Attention, Setting
from interp.labs.copy_head.training import Adam, train
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, plot, title

_Unit = tuple[Size, Attention, int]


def compute(lab: Lab) -> pd.DataFrame:
    """One row per attention, series, start and P; theory lines on a finer grid of P than the experiment."""
    rows = [row for attention in ATTENTIONS for row in _theory(lab.size, attention)]
    units: list[_Unit] = [(lab.size, attention, p) for p in reversed(lab.size.sequences) for attention in ATTENTIONS]
    for found in lab.engine.map(measure, units, "training and sampling", "point"):
        rows += found
    return pd.DataFrame(rows).sort_values(["attention", "series", "start", "sequences"], ignore_index=True)


def measure(unit: _Unit) -> list[dict[str, Any]]:
    """Adam from both starts, and HMC from both starts, at one P."""
    size, attention, p = unit
    moments, at = draw(size.setting, p, seed=0), {"attention": attention, "sequences": float(p)}
    trained = train(Logits(size.setting, moments, attention, occam=False), Adam(steps=size.adam_steps))
    best = min(one.energy for one in trained)
    rows = [
        at | {
            "series": "map", "start": one.start, "a_1": one.a_1, "a_G": one.a_g, "loss": one.loss,
            "energy": one.energy, "lowest": one.energy <= best + 1e-6, "coverage": one.coverage,
            "coverage_averaged": one.coverage,
        }
        for one in trained
    ]  # fmt: skip
    sampler = replace(HMC, warmup=size.warmup, draws=size.draws, chains=size.chains)
    sampled = sample(Logits(size.setting, moments, attention, occam=True), sampler)
    both = np.concatenate([one.a_g for one in sampled])
    return rows + [at | sampled_row(one) | {"r_hat_all": mixing(both).r_hat} for one in sampled]


def sampled_row(found: Samples) -> dict[str, Any]:
    """Means and spreads over the chains of one start, how well they mixed, and both coverages."""
    rests = {"series": "hmc", "start": found.start, "accepted": found.accepted, "step": found.step}
    for name, values in (("a_1", found.a_1), ("a_G", found.a_g), ("loss", found.loss)):
        how = mixing(values)
        rests |= {name: values.mean(), f"{name}_sd": values.std(), f"{name}_ess": how.ess, f"{name}_r_hat": how.r_hat}
    known = found.centred[np.isfinite(found.centred)]
    return rests | {
        "coverage": found.coverage.mean(),
        "coverage_averaged": found.averaged.coverage.mean(),
        "centred": known.mean() if known.size else np.nan,
        "copying_rows": found.copying.mean(),
    }


def _theory(size: Size, attention: Attention) -> Iterator[dict[str, Any]]:
    setting, ends = size.setting, (size.sequences[0] * 0.8, size.sequences[-1] * 1.15)
    for p in np.geomspace(*ends, size.line):
        minimum = (linear if attention == "linear" else softmax).minimum(setting, float(p))
        yield _line(attention, "theory_map", float(p), minimum)
    for p in np.geomspace(*ends, size.line // 2):
        yield _line(attention, "theory_sampled", float(p), _sampled_state(setting, attention, float(p)))


def _sampled_state(setting: Setting, attention: Attention, p: float) -> State:
    return dressed.linear_minimum(setting, p) if attention == "linear" else dressed.softmax_states(setting, p)[0]


def _line(attention: Attention, series: str, p: float, at: State) -> dict[str, Any]:
    """A point of a theory line: the deepest state."""
    return {
        "attention": attention, "series": series, "start": "", "sequences": p, "a_1": at.a_1, "a_G": at.a_g,
        "loss": at.loss, "energy": at.action,
    }  # fmt: skip


_LOOKS = {
    ("a_1", "map"): (style.BLUE, "a₁ (pooling), Adam", "circle"),
    ("a_G", "map"): (style.ORANGE, "a_G (copying), Adam", "circle"),
    ("loss", "map"): (style.GREEN, "loss, Adam", "circle"),
    ("a_1", "hmc"): (style.BLUE, "a₁, HMC", "diamond-open"),
    ("a_G", "hmc"): (style.ORANGE, "a_G, HMC", "diamond-open"),
    ("loss", "hmc"): (style.GREEN, "loss, HMC", "diamond-open"),
}


def figures(frame: pd.DataFrame) -> list[Plot]:
    """One figure per attention: order parameters above, loss below."""
    return [_figure(frame.loc[frame["attention"] == attention], attention) for attention in ATTENTIONS]


def _figure(frame: pd.DataFrame, attention: Attention) -> Plot:
    traces = []
    for (quantity, series), (colour, name, symbol) in _LOOKS.items():
        axis = "y2" if quantity == "loss" else "y"
        dash = "solid" if series == "map" else "dash"
        line = frame.loc[frame["series"] == ("theory_map" if series == "map" else "theory_sampled")]
        traces.append({
            "type": "scatter", "mode": "lines", "x": line["sequences"].tolist(), "y": line[quantity].round(5).tolist(),
            "line": {"color": colour, "width": 1.6, "dash": dash}, "yaxis": axis, "hoverinfo": "skip",
            "showlegend": False,
        })  # fmt: skip
        traces.append(_points(frame.loc[frame["series"] == series], quantity, (colour, name, symbol), axis))
    layout: Attributes = {
        "xaxis": {"type": "log", "title": {"text": "training sequences P"}, "dtick": "D2", "anchor": "y2"},
        "yaxis": {"domain": [0.42, 1], "title": {"text": "order parameters"}},
        "yaxis2": {"domain": [0, 0.34], "title": {"text": "loss"}, "rangemode": "tozero"},
        "title": title(f"{attention} attention: lines theory (solid MAP, dashed samples), marks measured"),
        "margin": {"t": 96}, "legend": {"y": 1.02},
    }  # fmt: skip
    return plot(traces, 520, layout)


def _points(frame: pd.DataFrame, quantity: str, look: tuple[str, str, str], axis: str) -> Attributes:
    colour, name, symbol = look
    said = [
        f"<b>P = {row['sequences']:g}</b>, from the {row['start']} start<br>{quantity} {row[quantity]:.3f}"
        + (
            f" ± {row[quantity + '_sd']:.3f} (sd of samples), R̂ {row[quantity + '_r_hat']:.2f}"
            if row["series"] == "hmc"
            else ""
        )
        for row in frame.to_dict("records")
    ]
    trace = {
        "type": "scatter", "mode": "markers", "name": name, "x": frame["sequences"].tolist(), "yaxis": axis,
        "y": frame[quantity].round(5).tolist(), "text": said, "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": colour, "symbol": symbol, "size": 7, "line": {"color": colour, "width": 1.4}},
    }  # fmt: skip
    if "hmc" in frame["series"].tolist():
        bars = {"type": "data", "array": frame[quantity + "_sd"].round(5).tolist(), "thickness": 1, "width": 0}
        trace["error_y"] = bars | {"color": colour}
    return trace


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Theory beside Adam's lowest energy and HMC, at every P of the experiment."""
    rows = []
    measured = frame.loc[frame["series"].isin(["map", "hmc"])]
    for (attention, p), group in measured.groupby(["attention", "sequences"]):  # pyright: ignore
        adam = group.loc[group["series"] == "map"].sort_values("energy").iloc[0]
        chains = group.loc[group["series"] == "hmc"]
        rows.append({
            "attention": attention, "P": int(p),
            "a_1 map": adam["a_1"], "a_G map": adam["a_G"], "loss map": adam["loss"],
            "a_1 hmc": chains["a_1"].tolist(), "a_G hmc": chains["a_G"].tolist(), "R-hat": chains["r_hat_all"].iloc[0],
            "ess": chains["a_G_ess"].min(), "coverage map": adam["coverage"],
            "per sample": chains["coverage"].mean(), "averaged": chains["coverage_averaged"].mean(),
        })  # fmt: skip
    return rows


PHASE_DIAGRAM = Experiment(
    "phase-diagram",
    "Phase diagram over the number of training sequences",
    "Linear attention pools first, at a continuous transition, and then crosses over to copying. Softmax attention "
    "jumps. Chains that started at the prior and at a copying pattern are marked apart: where they differ, none mixes.",
    compute, figures, short,
)  # fmt: skip
