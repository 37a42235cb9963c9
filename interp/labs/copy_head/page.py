"""Experiments as one HTML file: what each shows, its figures, and the table that a terminal prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import plotly.offline
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from interp.labs.copy_head.experiment import Experiment
from interp.values import InputError


class Done(NamedTuple):
    """An experiment and its table."""

    experiment: Experiment
    frame: pd.DataFrame


def write(done: Sequence[Done], out: Path, command: str) -> Path:
    """Write experiments as one HTML file that opens without a network; gives its path.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page(done, command), encoding="utf-8")
    except OSError as error:
        raise InputError(f"the page {out} cannot be written: {error.strerror}") from error
    return out


def page(done: Sequence[Done], command: str) -> str:
    """The whole document."""
    parts = [
        {
            "experiment": one.experiment, "rows": _cells(one.experiment.short(one.frame)),
            "figures": [_figure(plot.figure()) for plot in one.experiment.figures(one.frame)],
        }
        for one in done
    ]  # fmt: skip
    environment = Environment(
        loader=PackageLoader("interp.labs.copy_head", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    library = Markup(plotly.offline.get_plotlyjs())
    return environment.get_template("lab.html.j2").render(parts=parts, command=command, library=library)


def _figure(figure: Any) -> Markup:
    return Markup(figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False}))


def _cells(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """A heading and rows of text."""
    if not rows:
        return []
    return [list(map(str, rows[0])), *([_said(value) for value in row.values()] for row in rows)]


def _said(value: Any) -> str:
    if isinstance(value, list):
        return " … ".join(_said(one) for one in value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
