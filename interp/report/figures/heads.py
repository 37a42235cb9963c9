"""The first heads by Δp with their intervals, beside how their patterns changed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, plot, vertical
from interp.report.sentences import bounds
from interp.report.views import Effect, Pair, Signature, score_name
from interp.values import Direction, Head

_EACH = 6
_ROW = 30
_WIDE = 0.34
_LOOK = {Direction.DENOISING: (style.BLUE, "circle", -0.16), Direction.NOISING: (style.ORANGE, "diamond", 0.16)}
_CLAIMS = {True: "causal", False: "not causal", None: "no claim stored"}
_HEADINGS = {"previous_token": "previous-<br>token", "a_1": "a₁<br>(uniform)", "a_G": "a_G<br>(shift)"}


def ranked(pair: Pair) -> Plot | None:
    """The first six heads of each direction: Δp, interval and control, and key scores at both ends.

    A filled mark of Δp is causal; a score's open mark is the earlier end, its filled one the later.
    """
    if not pair.ranking:
        return None
    first = [of.head for effects in pair.ranking.values() for of in effects if of.rank <= _EACH]
    rows = {head: y for y, head in enumerate(dict.fromkeys(first))}
    traces = [_effects(effects, direction, rows) for direction, effects in pair.ranking.items()]
    traces += [_controls(pair, rows)]
    shapes, ranges = [vertical(0.0, "solid")], {}
    for column, score in enumerate(pair.key_scores, 2):
        ends = [pair.signatures[head].scores[score] for head in rows]
        ranges[score] = _range(ends)
        traces += _scores(pair.signatures, score, rows, f"x{column}")
        if score in pair.uniform:
            shapes.append(vertical(pair.uniform[score], "dot", f"x{column}"))
    return plot(traces, 130 + _ROW * len(rows), _layout(rows, ranges) | {"shapes": shapes})


def _range(ends: list[tuple[float, float]]) -> list[float]:
    """From 0 to 1 for every score, so that columns can be compared; wider only where a value lies outside."""
    values = [value for end in ends for value in end if math.isfinite(value)] or [0.0]
    return [min(-0.06, min(values) - 0.05), max(1.06, max(values) + 0.05)]


def _layout(rows: Mapping[Head, int], ranges: Mapping[str, list[float]]) -> Attributes:
    """One column for Δp and one for each score, over one axis of heads."""
    names = list(map(str, rows))
    yaxis = {"range": [len(rows) - 0.5, -0.5], "tickvals": list(rows.values()), "ticktext": names, "zeroline": False}
    layout: Attributes = {"yaxis": yaxis, "margin": {"t": 84}, "legend": {"y": 1 + 42 / (_ROW * len(rows) + 2)}}
    width = (1 - _WIDE) / max(len(ranges), 1)
    headings = []
    for column, name in enumerate(("Δp", *ranges)):
        low, high = (0, _WIDE) if column == 0 else (_WIDE + (column - 1) * width, _WIDE + column * width)
        domain = [low if column == 0 else low + 0.02, high]
        axis = {"domain": domain, "nticks": 4, "zeroline": False} | ({"range": ranges[name]} if column else {})
        layout[f"xaxis{column + 1}" if column else "xaxis"] = axis
        headings.append({
            "text": _HEADINGS.get(name, score_name(name)), "x": sum(domain) / 2, "y": 1, "xref": "paper",
            "yref": "paper", "yanchor": "bottom", "showarrow": False, "font": {"size": 12, "color": style.MUTED},
        })  # fmt: skip
    return layout | {"annotations": headings}


def _effects(effects: tuple[Effect, ...], direction: Direction, rows: Mapping[Head, int]) -> Attributes:
    colour, symbol, shift = _LOOK[direction]
    shown = [of for of in effects if of.head in rows]
    said = [
        f"<b>{of.head}</b> {direction.value}, rank {of.rank}<br>"
        f"Δp {formats.signed(of.delta_p)} {formats.interval(*bounds(of))}<br>"
        f"control {formats.signed(of.control)}; {_CLAIMS[of.causal]}"
        for of in shown
    ]
    bars = {
        "type": "data", "symmetric": False, "thickness": 1.4, "width": 0, "color": colour,
        "array": [round(bounds(of)[1] - of.delta_p, 5) for of in shown],
        "arrayminus": [round(of.delta_p - bounds(of)[0], 5) for of in shown],
    }  # fmt: skip
    symbols = [symbol if of.causal else f"{symbol}-open" for of in shown]
    return {
        "type": "scatter", "x": [round(of.delta_p, 5) for of in shown], "y": [rows[of.head] + shift for of in shown],
        "mode": "markers", "name": f"Δp, {direction.value}", "text": said, "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": symbols, "size": 8, "color": colour, "line": {"width": 1.5, "color": colour}},
        "error_x": bars,
    }  # fmt: skip


def _controls(pair: Pair, rows: Mapping[Head, int]) -> Attributes:
    """An upright line at the control of every candidate that is drawn."""
    places = [
        (round(of.control, 5), rows[of.head] + _LOOK[direction][2], _LOOK[direction][0])
        for direction, effects in pair.ranking.items()
        for of in effects
        if of.head in rows and math.isfinite(of.control)
    ]
    colours = [colour for _, _, colour in places]
    marker = {"symbol": "line-ns-open", "size": 9, "color": colours, "line": {"width": 2, "color": colours}}
    return {
        "type": "scatter", "x": [x for x, _, _ in places], "y": [y for _, y, _ in places], "mode": "markers",
        "name": "source-permuted control", "marker": marker, "hoverinfo": "skip", "showlegend": bool(places),
    }  # fmt: skip


def _scores(looks: Mapping[Head, Signature], score: str, rows: Mapping[Head, int], axis: str) -> list[Attributes]:
    """A line from the earlier to the later score of each head, and a mark at each end."""
    ends = [looks[head].scores[score] for head in rows]
    links = {
        "type": "scatter", "x": [x for a, b in ends for x in (round(a, 4), round(b, 4), None)], "xaxis": axis,
        "y": [v for y in rows.values() for v in (y, y, None)], "mode": "lines", "hoverinfo": "skip",
        "line": {"color": style.GREY, "width": 1.2}, "showlegend": False,
    }  # fmt: skip
    pre = _dots(rows, [a for a, _ in ends], axis, score, ("earlier", "circle-open"))
    return [links, pre, _dots(rows, [b for _, b in ends], axis, score, ("later", "circle"))]


def _dots(rows: Mapping[Head, int], values: list[float], axis: str, score: str, end: tuple[str, str]) -> Attributes:
    name, symbol = end
    marker = {"symbol": symbol, "size": 7, "color": style.GREEN, "line": {"width": 1.5, "color": style.GREEN}}
    return {
        "type": "scatter", "x": [round(value, 4) for value in values], "y": list(rows.values()), "xaxis": axis,
        "mode": "markers", "name": f"score, {name}", "text": list(map(str, rows)), "legendgroup": name,
        "showlegend": axis == "x2", "marker": marker,
        "hovertemplate": f"<b>%{{text}}</b> {score}, {name}: %{{x:.3f}}<extra></extra>",
    }  # fmt: skip
