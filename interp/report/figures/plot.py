"""A figure as plain data in plotly's schema: quick to make and to write; a `plotly` figure on request."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from interp.report.figures import style

Attributes = dict[str, Any]


@dataclass(frozen=True)
class Plot:
    """Traces and layout of one figure, in the colours of the light page and without a template."""

    traces: tuple[Attributes, ...]
    layout: Attributes

    def figure(self) -> go.Figure:
        """The plotly figure, checked against plotly's schema."""
        return go.Figure(list(self.traces), layout=self.layout | {"template": style.template(dark=False)})

    def json(self) -> str:
        """What plotly.js draws, the template left to the page; what is no number is null."""
        drawn = {"data": list(self.traces), "layout": self.layout}
        try:
            return _dumped(drawn)
        except ValueError:
            return _dumped(_finite(drawn))


def _dumped(value: Attributes) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    """The value with `None` for every number that JSON cannot say."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return {key: _finite(item) for key, item in value.items()} if isinstance(value, dict) else value


def plot(traces: Sequence[Attributes], height: int, layout: Attributes) -> Plot:
    """A figure with the margins that all share; `layout` may widen them."""
    margin = {"l": 56, "r": 16, "t": 34, "b": 44} | layout.get("margin", {})
    return Plot(tuple(traces), layout | {"height": height, "margin": margin})


def title(text: str) -> Attributes:
    """A small title at the upper left."""
    return {"text": text, "font": {"size": 13}, "x": 0.02, "y": 0.98, "yanchor": "top", "yref": "container"}


def horizontal(y: float, dash: str) -> Attributes:
    """A thin line across the figure."""
    line = {"color": style.GREY, "width": 1, "dash": dash}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line, "layer": "below"}


def vertical(x: float, dash: str, axis: str = "x") -> Attributes:
    """A thin line from the bottom to the top of an axis."""
    line = {"color": style.GREY, "width": 1, "dash": dash}
    return {"type": "line", "xref": axis, "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line,
            "layer": "below"}  # fmt: skip


def band(low: float, high: float) -> Attributes:
    """A shaded stretch of the x axis."""
    return {"type": "rect", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1, "fillcolor": style.SHADE,
            "line": {"width": 0}, "layer": "below"}  # fmt: skip
