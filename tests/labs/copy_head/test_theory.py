"""The reduced theory against closed forms, finite differences and reference numbers.

The reference numbers were computed by an earlier, independent code; docs/copy_head.md lists them.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.labs.copy_head import linear, modes, softmax
from interp.labs.copy_head.setting import FIGURE, SMALL, UNIT, Setting

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None, max_examples=30)
L, V = FIGURE.length, FIGURE.vocab
SEED_STATE = st.tuples(st.floats(-1.5, 1.5), st.floats(-0.8, 0.8))


def test_modes_of_the_pure_patterns() -> None:
    assert modes.of_pattern(FIGURE, 0.0, 1.0) == pytest.approx((L / V,) * 4, abs=1e-13)
    assert modes.of_pattern(FIGURE, 1.0, 0.0) == pytest.approx((L / V, L / V, 1 / V, 1 / V), abs=1e-13)


@any_speed
@given(SEED_STATE, st.booleans(), st.floats(1, 1e5))
def test_linear_action_is_even(point: tuple[float, float], occam: bool, p: float) -> None:
    there, back = (linear.action(FIGURE, p, s * point[0], s * point[1], occam) for s in (1, -1))
    assert there == pytest.approx(back, rel=1e-12)


@pytest.mark.parametrize("occam", [False, True])
def test_without_data_nothing_is_learned(occam: bool) -> None:
    at = modes.of_pattern(UNIT, 0.4, 0.3)
    assert modes.loss(UNIT, 1e-9, at) == pytest.approx(1, abs=1e-8)
    assert modes.data_action(UNIT, 1e-9, at, occam) == pytest.approx(0, abs=1e-7)


def test_losses_with_endless_data() -> None:
    def at(a_1: float, a_g: float) -> float:
        return float(modes.loss(FIGURE, 1e12, modes.of_pattern(FIGURE, a_1, a_g)))

    # 1e-7: the rest of 1/P at P = 1e12
    assert at(0.0, 1.0) == pytest.approx(0, abs=1e-7)
    assert at(1.0, 0.0) == pytest.approx((1 - 1 / V) * (1 - 1 / L), abs=1e-7)
    assert at(0.7, 0.3) == pytest.approx(0.1180886, abs=1e-6)
    assert softmax.asymptotic_loss(FIGURE, 0.3) == pytest.approx(at(0.7, 0.3), abs=1e-7)


@any_speed
@given(st.floats(0.001, 0.999))
def test_the_logit_of_a_shift_is_its_inverse(a_g: float) -> None:
    assert softmax.shift_of(FIGURE, FIGURE.logit(a_g)) == pytest.approx(a_g, abs=1e-12)


def test_actions_and_losses_are_the_reference_numbers() -> None:
    assert linear.action(FIGURE, 400, 0.3, 0.1) == pytest.approx(217.72625402669, abs=1e-9)
    assert linear.action(FIGURE, 400, 0.3, 0.1, occam=True) == pytest.approx(222.82183610145, abs=1e-9)
    assert modes.loss(FIGURE, 400, modes.of_pattern(FIGURE, 0.3, 0.1)) == pytest.approx(0.857317665302, abs=1e-11)
    assert softmax.action(FIGURE, 400, 2.0) == pytest.approx(174.79825707945, abs=1e-9)
    assert softmax.action(FIGURE, 400, 2.0, occam=True) == pytest.approx(192.97793824136, abs=1e-9)
    assert softmax.state(FIGURE, 400, 2.0).loss == pytest.approx(0.690875907601, abs=1e-11)


@any_speed
@given(SEED_STATE, st.booleans(), st.sampled_from([30.0, 400.0, 3000.0]))
def test_linear_slopes_and_curvatures_are_differences(point: tuple[float, float], occam: bool, p: float) -> None:
    # the Hessian is of the order of 1e3 to 1e5 and bends within 1e-2: 1e-5 of it is the difference's own error
    at, step = np.array(point), 1e-5

    def value(x: np.ndarray) -> float:
        return float(linear.action(SMALL, p, x[0] - x[1], x[1], occam))

    moves = step * np.eye(2)
    slope = [(value(at + m) - value(at - m)) / (2 * step) for m in moves]
    assert linear.gradient(SMALL, p, at, occam) == pytest.approx(slope, rel=1e-6, abs=1e-4)
    bend = [
        (linear.gradient(SMALL, p, at + m, occam) - linear.gradient(SMALL, p, at - m, occam)) / (2 * step)
        for m in moves
    ]
    assert linear.hessian(SMALL, p, at, occam) == pytest.approx(np.array(bend), rel=1e-5, abs=1e-2)


@any_speed
@given(st.floats(-1, 8), st.booleans(), st.sampled_from([30.0, 400.0, 3000.0]))
def test_softmax_slopes_are_differences(lead: float, occam: bool, p: float) -> None:
    step = 1e-5
    difference = (softmax.action(SMALL, p, lead + step, occam) - softmax.action(SMALL, p, lead - step, occam)) / (
        2 * step
    )
    assert softmax.slope(SMALL, p, lead, occam) == pytest.approx(difference, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize(
    ("setting", "by_map", "by_occam"),
    [(UNIT, 74.6210, 162.7838), (FIGURE, 117.9862, 198.6868), (SMALL, 21.1293, 41.4971)],
)
def test_pooling_thresholds(setting: Setting, by_map: float, by_occam: float) -> None:
    assert linear.pooling_threshold(setting) == pytest.approx(by_map, abs=1e-4)
    assert linear.pooling_threshold(setting, occam=True) == pytest.approx(by_occam, abs=1e-4)


def test_thresholds_in_closed_form() -> None:
    assert linear.pooling_axis_threshold(UNIT) == pytest.approx(74.6278, abs=1e-4)
    assert linear.pooling_axis_threshold(FIGURE) == pytest.approx(117.9969, abs=1e-4)
    no_bias = Setting(60, 10, bias=0.0)
    assert linear.pooling_threshold(no_bias) == pytest.approx(599.1, abs=0.05)
    # L ≫ V: golden ratio with the log-determinant, 1 without
    long = Setting(20000, 10)
    assert linear.pooling_threshold(long) / 100 == pytest.approx(1, abs=1e-3)
    assert linear.pooling_threshold(long, occam=True) / 100 == pytest.approx((1 + math.sqrt(5)) / 2, abs=2e-3)


def test_pooling_grows_as_a_square_root() -> None:
    critical = linear.pooling_threshold(UNIT)
    one, four = (linear.minimum(UNIT, critical * (1 + step)).a_1 for step in (1e-4, 4e-4))
    assert four / one == pytest.approx(2, abs=2e-3)
    assert linear.minimum(UNIT, critical * (1 - 1e-3)).a_1 == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (150, (0.428, 0.000, 0.961)),
        (700, (0.926, 0.034, 0.862)),
        (1000, (0.780, 0.121, 0.665)),
        (2000, (0.322, 0.257, 0.179)),
    ],
)
def test_linear_states(p: float, expected: tuple[float, float, float]) -> None:
    state = linear.minimum(FIGURE, p)
    assert (state.a_1, state.a_g, state.loss) == pytest.approx(expected, abs=6e-4)


def test_with_endless_data_linear_attention_copies() -> None:
    state = linear.minimum(UNIT, 1e9)
    assert state.a_g == pytest.approx(0.139832, abs=1e-6)
    assert state.a_g == pytest.approx(UNIT.saturated_shift, abs=1e-6)
    assert state.a_1 == pytest.approx(3e-7, abs=1e-7)


def test_copying_crosses_pooling_within_reach_of_the_copy_axis() -> None:
    for length in (40, 160):
        setting = Setting(length, 10)
        for occam in (False, True):
            ratio = linear.crossover(setting, occam) / (length**1.5 * 10**0.5)
            assert 1.0 < ratio < 1.5
    assert math.isnan(linear.crossover(Setting(8, 20)))


@pytest.mark.parametrize(
    ("setting", "occam", "expected"),
    [
        (UNIT, False, (311.991, 0.2557, 2.0952)),
        (UNIT, True, (381.881, 0.4184, 1.7074)),
        (FIGURE, False, (244.775, 0.0871, 3.4962)),
        (FIGURE, True, (320.04, 0.1589, 3.0153)),
        (SMALL, False, (80.190, 0.2697, 2.3539)),
    ],
)
def test_softmax_jumps(setting: Setting, occam: bool, expected: tuple[float, float, float]) -> None:
    found = softmax.transition(setting, occam)
    assert found is not None
    assert found.equal == pytest.approx(expected[0], abs=2e-3)
    assert (found.lead_pooled, found.lead_copying) == pytest.approx(expected[1:], abs=1e-4)
    assert found.lower < found.equal < found.upper


def test_spinodals_of_the_figure_setting() -> None:
    found = softmax.transition(FIGURE)
    assert found is not None
    # the reference bracketed the upper one by hand, and scanned the lower one in steps of about 1 %
    assert 410 < found.upper < 420
    assert found.lower == pytest.approx(210, rel=0.01)
    for p, count in (
        (found.lower * 0.999, 1),
        (found.lower * 1.001, 2),
        (found.upper * 0.999, 2),
        (found.upper * 1.001, 1),
    ):
        assert len(softmax.minima(FIGURE, p)) == count


@any_speed
@given(st.floats(0.01, 8), st.booleans())
def test_every_lead_is_stationary_at_one_number_of_sequences(lead: float, occam: bool) -> None:
    p = softmax.sequences_at(SMALL, np.array([lead]), occam)[0]
    grid = np.geomspace(p / 1e3, p * 1e3, 2001)
    signs = np.sign(softmax.slope(SMALL, grid, lead, occam))
    # the middle of the grid is the root itself, where rounding decides the sign
    assert np.flatnonzero(np.diff(np.delete(signs, 1000))).tolist() == [999]


def test_depths_around_the_jump() -> None:
    for p, expected in ((235, 2.72), (245, -0.07), (255, -3.00)):
        low, high = softmax.minima(FIGURE, p)
        difference = softmax.action(FIGURE, p, high) - softmax.action(FIGURE, p, low)
        assert difference == pytest.approx(expected, abs=0.01)


def test_short_sequences_have_no_jump() -> None:
    assert softmax.transition(Setting(16, 8), occam=True) is None
    # the end point of the first-order line at V = 10, all variances 1; the reference scanned P in steps of 1 % and gave
    # 15, for the window with two minima is .8 % of P wide at L = 14 and .007 % at L = 13
    found = {n: softmax.transition(replace(UNIT, length=n)) for n in (12, 13, 14)}
    assert found[12] is None
    assert found[13] is not None
    narrow = found[14]
    assert narrow is not None
    assert [len(softmax.minima(replace(UNIT, length=14), narrow.equal + d)) for d in (-1, 0, 1)] == [1, 2, 1]


@pytest.mark.parametrize(
    ("p", "expected"), [(200, (0.002, 0.907)), (250, (0.526, 0.316)), (400, (0.649, 0.129)), (1000, (0.736, 0.025))]
)
def test_softmax_states(p: float, expected: tuple[float, float]) -> None:
    state = softmax.minimum(FIGURE, p)
    assert (state.a_g, state.loss) == pytest.approx(expected, abs=6e-4)


def test_a_setting_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        Setting(1, 5)
    with pytest.raises(ValueError, match="variances positive"):
        Setting(4, 5, value_variance=0.0)
