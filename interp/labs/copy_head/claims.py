"""What the paper's summary claims, beside our numbers, and whether they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import linear, precursors, scaling, softmax
from interp.labs.copy_head.diagram import PHASE_DIAGRAM
from interp.labs.copy_head.experiment import Experiment, Lab
from interp.labs.copy_head.hysteresis import HYSTERESIS
from interp.labs.copy_head.precursors import PRECURSOR
from interp.labs.copy_head.scaling import SCALING
from interp.labs.copy_head.setting import UNIT, Attention, Setting
from interp.report.figures.plot import Plot

# a spread that grows by half before a transition announces it; sampling noise of these spreads is about a tenth
_GROWN = 1.5


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of claim, ours (our numbers in words), agrees (yes, partly, no), by (how it was found)."""
    diagram, branches = PHASE_DIAGRAM.table(lab), HYSTERESIS.table(lab)
    spreads, thresholds = PRECURSOR.table(lab), SCALING.table(lab)
    setting = lab.size.setting
    rows = [
        _continuous(setting, branches), _crossover(setting), _jump(setting, branches),
        _loss(diagram), *_precursors(spreads), *_scalings(thresholds), _amount(lab.size.setting), *_coverage(diagram),
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _row(claim: str, ours: str, agrees: str, by: str) -> dict[str, str]:
    return {"claim": claim, "ours": ours, "agrees": agrees, "by": by}


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _continuous(setting: Setting, branches: pd.DataFrame) -> dict[str, str]:
    critical = linear.pooling_threshold(setting)
    small, large = (linear.minimum(setting, critical * (1 + x)).a_1 for x in (1e-4, 1e-3))
    exponent = float(np.log10(large / small))
    apart = _apart(branches)
    ours = f"a_1 ~ (P − P_c)^{exponent:.3f}, P_c = {critical:.1f}; Adam's two starts end within {apart:.0e} in a_G"
    claim = "linear attention pools at a second-order transition"
    return _row(claim, ours, _yes(abs(exponent - 0.5) < 0.01 and apart < 0.05), "theory; Adam")


def _apart(branches: pd.DataFrame) -> float:
    one = branches.loc[branches["attention"] == "linear"]
    wide = one.pivot_table(index=["seed", "sequences"], columns="start", values="a_G")
    return float((wide["small"] - wide["copying"]).abs().max())


def _crossover(setting: Setting) -> dict[str, str]:
    crossing = linear.crossover(setting)
    grid = crossing * np.geomspace(0.6, 1.6, 60)
    a_g = np.array([linear.minimum(setting, float(p)).a_g for p in grid])
    steepest = float(np.diff(a_g).max() / (a_g[-1] - a_g[0]))
    ours = (
        f"around P_x = {crossing:.0f} no step of 1.7 % of P carries more than {steepest:.0%} of the rise of "
        "a_G; a_1 + a_G is not zero there, so no symmetry is left to break"
    )
    return _row("linear attention then crosses over smoothly to copying", ours, _yes(steepest < 0.1), "theory")


def _jump(setting: Setting, branches: pd.DataFrame) -> dict[str, str]:
    found = softmax.transition(setting)
    if found is None:
        return _row("softmax attention jumps (first order)", "no jump at this size", "no", "theory")
    before, after = (float(softmax.shift_of(setting, lead)) for lead in (found.lead_pooled, found.lead_copying))
    one = branches.loc[branches["attention"] == "softmax"]
    wide = one.pivot_table(index=["seed", "sequences"], columns="start", values="a_G")
    gap = float((wide["copying"] - wide["small"]).max())
    ours = (
        f"a_G {before:.3f} → {after:.3f} at P* = {found.equal:.1f}, two minima for P in "
        f"[{found.lower:.0f}, {found.upper:.0f}]; Adam's starts differ by up to {gap:.2f} in a_G there"
    )
    return _row("softmax attention jumps (first order) in a_G", ours, _yes(gap > 0.1), "theory; Adam")


def _loss(diagram: pd.DataFrame) -> dict[str, str]:
    one = diagram.loc[(diagram["attention"] == "softmax") & (diagram["series"] == "map")].sort_values("energy")
    lowest = one.groupby("sequences").first().sort_index()
    where = int(lowest["a_G"].diff().to_numpy()[1:].argmax())
    before, after = lowest.iloc[where], lowest.iloc[where + 1]
    same = int((-lowest["loss"].diff()).to_numpy()[1:].argmax()) == where
    ours = (
        f"between P = {lowest.index[where]:.0f} and {lowest.index[where + 1]:.0f} "
        f"a_G {before['a_G']:.2f} → {after['a_G']:.2f} and loss {before['loss']:.2f} → {after['loss']:.2f}, "
        "the largest change of both"
    )
    return _row("the loss drops with the jump", ours, _yes(same), "Adam, lowest energy")


def _precursors(spreads: pd.DataFrame) -> list[dict[str, str]]:
    fractions = sorted(set(spreads["fraction"]))[-2:]
    jump = _grown(spreads, "softmax", "a_G_sd")
    pooled, copied = _grown(spreads, "linear", "a_1_rms"), _grown(spreads, "linear", "a_G_sd")
    seeds = spreads.loc[spreads["fraction"] == fractions[-1], "seed"].nunique()
    at = f"at {fractions[0]:g} and {fractions[1]:g} of the P at which samples order"
    over = f" (least and greatest of {seeds} draws of the sequences)" if seeds > 1 else ""
    return [
        _row(
            "no precursor before softmax's jump",
            f"spread of a_G (and of a_1 = 1 − a_G) {jump[0]} and {jump[1]} {at}, against no data{over}",
            "yes" if jump[1].greatest < _GROWN else "no" if jump[0].least >= _GROWN else "partly", "HMC",
        ),
        _rows_before(spreads),
        _row(
            "(not claimed) precursor before linear pooling",
            f"spread of a_1 {pooled[0]} and {pooled[1]}, of a_G {copied[0]} and {copied[1]} {at}",
            "there is one in a_1" if pooled[1].least >= _GROWN else "none seen", "HMC",
        ),
    ]  # fmt: skip


def _grown(spreads: pd.DataFrame, attention: Attention, what: str) -> list[precursors.Growth]:
    """The growth at the last two fractions."""
    return list(precursors.growth(spreads, attention, what).values())[-2:]


def _rows_before(spreads: pd.DataFrame) -> dict[str, str]:
    """How many rows of a softmax sample copy before the jump: some do, while the others do not."""
    one = spreads.loc[spreads["attention"] == "softmax"]
    ends = (one["fraction"].min(), *sorted(set(one["fraction"]))[-2:])
    share = [one.loc[one["fraction"] == at, "copying_rows"] for at in ends]
    said = [f"{of.mean():.2f}" + (f" ({of.min():.2f} to {of.max():.2f})" if len(of) > 1 else "") for of in share]
    ours = f"rows with more than .3 on the previous position: {said[0]} without data, {said[1]} and {said[2]} there"
    return _row("(not claimed) single rows copy before the jump", ours, "measured", "HMC")


def _scalings(thresholds: pd.DataFrame) -> list[dict[str, str]]:
    fitted = scaling.fits(thresholds)
    return [_scaling(fitted, *of) for of in scaling.CLAIMED]


def _scaling(fitted: pd.DataFrame, quantity: str, against: str) -> dict[str, str]:
    one = fitted.loc[(fitted["family"] == "unit") & ~fitted["occam"]].set_index(["quantity", "against"])
    at, claimed = one.loc[(quantity, against)], scaling.CLAIMED[quantity, against]
    near = abs(at["exponent"] - claimed) < 0.15
    inside = at["least"] - 0.02 <= claimed <= at["greatest"] + 0.02
    letter = {"vocab": "V", "length": "L"}.get(against, against)
    return _row(
        f"{quantity} ~ {letter}" if against == "L ln² L" else f"{quantity} ~ {letter}^{claimed:g}",
        f"exponent {at['exponent']:.2f}, local ones {at['least']:.2f} to {at['greatest']:.2f} over {at['range']} "
        f"(variances 1, {'V = 10' if against != 'vocab' else 'L = 240'})",
        "yes" if near and inside else "partly" if near else "no", "theory (conventions chosen by this)",
    )  # fmt: skip


def _amount(setting: Setting) -> dict[str, str]:
    found = softmax.transition(setting)
    here = "no jump" if found is None else f"P* = {found.equal:.0f} here"
    others = {length: softmax.transition(replace(UNIT, length=length)) for length in (30, 40)}
    known = [f"{one.equal:.0f} at L = {length}" for length, one in others.items() if one is not None]
    return _row(
        "softmax: P* ≈ 300 in their experiment", f"{here}; variances 1, V = {UNIT.vocab}: {', '.join(known)}",
        "no evidence", "theory: P* is proportional to κ, and our L was a choice",
    )  # fmt: skip


def _coverage(diagram: pd.DataFrame) -> list[dict[str, str]]:
    adam = diagram.loc[(diagram["series"] == "map") & (diagram["a_1"] + diagram["a_G"] > 0.05)]
    hmc = diagram.loc[diagram["series"] == "hmc"]
    ordered = hmc.loc[hmc["a_G"] > 0.15]
    least = float(adam["coverage"].min())
    claim = "a_1 and a_G cover the vast majority of the pattern"
    return [
        _row(f"{claim}: Adam", f"coverage ≥ {least:.3f}, once ordered", _yes(least > 0.9), "Adam"),
        _row(
            f"{claim}: averaged samples", f"{_ranged(ordered['coverage_averaged'])} where a_G > .15",
            _yes(float(ordered["coverage_averaged"].min()) > 0.9), "HMC",
        ),
        _row(
            f"{claim}: single samples",
            f"{_ranged(ordered['coverage'])} where a_G > .15; {_ranged(hmc['coverage'])} over all P",
            "no" if ordered["coverage"].min() < 0.5 < ordered["coverage"].max() < 0.9
            else "partly" if ordered["coverage"].min() < 0.9 else "yes", "HMC",
        ),
    ]  # fmt: skip


def _ranged(values: pd.Series) -> str:
    return f"{values.min():.2f} to {values.max():.2f}"


def figures(frame: pd.DataFrame) -> Sequence[Plot]:
    """None: the table says it."""
    return ()


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The table."""
    return frame.to_dict("records")  # pyright: ignore


CLAIMS = Experiment(
    "claims",
    "Claims and our numbers",
    "The claims are those of the paper's abstract and summaries; the numbers are of the setting of this page.",
    compute,
    figures,
    short,
)
