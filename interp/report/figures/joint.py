"""How much of the gap the top heads bring back together, beside random sets of equal size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, horizontal, plot, title
from interp.report.views import JointSet, Pair
from interp.values import Direction


def joint_patch(pair: Pair) -> Mapping[Direction, Plot]:
    """One figure per direction: recovered fraction against set size, or Δp where the gap is too small to divide by."""
    by_direction = {d: [one for one in pair.joint if one.direction is d] for d in Direction}
    return {direction: _figure(sets, direction) for direction, sets in by_direction.items() if sets}


def _figure(sets: Sequence[JointSet], direction: Direction) -> Plot:
    small = any(math.isnan(one.recovered[0]) for one in sets)
    top = sorted((one for one in sets if one.name == "top"), key=lambda one: one.k)
    every = [one for one in sets if one.name == "all"]
    place = {k: i for i, k in enumerate(sorted({one.k for one in sets if one.name in ("top", "random")}), 1)}
    ticks = {i: str(k) for k, i in place.items()}
    end = len(ticks) + 1
    if every:
        ticks[end] = f"all {every[0].k}"
    traces = [
        *_control([one for one in sets if one.name == "random"], place, small),
        _points(top, [place[one.k] for one in top], small, ("top k heads", style.BLUE, "circle")),
        *([_points(every, [end], small, ("all heads", style.ORANGE, "diamond"))] if every else []),
    ]
    layout = {
        "title": title(direction.value),
        "margin": {"t": 74},
        "xaxis": {"tickvals": list(ticks), "ticktext": list(ticks.values()), "zeroline": False, "showgrid": False,
                  "title": {"text": "heads patched together"}, "range": [0.5, end + 0.5]},
        "yaxis": {"title": {"text": "Δp" if small else "recovered fraction of the gap"}, "zeroline": False},
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
        "line": {"width": 0.5, "color": style.GREY}, "name": "random sets, all draws", "hoverinfo": "skip",
    }]  # fmt: skip


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
