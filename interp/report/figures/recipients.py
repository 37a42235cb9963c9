"""Δp of the later patterns by the step of the checkpoint that they are written into."""

from __future__ import annotations

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, band, horizontal, plot
from interp.report.views import Pair, Receiving

_LOOKS = (
    (style.BLUE, "circle", "solid"), (style.ORANGE, "diamond", "dash"), (style.GREEN, "square", "dot"),
    (style.MUTED, "x-thin-open", "dashdot"),
)  # fmt: skip


def recipients(pair: Pair) -> Plot | None:
    """Mean Δp and interval at each recipient's step, one line for each head and one for all of them jointly."""
    if not pair.recipients:
        return None
    single = [of for of in pair.recipients if of.head != "joint"]
    traces = [_line(of, _LOOKS[i % len(_LOOKS)]) for i, of in enumerate(single)]
    traces += [_line(of, (style.INK, "star", "solid")) for of in pair.recipients if of.head == "joint"]
    shapes = [horizontal(0.0, "solid")]
    if pair.ends is not None:
        shapes.append(band(style.place(pair.ends.pre), style.place(pair.ends.post)))
    layout = {
        "xaxis": style.step_axis(max(of.steps[-1] for of in pair.recipients)) | {"title": {"text": "recipient’s step"}},
        "yaxis": {"title": {"text": "Δp"}, "zeroline": False},
        "shapes": shapes,
        "hovermode": "closest",
    }
    return plot(traces, 330, layout)


def _line(of: Receiving, look: tuple[str, str, str]) -> Attributes:
    colour, symbol, dash = look
    name = "all jointly" if of.head == "joint" else of.head
    said = [
        f"<b>{formats.plotted(name)}</b> into step {formats.step(step)}<br>Δp {formats.measured(delta)}<br>"
        f"p without it {formats.probability(p)}"
        for step, delta, p in zip(of.steps, of.delta_p, of.p_recipient, strict=True)
    ]
    bars = {
        "type": "data", "symmetric": False, "thickness": 1.2, "width": 0, "color": colour,
        "array": [round(high - value, 5) for value, _, high in of.delta_p],
        "arrayminus": [round(value - low, 5) for value, low, _ in of.delta_p],
    }  # fmt: skip
    return {
        "type": "scatter", "x": [style.place(step) for step in of.steps], "y": [round(v, 5) for v, _, _ in of.delta_p],
        "mode": "lines+markers", "name": formats.plotted(name), "text": said, "error_y": bars,
        "hovertemplate": "%{text}<extra></extra>", "line": {"color": colour, "width": 1.8, "dash": dash},
        "marker": {"symbol": symbol, "size": 7, "color": colour},
    }  # fmt: skip
