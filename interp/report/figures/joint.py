"""How much of the gap the top heads bring back together, beside random sets of equal size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, horizontal, plot, title
from interp.report.views import JointSet, Pair
from interp.values import Direction

_CONTROLS = {"mismatched": (style.GREEN, "dash", "square-open"), "permuted": (style.MUTED, "dot", "x-thin-open")}


def joint_patch(pair: Pair) -> Mapping[Direction, Plot]:
    """One figure per direction: recovered fraction against set size, or Δp where the gap is too small to divide by."""
    by_direction = {d: [one for one in pair.joint if one.direction is d] for d in Direction}
    return {direction: _figure(sets, direction) for direction, sets in by_direction.items() if sets}


def _figure(sets: Sequence[JointSet], direction: Direction) -> Plot:
    small = any(math.isnan(one.recovered[0]) for one in sets)
    top = sorted((one for one in sets if one.name == "top"), key=lambda one: one.k)
    every = [one for one in sets if one.name == "all"]
    place = {k: i for i, k in enumerate(sorted({one.k for one in sets if one.name not in ("all", "own")}), 1)}
    ticks = {i: str(k) for k, i in place.items()}
    end = len(ticks) + 1
    if every:
        ticks[end] = f"all {every[0].k}"
    bounds = _range(sets, small)
    traces = [
        *_control([one for one in sets if one.name == "random"], place, small),
        *(_curve(sets, name, place, small, bounds) for name in _CONTROLS if any(one.name == name for one in sets)),
        _points(top, [place[one.k] for one in top], small, ("top K heads", style.BLUE, "circle")),
        *([_points(every, [end], small, ("all heads", style.ORANGE, "diamond"))] if every else []),
    ]
    layout = {
        "title": title(direction.value),
        "margin": {"t": 74},
        "xaxis": {"tickvals": list(ticks), "ticktext": list(ticks.values()), "zeroline": False, "showgrid": False,
                  "title": {"text": "heads patched together"}, "range": [0.5, end + 0.5]},
        "yaxis": {"title": {"text": "Δp" if small else "recovered fraction of the gap"}, "zeroline": False,
                  "range": list(bounds)},
        "shapes": [horizontal(0.0, "solid"), *([] if small else [horizontal(1.0, "dot")])],
    }  # fmt: skip
    return plot(traces, 330, layout)


def _control(random: Sequence[JointSet], place: Mapping[int, int], small: bool) -> list[Attributes]:
    """The band from the smallest to the largest of the random draws at each size."""
    if not random:
        return []
    by_size: dict[int, list[float]] = {}
    for one in random:
        by_size.setdefault(one.k, []).append(round((one.delta_p if small else one.recovered)[0], 4))
    sizes = sorted(by_size)
    x = [place[k] for k in (*sizes, *sizes[::-1])]
    y = [*(max(by_size[k]) for k in sizes), *(min(by_size[k]) for k in sizes[::-1])]
    return [{
        "type": "scatter", "x": x, "y": y, "fill": "toself", "mode": "lines", "fillcolor": style.SHADE,
        "line": {"width": 0.5, "color": style.GREY}, "name": "random sets", "hoverinfo": "skip",
    }]  # fmt: skip


def _range(sets: Sequence[JointSet], small: bool) -> tuple[float, float]:
    """What the top, random and all-head sets need; controls, which can break far more than a gap, may lie outside."""
    values = [v for one in sets if one.name not in _CONTROLS for v in (one.delta_p if small else one.recovered)]
    low, high = min([0.0, *values]), max([0.0 if small else 1.0, *values])
    room = 0.12 * (high - low) or 0.01
    return round(low - room, 4), round(high + room, 4)


def _curve(
    sets: Sequence[JointSet], name: str, place: Mapping[int, int], small: bool, bounds: tuple[float, float]
) -> Attributes:
    """A control in the same heads, without its intervals (they are in the table).

    A value outside of the figure is drawn as an arrowhead at its edge.
    """
    of = sorted((one for one in sets if one.name == name), key=lambda one: one.k)
    colour, dash, symbol = _CONTROLS[name]
    values = [one.delta_p if small else one.recovered for one in of]
    said = [f"{name}: {formats.probability(v)} {formats.interval(low, high)}" for v, low, high in values]
    edge = 0.03 * (bounds[1] - bounds[0])
    shown = [min(max(v, bounds[0] + edge), bounds[1] - edge) for v, _, _ in values]
    symbols = [
        symbol if at == v else "triangle-down" if at > v else "triangle-up"
        for at, (v, _, _) in zip(shown, values, strict=True)
    ]
    return {
        "type": "scatter", "x": [place[one.k] for one in of], "y": [round(v, 4) for v in shown],
        "mode": "lines+markers", "name": name, "text": said, "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": colour, "width": 1.4, "dash": dash},
        "marker": {"size": 7, "symbol": symbols, "color": colour, "line": {"width": 1.5, "color": colour}},
    }  # fmt: skip


def _points(sets: Sequence[JointSet], x: list[int], small: bool, look: tuple[str, str, str]) -> Attributes:
    name, colour, symbol = look
    values = [one.delta_p if small else one.recovered for one in sets]
    said = [
        f"{name}: {formats.listed(one.heads if len(one.heads) <= 8 else [f'{len(one.heads)} heads'])}<br>"
        f"{formats.probability(value)} {formats.interval(low, high)}"
        for one, (value, low, high) in zip(sets, values, strict=True)
    ]
    bars = {
        "type": "data", "symmetric": False, "array": [round(high - value, 4) for value, _, high in values],
        "arrayminus": [round(value - low, 4) for value, low, _ in values], "thickness": 1.4, "width": 0,
        "color": colour,
    }  # fmt: skip
    return {
        "type": "scatter", "x": x, "y": [round(value, 4) for value, _, _ in values], "mode": "lines+markers",
        "name": name, "text": said, "hovertemplate": "%{text}<extra></extra>", "error_y": bars,
        "line": {"color": colour, "width": 1.8}, "marker": {"size": 8, "symbol": symbol, "color": colour},
    }  # fmt: skip
