"""How P_c, P_x and P* grow with length L and vocabulary V, and where the first-order line ends (theory alone)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import linear, softmax
from interp.labs.copy_head.experiment import Experiment, Lab
from interp.labs.copy_head.setting import FIGURE, UNIT, Setting
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title

_LENGTHS = (30, 60, 120, 240, 480, 960)
_VOCABS = (5, 10, 20, 40, 80)
_LONG = 240
_FAMILIES = {"unit": UNIT, "figure": FIGURE}
_QUANTITIES = ("P_c", "P_x", "P_lower", "P*", "P_upper")
_COLOURS = {"P_c": style.BLUE, "P_x": style.GREEN, "P*": style.ORANGE, "P_upper": style.GREY}
CLAIMED = {
    ("P_c", "vocab"): 2.0, ("P_c", "length"): 0.0, ("P_x", "length"): 1.5, ("P_x", "vocab"): 0.5,
    ("P*", "L ln² L"): 1.0,
}  # fmt: skip
"""The paper's exponents. Our conventions were chosen to have them: agreement is a check, no confirmation."""


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of family, occam, varied (length, vocab), L, V, quantity, value; families are the named prior variances.

    The quick form leaves out what is longer than 240.
    """
    lengths = [n for n in _LENGTHS if lab.size.seeds > 1 or n <= _LONG]
    units = [
        (name, occam, varied, replace(one, **{varied: n, ("vocab" if varied == "length" else "length"): other}))
        for name, one in _FAMILIES.items()
        for occam in (False, True)
        for varied, every, other in (("length", lengths, 10), ("vocab", _VOCABS, _LONG))
        for n in every
    ]
    return pd.DataFrame([row for found in lab.engine.map(thresholds, units, "thresholds", "setting") for row in found])


def thresholds(unit: tuple[str, bool, str, Setting]) -> list[dict[str, Any]]:
    """P_c, P_x, P* and both spinodals of one setting; NaN where there is none."""
    family, occam, varied, setting = unit
    jump = softmax.transition(setting, occam)
    values = {
        "P_c": linear.pooling_threshold(setting, occam), "P_x": linear.crossover(setting, occam),
        "P_lower": jump.lower if jump else math.nan, "P*": jump.equal if jump else math.nan,
        "P_upper": jump.upper if jump else math.nan,
    }  # fmt: skip
    at = {"family": family, "occam": occam, "varied": varied, "length": setting.length, "vocab": setting.vocab}
    return [at | {"quantity": name, "value": value} for name, value in values.items()]


def fits(frame: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent of every quantity, beside the least and greatest local exponent over the range that was fitted.

    The points are exact numbers of the theory, so the range of local exponents, not a standard error, says how far
    from a power law the quantity is. P* is fitted against L ln² L as well.
    """
    rows = []
    for (family, occam, varied, quantity), group in frame.groupby(["family", "occam", "varied", "quantity"]):  # pyright: ignore
        known = group.dropna(subset=["value"]).sort_values(str(varied))
        for against in (varied, *(["L ln² L"] if quantity == "P*" and varied == "length" else [])):
            x = known[str(varied)].to_numpy(float)
            x = np.log(x * np.log(x) ** 2 if against == "L ln² L" else x)
            rows.append({
                "family": family, "occam": occam, "quantity": quantity, "against": against,
                "claimed": CLAIMED.get((str(quantity), str(against)), math.nan),
                **_exponent(x, known["value"].to_numpy()),
                "range": f"{known[str(varied)].min()} to {known[str(varied)].max()}" if len(known) else "none",
            })  # fmt: skip
    return pd.DataFrame(rows)


def _exponent(x: np.ndarray, value: np.ndarray) -> dict[str, float]:
    if len(x) < 2:
        return {"exponent": math.nan, "least": math.nan, "greatest": math.nan}
    y = np.log(value)
    local = np.diff(y) / np.diff(x)
    return {"exponent": float(np.polyfit(x, y, 1)[0]), "least": float(local.min()), "greatest": float(local.max())}


def figures(frame: pd.DataFrame) -> list[Plot]:
    """Thresholds over L and over V, prior variances 1, MAP."""
    chosen = frame.loc[(frame["family"] == "unit") & ~frame["occam"]]
    return [_over(chosen.loc[chosen["varied"] == varied], varied) for varied in ("length", "vocab")]


def _over(frame: pd.DataFrame, varied: str) -> Plot:
    fitted = fits(frame).set_index(["quantity", "against"])["exponent"]
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "name": f"{name}: exponent {fitted[name, varied]:.2f}",
            "x": group[varied].tolist(), "y": group["value"].round(3).tolist(), "line": {"color": _COLOURS[name]},
        }
        for name in _COLOURS
        for group in [frame.loc[frame["quantity"] == name]]
    ]  # fmt: skip
    letter = {"length": "L", "vocab": "V"}[varied]
    axes = {"xaxis": {"type": "log", "title": {"text": letter}}, "yaxis": {"type": "log", "title": {"text": "P"}}}
    held = f"V = {frame['vocab'].iloc[0]}" if varied == "length" else f"L = {frame['length'].iloc[0]}"
    return plot(traces, 380, axes | {"title": title(f"Thresholds over {letter} at {held}, MAP"), "margin": {"t": 80}})


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The fits that the paper's summary speaks of."""
    found = fits(frame)
    return found.loc[found["claimed"].notna() | found["quantity"].isin(["P*", "P_upper"])].to_dict("records")


def end_point(lab: Lab) -> pd.DataFrame:
    """Rows of family, occam, V, L, lower, equal, upper (P; NaN: no jump), jump (of a_G at P*)."""
    vocabs = (5, 10, 20) if lab.size.seeds > 1 else (10,)
    units = [(name, occam, vocab) for name in _FAMILIES for occam in (False, True) for vocab in vocabs]
    return pd.DataFrame([row for found in lab.engine.map(_family, units, "end points", "line") for row in found])


def _family(unit: tuple[str, bool, int]) -> list[dict[str, Any]]:
    """Jumps at every length from 5 to 5 beyond the first one that has any; σ_w² = 1/V in the family `figure`."""
    name, occam, vocab = unit
    variance = 1.0 if name == "unit" else 1 / vocab
    rows, seen = [], 0
    for length in range(5, 81):
        setting = replace(_FAMILIES[name], length=length, vocab=vocab, value_variance=variance)
        jump = softmax.transition(setting, occam)
        row = {"family": name, "occam": occam, "vocab": vocab, "length": length}
        if jump is None:
            rows.append(row | dict.fromkeys(("lower", "equal", "upper", "jump"), math.nan))
            continue
        ends = softmax.shift_of(setting, np.array([jump.lead_pooled, jump.lead_copying]))
        rows.append(row | jump._asdict() | {"jump": float(np.diff(ends)[0])})
        seen += 1
        if seen > 6:
            break
    return [{key: row[key] for key in (*_END_COLUMNS,)} for row in rows]


_END_COLUMNS = ("family", "occam", "vocab", "length", "lower", "equal", "upper", "jump")


def end_figures(frame: pd.DataFrame) -> list[Plot]:
    """Width of the window with two minima over L, by family."""
    traces = []
    for (family, occam, vocab), group in frame.groupby(["family", "occam", "vocab"]):  # pyright: ignore
        known = group.dropna(subset=["equal"])
        traces.append({
            "type": "scatter", "mode": "lines+markers", "x": known["length"].tolist(),
            "y": (known["upper"] / known["lower"] - 1).round(7).tolist(),
            "name": f"{family}, V = {vocab}{', with occam term' if occam else ''}",
        })  # fmt: skip
    axes = {"xaxis": {"title": {"text": "L"}}, "yaxis": {"type": "log", "title": {"text": "window, upper/lower − 1"}}}
    return [
        plot(traces, 380, axes | {"title": title("Width in P of the window with two minima"), "margin": {"t": 110}})
    ]


def end_short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The shortest L with a jump, its window and its size; and the shortest whose window is wider than 1 % of P."""
    rows = []
    for (family, occam, vocab), group in frame.groupby(["family", "occam", "vocab"]):  # pyright: ignore
        known = group.dropna(subset=["equal"]).sort_values("length")
        wide = known.loc[known["upper"] / known["lower"] > 1.01]
        first = known.iloc[0] if len(known) else None
        rows.append({
            "family": family, "occam": bool(occam), "V": vocab,
            "shortest L": None if first is None else int(first["length"]),
            "P*": None if first is None else first["equal"], "jump of a_G": None if first is None else first["jump"],
            "window wider than 1 % from L": int(wide["length"].min()) if len(wide) else None,
        })  # fmt: skip
    return rows


SCALING = Experiment(
    "scaling", "Scaling of the thresholds",
    "P_c of pooling, P_x of the crossover, P* and the upper spinodal of softmax over length and vocabulary. The fitted "
    "exponents stand beside the range of local ones, for none but P_c is a pure power at these sizes.",
    compute, figures, short,
)  # fmt: skip
END_POINT = Experiment(
    "end-point", "End of the first-order line",
    "Short sequences have no jump: the window with two minima closes as L falls.",
    end_point, end_figures, end_short,
)  # fmt: skip
