"""Two stores in one figure: brackets, curves and top-K curves; the first in blue, the second in orange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.effects import heat
from interp.report.figures.plot import Attributes, Plot, band, horizontal, plot, title
from interp.values import Direction, Status

if TYPE_CHECKING:
    from interp.report.comparing.matching import Matched
    from interp.report.views import Pair

_ROW = 30
_LOOKS = ((style.BLUE, "circle", -0.17), (style.ORANGE, "diamond", 0.17))


def emergence(matched: Sequence[Matched], names: tuple[str, str]) -> Plot | None:
    """One row for each run and task: the bracket in the first store above that in the second."""
    judged = [of for of in matched if of.first.outcome is not None and of.second.outcome is not None]
    if not judged:
        return None
    traces = [
        trace
        for i, name in enumerate(names)
        for trace in _brackets([of.first if i == 0 else of.second for of in judged], name, _LOOKS[i])
    ]
    last = max(pair.curve.steps[-1] for of in judged for pair in (of.first, of.second) if pair.curve is not None)
    layout = {
        "xaxis": style.step_axis(last),
        "yaxis": {"tickvals": list(range(len(judged))), "ticktext": [formats.plotted(of.name) for of in judged],
                  "range": [len(judged) - 0.4, -0.6], "zeroline": False},
        "hovermode": "closest",
        "margin": {"t": 60},
    }  # fmt: skip
    return plot(traces, 110 + _ROW * len(judged), layout)


def _brackets(pairs: Sequence[Pair], name: str, look: tuple[str, str, float]) -> Iterator[Attributes]:
    colour, symbol, shift = look
    xs: list[float | None] = []
    ys: list[float | None] = []
    marks: list[tuple[float, float, str, str]] = []
    for y, pair in enumerate(pairs):
        outcome, curve = pair.outcome, pair.curve
        if outcome is None or curve is None:
            continue
        if outcome.bracket is not None:
            xs += [style.place(outcome.bracket.pre), style.place(outcome.bracket.post), None]
            ys += [y + shift, y + shift, None]
            said = f"fails at {formats.step(outcome.bracket.pre)}, passes at {formats.step(outcome.bracket.post)}"
            marks.append((style.place(outcome.bracket.post), y + shift, symbol, said))
        elif outcome.status is Status.FROM_START:
            marks.append((style.place(curve.steps[0]), y + shift, "square-open", "passes at the first checkpoint"))
        else:
            said = f"not by step {formats.step(curve.steps[-1])}"
            marks.append((style.place(curve.steps[-1]), y + shift, "triangle-right-open", said))
    shown = formats.plotted(name)
    yield {
        "type": "scatter", "x": xs, "y": ys, "mode": "lines", "line": {"width": 5, "color": colour},
        "hoverinfo": "skip", "showlegend": False, "legendgroup": name,
    }  # fmt: skip
    yield {
        "type": "scatter", "x": [x for x, *_ in marks], "y": [y for _, y, *_ in marks], "mode": "markers",
        "name": shown, "legendgroup": name, "text": [f"<b>{shown}</b><br>{said}" for *_, said in marks],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": [symbol for _, _, symbol, _ in marks], "size": 9, "color": colour,
                   "line": {"width": 2, "color": colour}},
    }  # fmt: skip


def curves(of: Matched, names: tuple[str, str]) -> Plot | None:
    """Mean p(answer) over steps in both stores, each bracket shaded."""
    known = [(p, p.curve, n, look) for p, n, look in zip((of.first, of.second), names, _LOOKS, strict=True) if p.curve]
    if not known:
        return None
    traces = [
        {
            "type": "scatter", "x": [style.place(step) for step in curve.steps], "y": [round(p, 4) for p in curve.ps],
            "name": formats.plotted(f"mean p, {name}"), "mode": "lines+markers",
            "customdata": [formats.step(step) for step in curve.steps], "line": {"color": colour, "width": 1.8},
            "marker": {"symbol": symbol, "size": 6, "color": colour},
            "hovertemplate": "%{y:.3f} at step %{customdata}",
        }
        for _, curve, name, (colour, symbol, _) in known
    ]  # fmt: skip
    brackets = [pair.outcome.bracket for pair, *_ in known if pair.outcome is not None and pair.outcome.bracket]
    layout = {
        "xaxis": style.step_axis(max(curve.steps[-1] for _, curve, *_ in known)),
        "yaxis": {"range": [-0.03, 1.05], "title": {"text": "mean p(answer)"}, "zeroline": False},
        "hovermode": "x unified",
        "shapes": [band(style.place(bracket.pre), style.place(bracket.post)) for bracket in brackets],
    }
    return plot(traces, 310, layout)


def grids(of: Matched, names: tuple[str, str], changes: Mapping[Direction, np.ndarray]) -> dict[str, Plot]:
    """Δp in both stores and its change, by `denoising-first` and the like; one colour scale for all of them."""
    every: dict[str, tuple[str, np.ndarray]] = {}
    for direction in Direction:
        for key, name, values in (
            ("first", names[0], of.first.grids.get(direction)),
            ("second", names[1], of.second.grids.get(direction)),
            ("change", f"{names[1]} − {names[0]}", changes.get(direction)),
        ):
            if values is not None:
                every[f"{direction}-{key}"] = (f"{direction}: {name}", values)
    limit = max([0.01, *(float(np.nanmax(np.abs(values))) for _, values in every.values())])
    return {key: heat(values, limit, formats.plotted(said), []) for key, (said, values) in every.items()}


def top_heads(of: Matched, names: tuple[str, str], direction: Direction) -> Plot | None:
    """The recovered fraction of the top K heads in both stores, with intervals."""
    traces = []
    sizes = sorted({one.k for pair in (of.first, of.second) for one in pair.joint if one.name == "top"})
    for pair, name, (colour, symbol, shift) in zip((of.first, of.second), names, _LOOKS, strict=True):
        top = [one for one in pair.joint if one.name == "top" and one.direction is direction]
        top = sorted((one for one in top if one.recovered[0] == one.recovered[0]), key=lambda one: one.k)
        if top:
            traces.append({
                "type": "scatter", "x": [sizes.index(one.k) + shift / 3 for one in top],
                "y": [round(one.recovered[0], 4) for one in top], "mode": "lines+markers",
                "name": formats.plotted(name), "line": {"color": colour, "width": 1.8},
                "marker": {"symbol": symbol, "size": 8, "color": colour},
                "text": [formats.measured(one.recovered) for one in top], "hovertemplate": "%{text}<extra></extra>",
                "error_y": {"type": "data", "symmetric": False, "thickness": 1.4, "width": 0, "color": colour,
                            "array": [round(one.recovered[2] - one.recovered[0], 4) for one in top],
                            "arrayminus": [round(one.recovered[0] - one.recovered[1], 4) for one in top]},
            })  # fmt: skip
    if not traces:
        return None
    layout = {
        "title": title(str(direction)),
        "xaxis": {"tickvals": list(range(len(sizes))), "ticktext": list(map(str, sizes)), "zeroline": False,
                  "showgrid": False, "title": {"text": "heads patched together"}},
        "yaxis": {"title": {"text": "recovered fraction of the gap"}, "zeroline": False},
        "shapes": [horizontal(0.0, "solid"), horizontal(1.0, "dot")],
        "margin": {"t": 70},
    }  # fmt: skip
    return plot(traces, 320, layout)
