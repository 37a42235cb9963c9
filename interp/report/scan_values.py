"""Stored scans and evaluations → outcome and curve of one task in one run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from interp.report.views import Curve, Outcome
from interp.store import Result
from interp.values import Bracket, Status


def read_outcome(row: Mapping[str, Any]) -> Outcome:
    """A row of an `emergence` table; what an older table does not tell is left open.

    Older tables called a task lost that had passed once: it emerged (or passed from the start), and did not last.
    """
    status, bracket = Status(row["status"]), _bracket(row, "pre", "post")
    lasting = str(row.get("lasting_status", ""))
    if status is Status.LOST:
        status, lasting = Status.EMERGED if bracket else Status.FROM_START, "lost"
    return Outcome(
        status=status,
        bracket=bracket,
        share=(_number(row, "share_pre"), _number(row, "share_post")),
        p=(_number(row, "p_pre"), _number(row, "p_post")),
        threshold=float(row["threshold"]),
        monotone=bool(row["monotone"]),
        lasting=lasting,
        lasting_bracket=_bracket(row, "lasting_pre", "lasting_post"),
        neighbours=_true(row.get("neighbours", True)),
        unprobed=_unprobed(row),
    )


def _bracket(row: Mapping[str, Any], low: str, high: str) -> Bracket | None:
    known = not any(pd.isna(row.get(end)) for end in (low, high))
    return Bracket(int(row[low]), int(row[high])) if known else None


def _number(row: Mapping[str, Any], name: str) -> float:
    return math.nan if pd.isna(row[name]) else float(row[name])


def _true(value: Any) -> bool:
    """A stored truth value; where it is unknown there is nothing to say."""
    return True if pd.isna(value) else bool(value)


def _unprobed(row: Mapping[str, Any]) -> tuple[int, int, int] | None:
    found = [row.get(name) for name in ("unprobed", "unprobed_from", "unprobed_to")]
    known = not any(pd.isna(value) for value in found) and found[0]
    return (int(found[0]), int(found[1]), int(found[2])) if known else None  # pyright: ignore[reportArgumentType]


def read_curve(
    row: Mapping[str, Any] | None, stored: pd.DataFrame | None, evaluations: Sequence[Result]
) -> Curve | None:
    """The `curves` table where there is one, else what the scan saw, else what the evaluations say."""
    if stored is not None:
        return _with_intervals(stored.sort_values("step"))
    if row is not None:
        seen = {int(s): (float(x), float(p)) for s, x, p in zip(row["steps"], row["shares"], row["ps"], strict=True)}
    else:
        seen = {}
        for result in evaluations:
            if result.facts["role"] in ("search", "single"):
                solved, p = (result.frame[name].to_numpy(dtype=float).mean() for name in ("solved", "p"))
                seen.setdefault(int(result.facts["step"]), (float(solved), float(p)))
    steps = tuple(sorted(seen))
    return Curve(steps, tuple(seen[s][0] for s in steps), tuple(seen[s][1] for s in steps)) if steps else None


def _with_intervals(stored: pd.DataFrame) -> Curve:
    def values(name: str) -> tuple[float, ...]:
        return tuple(float(value) for value in stored[name])

    return Curve(
        tuple(int(step) for step in stored["step"]),
        values("share"),
        values("p"),
        tuple(zip(values("share_low"), values("share_high"), strict=True)),
        tuple(zip(values("p_low"), values("p_high"), strict=True)),
    )
