"""Softmax attention: reduced action of one logit lead h, its minima, the first-order jump and both spinodals.

Rows sum to one, so a_1 = 1 − a_G, and every position's logits are h on the previous position and a common shift. The
minimum is sought in h; the density in A has another Jacobian, and is not minimised (docs/copy_head.md).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq, minimize_scalar

from interp.labs.copy_head import modes
from interp.labs.copy_head.linear import State
from interp.labs.copy_head.modes import Modes
from interp.labs.copy_head.setting import Number, Setting, Values

_LEADS = np.linspace(-1, 16, 6801)


class Transition(NamedTuple):
    """A first-order transition: P* where both minima are equally deep, and the ends of the window with two minima.

    `lower` and `upper` are the spinodals: below `lower` only the pooled state is stable, above `upper` only the copying
    one. `lead_pooled` and `lead_copying` are h of both minima at P*.
    """

    lower: float
    equal: float
    upper: float
    lead_pooled: float
    lead_copying: float


def shift_of(setting: Setting, lead: Values) -> Values:
    """a_G of softmax attention whose previous position leads by h: (e^h − 1)/(e^h + L − 1)."""
    return np.expm1(lead) / (np.exp(lead) + setting.length - 1)


def action(setting: Setting, sequences: Values, lead: Values, occam: bool = False) -> Values:
    """S(h) in nats: prior (L − 1)h²/(2σ_B²), at the best common shift, plus data term."""
    prior = (setting.length - 1) * np.square(lead) / (2 * setting.logit_variance)
    return prior + modes.data_action(setting, sequences, _modes(setting, lead), occam)


def slope(setting: Setting, sequences: Values, lead: Values, occam: bool = False) -> Values:
    """dS/dh."""
    length, grown = setting.length, np.exp(lead)
    a_g = shift_of(setting, lead)
    by_lead = length * grown / (grown + length - 1) ** 2
    by_mode = modes.slopes(setting, sequences, _modes(setting, lead), occam)
    # the mean mode is constant: rows sum to one
    inner = by_mode.size * 2 * a_g + by_mode.overlap
    return (length - 1) * (lead / setting.logit_variance + inner * by_lead / setting.vocab)


def minima(setting: Setting, sequences: Number, occam: bool = False) -> list[float]:
    """The lead h of every local minimum, ascending."""
    rising = np.asarray(slope(setting, sequences, _LEADS, occam)) > 0
    found = np.flatnonzero(~rising[:-1] & rising[1:])
    return [_root(setting, sequences, (float(_LEADS[i]), float(_LEADS[i + 1])), occam) for i in found]


def state(setting: Setting, sequences: Number, lead: float, occam: bool = False) -> State:
    """Order parameters, action and loss at a lead."""
    a_g = float(shift_of(setting, lead))
    value = modes.loss(setting, sequences, _modes(setting, lead))
    return State(1 - a_g, a_g, float(action(setting, sequences, lead, occam)), float(value))


def minimum(setting: Setting, sequences: Number, occam: bool = False) -> State:
    """The deepest minimum."""
    found = [state(setting, sequences, lead, occam) for lead in minima(setting, sequences, occam)]
    return min(found, key=lambda one: one.action)


def sequences_at(setting: Setting, lead: Float[np.ndarray, " lead"], occam: bool = False) -> Float[np.ndarray, " lead"]:
    """The one P at which each lead h > 0 is stationary.

    dS/dh = 0 is a cubic in α ∝ P with the signs + + ± −, so by Descartes' rule it has one positive root.
    """
    low, high = np.full_like(lead, -30.0), np.full_like(lead, 40.0)
    for _ in range(90):
        middle = (low + high) / 2
        rising = np.asarray(slope(setting, np.exp(middle), lead, occam)) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.exp((low + high) / 2)


@functools.cache
def transition(setting: Setting, occam: bool = False) -> Transition | None:
    """The first-order transition in P; None where the minimum follows P smoothly (no jump at this size).

    Where P(h), the P at which h is stationary, falls, two minima stand side by side; its turning points are the
    spinodals.
    """
    leads = _LEADS[_LEADS > 1e-9]
    rising = np.diff(sequences_at(setting, leads, occam)) > 0
    falls, rises = np.flatnonzero(rising[:-1] & ~rising[1:]), np.flatnonzero(~rising[:-1] & rising[1:])
    if not falls.size or not rises.size:
        return None
    last_pooled, upper = _turn(setting, leads, int(falls[0]), -1, occam)
    first_copying, lower = _turn(setting, leads, int(rises[-1]), 1, occam)

    def ends(p: float) -> tuple[float, float]:
        pooled = _root(setting, p, (-1.0, last_pooled), occam)
        return pooled, _root(setting, p, (first_copying, float(leads[-1])), occam)

    def lead_of_copying(p: float) -> float:
        pooled, copying = ends(p)
        return float(action(setting, p, copying, occam) - action(setting, p, pooled, occam))

    # a hair inside, where rounding cannot hide either minimum
    inside = 1e-6 * (upper - lower)
    equal = float(brentq(lead_of_copying, lower + inside, upper - inside, rtol=1e-10))  # pyright: ignore
    return Transition(lower, equal, upper, *ends(equal))


def asymptotic_loss(setting: Setting, a_g: Values) -> Values:
    """Loss of a row-normalised pattern as P → ∞: (1 − 1/V)(1 − e), e = (1 + (L−1)a_G)² / (L(1 + (L−1)a_G²))."""
    rest = setting.length - 1
    explained = (1 + rest * a_g) ** 2 / (setting.length * (1 + rest * a_g**2))
    return (1 - 1 / setting.vocab) * (1 - explained)


def _modes(setting: Setting, lead: Values) -> Modes:
    a_g = shift_of(setting, lead)
    return modes.of_pattern(setting, 1 - a_g, a_g)


def _root(setting: Setting, sequences: Number, within: tuple[float, float], occam: bool) -> float:
    return float(brentq(lambda h: float(slope(setting, sequences, h, occam)), *within, xtol=1e-14))  # pyright: ignore


def _turn(setting: Setting, leads: np.ndarray, place: int, sign: int, occam: bool) -> tuple[float, float]:
    """A turning point of P(h) between neighbours of a place of the grid, as (h, P); sign 1 = least P, −1 = greatest."""
    found: Any = minimize_scalar(
        lambda h: sign * sequences_at(setting, np.array([h]), occam)[0],
        bounds=(leads[place], leads[place + 2]), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return float(found.x), float(sign * found.fun)
