"""One head's attention on the named prompt, destination by source, at one end of the bracket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title

_LONGEST = 14
_DENSE = 24
_SIDE, _SMALL, _LARGE = 400, 10, 24


def pattern(weights: np.ndarray, pieces: Sequence[str], name: str) -> Plot:
    """Attention `[dest, src]` from each position (rows) to each earlier one (columns); the future stays empty.

    The colour scale lies in the empty corner, and always goes from 0 to 1.
    """
    labels = [label(i, text) for i, text in enumerate(pieces)]
    cells = [[None if np.isnan(v) else round(float(v), 3) for v in row] for row in weights]
    heat = {
        "type": "heatmap", "z": cells, "x": labels, "y": labels, "zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1,
        "colorscale": style.scale(style.SEQUENTIAL), "hoverongaps": False,
        "hovertemplate": "from %{y}<br>to %{x}<br>attention %{z:.3f}<extra></extra>",
        "colorbar": {"orientation": "h", "thickness": 7, "len": 0.34, "x": 0.99, "xanchor": "right", "y": 0.97,
                     "yanchor": "top", "outlinewidth": 0, "tickvals": [0, 0.5, 1], "tickfont": {"size": 10}},
    }  # fmt: skip
    axis = {"type": "category", "showgrid": False, "tickmode": "linear", "dtick": 1,
            "tickfont": {"size": 10 if len(labels) <= _DENSE else 8}}  # fmt: skip
    layout = {
        "title": title(name),
        "xaxis": axis | {"tickangle": -90, "title": {"text": "attended position"}},
        "yaxis": axis | {"autorange": "reversed", "title": {"text": "position that attends"}},
    }
    cell = min(max(_SIDE / len(labels), _SMALL), _LARGE)
    return plot([heat], round(150 + cell * len(labels)), layout)


def label(position: int, text: str) -> str:
    """A position and its token, cut to fit an axis."""
    shown = formats.piece(text)
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
    return f"{position} {formats.plotted(shown)}"
