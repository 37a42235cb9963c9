"""Frames as the text or JSON that a command prints."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def print_json(rows: Iterable[Mapping[str, Any]] | Mapping[str, Any]) -> None:
    """Rows as one JSON list, or named lists of rows as one object; what is unknown (NaN, NA) is null."""
    print(json.dumps(plain(rows if isinstance(rows, Mapping) else list(rows)), indent=1, ensure_ascii=False))


def print_table(rows: Sequence[Mapping[str, Any]], empty: str) -> None:
    """Rows as aligned columns, or a sentence where there are none."""
    if not rows:
        print(empty)
        return
    names = list(rows[0])
    cells = [[_shown(row[name]) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in [names, *cells]) for i in range(len(names))]
    for line in [names, *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def scan_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """What `scan --json` prints of each run and task."""
    return [
        {
            "run": run_name(row), "seed": row["seed"], "task": row["task"], "status": row["status"],
            "bracket": _pair(row, "pre", "post"), "p": _pair(row, "p_pre", "p_post"),
            "solved": _pair(row, "share_pre", "share_post"), "threshold": row["threshold"],
            "lasting_status": row["lasting_status"], "lasting_bracket": _pair(row, "lasting_pre", "lasting_post"),
            "monotone": row["monotone"], "neighbours": row["neighbours"],
            "lasting_neighbours": row["lasting_neighbours"], "probes": row["probes"], "unprobed": row["unprobed"],
            "unprobed_between": _pair(row, "unprobed_from", "unprobed_to"), "steps": list(row["steps"]),
            "solved_at_steps": list(row["shares"]), "suspect": row.get("suspect", ""),
        }
        for row in frame.to_dict("records")
    ]  # fmt: skip


def patch_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """What `patch --json` prints of each run, task, direction and head."""
    scores = [name for name in frame if str(name).endswith(("_pre", "_post")) and name != "label_pre"]
    return [
        {
            "run": run_name(row), "seed": row["seed"], "task": row["task"], "bracket": [row["pre"], row["post"]],
            "direction": row["direction"], "head": f"L{row['layer']}H{row['head']}",
            "delta_p": row["delta_p"], "interval": [row["low"], row["high"]], "rank": row["rank"],
            "causal": row["causal"], "simultaneous": [row["sim_low"], row["sim_high"]],
            "permuted_95": row["permuted_95"], "delta_log_p": row["delta_log_p"],
            "delta_margin": row["delta_margin"], "solved": row["solved"],
            "label": row["label"], "label_pre": row["label_pre"],
            "signatures": {str(name): row[name] for name in scores},
        }
        for row in frame.to_dict("records")
    ]  # fmt: skip


def recipient_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """What `patch --recipients` prints of each run, task, step and head."""
    return [
        {
            "run": run_name(row), "seed": row["seed"], "task": row["task"],
            "donor": row["post"], "recipient": row["step"],
            "head": row["head"], "delta_p": row["delta_p"], "interval": [row["low"], row["high"]],
            "p_recipient": row["p_recipient"],
        }
        for row in frame.to_dict("records")
    ]  # fmt: skip


def short_patch_rows(frame: pd.DataFrame, top: int = 3) -> list[dict[str, Any]]:
    """What `patch` prints: the first heads of each run, task and direction."""
    keep = ("run", "task", "bracket", "direction", "rank", "head", "delta_p", "interval", "causal", "label")
    return [{name: row[name] for name in keep} for row in patch_rows(frame) if row["rank"] <= top]


def run_name(row: Mapping[str, Any]) -> str:
    """The run that a row with `suite` and `seed` is of."""
    from interp.values import RunId

    return str(RunId(row["suite"], plain(row["seed"])))


def _pair(row: Mapping[str, Any], first: str, second: str) -> list[Any] | None:
    pair = [plain(row[first]), plain(row[second])]
    return None if None in pair else pair


def plain(value: Any) -> Any:
    """A cell or row as plain Python values; what is unknown (NaN, NA) is `None`."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    unknown = value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
    return None if unknown else value


def _shown(value: Any) -> str:
    value = plain(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return " … ".join(_shown(inner) for inner in value)
    return str(value)
