"""The mean field of posterior samples against samples of an earlier, independent code."""

import numpy as np
import pytest

from interp.labs.copy_head import dressed
from interp.labs.copy_head.setting import FIGURE, UNIT, Setting


@pytest.mark.parametrize(
    ("setting", "p", "expected"),
    [(UNIT, 1500, (0.327, 0.076, 0.740)), (UNIT, 3000, (0.138, 0.151, 0.341)), (FIGURE, 2000, (0.675, 0.206, 0.647))],
)
def test_linear_samples(setting: Setting, p: float, expected: tuple[float, float, float]) -> None:
    state = dressed.linear_minimum(setting, p)
    assert (state.a_1, state.a_g, state.loss) == pytest.approx(expected, abs=1e-3)


def test_linear_slope_holds_the_noise_fixed() -> None:
    # the noise is stationary, so the slope at fixed noise is the whole slope
    at, step = np.array([0.7, 0.2]), 1e-4
    _, slope, _ = dressed._linear(FIGURE, 1500, at)
    moves = step * np.eye(2)
    by_difference = [
        (dressed._linear(FIGURE, 1500, at + m)[0] - dressed._linear(FIGURE, 1500, at - m)[0]) / (2 * step)
        for m in moves
    ]
    assert slope == pytest.approx(by_difference, rel=1e-5)


@pytest.mark.parametrize(
    ("setting", "p", "expected"),
    [(UNIT, 900, 0.323), (UNIT, 1500, 0.408), (FIGURE, 700, 0.629), (FIGURE, 1000, 0.694), (FIGURE, 4000, 0.821)],
)
def test_softmax_samples(setting: Setting, p: float, expected: float) -> None:
    # 600 draws of the other logits: their sampling noise is about .002
    assert dressed.softmax_states(setting, p)[0].a_g == pytest.approx(expected, abs=3e-3)


def test_softmax_samples_jump_where_the_chain_hops() -> None:
    assert dressed.softmax_equal(FIGURE, 450, 650) == pytest.approx(522, abs=5)
    assert [len(dressed.softmax_states(FIGURE, p)) for p in (450, 525, 700)] == [1, 2, 1]
