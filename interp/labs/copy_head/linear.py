"""Linear attention: reduced action of (a_1, a_G), its minimum, and where pooling and copying set in.

Coordinates are total = a_1 + a_G and a_G, in which the prior is diagonal. Our own derivation (docs/copy_head.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from interp.labs.copy_head import modes
from interp.labs.copy_head.setting import Number, Setting, Values

_STEPS = 500


class State(NamedTuple):
    """Order parameters at a minimum, its action in nats, and its loss."""

    a_1: float
    a_g: float
    action: float
    loss: float


def action(setting: Setting, sequences: Number, a_1: Values, a_g: Values, occam: bool = False) -> Values:
    """S(a_1, a_G) in nats: prior of the logits plus data term; even under (a_1, a_G) → −(a_1, a_G)."""
    total, length = a_1 + a_g, setting.length
    prior = length**2 * ((total / setting.uniform_gain) ** 2 + (length - 1) * a_g**2) / (2 * setting.logit_variance)
    return prior + modes.data_action(setting, sequences, modes.of_pattern(setting, a_1, a_g), occam)


def gradient(
    setting: Setting, sequences: Number, point: Float[np.ndarray, " two"], occam: bool = False
) -> Float[np.ndarray, " two"]:
    """∂S/∂(total, a_G) at point = (total, a_G)."""
    total, a_g = point
    first, _ = _chain(setting, total, a_g)
    by_mode = modes.slopes(setting, sequences, modes.of_pattern(setting, total - a_g, a_g), occam)
    return _prior_curvature(setting) * point + np.array(by_mode) @ first


def hessian(
    setting: Setting, sequences: Number, point: Float[np.ndarray, " two"], occam: bool = False
) -> Float[np.ndarray, "two two"]:
    """∂²S/∂(total, a_G)² at point = (total, a_G)."""
    total, a_g = point
    first, second = _chain(setting, total, a_g)
    at = modes.of_pattern(setting, total - a_g, a_g)
    found = np.diag(_prior_curvature(setting)) + np.einsum(
        "m,mij->ij", np.array(modes.slopes(setting, sequences, at, occam)), second
    )
    for place, (by_size, mixed, by_overlap) in zip(
        (0, 2), modes.curvatures(setting, sequences, at, occam), strict=True
    ):
        local = np.array([[by_size, mixed], [mixed, by_overlap]])
        found += first[place : place + 2].T @ local @ first[place : place + 2]
    return found


def minimum(setting: Setting, sequences: Number, occam: bool = False) -> State:
    """The lowest minimum with total > 0 found by Newton's method from five starts.

    At large P there is a metastable minimum whose mean has the wrong sign; the starts lie on the right side of it.
    """
    q4 = setting.saturated_shift
    starts = ((1e-3, 1e-5), (0.5, 0.01), (q4, q4), (q4, q4 / 2), (2.0, 0.05))
    points = [_newton(setting, sequences, np.array(start), occam) for start in starts]
    values = [float(action(setting, sequences, p[0] - p[1], p[1], occam)) for p in points]
    best = int(np.argmin(values))
    total, a_g = points[best] if points[best][0] >= 0 else -points[best]
    found = modes.of_pattern(setting, total - a_g, a_g)
    value = float(modes.loss(setting, sequences, found))
    return State(float(total - a_g), float(a_g), values[best], value)


def pooling_threshold(setting: Setting, occam: bool = False) -> float:
    """P_c: where attention at zero becomes unstable and pooling grows as (P − P_c)^½: a second-order transition."""
    origin = np.zeros(2)

    def softest(log_p: float) -> float:
        p = math.exp(log_p)
        # in units of the prior's curvature, so that both directions weigh alike
        scaled = hessian(setting, p, origin, occam) / np.sqrt(np.outer(*[_prior_curvature(setting)] * 2))
        return float(np.linalg.eigvalsh(scaled)[0])

    guess = math.log(pooling_axis_threshold(setting))
    return math.exp(brentq(softest, guess - 5, guess + 10, xtol=1e-13))  # pyright: ignore[reportArgumentType]


def pooling_axis_threshold(setting: Setting) -> float:
    """P_c of MAP along the pooling axis alone, in closed form: κVL²/(q σ_w σ_B √(L² + V − 1)) → κV²/(σ_w σ_B)."""
    length, vocab = setting.length, setting.vocab
    scale = math.sqrt(setting.value_variance * setting.logit_variance * (length**2 + vocab - 1))
    return setting.noise * vocab * length**2 / (setting.uniform_gain * scale)


def copy_axis_threshold(setting: Setting) -> float:
    """Where MAP would begin to copy if it did not pool first, in closed form: → κ L^{3/2} V^{1/2}/(σ_w σ_B)."""
    length, vocab = setting.length, setting.vocab
    scale = math.sqrt(setting.value_variance * setting.logit_variance * (vocab - 1) * (length - 1))
    return setting.noise * length**2 * vocab / scale


def crossover(setting: Setting, occam: bool = False) -> float:
    """P_x: where, after pooling, √L a_G reaches a_1.

    A crossover, not a transition: pooling has broken the symmetry already. NaN where copying is not separated
    from pooling (V ≥ L).
    """

    def lead(p: float) -> float:
        state = minimum(setting, p, occam)
        return math.sqrt(setting.length) * state.a_g - state.a_1 if state.a_1 + state.a_g > 0.02 else -1.0

    start = 1.3 * pooling_threshold(setting, occam)
    if lead(start) > 0:
        return math.nan
    grid = start * np.geomspace(1, 1e4, 60)
    above = next((i for i, p in enumerate(grid) if lead(float(p)) > 0), None)
    return math.nan if above is None else float(brentq(lead, grid[above - 1], grid[above], rtol=1e-6))  # pyright: ignore


def _prior_curvature(setting: Setting) -> Float[np.ndarray, " two"]:
    length = setting.length
    return length**2 / setting.logit_variance * np.array([setting.uniform_gain**-2, length - 1.0])


def _chain(
    setting: Setting, total: float, a_g: float
) -> tuple[Float[np.ndarray, "modes two"], Float[np.ndarray, "modes two two"]]:
    """First and second derivatives of the four modes by (total, a_G)."""
    length, rest = setting.length, setting.length - 1
    first = np.array([[2 * length * total, 0], [length, 0], [2 * total, 2 * rest * a_g], [1, rest]]) / setting.vocab
    second = np.zeros((4, 2, 2))
    second[0, 0, 0] = 2 * length
    second[2] = np.diag([2, 2 * rest])
    return first, second / setting.vocab


def _newton(setting: Setting, sequences: Number, point: np.ndarray, occam: bool) -> np.ndarray:
    """A local minimum: Newton steps with the Hessian's eigenvalues made positive, halved until the action falls.

    A general minimiser's absolute tolerances fail in the stiff valley of large P; Newton's step has the valley's scale.
    """
    value = float(action(setting, sequences, point[0] - point[1], point[1], occam))
    for _ in range(_STEPS):
        slope = gradient(setting, sequences, point, occam)
        eigenvalues, axes = np.linalg.eigh(hessian(setting, sequences, point, occam))
        step = -axes @ ((axes.T @ slope) / np.maximum(np.abs(eigenvalues), 1e-12))
        size = 1.0
        while size > 1e-10:
            new = point + size * step
            fallen = float(action(setting, sequences, new[0] - new[1], new[1], occam))
            if fallen <= value + 1e-4 * size * float(slope @ step):
                break
            size /= 2
        else:
            return point
        point, value = new, fallen
        if np.abs(size * step).max() < 1e-13:
            return point
    return point
