"""Stored effects, ranks and signatures of heads → values by direction and by head."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from interp.report.views import SCORES, Agreement, Effect, Signature
from interp.values import Direction, Head

CLEAR_SHARE = 0.05
_SIGN = {Direction.DENOISING: 1.0, Direction.NOISING: -1.0}


def records(frame: pd.DataFrame) -> Iterator[Mapping[str, Any]]:
    """The rows of a table as mappings."""
    return ({str(name): value for name, value in row.items()} for row in frame.to_dict("records"))


def read_ranking(heads: pd.DataFrame, gaps: Mapping[Direction, float]) -> dict[Direction, tuple[Effect, ...]]:
    """The effects of a `heads` table by direction, first rank first; `gaps` says how large an effect must be."""
    found: dict[Direction, list[Effect]] = {}
    for row in records(heads):
        direction = Direction(row["direction"])
        delta_p, low, high = float(row["delta_p"]), float(row["low"]), float(row["high"])
        sign = _SIGN[direction]
        least = CLEAR_SHARE * abs(gaps.get(direction, 0.0))
        clear = min(sign * low, sign * high) > 0 and sign * delta_p >= least
        found.setdefault(direction, []).append(Effect(_head(row), delta_p, low, high, int(row["rank"]), clear))
    return {
        direction: tuple(sorted(found[direction], key=lambda of: of.rank))
        for direction in Direction
        if direction in found
    }


def read_signatures(heads: pd.DataFrame) -> dict[Head, Signature]:
    """The labels and scores of a `heads` table by head."""
    found: dict[Head, Signature] = {}
    for row in records(heads):
        scores = {s: (float(row[f"{s}_pre"]), float(row[f"{s}_post"])) for s in SCORES}
        found.setdefault(_head(row), Signature(_label(row["label_pre"]), _label(row["label"]), scores))
    return found


def read_agreement(agreement: pd.DataFrame) -> tuple[Agreement, ...]:
    """The rows of an `agreement` table."""
    return tuple(
        Agreement(Direction(row["direction"]), str(row["score"]), float(row["rho"]), float(row["p_value"]))
        for row in records(agreement)
    )


def read_grids(effects: pd.DataFrame) -> dict[Direction, np.ndarray]:
    """Mean Δp[layer, head] over the prompts, by direction; NaN where a head is not stored."""
    totals: dict[Direction, dict[Head, list[float]]] = {}
    for direction, layer, head, value in zip(
        *(effects[name].tolist() for name in ("direction", "layer", "head", "delta_p")), strict=True
    ):
        totals.setdefault(Direction(direction), {}).setdefault(Head(layer, head), []).append(value)
    found: dict[Direction, np.ndarray] = {}
    for direction, by_head in sorted(totals.items()):
        found[direction] = np.full((max(h.layer for h in by_head) + 1, max(h.head for h in by_head) + 1), math.nan)
        for head, values in by_head.items():
            found[direction][head.layer, head.head] = sum(values) / len(values)
    return found


def read_gaps(effects: pd.DataFrame) -> dict[Direction, float]:
    """Mean p of the donor minus mean p of the recipient, by direction."""
    found: dict[Direction, float] = {}
    for direction in Direction:
        of = effects.loc[effects["direction"] == direction.value]
        if len(of):
            found[direction] = float(of["p_donor"].to_numpy().mean() - of["p_recipient"].to_numpy().mean())
    return found


def distance(signatures: pd.DataFrame, beside: Mapping[Head, Signature]) -> float:
    """The largest difference between the values of a `signatures` table and the later scores beside the heads."""
    worst = 0.0
    for row in records(signatures):
        of = beside.get(_head(row))
        if of is not None and row["score"] in of.scores:
            gap = abs(float(row["value"]) - of.scores[row["score"]][1])
            worst = max(worst, 0.0 if math.isnan(gap) else gap)
    return worst


def read_uniform(signatures: pd.DataFrame) -> dict[str, float]:
    """Each score of uniform attention, from a `signatures` table."""
    return {str(row["score"]): float(row["uniform"]) for row in records(signatures)}


def _head(row: Mapping[str, Any]) -> Head:
    return Head(int(row["layer"]), int(row["head"]))


def _label(value: object) -> str:
    """A label in words; where there is none, nothing."""
    return value.replace("_", "-") if isinstance(value, str) and value != "none" else ""
