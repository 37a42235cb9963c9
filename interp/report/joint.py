"""What the joint patch of the top heads brings back, beside random sets of equal size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from interp.report.selection import records
from interp.report.views import JointSet, Recovery, Verdict
from interp.values import Direction

REPORTED_K = 2
"""The set size that sentences speak of: the shortest chain, a head that another reads from. It is fixed beforehand,
since the best k, chosen afterwards, would be optimistic."""


def read_sets(joint: pd.DataFrame) -> tuple[JointSet, ...]:
    """The sets of a `joint` table."""
    return tuple(map(_set, records(joint)))


def _set(row: Mapping[str, Any]) -> JointSet:
    return JointSet(
        direction=Direction(row["direction"]),
        name=str(row["set"]),
        k=int(row["k"]),
        heads=tuple(map(str, row["heads"])),
        delta_p=(float(row["delta_p"]), float(row["low"]), float(row["high"])),
        recovered=(float(row["recovered"]), float(row["recovered_low"]), float(row["recovered_high"])),
        gap=(float(row["gap"]), float(row["gap_low"]), float(row["gap_high"])),
    )


def recoveries(sets: Sequence[JointSet]) -> dict[Direction, Recovery]:
    """What the reported set recovers, by direction."""
    found = {}
    for direction in Direction:
        of = [one for one in sets if one.direction is direction]
        tops = sorted((one for one in of if one.name == "top"), key=lambda one: one.k)
        if tops:
            within = [one for one in tops if one.k <= REPORTED_K]
            found[direction] = _recovery(within[-1] if within else tops[0], of)
    return found


def _recovery(top: JointSet, sets: Sequence[JointSet]) -> Recovery:
    random = [one.recovered[0] for one in sets if one.name == "random" and one.k == top.k]
    share, low, high = top.recovered
    return Recovery(
        direction=top.direction,
        k=top.k,
        heads=top.heads,
        delta_p=top.delta_p[0],
        share=share,
        low=low,
        high=high,
        random=(min(random), max(random)) if random else (math.nan, math.nan),
        every=next((one.recovered[0] for one in sets if one.name == "all"), math.nan),
        gap=top.gap,
        verdict=_verdict(share, low, random),
    )


def _verdict(share: float, low: float, random: Sequence[float]) -> Verdict:
    """Recovered = the interval lies above 0 and the share above every random set."""
    if math.isnan(share):
        return "gap too small"
    return "recovered" if low > 0 and all(share > control for control in random) else "not recovered"
