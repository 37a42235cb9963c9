"""One head's attention on the named prompt, destination by source, at one end of the bracket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title

_LONGEST = 14
_CELL = 17


def pattern(weights: np.ndarray, pieces: Sequence[str], name: str) -> Plot:
    """Attention `[dest, src]` from each position (rows) to each earlier one (columns); the future stays empty."""
    labels = [label(i, text) for i, text in enumerate(pieces)]
    cells = [[None if np.isnan(v) else round(float(v), 3) for v in row] for row in weights]
    heat = {
        "type": "heatmap", "z": cells, "x": labels, "y": labels, "zmin": 0, "zmax": 1, "xgap": 1, "ygap": 1,
        "colorscale": style.scale(style.SEQUENTIAL), "hoverongaps": False,
        "hovertemplate": "from %{y}<br>to %{x}<br>attention %{z:.3f}<extra></extra>",
        "colorbar": {"thickness": 8, "len": 0.8, "outlinewidth": 0, "nticks": 3},
    }  # fmt: skip
    axis = {"type": "category", "showgrid": False, "tickmode": "linear", "dtick": 1, "tickfont": {"size": 10}}
    layout = {
        "title": title(name),
        "xaxis": axis | {"tickangle": -90, "title": {"text": "attended position"}},
        "yaxis": axis | {"autorange": "reversed", "title": {"text": "position that attends"}},
    }
    return plot([heat], 170 + min(max(_CELL * len(labels), 200), 640), layout)


def label(position: int, text: str) -> str:
    """A position and its token, cut to fit an axis."""
    shown = formats.piece(text)
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
    return f"{position} {formats.plotted(shown)}"
