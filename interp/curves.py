"""One task's outcomes over the evaluated steps: curves with intervals over prompts, and how sharply they rise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy import stats

from interp.resampling import ends, resampled_means

VERSION = 1

# parts of a rise, from the value at the first evaluated step to the value at the last
LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9
MEASURES = ("p", "margin", "share", "lasting")


@dataclass(frozen=True)
class Outcomes:
    """What the evaluations of one task say at every evaluated step, ascending, all on the same prompts."""

    steps: tuple[int, ...]
    p: Float[np.ndarray, "step prompt"]
    log_p: Float[np.ndarray, "step prompt"]
    margin: Float[np.ndarray, "step prompt"]
    solved: Bool[np.ndarray, "step prompt"]

    @property
    def lasting(self) -> Bool[np.ndarray, "step prompt"]:
        """Whether a prompt is solved at a step and at every later one."""
        return np.logical_and.accumulate(self.solved[::-1])[::-1]

    def lasting_steps(self) -> tuple[int | None, ...]:
        """The step from which each prompt is solved for good, as far as was evaluated; `None`: not at the last."""
        return tuple(self.steps[int(one.argmax())] if one[-1] else None for one in self.lasting.T)

    def values(self, measure: str) -> Float[np.ndarray, "step prompt"]:
        """The values whose mean over prompts is the measure."""
        return {"p": self.p, "margin": self.margin, "share": self.solved, "lasting": self.lasting}[measure].astype(
            float
        )


class Onset(NamedTuple):
    """How sharply a measure rises over training, in doublings of the step.

    `doublings` lie between the steps at which the curve has gone through 10 % and 90 % of its rise (first evaluated
    value to last), read off by linear interpolation over log step; with a 95 % bootstrap interval over prompts. The
    curve between evaluated steps is unknown: if it is monotone there, the true number is in [`at_least`, `at_most`]
    (NaN: no bound, since 10 % is passed between step 0 and the next). `verdict`: `measured`; `coarse` where one
    interval holds both crossings, or step 0 is an end of it, so that only the bounds can be given; `no rise` where the
    rise is not clearly above 0. `jump` is the largest part of the rise between two neighbouring evaluated steps.
    `excess` is how many doublings longer at the least the margin takes: its `at_least` − this measure's `at_most`, so
    that no spacing of steps can make it positive. `artefact`: it is positive, and so is the lower end of its interval
    over prompts (`excess_low`): this measure is sharper than what it is computed from.
    """

    measure: str
    verdict: str
    first: float
    final: float
    low_step: float = np.nan
    mid_step: float = np.nan
    high_step: float = np.nan
    doublings: float = np.nan
    doublings_low: float = np.nan
    doublings_high: float = np.nan
    at_least: float = np.nan
    at_most: float = np.nan
    jump: float = np.nan
    jump_from: int = -1
    jump_to: int = -1
    excess: float = np.nan
    excess_low: float = np.nan
    artefact: bool = False


def curve(outcomes: Outcomes, resamples: int = 2000) -> pd.DataFrame:
    """Means over prompts at every evaluated step with 95 % intervals: bootstrap, and Wilson's for the solved share."""
    found: dict[str, object] = {"step": list(outcomes.steps)}
    for measure in ("p", "log_p", "margin"):
        values: np.ndarray = getattr(outcomes, measure)
        found[measure] = values.mean(1)
        if measure != "log_p":
            low, high = _interval(values, resamples)
            found |= {f"{measure}_low": low, f"{measure}_high": high}
    counts = outcomes.solved.sum(1)
    n = outcomes.solved.shape[1]
    wilson = [stats.binomtest(int(k), n).proportion_ci(method="wilson") for k in counts]
    found |= {"share": counts / n, "share_low": [one.low for one in wilson], "share_high": [one.high for one in wilson]}
    return pd.DataFrame(found)


def _interval(values: Float[np.ndarray, "step prompt"], resamples: int) -> tuple[np.ndarray, np.ndarray]:
    if values.shape[1] < 2:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    return ends(resampled_means(values.T, resamples))


class Rise(NamedTuple):
    """Where curves go through parts of their rises; one entry for each curve.

    `doublings` by interpolation, infinite where 10 % is passed in an interval that begins at step 0; `at_least` and
    `at_most` from the evaluated steps alone. `coarse`: `doublings` rest on a single interval. NaN where nothing rises.
    """

    low: Float[np.ndarray, "curve"]
    middle: Float[np.ndarray, "curve"]
    high: Float[np.ndarray, "curve"]
    at_least: Float[np.ndarray, "curve"]
    at_most: Float[np.ndarray, "curve"]
    coarse: Bool[np.ndarray, "curve"]

    @property
    def doublings(self) -> Float[np.ndarray, "curve"]:
        """log2 of the steps at 90 % and at 10 %, their difference."""
        return self.high - self.low


def rise(steps: tuple[int, ...], values: Float[np.ndarray, "curve step"]) -> Rise:
    """The rise of curves over training steps; positions are log2 of the step.

    90 % counts where it is first reached, 10 and 50 % where they are last crossed before that: a flicker that dies away
    is no part of the rise.
    """
    first, final = values[:, :1], values[:, -1:]
    rises = final[:, 0] > first[:, 0]
    part = (values - first) / np.where(rises[:, None], final - first, np.nan)
    with np.errstate(divide="ignore"):
        x = np.log2(np.array(steps, dtype=float))
    top = np.argmax(part >= HIGH, axis=1)
    places = {HIGH: top}
    for level in (LOW, MIDDLE):
        below = (part < level) & (np.arange(len(steps)) < top[:, None])
        places[level] = len(steps) - np.argmax(below[:, ::-1], axis=1)  # the step after the last one that lies below
    crossing = {level: _crossing(x, part, place, level) for level, place in places.items()}
    low, high = places[LOW], places[HIGH]
    unknown = np.where(rises, 0.0, np.nan)
    return Rise(
        crossing[LOW] + unknown, crossing[MIDDLE] + unknown, crossing[HIGH] + unknown,
        np.where(high > low, x[high - 1] - x[np.minimum(low, len(x) - 1)], 0) + unknown,
        x[high] - x[np.clip(low - 1, 0, None)] + unknown,
        rises & ((low == high) | ~np.isfinite(x[np.clip(low - 1, 0, None)])),
    )  # fmt: skip


def _crossing(
    x: Float[np.ndarray, "step"], part: Float[np.ndarray, "curve step"], place: Int[np.ndarray, "curve"], level: float
) -> Float[np.ndarray, "curve"]:
    """Where the straight line from the step before `place` to it meets a level; −inf if that begins at step 0."""
    place = np.clip(place, 1, len(x) - 1)
    every = np.arange(len(part))
    before, after = part[every, place - 1], part[every, place]
    with np.errstate(invalid="ignore", divide="ignore"):
        at = x[place - 1] + (level - before) / (after - before) * (x[place] - x[place - 1])
    return np.where(np.isfinite(x[place - 1]), at, -np.inf)


def onsets(outcomes: Outcomes, resamples: int = 2000) -> list[Onset]:
    """How sharply p, margin, solved share and lastingly solved share rise; needs two evaluated steps or more."""
    prompts = outcomes.p.shape[1]
    whole = {name: outcomes.values(name).mean(1)[None] for name in MEASURES}
    drawn = {
        name: resampled_means(outcomes.values(name).T, resamples) if prompts > 1 else whole[name] for name in MEASURES
    }
    rises = {name: rise(outcomes.steps, value) for name, value in whole.items()}
    many = {name: rise(outcomes.steps, value) for name, value in drawn.items()}
    return [_onset(name, outcomes.steps, whole[name][0], drawn[name], rises, many, prompts > 1) for name in MEASURES]


def _onset(
    name: str,
    steps: tuple[int, ...],
    value: Float[np.ndarray, "step"],
    drawn: Float[np.ndarray, "resample step"],
    rises: dict[str, Rise],
    many: dict[str, Rise],
    known: bool,
) -> Onset:
    one, first, final = rises[name], float(value[0]), float(value[-1])
    smallest = float(np.quantile(drawn[:, -1] - drawn[:, 0], 0.025))
    if final <= first or smallest <= 0:
        return Onset(name, "no rise", first, final)
    coarse = bool(one.coarse[0])
    low, high = _range(many[name].doublings) if known and not coarse else (np.nan, np.nan)
    parts = np.diff(value) / (final - first)
    largest = int(parts.argmax())
    excess, excess_low = np.nan, np.nan
    if name != "margin":
        excess = _finite((rises["margin"].at_least - one.at_most)[0])
        excess_low = _range(many["margin"].at_least - many[name].at_most)[0] if known else np.nan
    return Onset(
        name, "coarse" if coarse else "measured", first, final,
        low_step=_step(one.low[0]), mid_step=_step(one.middle[0]), high_step=_step(one.high[0]),
        doublings=np.nan if coarse else float(one.doublings[0]), doublings_low=low, doublings_high=high,
        at_least=float(one.at_least[0]), at_most=_finite(one.at_most[0]),
        jump=float(parts[largest]), jump_from=steps[largest], jump_to=steps[largest + 1],
        excess=excess, excess_low=excess_low, artefact=excess > 0 and excess_low > 0,
    )  # fmt: skip


def _step(position: float) -> float:
    """The step at a position on the log scale; NaN where that is somewhere after step 0."""
    return float(2**position) if np.isfinite(position) else float("nan")


def _range(values: Float[np.ndarray, "resample"]) -> tuple[float, float]:
    """The 95 % percentile interval; resamples in which nothing rises could be anything, and stand at both ends."""
    low = np.quantile(np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf), 0.025, method="inverted_cdf")
    high = np.quantile(np.nan_to_num(values, nan=np.inf, posinf=np.inf, neginf=-np.inf), 0.975, method="inverted_cdf")
    return _finite(low), _finite(high)


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else float("nan")
