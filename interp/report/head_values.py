"""Stored effects, ranks and signatures of heads → values by direction and by head."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from interp.report.selection import records
from interp.report.views import Agreement, Effect, Receiving, Signature
from interp.values import Direction, Head


def read_ranking(heads: pd.DataFrame) -> dict[Direction, tuple[Effect, ...]]:
    """The effects of a `heads` table by direction, first rank first."""
    found: dict[Direction, list[Effect]] = {}
    for row in records(heads):
        found.setdefault(Direction(row["direction"]), []).append(_effect(row))
    return {
        direction: tuple(sorted(found[direction], key=lambda of: of.rank))
        for direction in Direction
        if direction in found
    }


def _effect(row: Mapping[str, Any]) -> Effect:
    return Effect(
        head=_head(row),
        delta_p=float(row["delta_p"]),
        low=float(row["low"]),
        high=float(row["high"]),
        rank=int(row["rank"]),
        simultaneous=(float(row.get("sim_low", math.nan)), float(row.get("sim_high", math.nan))),
        control=float(row.get("permuted_95", math.nan)),
        causal=bool(row["causal"]) if "causal" in row else None,
    )


def read_signatures(heads: pd.DataFrame) -> dict[Head, Signature]:
    """The labels of a `heads` table by head, and every score that it has at both ends."""
    names = [str(name) for name in heads.columns]
    scores = [
        s.removesuffix("_post") for s in names if s.endswith("_post") and f"{s.removesuffix('_post')}_pre" in names
    ]
    found: dict[Head, Signature] = {}
    for row in records(heads):
        ends = {s: (float(row[f"{s}_pre"]), float(row[f"{s}_post"])) for s in scores}
        found.setdefault(_head(row), Signature(_label(row["label_pre"]), _label(row["label"]), ends))
    return found


def read_agreement(agreement: pd.DataFrame) -> tuple[Agreement, ...]:
    """The rows of an `agreement` table."""
    return tuple(
        Agreement(
            Direction(row["direction"]),
            str(row["score"]),
            {k: float(v) for k, v in row.items() if isinstance(v, int | float)},
        )
        for row in records(agreement)
    )


def read_samples(effects: pd.DataFrame) -> dict[Direction, np.ndarray]:
    """Δp[prompt, layer, head] by direction; NaN where a head is not stored."""
    found: dict[Direction, np.ndarray] = {}
    names = effects["direction"].to_numpy()
    axes = [effects[name].to_numpy() for name in ("prompt", "layer", "head")]
    for direction in Direction:
        of = names == direction.value
        if of.any():
            at = tuple(axis[of] for axis in axes)
            found[direction] = np.full([int(axis.max()) + 1 for axis in at], math.nan)
            found[direction][at] = effects["delta_p"].to_numpy()[of]
    return found


def read_recipients(recipients: pd.DataFrame) -> tuple[Receiving, ...]:
    """The rows of a `recipients` table, head by head."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in records(recipients):
        found.setdefault(str(row["head"]), []).append(row)
    return tuple(
        Receiving(
            head,
            tuple(int(row["step"]) for row in of),
            tuple((float(row["delta_p"]), float(row["low"]), float(row["high"])) for row in of),
            tuple(float(row["p_recipient"]) for row in of),
        )
        for head, of in ((head, sorted(of, key=lambda row: row["step"])) for head, of in found.items())
    )


def read_uniform(signatures: pd.DataFrame) -> dict[str, float]:
    """Each score of uniform attention, from a `signatures` table."""
    return {str(row["score"]): float(row["uniform"]) for row in records(signatures.drop_duplicates("score"))}


def read_scores(signatures: pd.DataFrame) -> dict[str, np.ndarray]:
    """Every score [layer, head] of a `signatures` table."""
    names, layer, head = (signatures[name].to_numpy() for name in ("score", "layer", "head"))
    values = signatures["value"].to_numpy(dtype=float)
    shape = int(layer.max()) + 1, int(head.max()) + 1
    found: dict[str, np.ndarray] = {}
    for score in dict.fromkeys(names.tolist()):
        of = names == score
        found[str(score)] = np.full(shape, math.nan)
        found[str(score)][layer[of], head[of]] = values[of]
    return found


def _head(row: Mapping[str, Any]) -> Head:
    return Head(int(row["layer"]), int(row["head"]))


def _label(value: object) -> str:
    """A label in words; where there is none, nothing."""
    return value.replace("_", "-") if isinstance(value, str) and value != "none" else ""
