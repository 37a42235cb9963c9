"""Emergence times as far as they are known: for each run an interval (low, high] of steps, at times without an end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp.values import InputError, RunId, Status

Which = Literal["first", "lasting"]


@dataclass(frozen=True)
class Time:
    """When a task emerged in one run: after step `low`, at `high` at the latest; `high` is infinite where it did not.

    Equal ends are a time that is known: a task that passes at step 0 emerged at step 0.
    """

    run: RunId
    status: Status
    low: float
    high: float

    def within(self, grid: Sequence[int]) -> Time:
        """What is known of the same time by somebody who looked at the steps of `grid` alone: a wider interval."""
        if self.low == self.high == grid[0]:
            return self
        low = max((step for step in grid if step <= self.low), default=0)
        return replace(self, low=float(low), high=float(min((s for s in grid if s >= self.high), default=math.inf)))


@dataclass(frozen=True)
class Part:
    """Times of one task in the runs of a suite that stand together.

    `apart` is empty for the seeds that are each other's repetitions, else the reason why these runs are no part of
    them. `grid` holds the steps that every run could be searched at. Parts are compared where `conditions` are equal.
    """

    suite: str
    task: str
    apart: str
    times: tuple[Time, ...]
    grid: tuple[int, ...]
    parameters: int | None
    conditions: tuple[str, ...] = ()

    @property
    def bounds(self) -> tuple[Float[np.ndarray, "run"], Float[np.ndarray, "run"]]:
        """Both ends of every run's interval."""
        return np.array([time.low for time in self.times]), np.array([time.high for time in self.times])

    @property
    def last(self) -> int:
        """The last step of the runs."""
        return self.grid[-1]

    def within(self, grid: Sequence[int]) -> Part:
        """The same runs, known at the steps of `grid` alone."""
        return replace(self, times=tuple(time.within(grid) for time in self.times), grid=tuple(grid))


def time_of(run: RunId, row: Mapping[str, Any], which: Which) -> Time:
    """The time that a row of table `emergence` tells: first known emergence, or lasting emergence.

    A run that never passes, and for lasting emergence one that passes and fails at its last step (`lost`), is known
    only to have no such time by that step: (last, ∞). One that passes at its first step has (0, first].

    Raises:
        InputError: the row is of a table without lasting emergence.
    """
    prefix = "" if which == "first" else "lasting_"
    if f"{prefix}status" not in row:
        raise InputError(
            f"the scan of {run} tells the first emergence of {row['task']} only; needed for --which lasting: a scan "
            "of this version (run `interp scan` again)"
        )
    status, pre, post = Status(row[f"{prefix}status"]), row[f"{prefix}pre"], row[f"{prefix}post"]
    first, last = float(row["steps"][0]), float(row["steps"][-1])
    if which == "first" and status is Status.LOST:  # older tables: it had emerged, whatever came after
        status = Status.FROM_START if pd.isna(pre) else Status.EMERGED
    if status is Status.EMERGED:
        return Time(run, status, float(pre), float(post))
    if status is Status.FROM_START:
        return Time(run, status, 0.0, first)
    return Time(run, status, last, math.inf)


def shared(grids: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The steps that all grids hold, ascending."""
    return tuple(sorted(set(grids[0]).intersection(*grids[1:]))) if grids else ()
