"""The energy landscape: reduced action over the plane (a_1, a_G) and over P, with its minima (theory alone)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import linear, softmax
from interp.labs.copy_head.experiment import Experiment, Lab
from interp.labs.copy_head.setting import Setting
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title

_GRID = 61
_SCAN = 40


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of attention, P, a_1, a_G, `action` (nats above the deepest point at this P), `minimum`: 1 = a minimum."""
    rows = [row for p in _linear_stages(lab.size.setting) for row in _plane(lab.size.setting, p)]
    rows += [row for p in _softmax_scan(lab.size.setting) for row in _line(lab.size.setting, float(p))]
    return pd.DataFrame(rows)


def _linear_stages(setting: Setting) -> list[float]:
    """Below pooling, pooled, at the crossover, copying."""
    pooling, crossing = linear.pooling_threshold(setting), linear.crossover(setting)
    return [0.7 * pooling, 0.5 * (pooling + crossing), crossing, 2.5 * crossing]


def _plane(setting: Setting, p: float) -> list[dict[str, Any]]:
    best = linear.minimum(setting, p)
    a_1, a_g = np.meshgrid(np.linspace(-1.3, 1.3, _GRID), np.linspace(-0.45, 0.45, _GRID))
    action = linear.action(setting, p, a_1, a_g) - best.action
    at = {"attention": "linear", "sequences": p}
    rows = [
        at | {"a_1": x, "a_G": y, "action": s, "minimum": 0}
        for x, y, s in zip(a_1.ravel(), a_g.ravel(), np.ravel(action), strict=True)
    ]
    # the action is even: its minima come in pairs
    return rows + [at | {"a_1": s * best.a_1, "a_G": s * best.a_g, "action": 0.0, "minimum": 1} for s in (1, -1)]


def _softmax_scan(setting: Setting) -> np.ndarray:
    found = softmax.transition(setting)
    low, high = (found.lower, found.upper) if found else (softmax_scale(setting),) * 2
    return np.geomspace(low / 1.3, high * 1.3, _SCAN)


def softmax_scale(setting: Setting) -> float:
    """P at which a lead of ln L/2 is stationary: where copying sets in where there is no jump."""
    return float(softmax.sequences_at(setting, np.array([0.5 * np.log(setting.length)]))[0])


def _line(setting: Setting, p: float) -> list[dict[str, Any]]:
    minima = [softmax.state(setting, p, lead) for lead in softmax.minima(setting, p)]
    deepest = min(one.action for one in minima)
    a_g = np.linspace(0.0, 0.9, _GRID)
    leads = np.array([setting.logit(float(x)) for x in a_g])
    action = softmax.action(setting, p, leads) - deepest
    at = {"attention": "softmax", "sequences": p}
    rows = [
        at | {"a_1": 1 - x, "a_G": x, "action": s, "minimum": 0} for x, s in zip(a_g, np.ravel(action), strict=True)
    ]
    return rows + [
        at | {"a_1": one.a_1, "a_G": one.a_g, "action": one.action - deepest, "minimum": 1} for one in minima
    ]


def figures(frame: pd.DataFrame) -> list[Plot]:
    """The plane of linear attention at four stages, and softmax's action over a_G and P."""
    return [_stages(frame.loc[frame["attention"] == "linear"]), _surface(frame.loc[frame["attention"] == "softmax"])]


def _stages(frame: pd.DataFrame) -> Plot:
    traces, layout = [], {"title": title("linear attention: S(a₁, a_G) above its minimum, log(1 + nats)")}
    for i, (p, group) in enumerate(frame.groupby("sequences")):
        plane, marks = group.loc[group["minimum"] == 0], group.loc[group["minimum"] == 1]
        suffix = str(i + 1) if i else ""
        grid = np.log10(1 + plane["action"].to_numpy().reshape(_GRID, _GRID))
        traces.append({
            "type": "contour", "x": plane["a_1"].to_numpy()[:_GRID].round(4).tolist(), "xaxis": f"x{suffix}",
            "y": plane["a_G"].to_numpy()[::_GRID].round(4).tolist(), "z": grid.round(3).tolist(), "ncontours": 14,
            "colorscale": style.scale(style.SEQUENTIAL[::-1]), "showscale": i == 0, "name": f"P = {p:.0f}",
            "colorbar": {"thickness": 10, "title": {"text": ""}},
        })  # fmt: skip
        traces.append({
            "type": "scatter", "mode": "markers", "x": marks["a_1"].round(4).tolist(), "xaxis": f"x{suffix}",
            "y": marks["a_G"].round(4).tolist(), "marker": {"color": style.ORANGE, "size": 9, "symbol": "x"},
            "showlegend": False, "hovertemplate": f"minimum at P = {p:.0f}: (%{{x:.3f}}, %{{y:.3f}})<extra></extra>",
        })  # fmt: skip
        axis = {"domain": [0.25 * i + 0.01, 0.25 * i + 0.23], "title": {"text": f"a₁, P = {p:.0f}"}}
        layout |= {f"xaxis{suffix}": axis}
    return plot(traces, 340, layout | {"yaxis": {"title": {"text": "a_G"}}})


def _surface(frame: pd.DataFrame) -> Plot:
    plane, marks = frame.loc[frame["minimum"] == 0], frame.loc[frame["minimum"] == 1]
    p = np.unique(plane["sequences"])
    height = plane["action"].to_numpy().reshape(len(p), _GRID)
    capped = np.minimum(height, 40)
    traces = [
        {
            "type": "surface", "x": plane["a_G"].to_numpy()[:_GRID].round(4).tolist(), "y": p.round(1).tolist(),
            "z": capped.round(3).tolist(), "colorscale": style.scale(style.SEQUENTIAL), "showscale": False,
            "opacity": 0.9, "hovertemplate": "a_G %{x:.2f}, P %{y:.0f}: %{z:.1f} nats<extra></extra>",
        },
        {
            "type": "scatter3d", "mode": "markers", "x": marks["a_G"].round(4).tolist(), "name": "minima",
            "y": marks["sequences"].round(1).tolist(), "z": (marks["action"] + 0.3).round(3).tolist(),
            "marker": {"size": 3, "color": style.ORANGE},
        },
    ]  # fmt: skip
    scene = {
        "xaxis": {"title": {"text": "a_G"}}, "yaxis": {"title": {"text": "P"}, "type": "log"},
        "zaxis": {"title": {"text": "S − min, nats"}}, "camera": {"eye": {"x": 1.5, "y": -1.6, "z": 0.9}},
    }  # fmt: skip
    heading = title("softmax attention: S(1 − a_G, a_G) over P, cut at 40 nats; two valleys trade depth")
    return plot(traces, 520, {"title": heading, "scene": scene})


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The minima at every P."""
    marks = frame.loc[(frame["minimum"] == 1) & (frame["a_1"] + frame["a_G"] >= 0)]
    return [
        {"attention": row["attention"], "P": row["sequences"], "a_1": row["a_1"], "a_G": row["a_G"],
         "nats above the deepest": row["action"]}
        for row in marks.to_dict("records")
    ]  # fmt: skip


LANDSCAPE = Experiment(
    "landscape", "Energy landscape",
    "Linear attention has one pair of minima at every P, which moves from nothing to pooling to copying. Softmax "
    "attention has two valleys over a window of P; the transition is where they are equally deep.",
    compute, figures, short,
)  # fmt: skip
