"""p(answer) and share solved of one task in one run over steps, with its bracket."""

from __future__ import annotations

from collections.abc import Sequence

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, band, horizontal, plot, vertical
from interp.report.views import Outcome, Pair


def curve(pair: Pair) -> Plot | None:
    """Mean p(answer) and share of solved prompts at the evaluated steps, with intervals; the bracket is shaded."""
    if pair.curve is None:
        return None
    steps = [style.place(step) for step in pair.curve.steps]
    names = [formats.step(step) for step in pair.curve.steps]
    traces = [
        *_between(steps, pair.curve.share_bounds, style.ORANGE),
        *_between(steps, pair.curve.p_bounds, style.BLUE),
        _curve(steps, names, pair.curve.shares, "share solved", style.ORANGE, "square-open"),
        _curve(steps, names, pair.curve.ps, "mean p(answer)", style.BLUE, "circle"),
    ]
    shapes, annotations = _bounds(pair.outcome) if pair.outcome is not None else ([], [])
    layout = {
        "xaxis": style.step_axis(pair.curve.steps[-1]),
        "yaxis": {"range": [-0.03, 1.05], "title": {"text": "share or probability"}, "zeroline": False},
        "hovermode": "x unified",
        "shapes": shapes,
        "annotations": annotations,
    }
    return plot(traces, 320, layout)


def _between(x: list[float], bounds: Sequence[tuple[float, float]], colour: str) -> list[Attributes]:
    """The intervals around a curve."""
    if not bounds:
        return []
    y = [round(low, 4) for low, _ in bounds] + [round(high, 4) for _, high in bounds[::-1]]
    return [{
        "type": "scatter", "x": x + x[::-1], "y": y, "fill": "toself", "fillcolor": colour, "opacity": 0.14,
        "mode": "lines", "line": {"width": 0, "color": colour}, "hoverinfo": "skip", "showlegend": False,
    }]  # fmt: skip


def _curve(x: list[float], names: list[str], y: Sequence[float], name: str, colour: str, symbol: str) -> Attributes:
    return {
        "type": "scatter", "x": x, "y": [round(value, 4) for value in y], "name": name, "mode": "lines+markers",
        "customdata": names, "line": {"color": colour, "width": 1.8},
        "marker": {"symbol": symbol, "size": 6, "color": colour},
        "hovertemplate": "%{y:.3f} at step %{customdata}",
    }  # fmt: skip


def _bounds(outcome: Outcome) -> tuple[list[Attributes], list[Attributes]]:
    """The threshold, and the brackets: the first one shaded, the lasting one only by its ends where it is another."""
    note = {
        "text": f"threshold {formats.probability(outcome.threshold)}", "xref": "paper", "x": 0, "xanchor": "left",
        "y": outcome.threshold, "yanchor": "bottom", "showarrow": False, "font": {"size": 11, "color": style.MUTED},
    }  # fmt: skip
    shapes = [horizontal(outcome.threshold, "dot")]
    if outcome.bracket is not None:
        shapes.append(band(style.place(outcome.bracket.pre), style.place(outcome.bracket.post)))
    if outcome.later is not None:
        shapes += [vertical(style.place(end), "dash") for end in (outcome.later.pre, outcome.later.post)]
    return shapes, [note]
