"""When each task emerged: every run's bracket on one step axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interp.report import formats
from interp.report.figures import style
from interp.report.figures.plot import Attributes, Plot, plot
from interp.report.views import Curve, Outcome, Pair
from interp.values import Status

_ROW, _GROUP = 21, 30
_MARKS = {
    Status.EMERGED: ("emerged: first passing step", "circle", style.BLUE),
    Status.FROM_START: ("from start: passes at the first checkpoint", "square-open", style.GREEN),
    Status.CENSORED: ("censored: never passes up to here", "triangle-right-open", style.MUTED),
}


def overview(pairs: Sequence[Pair]) -> Plot | None:
    """One row for each run and task that a scan has judged; only an emerged task has a filled mark."""
    judged = [pair for pair in pairs if pair.outcome is not None and pair.curve is not None]
    if not judged:
        return None
    tasks = list(dict.fromkeys(pair.task for pair in judged))
    rows = {id(pair): y for pair, y in _rows(judged, tasks)}
    labels = {y: formats.plotted(str(pair.run)) for pair, y in _rows(judged, tasks)}
    last = max(pair.curve.steps[-1] for pair in judged if pair.curve is not None)
    height = 110 + _ROW * len(judged) + _GROUP * len(tasks)
    depth = max(labels, default=0.0)
    layout = {
        "xaxis": style.step_axis(last),
        "yaxis": {"tickvals": list(labels), "ticktext": list(labels.values()), "range": [depth + 0.7, -1.2],
                  "showgrid": False, "zeroline": False},
        "hovermode": "closest",
        "annotations": list(_headings(judged, tasks)),
        "margin": {"l": max(70, 16 + 8 * max(map(len, tasks))), "t": 64},
    }  # fmt: skip
    traces = [_evaluated(judged, rows), *_brackets(judged, rows), _spells(judged, rows), *_marks(judged, rows)]
    traces += _lost(judged, rows)
    return plot(traces, height, layout)


def _rows(pairs: Sequence[Pair], tasks: Sequence[str]) -> Iterator[tuple[Pair, float]]:
    y = 0.0
    for task in tasks:
        for pair in pairs:
            if pair.task == task:
                yield pair, y
                y += 1
        y += _GROUP / _ROW


def _headings(pairs: Sequence[Pair], tasks: Sequence[str]) -> Iterator[Attributes]:
    firsts: dict[str, float] = {}
    for pair, y in _rows(pairs, tasks):
        firsts.setdefault(pair.task, y)
    for task, y in firsts.items():
        yield {
            "text": f"<b>{formats.plotted(task)}</b>", "x": 0, "xref": "paper", "xanchor": "right", "xshift": -4,
            "y": y - 0.9, "showarrow": False, "font": {"size": 12, "color": style.INK},
        }  # fmt: skip


def _evaluated(pairs: Sequence[Pair], rows: dict[int, float]) -> Attributes:
    points = [(style.place(s), rows[id(pair)]) for pair in pairs if pair.curve for s in pair.curve.steps]
    marker = {"symbol": "line-ns-open", "size": 5, "color": style.TICK}
    return {
        "type": "scatter", "x": [x for x, _ in points], "y": [y for _, y in points], "mode": "markers",
        "name": "evaluated checkpoint", "marker": marker, "hoverinfo": "skip",
    }  # fmt: skip


def _lines(name: str, spans: Sequence[tuple[float, float, float]], line: Attributes) -> Attributes:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for low, high, y in spans:
        xs += [low, high, None]
        ys += [y, y, None]
    trace = {"type": "scatter", "x": xs, "y": ys, "mode": "lines", "name": name, "line": line, "hoverinfo": "skip"}
    return trace | {"showlegend": bool(spans)}


def _brackets(pairs: Sequence[Pair], rows: dict[int, float]) -> Iterator[Attributes]:
    """The first known bracket of every run, and the lasting one where it is another."""
    for name, which, colour, width in (
        ("bracket: fails at its start, passes at its end", "bracket", style.BLUE, 7),
        ("lasting bracket, where it is later", "later", style.ORANGE, 5),
    ):
        spans = [
            (style.place(bracket.pre), style.place(bracket.post), rows[id(pair)])
            for pair in pairs
            if pair.outcome is not None and (bracket := getattr(pair.outcome, which)) is not None
        ]
        yield _lines(name, spans, {"width": width, "color": colour})


def _spells(pairs: Sequence[Pair], rows: dict[int, float]) -> Attributes:
    """From the first known pass to the last step, for tasks that were lost again."""
    spans = [
        (style.place(_first_pass(pair)), style.place(pair.curve.steps[-1]), rows[id(pair)])
        for pair in pairs
        if pair.outcome is not None and pair.curve is not None and pair.outcome.lost
    ]
    return _lines("from a lost task's first pass", spans, {"width": 1.5, "color": style.ORANGE, "dash": "dot"})


def _lost(pairs: Sequence[Pair], rows: dict[int, float]) -> Iterator[Attributes]:
    """A cross at the last step of every task that was lost again."""
    lost = [(pair, pair.outcome, pair.curve) for pair in pairs if pair.outcome and pair.curve and pair.outcome.lost]
    if lost:
        yield {
            "type": "scatter", "x": [style.place(curve.steps[-1]) for _, _, curve in lost],
            "y": [rows[id(pair)] for pair, _, _ in lost], "mode": "markers", "name": "lost: fails at the last step",
            "text": [_said(*of) for of in lost], "customdata": [pair.anchor for pair, _, _ in lost],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"symbol": "x-thin-open", "size": 10, "color": style.ORANGE,
                       "line": {"width": 2, "color": style.ORANGE}},
        }  # fmt: skip


def _first_pass(pair: Pair) -> int:
    assert pair.outcome is not None
    assert pair.curve is not None
    if pair.outcome.bracket is not None:
        return pair.outcome.bracket.post
    passing = (s for s, x in zip(pair.curve.steps, pair.curve.shares, strict=True) if x >= pair.outcome.threshold)
    return next(passing, pair.curve.steps[0])


def _marks(pairs: Sequence[Pair], rows: dict[int, float]) -> Iterator[Attributes]:
    for status, (name, symbol, colour) in _MARKS.items():
        of_status = [(p, p.outcome, p.curve) for p in pairs if p.outcome and p.curve and p.outcome.status is status]
        if of_status:
            yield {
                "type": "scatter",
                "x": [style.place(_mark_step(o, c)) for _, o, c in of_status],
                "y": [rows[id(p)] for p, _, _ in of_status],
                "mode": "markers",
                "name": name,
                "text": [_said(p, o, c) for p, o, c in of_status],
                "customdata": [p.anchor for p, _, _ in of_status],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2, "color": colour}},
            }


def _mark_step(outcome: Outcome, curve: Curve) -> int:
    if outcome.status is Status.EMERGED and outcome.bracket is not None:
        return outcome.bracket.post
    return curve.steps[0] if outcome.status is Status.FROM_START else curve.steps[-1]


def _said(pair: Pair, outcome: Outcome, curve: Curve) -> str:
    name = f"<b>{formats.plotted(str(pair.run))} · {formats.plotted(pair.task)}</b><br>"
    last = f"step {formats.step(curve.steps[-1])} ({formats.probability(curve.shares[-1])} solved)"
    lost = f"<br>fails at the last, {last}" if outcome.lost else ""
    if outcome.status is Status.EMERGED and outcome.bracket is not None:
        before, after = map(formats.probability, outcome.share)
        ends = (formats.step(outcome.bracket.pre), formats.step(outcome.bracket.post))
        return name + f"fails at step {ends[0]} ({before} solved)<br>passes at step {ends[1]} ({after} solved)" + lost
    if outcome.status is Status.FROM_START:
        return name + f"passes at its first checkpoint, step {formats.step(curve.steps[0])}" + lost
    return name + f"has not passed by {last}"
