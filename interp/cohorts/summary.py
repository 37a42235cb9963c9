"""Times of many runs → the tables of a cohort: how many emerged, when, how surely, and whether suites differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from interp.cohorts import verdicts
from interp.cohorts.memoryless import shape
from interp.cohorts.resampling import FEWEST, Resampled, resample, wilson
from interp.cohorts.times import Part, Time, Which
from interp.cohorts.turnbull import Turnbull, turnbull
from interp.values import InputError, Status

COLUMNS = (
    "suite", "task", "part", "parameters", "which", "seeds", "runs", "emerged", "from_start", "censored", "lost",
    "first_step", "last_step", "shared_steps", "solved", "solved_low", "solved_high", "median_pre", "median_post",
    "median_low", "median_high", "horizon", "mean", "mean_low", "mean_high", "shape", "shape_low", "shape_high",
)  # fmt: skip
"""The columns of table `cohort`."""

_INTEGERS = (
    "parameters",
    "first_step",
    "last_step",
    "median_pre",
    "median_post",
    "median_low",
    "median_high",
    "horizon",
)


@dataclass(frozen=True)
class Cohorts:
    """Emergence over seeds: the tables `cohort`, `cohort_tests`, `survival`, `times` (docs/design.md §6), and notes.

    `notes` are sentences: which runs are kept apart or left out, and why.
    """

    which: Which
    cohort: pd.DataFrame
    tests: pd.DataFrame
    survival: pd.DataFrame
    times: pd.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table by its name."""
        return {"cohort": self.cohort, "cohort_tests": self.tests, "survival": self.survival, "times": self.times}


@dataclass(frozen=True)
class _Estimated:
    """A part with its estimate, and the estimates of its resampled runs (`None`: too few runs)."""

    part: Part
    found: Turnbull
    draws: Resampled | None


def summarise(parts: Sequence[Part], which: Which, horizon: int | None = None, notes: Sequence[str] = ()) -> Cohorts:
    """The tables of these parts. `horizon`, in steps, is that of the restricted means.

    Where no horizon is given, it is for each task the earliest last step of its parts of two runs or more, so that
    their means can be held against each other.

    Raises:
        InputError: no part, or a horizon that is no positive step.
    """
    if not parts:
        raise InputError("a cohort needs one run at least; found none")
    if horizon is not None and horizon < 1:
        raise InputError(f"the horizon is step {horizon}; needed: a step above 0")
    estimated = [_estimate(part) for part in parts]
    horizons = {task: horizon or _horizon(parts, task) for task in {part.task for part in parts}}
    curves = [list(_curve(one, which)) for one in estimated]
    rows = [
        _of_part(one, which, horizons[one.part.task]) | _median(one, curve)
        for one, curve in zip(estimated, curves, strict=True)
    ]
    cohort = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(_INTEGERS, "Int64"))
    survival = pd.DataFrame([row for curve in curves for row in curve])
    times = pd.DataFrame([_of_time(part, which, time) for part in parts for time in part.times])
    times = times.astype({"seed": "Int64", "low": "Int64", "high": "Int64"})
    return Cohorts(which, cohort, verdicts.table(parts, which), survival, times, tuple(notes))


def _estimate(part: Part) -> _Estimated:
    low, high = part.bounds
    draws = resample(low, high) if len(part.times) >= FEWEST else None
    return _Estimated(part, turnbull(low, high), draws)


def _horizon(parts: Iterable[Part], task: str) -> int:
    of_task = [part for part in parts if part.task == task]
    return min(part.last for part in [part for part in of_task if len(part.times) > 1] or of_task)


def _of_part(one: _Estimated, which: Which, horizon: int) -> dict[str, object]:
    part, n = one.part, len(one.part.times)
    solved = sum(time.high <= part.last for time in part.times)
    low, high = wilson(solved, n)
    counts = {str(status): sum(time.status is status for time in part.times) for status in Status}
    form = shape(*part.bounds)
    return {
        "suite": part.suite, "task": part.task, "part": part.apart, "parameters": part.parameters or pd.NA,
        "which": which, "seeds": [time.run.seed for time in part.times], "runs": n, **counts,
        "first_step": part.grid[0], "last_step": part.last, "shared_steps": len(part.grid),
        "solved": solved / n, "solved_low": low, "solved_high": high,
        "horizon": horizon,
        **_mean(one, horizon),
        "shape": form.value if form else math.nan, "shape_low": form.low if form else math.nan,
        "shape_high": form.high if form and math.isfinite(form.high) else math.nan,
    }  # fmt: skip


def _median(one: _Estimated, curve: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """The median, and where the intervals of the survival curve let it lie (Brookmeyer and Crowley 1982)."""
    after, by = (row["step"] for row in curve if row["low"] > 0.5), (row["step"] for row in curve if row["high"] < 0.5)
    pre, post = one.found.median
    return {
        "median_pre": _step(pre), "median_post": _step(post),
        "median_low": max(after, default=0), "median_high": next(by, pd.NA),
    }  # fmt: skip


def _mean(one: _Estimated, horizon: int) -> dict[str, float]:
    """The restricted mean, where every run was followed up to the horizon and one emerged by it."""
    if horizon > one.part.last or all(time.high > horizon for time in one.part.times):
        return dict.fromkeys(("mean", "mean_low", "mean_high"), math.nan)
    low, high = one.draws.mean(horizon) if one.draws else (math.nan, math.nan)
    return {"mean": one.found.mean(horizon), "mean_low": low, "mean_high": high}


def _curve(one: _Estimated, which: Which) -> Iterable[dict[str, object]]:
    """Table `survival`: a row at step 0 and at every end of a run's interval."""
    low, high = one.part.bounds
    ends = np.array(sorted({0.0, *low.tolist(), *high[np.isfinite(high)].tolist()}))
    estimate = one.found.survival(ends)
    between = one.draws.survival(ends) if one.draws else np.full((2, len(ends)), math.nan)
    for i, step in enumerate(ends):
        solved, unsolved = int((high <= step).sum()), int((low >= step).sum() - ((low == high) & (high == step)).sum())
        known = solved + unsolved == len(low)
        bounds = wilson(unsolved, len(low)) if known else tuple(between[:, i].tolist())
        yield {
            "suite": one.part.suite, "task": one.part.task, "part": one.part.apart, "which": which, "step": int(step),
            "survival": float(np.clip(estimate[i], 0, 1)), "low": bounds[0], "high": bounds[1],
            "interval": "wilson" if known else "bootstrap" if one.draws else "none",
            "known_solved": solved, "known_unsolved": unsolved, "runs": len(low),
        }  # fmt: skip


def _of_time(part: Part, which: Which, time: Time) -> dict[str, object]:
    return {
        "suite": part.suite, "seed": time.run.seed if time.run.seed is not None else pd.NA, "task": part.task,
        "part": part.apart, "which": which, "status": str(time.status), "low": int(time.low), "high": _step(time.high),
    }  # fmt: skip


def _step(value: float) -> object:
    """A step as an integer; NA where there is none."""
    return round(float(value)) if math.isfinite(value) else pd.NA
