"""Experiments as sections of a page: what each shows, its figures, and the rows that a terminal prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from interp.labs.copy_head.catalogue import EXPERIMENTS
from interp.labs.copy_head.experiment import Experiment
from interp.labs.copy_head.setting import Setting
from interp.report import formats
from interp.report.blocks import Block, Caption, Figure, Heading, Rows, Section
from interp.report.display import Table
from interp.store import Result, Store

ABOUT = (
    "One attention layer learns to output the previous token. The account is that of Lavie et al. 2026 (arXiv "
    "2606.12058); the formulas, sizes and conventions are our own derivation, for the paper's text was not at hand: "
    "nothing here is its equations, and its scalings were used to choose among conventions. Transitions are in the "
    "number of training sequences P, not in training time."
)
# narrower pages scroll the figure
_WIDTH = 560


class Done(NamedTuple):
    """An experiment and its table."""

    experiment: Experiment
    frame: pd.DataFrame


def sections(done: Sequence[Done]) -> tuple[Section, ...]:
    """One section for each experiment."""
    return tuple(Section(one.experiment.name, one.experiment.title, blocks(one)) for one in done)


def stored(stores: Sequence[Store]) -> Section | None:
    """The newest table of every experiment that these stores hold, in one section; nothing where they hold none."""
    found: list[Block] = []
    for experiment in EXPERIMENTS:
        results = [result for store in stores for result in store.results(experiment.kind)]
        if results:
            newest = max(results, key=lambda result: str(result.facts["made"]))
            shown = blocks(Done(experiment, newest.frame), folded=True)
            found += [Heading(f"{experiment.title} ({_setting(newest)})"), *shown]
    return Section("copy-head", "Lab: the copy-head phase transition", (Caption(ABOUT), *found)) if found else None


def blocks(done: Done, folded: bool = False) -> tuple[Block, ...]:
    """What the experiment shows, its figures, and its rows; `folded` ones are opened by the reader."""
    of, frame = done
    drawn = [
        Figure(f"copy-head-{of.name}-{i}", plot, f"{of.title}, figure {i}", _WIDTH)
        for i, plot in enumerate(of.figures(frame), 1)
    ]
    # without figures the rows are what is shown
    rows = _rows(of.title, of.short(frame), folded and bool(drawn))
    return (Caption(of.shows), *drawn, *rows)


def _setting(result: Result) -> Setting:
    return Setting(**result.made_from["size"]["setting"])


def _rows(name: str, rows: Sequence[dict[str, Any]], folded: bool) -> Iterator[Rows]:
    if not rows:
        return
    cells = tuple(tuple(_said(value) for value in row.values()) for row in rows)
    columns = tuple(map(str, rows[0]))
    worded = [i for i in range(len(columns)) if any(isinstance(list(row.values())[i], str) for row in rows)]
    yield Rows(name, Table(columns, cells, words=max(worded, default=-1) + 1), folded)


def _said(value: Any) -> str:
    if isinstance(value, list):
        return " … ".join(_said(one) for one in value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return formats.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    # what is below 5e-5 is nothing at the precision of these tables; + 0 takes the sign from −0
    return f"{round(value, 4) + 0.0:.4g}" if isinstance(value, float) else str(value)
