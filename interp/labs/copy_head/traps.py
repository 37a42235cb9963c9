"""Three ways to see a wrong transition: factors with weight decay, tokens under sampling, and short training.

What each shows is a fact about the model that is run, not about the theory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from interp.labs.copy_head import linear, softmax, tokens
from interp.labs.copy_head.experiment import Experiment, Lab, Size
from interp.labs.copy_head.posteriors import Logits, Posterior, QueriesAndKeys
from interp.labs.copy_head.sampling import HMC, mixing, sample
from interp.labs.copy_head.sequences import sample as draw
from interp.labs.copy_head.setting import SMALL, Attention
from interp.labs.copy_head.tokens import TokensAndPositions
from interp.labs.copy_head.training import Adam, train
from interp.report.figures import style
from interp.report.figures.plot import Plot, plot, title

_Unit = tuple[Size, str, Attention, int]
# tokens cost P times a forward pass: this experiment keeps to the small setting in both forms
_SEQUENCES: dict[Attention, tuple[int, ...]] = {"linear": (60, 200), "softmax": (120, 400)}
_ADAM = {"positions": "Gaussian form", "factors": "factors, L2", "tokens": "tokens + positions"}


def compute(lab: Lab) -> pd.DataFrame:
    """Rows of model, method (Adam, HMC), attention, P, start, a_1, a_G, loss, r_hat (HMC), beside the theory's MAP."""
    units: list[_Unit] = [(lab.size, m, a, p) for m in _ADAM for a in _SEQUENCES for p in _SEQUENCES[a]]
    adam = lab.engine.map(trained, units, "Adam", "run")
    chains: list[_Unit] = [(lab.size, m, "softmax", p) for m in ("positions", "factors", "tokens") for p in (400,)]
    hmc = lab.engine.map(sampled, chains, "HMC", "run")
    return pd.DataFrame([row for found in (*adam, *hmc) for row in found])


def model(name: str, attention: Attention, p: int, occam: bool, width: int) -> Posterior:
    """The positional model with a Gaussian form, with query and key factors, or the explicit one with tokens."""
    if name == "tokens":
        return TokensAndPositions(SMALL, tokens.draw(SMALL, p, 0), attention, occam)
    moments = draw(SMALL, p, 0)
    if name == "factors":
        return QueriesAndKeys(SMALL, moments, attention, occam, width)
    return Logits(SMALL, moments, attention, occam)


def trained(unit: _Unit) -> list[dict[str, Any]]:
    """Adam from both starts."""
    size, name, attention, p = unit
    theory = (linear if attention == "linear" else softmax).minimum(SMALL, p)
    ends = train(model(name, attention, p, False, SMALL.length), Adam(steps=min(size.adam_steps, 600)))
    return [
        {
            "model": _ADAM[name], "method": "Adam", "attention": attention, "sequences": p, "start": one.start,
            "a_1": one.a_1, "a_G": one.a_g, "loss": one.loss, "r_hat": np.nan, "theory_a_1": theory.a_1,
            "theory_a_G": theory.a_g,
        }
        for one in ends
    ]  # fmt: skip


def sampled(unit: _Unit) -> list[dict[str, Any]]:
    """HMC from both starts."""
    size, name, attention, p = unit
    warmup, draws = (40, 40) if name == "tokens" else (size.warmup, size.draws)
    sampler = replace(HMC, warmup=warmup, draws=draws, chains=1)
    found = sample(model(name, attention, p, True, 2 * SMALL.length), sampler)
    theory = _dressed(p)
    return [
        {
            "model": _ADAM[name].replace(", L2", f", d = {2 * SMALL.length}"), "method": "HMC", "attention": attention,
            "sequences": p, "start": one.start, "a_1": one.a_1.mean(), "a_G": one.a_g.mean(), "loss": one.loss.mean(),
            "r_hat": mixing(one.a_g).r_hat, "theory_a_1": theory.a_1, "theory_a_G": theory.a_g,
        }
        for one in found
    ]  # fmt: skip


def _dressed(p: int) -> linear.State:
    from interp.labs.copy_head import dressed

    return dressed.softmax_states(SMALL, p)[0]


def figures(frame: pd.DataFrame) -> Sequence[Plot]:
    """Measured order parameters against the theory's: on the diagonal where the model is the theory's."""
    traces = []
    for name, group in frame.groupby("model"):
        size = np.where(group["attention"] == "linear", group["a_1"], group["a_G"])
        theory = np.where(group["attention"] == "linear", group["theory_a_1"], group["theory_a_G"])
        said = [
            f"{row['method']}, {row['attention']}, P = {row['sequences']}, {row['start']} start"
            for row in group.to_dict("records")
        ]
        traces.append({
            "type": "scatter", "mode": "markers", "name": str(name), "x": theory.round(4).tolist(),
            "y": size.round(4).tolist(), "text": said, "marker": {"size": 9},
            "hovertemplate": "%{text}: %{y:.3f}, theory %{x:.3f}<extra></extra>",
        })  # fmt: skip
    traces.append({
        "type": "scatter", "mode": "lines", "x": [0, 1.1], "y": [0, 1.1], "showlegend": False, "hoverinfo": "skip",
        "line": {"color": style.GREY, "dash": "dot", "width": 1},
    })  # fmt: skip
    axes = {"xaxis": {"title": {"text": "theory"}}, "yaxis": {"title": {"text": "measured"}}}
    heading = title("a₁ of linear and a_G of softmax attention, measured and by the theory")
    return [plot(traces, 400, axes | {"title": heading, "margin": {"t": 90}})]


def short(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Every run."""
    return frame.to_dict("records")  # pyright: ignore[reportReturnType]


TRAPS = Experiment(
    "traps",
    "Traps",
    "Adam with weight decay on query and key factors sees another prior, the nuclear norm: the small start never "
    "leaves zero or even attention, linear attention included. Adam on tokens + positions agrees with the theory; "
    "samples of it stay pooled at a P where the positional model copies, since tokens add noise to the logits.",
    compute,
    figures,
    short,
)
