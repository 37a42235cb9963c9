"""What posterior samples do: the reduced action dressed with the thermal variance of all other logits.

The L² − 2 logit directions that the order parameters leave out keep their prior variance and pass noise on; without
them the reduced action is off by up to a factor 2 in P for samples (not for the MAP). A mean field of our own
(docs/copy_head.md): it leaves out fluctuations of a_1 and a_G themselves, and in softmax those of column biases.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq, minimize

from interp.labs.copy_head import linear, modes
from interp.labs.copy_head.linear import State
from interp.labs.copy_head.modes import Modes
from interp.labs.copy_head.setting import Number, Setting

_DRAWS = 600
_LEADS = np.linspace(-4.5, 7.5, 97)
_TOLERANCE = 1e-9
# of mean attention to the previous position: two fixed points closer than this are one
_DISTINCT = 1e-3


def linear_minimum(setting: Setting, sequences: Number) -> State:
    """Order parameters of posterior samples of linear attention; the action is that of the mean field.

    The starts are the minima of the reduced action with and without its log-determinant, and a pooled state.
    """
    starts = [linear.minimum(setting, sequences, occam) for occam in (False, True)]
    points = [np.array([one.a_1 + one.a_g, one.a_g]) for one in starts] + [
        np.array([0.5, 0.01]),
        np.array([1e-3, 1e-5]),
    ]
    # a_G enters with L − 1 equal directions: in these units both coordinates are alike
    scale = np.array([1.0, (setting.length - 1) ** -0.5])

    def objective(scaled: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope, _ = _linear(setting, sequences, scaled * scale)
        return value, slope * scale

    found = [minimize(objective, point / scale, jac=True, method="BFGS") for point in points]
    best = min(found, key=lambda one: one.fun)
    total, a_g = best.x * scale * (1 if best.x[0] >= 0 else -1)
    _, _, at = _linear(setting, sequences, np.array([total, a_g]))
    return State(float(total - a_g), float(a_g), float(best.fun), float(modes.loss(setting, sequences, at)))


def softmax_states(setting: Setting, sequences: Number) -> list[State]:
    """Self-consistent states of posterior samples of softmax attention, the deepest first; two where it is bistable."""
    pooled = _fixed_point(setting, sequences, None)
    copying = _fixed_point(setting, sequences, (0.9, 0.85))
    found = [pooled, copying] if abs(pooled.a_g - copying.a_g) > _DISTINCT else [pooled]
    return sorted(found, key=lambda one: one.action)


def softmax_equal(setting: Setting, low: Number, high: Number) -> float | None:
    """P* of posterior samples between two numbers of sequences; None where no P there has two states."""

    def lead(p: float) -> float:
        ends = sorted(softmax_states(setting, p), key=lambda one: one.a_g)
        return ends[-1].action - ends[0].action

    grid = np.geomspace(low, high, 12)
    double = [float(p) for p in grid if len(softmax_states(setting, float(p))) > 1]
    if not double or lead(double[0]) * lead(double[-1]) > 0:
        return None
    return float(brentq(lead, double[0], double[-1], rtol=1e-3))  # pyright: ignore[reportArgumentType]


def _linear(setting: Setting, sequences: Number, point: np.ndarray) -> tuple[float, np.ndarray, Modes]:
    """Mean-field action at (total, a_G), its slope (the noise is stationary there), and the dressed modes."""
    length, q = setting.length, setting.uniform_gain
    counts = np.array([(length - 1) ** 2 - 1, length - 1, length - 1])
    spreads = setting.logit_variance * np.array([1, q, q])
    # rows' means also feed the mean mode; columns' biases feed only the differences
    in_mean = np.array([0.0, 1.0, 0.0])
    bare = modes.of_pattern(setting, point[0] - point[1], point[1])
    noise, at = counts * spreads, bare
    for _ in range(400):
        at = bare._replace(
            size=bare.size + noise.sum() / length**2 / setting.vocab,
            size_0=bare.size_0 + (in_mean @ noise) / length / setting.vocab,
        )
        slopes = modes.slopes(setting, sequences, at, True)
        stiff = 2 * slopes.size / (setting.vocab * length**2) + in_mean * 2 * slopes.size_0 / (setting.vocab * length)
        new = counts / (1 / spreads + stiff)
        moved = np.abs(new - noise).max() / new.max()
        noise = (noise + new) / 2
        if moved < _TOLERANCE:
            break
    entropy = noise / (2 * spreads) - counts / 2 * np.log(noise / (counts * spreads)) - counts / 2
    prior = linear.action(setting, 0.0, point[0] - point[1], point[1])
    value = float(prior + modes.data_action(setting, sequences, at, True) + entropy.sum())
    return value, _linear_slope(setting, sequences, point, at), at


def _linear_slope(setting: Setting, sequences: Number, point: np.ndarray, at: Modes) -> np.ndarray:
    """Slope by (total, a_G) with the noise held: prior, then data by way of the modes."""
    length, rest, (total, a_g) = setting.length, setting.length - 1, point
    slopes = modes.slopes(setting, sequences, at, True)
    by_total = slopes.size_0 * 2 * length * total + slopes.overlap_0 * length + slopes.size * 2 * total + slopes.overlap
    by_shift = slopes.size * 2 * rest * a_g + slopes.overlap * rest
    return linear.gradient(setting, 0.0, point) + np.array([by_total, by_shift]) / setting.vocab


class _Rows(NamedTuple):
    """Draws of one softmax row under the prior: attention to the previous position and sum of squares, with weights."""

    copying: Float[np.ndarray, "lead draw"]
    squares: Float[np.ndarray, "lead draw"]
    log_weight: Float[np.ndarray, " lead"]


@functools.cache
def _rows(setting: Setting) -> _Rows:
    """The previous position's logit on a grid, the other L − 1 drawn once with a fixed seed."""
    spread = setting.logit_variance**0.5
    others = np.exp(spread * np.random.default_rng(0).standard_normal((_DRAWS, setting.length - 1)))
    own = np.exp(spread * _LEADS)[:, None]
    total = own + others.sum(1)
    weight = -(_LEADS**2) / 2
    return _Rows(own / total, (own**2 + np.square(others).sum(1)) / total**2, weight - _log_sum(weight))


def _fixed_point(setting: Setting, sequences: Number, start: tuple[float, float] | None) -> State:
    """Iterate the row's tilt by the data term until mean attention and its sum of squares agree with themselves."""
    length, rows = setting.length, _rows(setting)
    means = np.array(start if start is not None else _tilted(rows, 0.0, 0.0)[1])
    for _ in range(600):
        at, tilt, square = _tilt(setting, sequences, means)
        moved = _tilted(rows, tilt, square)[1] - means
        means = means + 0.3 * moved
        if np.abs(moved).max() < 1e-6:
            break
    at, tilt, square = _tilt(setting, sequences, means)
    cost = length * (tilt * means[0] + square * means[1] - _tilted(rows, tilt, square)[0])
    value = modes.data_action(setting, sequences, at, True) + cost
    a_g = float((length * means[0] - 1) / (length - 1))
    return State(1 - a_g, a_g, float(value), float(modes.loss(setting, sequences, at)))


def _tilted(rows: _Rows, tilt: float, square: float) -> tuple[float, Float[np.ndarray, " two"]]:
    """Log of the tilted row's normaliser, and its mean attention to the previous position and sum of squares."""
    exponent = tilt * rows.copying + square * rows.squares + rows.log_weight[:, None]
    top = exponent.max()
    weight = np.exp(exponent - top)
    norm = weight.sum()
    means = np.array([(weight * rows.copying).sum(), (weight * rows.squares).sum()]) / norm
    return float(top + np.log(norm / _DRAWS)), means


def _tilt(setting: Setting, sequences: Number, means: np.ndarray) -> tuple[Modes, float, float]:
    """Modes of rows with these means, and how strongly the data favour copying and sums of squares in a row."""
    ratio = setting.length / setting.vocab
    at = Modes(ratio, ratio, ratio * means[1], ratio * means[0])
    slopes = modes.slopes(setting, sequences, at, True)
    return at, float(-slopes.overlap / setting.vocab), float(-slopes.size / setting.vocab)


def _log_sum(values: np.ndarray) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum()))
