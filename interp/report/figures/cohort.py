"""Emergence over seeds: the share of runs that have emerged by each step, and every run's bracket below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interp.cohorts import Cohorts
from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, plot, title
from interp.report.head_values import records
from interp.values import RunId

_ROW, _CURVES = 17, 250
_LOOKS = ((style.BLUE, "solid"), (style.ORANGE, "dash"), (style.GREEN, "dot"), (style.INK, "dashdot"))
_MARKS = {
    "emerged": ("emerged: first passing step", "circle"),
    "from_start": ("passes at the first checkpoint", "square-open"),
    "censored": ("censored: not by its last step", "triangle-right-open"),
    "lost": ("lost: passed, fails at its last step", "x-thin-open"),
}

Rows = Sequence[Mapping[str, Any]]


def over_seeds(found: Cohorts, task: str) -> Plot | None:
    """Cumulative emergence of a task in every suite whose seeds stand together; `None` where there is none.

    The curve rises at the first step by which a run is known to have emerged; the band is the 95 % interval, its upper
    edge rising where it can have emerged at the earliest. Runs that never emerge keep the curve below 1.
    """
    suites = list(dict.fromkeys(str(row["suite"]) for row in _of(found.times, task)))
    if not suites:
        return None
    times = sorted(_of(found.times, task), key=lambda row: (suites.index(row["suite"]), _end(row)))
    looks = {suite: _LOOKS[i % len(_LOOKS)] for i, suite in enumerate(suites)}
    traces = [trace for suite in suites for trace in _curves(found, task, suite, looks[suite])]
    traces += [*_brackets(times, looks), *_marks(times, looks)]
    height = _CURVES + _ROW * len(times) + 90
    split = (_ROW * len(times) + 20) / (height - 90)
    names = [formats.plotted(str(_run(row))) for row in times]
    last = max(int(row["step"]) for row in _of(found.survival, task))
    axis = style.step_axis(last)
    layout = {
        "title": title(formats.plotted(f"{task}: {found.which} emergence")),
        "xaxis": axis | {"anchor": "y2"},
        "yaxis": {"domain": [split, 1], "range": [-0.03, 1.04], "title": {"text": "share of runs emerged"}},
        "yaxis2": {"domain": [0, split - 0.03], "range": [len(times) - 0.3, -0.7], "tickvals": list(range(len(times))),
                   "ticktext": names, "showgrid": False, "zeroline": False},
        "hovermode": "closest",
        "margin": {"t": 84},
    }  # fmt: skip
    return plot(traces, height, layout)


def _of(frame: Any, task: str) -> Rows:
    """The rows of a task in the seeds that stand together."""
    return list(records(frame.loc[(frame["task"] == task) & (frame["part"] == "")]))


def _run(row: Mapping[str, Any]) -> RunId:
    return RunId(str(row["suite"]), int(row["seed"]))


def _end(row: Mapping[str, Any]) -> float:
    return float("inf") if _censored(row) else float(row["high"])


def _censored(row: Mapping[str, Any]) -> bool:
    return row["status"] in ("censored", "lost")


def _curves(found: Cohorts, task: str, suite: str, look: tuple[str, str]) -> Iterator[Attributes]:
    rows = [row for row in _of(found.survival, task) if row["suite"] == suite]
    steps = [style.place(row["step"]) for row in rows]
    colour, dash = look
    if all(row["interval"] != "none" for row in rows):
        lower, upper = [1 - row["high"] for row in rows], [1 - row["low"] for row in rows]
        late, early = _stairs(steps, lower, late=True), _stairs(steps, upper, late=False)
        outline = [*late, *early[::-1]]
        yield {
            "type": "scatter", "x": [x for x, _ in outline], "y": [round(y, 4) for _, y in outline], "fill": "toself",
            "fillcolor": colour, "line": {"width": 0, "color": colour}, "mode": "lines", "opacity": 0.2,
            "hoverinfo": "skip", "showlegend": False, "legendgroup": suite,
        }  # fmt: skip
    said = [
        f"{formats.plotted(suite)}: {formats.probability(1 - row['survival'])} by step {formats.step(row['step'])} "
        f"[{formats.probability(1 - row['high'])}, {formats.probability(1 - row['low'])}]"
        for row in rows
    ]
    yield {
        "type": "scatter", "x": steps, "y": [round(1 - row["survival"], 4) for row in rows], "mode": "lines",
        "line": {"shape": "hv", "color": colour, "dash": dash, "width": 2}, "name": formats.plotted(suite),
        "text": said, "hovertemplate": "%{text}<extra></extra>", "legendgroup": suite,
    }  # fmt: skip


def _stairs(x: Sequence[float], y: Sequence[float], late: bool) -> list[tuple[float, float]]:
    """Corners of a rising curve that rises at the right end of every stretch (`late`), or at its left end."""
    corners = [(x[0], y[0])]
    for i in range(1, len(x)):
        corners += [(x[i], y[i - 1]), (x[i], y[i])] if late else [(x[i - 1], y[i]), (x[i], y[i])]
    return corners


def _brackets(times: Rows, looks: Mapping[str, tuple[str, str]]) -> Iterator[Attributes]:
    for suite, (colour, _) in looks.items():
        xs: list[float | None] = []
        ys: list[float | None] = []
        for y, row in enumerate(times):
            if row["suite"] == suite and not _censored(row):
                xs += [style.place(int(row["low"])), style.place(int(row["high"])), None]
                ys += [y, y, None]
        yield {
            "type": "scatter", "x": xs, "y": ys, "yaxis": "y2", "mode": "lines", "hoverinfo": "skip",
            "line": {"width": 6, "color": colour}, "showlegend": False, "legendgroup": suite,
        }  # fmt: skip


def _marks(times: Rows, looks: Mapping[str, tuple[str, str]]) -> Iterator[Attributes]:
    for status, (name, symbol) in _MARKS.items():
        of_status = [(y, row) for y, row in enumerate(times) if row["status"] == status]
        if of_status:
            colours = [looks[str(row["suite"])][0] for _, row in of_status]
            marker = {"symbol": symbol, "size": 9, "color": colours, "line": {"width": 2, "color": colours}}
            yield {
                "type": "scatter", "x": [_place(row) for _, row in of_status], "y": [y for y, _ in of_status],
                "yaxis": "y2", "mode": "markers", "marker": marker, "name": name,
                "text": [_said(row) for _, row in of_status], "hovertemplate": "%{text}<extra></extra>",
            }  # fmt: skip


def _place(row: Mapping[str, Any]) -> float:
    return style.place(int(row["low"] if _censored(row) else row["high"]))


def _said(row: Mapping[str, Any]) -> str:
    run = formats.plotted(str(_run(row)))
    if _censored(row):
        return f"{run}: {row['status']}, not by step {formats.step(int(row['low']))}"
    return f"{run}: above step {formats.step(int(row['low']))}, by step {formats.step(int(row['high']))}"
