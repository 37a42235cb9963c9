"""Δp of every head as a layer × head grid, one diverging scale centred at 0 for both directions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, plot, title
from interp.report.views import Pair
from interp.values import Direction, Head

_WORDS_UP_TO = 8


def grids(pair: Pair) -> Mapping[Direction, Plot]:
    """One figure for each direction that is stored; their colours may be compared with one another."""
    limit = max([0.01, *(float(np.nanmax(np.abs(values))) for values in pair.grids.values())])
    return {
        direction: heat(values, limit, f"{direction.value}: Δp", _marked(pair, direction))
        for direction, values in pair.grids.items()
    }


def _marked(pair: Pair, direction: Direction) -> list[Head]:
    """The causal heads."""
    return [effect.head for effect in pair.ranking.get(direction, ()) if effect.causal]


def heat(values: np.ndarray, limit: float, name: str, marked: list[Head]) -> Plot:
    """Values [layer, head] on the diverging scale from −limit to +limit; some heads outlined."""
    layers, heads = values.shape
    cells = [[None if np.isnan(v) else round(float(v), 5) for v in row] for row in values]
    words = [[formats.signed(float(v)) for v in row] for row in values]
    cells_of = {
        "type": "heatmap", "z": cells, "zmin": -limit, "zmax": limit, "xgap": 2, "ygap": 2,
        "colorscale": style.scale(style.DIVERGING), "text": words,
        "texttemplate": "%{text}" if heads <= _WORDS_UP_TO else "", "textfont": {"size": 11},
        "hovertemplate": "L%{y}H%{x}  Δp %{text}<extra></extra>",
        "colorbar": {"thickness": 8, "len": 0.9, "outlinewidth": 0, "tickformat": "+.2f"},
    }  # fmt: skip
    axis = {"dtick": 1, "showgrid": False, "zeroline": False}
    layout = {
        "title": title(name),
        "xaxis": axis | {"title": {"text": "head"}, "range": [-0.5, heads - 0.5]},
        "yaxis": axis | {"title": {"text": "layer"}, "range": [layers - 0.5, -0.5]},
        "shapes": list(map(_outline, marked)),
    }
    return plot([cells_of], 120 + min(max(26 * layers, 130), 420), layout)


def _outline(head: Head) -> Attributes:
    box = {"x0": head.head - 0.46, "x1": head.head + 0.46, "y0": head.layer - 0.46, "y1": head.layer + 0.46}
    return {"type": "rect", "line": {"color": style.INK, "width": 2}} | box
