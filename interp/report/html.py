"""View → one HTML file: text and tables as they are, figures and plotly.js compressed, nothing loaded from outside."""

from __future__ import annotations

import base64
import gzip
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import plotly.offline
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from interp.report import display, figures, formats, head_tables, sentences
from interp.report.figures import style
from interp.report.figures.plot import Plot
from interp.report.joint import REPORTED_K
from interp.report.views import Pair, View
from interp.values import Direction, Status


@dataclass(frozen=True)
class PairPage:
    """One run and task, ready to be laid out; `plots` holds its figures' heights by name."""

    pair: Pair
    sentences: tuple[str, ...]
    plots: Mapping[str, int]
    payload: Markup
    first_of_run: str
    first_of_task: str
    no_effects: str
    command: str


def page(view: View, title: str | None, command: str | None) -> str:
    """The whole document."""
    overview = figures.overview(view.pairs)
    drawn = {} if overview is None else {"overview": overview}
    return _environment().get_template("page.html.j2").render(
        title=title or _title(view),
        view=view,
        pages=_pages(view),
        answer=sentences.answer(view),
        overview=None if overview is None else overview.layout["height"],
        overview_payload=_payload(drawn),
        command=command,
        theme=_packed(json.dumps(_theme())),
        library=_library(),
        display=display,
        head_tables=head_tables,
        formats=formats,
        directions=tuple(Direction),
        reported_k=REPORTED_K,
        style=_asset("style.css"),
        script=_asset("script.js"),
    )  # fmt: skip


def _title(view: View) -> str:
    return f"{formats.listed(dict.fromkeys(run.suite for run in view.runs))}: what emerged, when, and which heads"


def _pages(view: View) -> tuple[PairPage, ...]:
    runs, tasks = set(), set()
    pages = []
    for pair in view.pairs:
        plots = _plots(pair)
        run, task = f"run-{formats.run_slug(pair.run)}", f"task-{formats.slug(pair.task)}"
        pages.append(
            PairPage(
                pair=pair,
                sentences=sentences.answer_of(pair),
                plots={name: plot.layout["height"] for name, plot in plots.items()},
                payload=_payload(plots),
                first_of_run="" if run in runs else run,
                first_of_task="" if task in tasks else task,
                no_effects=_no_effects(pair),
                command=_command("patch", pair),
            )
        )
        runs.add(run)
        tasks.add(task)
    return tuple(pages)


def _plots(pair: Pair) -> dict[str, Plot]:
    """Every figure of a run and task, by the name that the page draws it under."""
    found: dict[str, Plot | None] = {"curve": figures.curve(pair), "heads": figures.ranked(pair)}
    found |= {f"grid-{direction}": plot for direction, plot in figures.grids(pair).items()}
    found |= {f"joint-{direction}": plot for direction, plot in figures.joint_patch(pair).items()}
    if pair.patterns is not None:
        for of in pair.patterns.heads:
            for end, weights in (("pre", of.pre), ("post", of.post)):
                if weights is not None:
                    found[f"pattern-{of.head}-{end}"] = figures.pattern(weights, pair.patterns.pieces, _end(pair, end))
    return {name: plot for name, plot in found.items() if plot is not None}


def _end(pair: Pair, end: str) -> str:
    if pair.ends is None:
        return end
    step = pair.ends.pre if end == "pre" else pair.ends.post
    return f"{'earlier' if end == 'pre' else 'later'}: step {formats.step(step)}"


def _no_effects(pair: Pair) -> str:
    """Why a run and task has no effects, in one sentence."""
    if pair.outcome is None or pair.outcome.status is Status.EMERGED:
        return "No effects are stored for this run and task."
    return f"This task is {str(pair.outcome.status).replace('_', ' ')} here, so no effects were measured."


def _command(verb: str, pair: Pair) -> str:
    """The command that would fill in what is missing."""
    seed = [] if pair.run.seed is None else ["--seeds", str(pair.run.seed)]
    return shlex.join(["interp", verb, pair.run.suite, *seed, "--task", pair.task])


def _theme() -> dict[str, Any]:
    return {"dark": style.DARK, "templates": {"light": style.template(False), "dark": style.template(True)}}


def _payload(plots: Mapping[str, Plot]) -> Markup:
    return _packed(
        json.dumps({name: plot.json() for name, plot in plots.items()}, separators=(",", ":"), allow_nan=False)
    )


def _packed(text: str) -> Markup:
    """The text gzipped, in base64: safe inside any element."""
    return Markup(base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode())


@cache
def _library() -> Markup:
    return _packed(plotly.offline.get_plotlyjs())


def _asset(name: str) -> Markup:
    return Markup(resources.files("interp.report").joinpath("templates", name).read_text("utf-8"))


def _environment() -> Environment:
    """Every string is escaped, and its unseen characters are written out, unless it is marked as markup."""
    return Environment(
        loader=PackageLoader("interp.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: object) -> object:
    return formats.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
