"""Emergence over the seeds of every suite: curves, medians and tests, task by task."""

from __future__ import annotations

from interp.cohorts import Cohorts
from interp.report import cohort_tables as tables
from interp.report import figures, formats
from interp.report.blocks import Block, Caption, Choice, Figure, Heading, Option, Points, Rows

_READING = (
    "The share of runs in which the task has emerged by each step, with its 95 % interval (shaded); below it every "
    "run's bracket, the earliest first. An emergence step is known only up to its bracket, and of a censored run only "
    "that it lies beyond the last step: the curve (Turnbull's estimate) takes both as they are, and such runs keep it "
    "below 1. Few seeds say little: the interval is as wide as that."
)
_TABLES = (
    "Median: the step by which half of the runs have emerged, as a bracket, with its bootstrap interval. Mean: the "
    "restricted mean up to the horizon. Shape: of a Weibull fit; 1 would be memoryless. Tests permute which suite a "
    "run is of; with few runs they are not made, and it is said."
)


def blocks(found: Cohorts) -> tuple[Block, ...]:
    """One figure for each task of which several runs stand together, then the tables of all of them."""
    drawn = {str(task): figures.over_seeds(found, str(task)) for task in found.cohort["task"].drop_duplicates()}
    options = tuple(
        Option(task, f"survival-{formats.slug(task)}", (Figure(f"survival-{task}", plot, f"Emergence of {task}"),))
        for task, plot in drawn.items()
        if plot is not None
    )
    said, tests = tuple(tables.sentences(found)), tables.comparisons(found)
    by_task = tuple(
        Rows(f"Share emerged by step, {of.label}", tables.survival(found, of.label), folded=True) for of in options
    )
    return (
        Heading("How many runs have emerged by a step"),
        *((Choice("Task", options), Caption(_READING)) if options else ()),
        Rows("Emergence over seeds", tables.outcomes(found)),
        *((Rows("Tests over seeds and sizes", tests),) if tests.rows else ()),
        Caption(_TABLES),
        *by_task,
        *((Points(said),) if said else ()),
    )
