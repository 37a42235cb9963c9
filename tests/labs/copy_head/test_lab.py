"""The lab's experiments end to end, in small; what they say is checked against the theory and against planted paths."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from interp.cli import app
from interp.execution import InProcess
from interp.labs.copy_head import (
    bridge,
    claims,
    diagram,
    hysteresis,
    landscape,
    linear,
    scaling,
    softmax,
    tokens,
    trajectories,
    traps,
)
from interp.labs.copy_head import page as pages
from interp.labs.copy_head.catalogue import EXPERIMENTS, named
from interp.labs.copy_head.experiment import QUICK, Lab
from interp.labs.copy_head.section import Done
from interp.labs.copy_head.setting import SMALL
from interp.labs.copy_head.tokens import TokensAndPositions
from interp.labs.copy_head.trajectories import Verdict, error_rates, rise
from interp.store import Store
from interp.values import InputError


def never(lab: Lab) -> pd.DataFrame:
    raise AssertionError("computed again")


TINY = replace(QUICK, sequences=(40, 200), adam_steps=200, warmup=20, draws=20, line=4)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(TINY, InProcess(), Store(tmp_path), ("nano-3l",))


def test_the_phase_diagram_holds_theory_adam_and_hmc_at_every_number(lab: Lab) -> None:
    frame = diagram.PHASE_DIAGRAM.table(lab)
    measured = frame[frame["series"].isin(["map", "hmc"])]
    assert measured.groupby(["attention", "series", "start"]).size().tolist() == [2] * 8
    best = measured[(measured["series"] == "map") & measured["lowest"].eq(True) & (measured["sequences"] == 200)]
    for attention, theory in (("linear", linear.minimum(SMALL, 200)), ("softmax", softmax.minimum(SMALL, 200))):
        found = best[best["attention"] == attention].iloc[0]
        assert (found["a_1"], found["a_G"], found["loss"]) == pytest.approx(
            (theory.a_1, theory.a_g, theory.loss), abs=0.03
        )
    # a second call reads the stored table
    pd.testing.assert_frame_equal(frame, replace(diagram.PHASE_DIAGRAM, compute=never).table(lab))
    assert [row["P"] for row in diagram.short(frame)] == [40, 200, 40, 200]
    drawn = diagram.figures(frame)
    assert len(drawn) == 2
    assert all(plot.figure().data for plot in drawn)


def test_the_landscape_has_the_minima_of_the_theory(lab: Lab) -> None:
    frame = landscape.LANDSCAPE.table(lab)
    plane = frame[(frame["attention"] == "linear") & (frame["minimum"] == 0)]
    assert plane["action"].min() > -1e-9
    softmax_minima = frame[(frame["attention"] == "softmax") & (frame["minimum"] == 1)].groupby("sequences").size()
    window = softmax.transition(SMALL)
    assert window is not None
    inside = (softmax_minima.index > window.lower) & (softmax_minima.index < window.upper)
    assert (softmax_minima[inside] == 2).all()
    assert (softmax_minima[~inside] == 1).all()
    assert all(plot.figure().data for plot in landscape.figures(frame))


def test_a_power_law_is_fitted_exactly_and_its_range_is_its_exponent() -> None:
    frame = pd.DataFrame({
        "family": "unit", "occam": False, "varied": "length", "length": [10, 20, 40], "vocab": 10, "quantity": "P_x",
        "value": [3 * n**1.5 for n in (10, 20, 40)],
    })  # fmt: skip
    found = scaling.fits(frame).iloc[0]
    assert (found["exponent"], found["least"], found["greatest"]) == pytest.approx((1.5, 1.5, 1.5), abs=1e-9)
    assert found["claimed"] == 1.5


def test_hysteresis_is_read_off_planted_branches() -> None:
    rows = [
        {"attention": "softmax", "seed": 0, "sequences": p, "start": start, "a_1": 1 - a_g, "a_G": a_g, "energy": e,
         "loss": 0.0, "theory_lower": 15.0, "theory_equal": 25.0, "theory_upper": 35.0}
        for p, small, copying, gap in ((10, 0, 0, 0), (20, 0, 0.5, 1), (30, 0, 0.5, -1), (40, 0.5, 0.5, 0))
        for start, a_g, e in (("small", float(small), 0.0), ("copying", float(copying), float(gap)))
    ]  # fmt: skip
    flat = [row | {"attention": "linear", "a_G": 0.1} for row in rows]
    found = hysteresis.short(pd.DataFrame(rows + flat))[0]
    assert found["copying start holds from P"] == [10, 20]
    assert found["copying deeper from P"] == [20, 30]
    assert found["small start jumps at P"] == [30, 40]
    assert found["linear, largest difference"] == 0


def test_the_end_point_is_the_shortest_length_with_a_jump() -> None:
    none = {"lower": np.nan, "equal": np.nan, "upper": np.nan, "jump": np.nan}
    rows = [
        none,
        {"lower": 100.0, "equal": 100.2, "upper": 100.5, "jump": 0.1},
        {"lower": 110.0, "equal": 115.0, "upper": 120.0, "jump": 0.3},
    ]
    frame = pd.DataFrame(
        [{"family": "unit", "occam": False, "vocab": 10, "length": 12 + i, **row} for i, row in enumerate(rows)]
    )
    found = scaling.end_short(frame)[0]
    assert (found["shortest L"], found["jump of a_G"], found["window wider than 1 % from L"]) == (13, 0.1, 14)
    assert scaling.end_figures(frame)[0].figure().data


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ([0, 0, 0, 0.9, 0.9], Verdict.ABRUPT),
        ([0, 0.2, 0.4, 0.6, 0.9], Verdict.MIDDLE),
        ([0, 0, 0.45, 0.9, 0.9], Verdict.OPEN),
    ],
)
def test_paths_written_by_hand(path: list[float], verdict: Verdict) -> None:
    assert trajectories.rises(path)
    assert rise(path).verdict is verdict


def test_the_rule_errs_as_rarely_as_is_said() -> None:
    rates = {row["width"]: row for row in error_rates(range(0, 3001, 200), noise=0.04)}
    assert rates[0.0][str(Verdict.ABRUPT)] > 0.98
    assert rates[0.0][str(Verdict.MIDDLE)] == 0
    assert rates[8.0][str(Verdict.MIDDLE)] > 0.95
    assert rates[8.0][str(Verdict.ABRUPT)] == 0


def test_a_planted_jump_and_a_planted_climb_are_told_apart() -> None:
    steps = [0, 100, 200, 300, 400, 500]
    paths = {(0, 0): [0, 0, 0, 0.9, 0.9, 0.9], (1, 2): [0, 0.1, 0.3, 0.5, 0.7, 0.9], (1, 3): [0.0] * 6}
    frame = pd.DataFrame([
        {"suite": "s", "seed": 1, "step": step, "layer": layer, "head": head, "a_1": 1 - a_g, "a_G": a_g, "sink": 0.0,
         "coverage": 0.9, "previous_token": a_g}
        for (layer, head), path in paths.items() for step, a_g in zip(steps, path, strict=True)
    ])  # fmt: skip
    found = bridge.rises(frame).set_index("head")
    assert found["verdict"].to_dict() == {"L0H0": str(Verdict.ABRUPT), "L1H2": str(Verdict.MIDDLE)}
    assert (found.loc["L0H0", "from_step"], found.loc["L0H0", "to_step"]) == (200, 300)
    assert bool(found.loc["L0H0", "pooled_before"])
    assert found["off_line"].max() == pytest.approx(0, abs=1e-12)
    assert all(plot.figure().data for plot in bridge.figures(frame))


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_the_explicit_model_has_the_gradient_of_its_energy(attention: str) -> None:
    posterior = TokensAndPositions(SMALL, tokens.draw(SMALL, 20, 0), attention, occam=True)
    rng = np.random.default_rng(0)
    at = posterior.start(2.0, 0.3, 1, rng)
    way, step = rng.standard_normal(at.shape), 1e-5
    difference = (posterior(at + step * way).energy - posterior(at - step * way).energy) / (2 * step)
    assert (posterior(at).gradient * way).sum(1) == pytest.approx(difference, rel=1e-6)


def test_adam_on_factors_never_leaves_zero_and_on_tokens_agrees_with_the_theory() -> None:
    size = replace(QUICK, adam_steps=200)
    stuck, _ = traps.trained((size, "factors", "linear", 60))
    assert abs(stuck["a_1"]) < 1e-3
    assert stuck["theory_a_1"] > 0.8
    uniform, _ = traps.trained((size, "factors", "softmax", 120))
    assert uniform["a_G"] < 0.01
    assert uniform["theory_a_G"] > 0.5
    free, _ = traps.trained((replace(size, adam_steps=120), "tokens", "linear", 60))
    assert free["a_1"] == pytest.approx(free["theory_a_1"], abs=0.03)


def test_claims_say_no_where_a_number_is_off() -> None:
    at = {"family": "unit", "occam": False, "varied": "length", "vocab": 10}
    powers = (("P_x", 1.0), ("P_c", 0.0), ("P*", 1.3))
    frame = pd.DataFrame(
        [at | {"length": n, "quantity": q, "value": float(n**e)} for q, e in powers for n in (10, 20, 40)]
    )
    frame = pd.concat([frame, frame.assign(varied="vocab", length=240, vocab=frame["length"])])
    found = {row["claim"]: row["agrees"] for row in claims._scalings(frame)}
    assert found["P_x ~ L^1.5"] == "no"
    assert found["P_c ~ L^0"] == "yes"


def test_the_page_holds_what_was_found_and_loads_nothing(lab: Lab, tmp_path: Path) -> None:
    done = [Done(landscape.LANDSCAPE, landscape.LANDSCAPE.table(lab))]
    text = pages.write(done, tmp_path / "deep" / "lab.html", "interp lab <copy-head>", str(SMALL)).read_text()
    assert "Energy landscape" in text
    assert "1 experiment · L = 16, V = 5, σ_w² = 0.2, σ_B² = 4" in text
    assert "interp lab &lt;copy-head&gt;" in text
    assert "<script src" not in text
    with pytest.raises(InputError, match="cannot be written"):
        pages.write(done, tmp_path, "x", "")


def test_the_command_prints_rows_and_refuses_unknown_names(tmp_path: Path) -> None:
    runner = CliRunner()
    found = runner.invoke(app, ["lab", "copy-head", "landscape", "--quick", "--json", "--store", str(tmp_path)])
    assert found.exit_code == 0
    assert {row["attention"] for row in json.loads(found.stdout)} == {"linear", "softmax"}
    wrong = runner.invoke(app, ["lab", "copy-head", "colour", "--store", str(tmp_path)])
    assert wrong.exit_code == 2
    assert "phase-diagram" in wrong.output
    assert len({one.kind for one in EXPERIMENTS}) == len(EXPERIMENTS)
    assert named("all") == EXPERIMENTS


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--jobs", "0"], "0 jobs were asked for"),
        (["--suite", "nonesuch"], "no suite or folder called 'nonesuch'"),
        (["--out", "/dev/null/lab.html"], "cannot be written"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_sentence(tmp_path: Path, options: list[str], said: str) -> None:
    command = ["lab", "copy-head", "landscape", "--quick", "--store", str(tmp_path), *options]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 2
    assert said in found.output
    assert "Traceback" not in found.output
