"""Scores of a run's heads over training, the first heads by Δp in colour and the others thin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, band, horizontal, plot
from interp.report.views import KEY_SCORES, Pair, Training, score_name
from interp.values import Direction, Head

_OF_EACH = 2
_OTHERS = 24
_LOOKS = (
    (style.BLUE, "circle", "solid"), (style.ORANGE, "diamond", "dash"), (style.GREEN, "square", "dot"),
    (style.INK, "x-thin-open", "dashdot"),
)  # fmt: skip
_DRAWN = KEY_SCORES[:4]


def training_scores(pair: Pair) -> tuple[str, ...]:
    """The scores that are drawn."""
    return () if pair.training is None else tuple(score for score in _DRAWN if score in pair.training.values)


def shown_heads(pair: Pair) -> list[Head]:
    """The first two heads by Δp of each direction."""
    first = [of.head for d in Direction for of in pair.ranking.get(d, ())[:_OF_EACH]]
    return list(dict.fromkeys(first))


def training(pair: Pair) -> Plot | None:
    """One column for each key score, over the steps at which signatures are stored."""
    known, scores = pair.training, training_scores(pair)
    if known is None or not scores:
        return None
    traces: list[Attributes] = []
    layout: Attributes = {"annotations": [], "shapes": [], "hovermode": "closest", "margin": {"t": 76, "l": 40},
                          "legend": {"y": 1.13}}  # fmt: skip
    for column, score in enumerate(scores):
        axis = "" if column == 0 else str(column + 1)
        layout |= _axes(column, len(scores), known, score)
        layout["annotations"].append(_heading(column, len(scores), score))
        if pair.outcome is not None and pair.outcome.bracket is not None:
            bracket = pair.outcome.bracket
            layout["shapes"].append(
                band(style.place(bracket.pre), style.place(bracket.post))
                | {"xref": f"x{axis}", "yref": f"y{axis} domain"}
            )
        if score in known.uniform:
            line = horizontal(known.uniform[score], "dot")
            layout["shapes"].append(line | {"xref": f"x{axis} domain", "yref": f"y{axis}"})
        traces += [_others(known, score, shown_heads(pair), axis)]
        traces += [_line(known, score, head, _LOOKS[i], axis) for i, head in enumerate(shown_heads(pair))]
    return plot(traces, 300, layout)


def _domain(column: int, columns: int) -> list[float]:
    width = 1 / columns
    return [round(column * width + (0.02 if column else 0), 4), round((column + 1) * width - 0.02, 4)]


def _axes(column: int, columns: int, known: Training, score: str) -> Attributes:
    axis = "" if column == 0 else str(column + 1)
    values = known.values[score][np.isfinite(known.values[score])]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    steps = style.step_axis(known.steps[-1], few=True) | {"domain": _domain(column, columns), "anchor": f"y{axis}"}
    return {
        f"xaxis{axis}": steps,
        f"yaxis{axis}": {"range": [min(-0.05, low - 0.05), max(1.05, high + 0.05)], "anchor": f"x{axis}",
                         "zeroline": False, "nticks": 5},
    }  # fmt: skip


def _heading(column: int, columns: int, score: str) -> Attributes:
    domain = _domain(column, columns)
    return {
        "text": score_name(score), "xref": "paper", "yref": "paper", "x": sum(domain) / 2, "y": 1,
        "yanchor": "bottom", "showarrow": False, "font": {"size": 12, "color": style.MUTED},
    }  # fmt: skip


def _others(known: Training, score: str, shown: Sequence[Head], axis: str) -> Attributes:
    """The other heads as one thin line each, at most two dozen of them: those whose score changes most."""
    layers, heads = known.values[score].shape[1:]
    every = [Head(layer, head) for layer in range(layers) for head in range(heads)]
    left = [head for head in every if head not in shown]
    left.sort(key=lambda head: -float(np.ptp(known.values[score][:, head.layer, head.head])))
    x: list[float | None] = []
    y: list[float | None] = []
    for head in left[:_OTHERS]:
        x += [*(style.place(step) for step in known.steps), None]
        y += [*(round(float(v), 2) for v in known.values[score][:, head.layer, head.head]), None]
    return {
        "type": "scatter", "x": x, "y": y, "xaxis": f"x{axis}", "yaxis": f"y{axis}", "mode": "lines",
        "line": {"color": style.TICK, "width": 0.8}, "hoverinfo": "skip", "name": "other heads",
        "legendgroup": "others", "showlegend": axis == "" and bool(left),
    }  # fmt: skip


def _line(known: Training, score: str, head: Head, look: tuple[str, str, str], axis: str) -> Attributes:
    colour, symbol, dash = look
    return {
        "type": "scatter", "x": [style.place(step) for step in known.steps],
        "y": [round(float(v), 4) for v in known.values[score][:, head.layer, head.head]],
        "xaxis": f"x{axis}", "yaxis": f"y{axis}", "mode": "lines+markers", "name": str(head), "legendgroup": str(head),
        "showlegend": axis == "", "customdata": [formats.step(step) for step in known.steps],
        "line": {"color": colour, "width": 1.8, "dash": dash}, "marker": {"size": 5, "symbol": symbol, "color": colour},
        "hovertemplate": f"<b>{head}</b> {score_name(score)} %{{y:.3f}} at step %{{customdata}}<extra></extra>",
    }  # fmt: skip
