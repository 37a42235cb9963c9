"""Cohorts → tables of words, the same for the page and the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from interp.cohorts import Cohorts
from interp.cohorts.memoryless import FEWEST
from interp.report import formats
from interp.report.display import Table
from interp.report.head_values import records

_TESTS = {"log_rank": "log-rank: do suites differ?", "trend": "trend over sizes", "memoryless": "memoryless?"}


def outcomes(found: Cohorts) -> Table:
    """How many runs of each suite and task emerged, and when: median, restricted mean and Weibull shape."""
    columns = ("suite", "task", "emerged", "share", "interval", "median in", "interval", "mean to horizon", "interval",
               "horizon", "shape", "interval")  # fmt: skip
    return Table(columns, tuple(map(_outcome, records(found.cohort))), words=2)


def _outcome(row: Mapping[str, Any]) -> tuple[str, ...]:
    emerged, extra = (
        row["emerged"] + row["from_start"],
        f", {row['from_start']} from start" if row["from_start"] else "",
    )
    return (
        row["suite"] + (f" ({row['part']})" if row["part"] else ""),
        row["task"],
        f"{emerged} of {row['runs']}{extra}",
        formats.probability(row["solved"]),
        f"[{formats.probability(row['solved_low'])}, {formats.probability(row['solved_high'])}]",
        _bracket(row),
        _steps(row["median_low"], row["median_high"], row["last_step"]),
        formats.NONE if math.isnan(row["mean"]) else formats.step(round(row["mean"])),
        formats.NONE if math.isnan(row["mean_low"]) else _steps(round(row["mean_low"]), round(row["mean_high"]), 0),
        formats.step(row["horizon"]),
        formats.NONE if math.isnan(row["shape"]) else f"{row['shape']:.2f}",
        formats.NONE if math.isnan(row["shape"]) else f"[{row['shape_low']:.2f}, {_open(row['shape_high'])}]",
    )


def _bracket(row: Mapping[str, Any]) -> str:
    pre, post = _step(row["median_pre"]), _step(row["median_post"])
    if post is None:
        return f"> {formats.step(row['last_step'])}"
    return formats.step(post) if pre == post else f"({formats.step(pre)}, {formats.step(post)}]"


def _steps(low: Any, high: Any, last: int) -> str:
    """An interval of steps; without an upper end it goes beyond the last step."""
    low, high = _step(low), _step(high)
    if low is None:
        return formats.NONE
    if high is None:
        beyond = f"> {formats.step(last)}"
        return beyond if low == last else f"[{formats.step(low)}, {beyond}]"
    return f"[{formats.step(low)}, {formats.step(high)}]"


def _step(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _open(value: float) -> str:
    return "∞" if math.isnan(value) else f"{value:.2f}"


def comparisons(found: Cohorts) -> Table:
    """The tests that were made, and the comparisons that were refused; p-values corrected for all of them (Holm)."""
    columns = ("task", "test", "suites", "how", "runs", "statistic", "p", "p (Holm)")
    rows = [row for row in records(found.tests) if row["tested"] or row["test"] != "memoryless"]
    return Table(columns, tuple(map(_test, rows)), words=4)


def _test(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["task"],
        _TESTS[row["test"]],
        ", ".join(row["suites"]),
        row["said"],
        ", ".join(map(str, row["runs"])),
        formats.NONE if math.isnan(row["statistic"]) else f"{row['statistic']:+.2f}".replace("-", "−"),
        _p(row["p_value"]),
        _p(row["p_holm"]),
    )


def _p(value: float) -> str:
    return formats.NONE if math.isnan(value) else "< .001" if value < 0.001 else formats.probability(value)


def survival(found: Cohorts, task: str) -> Table:
    """The numbers of the figure: the share of runs that have emerged by each step, with its interval."""
    columns = ("suite", "interval by", "step", "emerged by then", "low", "high", "known to have", "known not to have")
    rows = tuple(map(_share, records(found.survival.loc[found.survival["task"] == task])))
    return Table(columns, rows, words=2)


def _share(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["suite"] + (f" ({row['part']})" if row["part"] else ""),
        {"wilson": "Wilson", "bootstrap": "bootstrap", "none": "too few runs"}[row["interval"]],
        formats.step(row["step"]),
        formats.probability(1 - row["survival"]),
        formats.probability(1 - row["high"]),
        formats.probability(1 - row["low"]),
        f"{row['known_solved']} of {row['runs']}",
        f"{row['known_unsolved']} of {row['runs']}",
    )


def sentences(found: Cohorts) -> Iterator[str]:
    """What a reader must know beside the tables."""
    yield from map(formats.sentence, found.notes)
    if any(row["test"] == "memoryless" and not row["tested"] for row in records(found.tests)):
        yield (
            f"Whether times are memoryless (shape 1) is tested with {FEWEST} runs or more; with fewer the shape "
            "describes them and is no verdict."
        )
    for row in records(found.cohort):
        if row["lost"]:
            runs = formats.counted(row["runs"], "run")
            yield f"{row['suite']} · {row['task']}: lost again in {row['lost']} of {runs}, counted as not emerged."
