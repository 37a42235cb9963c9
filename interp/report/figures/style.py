"""Colours, templates and the step axis that all figures share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

INK, MUTED, TICK, FAINT, PAPER = "#26241f", "#6f6a61", "#b9b3a6", "#e8e4da", "#fcfbf8"
BLUE, ORANGE, GREEN, GREY, SHADE = "#0072b2", "#d55e00", "#008a64", "#8d887f", "#e9dfc6"

DARK = {
    INK: "#e4e0d8",
    MUTED: "#9c978d",
    TICK: "#5c5f64",
    FAINT: "#2e3135",
    PAPER: "#191b1e",
    BLUE: "#5eb3ec",
    ORANGE: "#f2944f",
    GREEN: "#45c69c",
    GREY: "#8b8780",
    SHADE: "#37342b",
}
"""The dark page's colour for each colour of the light page. All pairs that carry meaning differ in lightness too."""

DIVERGING = ("#08427a", "#2f7bb8", "#9cc3e0", "#f6f4ef", "#f1b584", "#cf6a1e", "#853203")
SEQUENTIAL = ("#f6f4ef", "#c9dcea", "#7fb2d6", "#2f7bb8", "#08427a")
_DIVERGING_DARK = ("#a9d6fb", "#5a9fd4", "#2c5579", "#202327", "#754422", "#cf7f3e", "#ffcb9b")
_SEQUENTIAL_DARK = ("#202327", "#27435c", "#35709f", "#5fa8dc", "#c3e4ff")
DARK.update(dict(zip((*DIVERGING, *SEQUENTIAL), (*_DIVERGING_DARK, *_SEQUENTIAL_DARK), strict=True)))

_KNEE = 10


def scale(colours: Sequence[str]) -> list[list[float | str]]:
    """A plotly colour scale of evenly spaced stops."""
    return [[i / (len(colours) - 1), colour] for i, colour in enumerate(colours)]


def template(dark: bool) -> dict[str, Any]:
    """Type, grid and hover label of a page; the page itself is seen through the figure."""

    def colour(light: str) -> str:
        return DARK[light] if dark else light

    axis = {
        "gridcolor": colour(FAINT),
        "linecolor": colour(FAINT),
        "zerolinecolor": colour(FAINT),
        "tickcolor": colour(FAINT),
        "tickfont": {"color": colour(MUTED), "size": 11},
        "title": {"font": {"color": colour(MUTED), "size": 12}, "standoff": 8},
        "automargin": True,
    }
    return {
        "layout": {
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": colour(INK)},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {
                "bgcolor": colour(PAPER),
                "bordercolor": colour(GREY),
                "font": {"color": colour(INK), "size": 12},
                "align": "left",
            },
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": colour(GREY), "activecolor": colour(BLUE)},
        }
    }


def place(step: int) -> float:
    """Where a step lies on the step axis: linear to about 10, logarithmic beyond, and 0 has a place."""
    return math.log10(1 + step / _KNEE)


def step_axis(last: int, few: bool = False) -> dict[str, Any]:
    """The step axis from 0 to just beyond the last step; `few` ticks where it is narrow."""
    ticks = [0, *(10**e for e in range(2, 7))] if few else [0, 10, *(m * 10**e for e in range(2, 7) for m in (1, 3))]
    shown = [tick for tick in ticks if tick <= last * 1.02]
    end = place(last)
    return {
        "tickvals": [place(tick) for tick in shown],
        "ticktext": [f"{tick:,}" for tick in shown],
        "range": [-0.03 * end, 1.05 * end],
        "title": {"text": "training step"},
        "zeroline": False,
    }
