"""Stored tables → plotly figures, the same as in a report: for notebooks, where they can be changed further."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from interp.report.figures.effects import heat
from interp.report.figures.joint import of_sets
from interp.report.figures.patterns import pattern as pattern_plot
from interp.report.head_values import read_samples
from interp.report.joint import read_sets
from interp.values import Direction, Head, InputError


def delta_p(effects: pd.DataFrame, direction: str = "denoising") -> go.Figure:
    """Mean Δp of every head as a layer × head grid, from table `effects` (or `heads`) of one run and task."""
    frame = effects if "prompt" in effects else effects.assign(prompt=0)
    chosen = _direction(direction, frame)
    mean = read_samples(frame)[chosen].mean(0)
    return heat(mean, max(0.01, float(np.nanmax(np.abs(mean)))), f"{chosen}: Δp", []).figure()


def top_k(joint: pd.DataFrame, direction: str = "denoising") -> go.Figure:
    """The recovered fraction of the top K heads beside every control, from table `joint` of one run and task."""
    chosen = _direction(direction, joint)
    return of_sets([one for one in read_sets(joint) if one.direction is chosen], chosen).figure()


def pattern(patterns: pd.DataFrame, pieces: Sequence[str], head: str | Head, end: str = "post") -> go.Figure:
    """One head's attention on the named prompt, from table `patterns` and the strings of its tokens."""
    of = head if isinstance(head, Head) else Head.parse(head)
    rows = patterns.loc[(patterns["layer"] == of.layer) & (patterns["head"] == of.head) & (patterns["end"] == end)]
    if rows.empty:
        known = sorted({str(Head(int(a), int(b))) for a, b in zip(patterns["layer"], patterns["head"], strict=True)})
        raise InputError(f"no pattern of {of} at '{end}' is in this table; it has {', '.join(known)} at pre and post")
    weights = np.full((len(pieces), len(pieces)), np.nan)
    weights[rows["dest"].to_numpy(), rows["src"].to_numpy()] = rows["weight"].to_numpy()
    return pattern_plot(weights, pieces, f"{of}, {end}").figure()


def _direction(name: str, frame: pd.DataFrame) -> Direction:
    known = list(dict.fromkeys(map(str, frame["direction"])))
    if name not in known:
        raise InputError(f"'{name}' is not a direction of this table; it has {' and '.join(known) or 'none'}")
    return Direction(name)
