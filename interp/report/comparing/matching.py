"""Two views → the runs and tasks that both have, and differences of their numbers with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from interp.report import formats
from interp.report.views import Measured, Outcome, Pair, View
from interp.values import Direction, Head, RunId, Status


@dataclass(frozen=True)
class Matched:
    """One task in one run of each store. `run`: how the match is called; a difference is second − first."""

    run: str
    task: str
    anchor: str
    first: Pair
    second: Pair

    @property
    def name(self) -> str:
        """The run and the task in words."""
        return f"{self.run} · {self.task}"

    @property
    def same_heads(self) -> bool:
        """Whether heads of one name can be held against each other: the same run, with grids of one shape."""
        shapes = [{d: grid.shape for d, grid in pair.grids.items()} for pair in (self.first, self.second)]
        return self.first.run == self.second.run and bool(shapes[0]) and shapes[0] == shapes[1]


@dataclass(frozen=True)
class Comparison:
    """Two stores under their names; what matches, and what stands alone on either side."""

    names: tuple[str, str]
    views: tuple[View, View]
    matched: tuple[Matched, ...]
    alone: tuple[tuple[Pair, ...], tuple[Pair, ...]]


def compare(names: tuple[str, str], first: View, second: View) -> Comparison:
    """Match run by run; where the stores hold two different suites, seed by seed."""
    key = _by_run if set(first.runs) & set(second.runs) else _by_seed
    one = not (set(first.runs) & set(second.runs)) and len(first.suites) == len(second.suites) == 1
    found: tuple[Matched, ...] = ()
    if key is _by_run or one:
        others = {key(pair): pair for pair in second.pairs}
        found = tuple(_match(pair, others[key(pair)]) for pair in first.pairs if key(pair) in others)
    taken = ({id(of.first) for of in found}, {id(of.second) for of in found})
    alone = tuple(
        tuple(pair for pair in view.pairs if id(pair) not in of)
        for view, of in zip((first, second), taken, strict=True)
    )
    return Comparison(names, (first, second), found, (alone[0], alone[1]))


def _by_run(pair: Pair) -> tuple[RunId | int | None, str]:
    return pair.run, pair.task


def _by_seed(pair: Pair) -> tuple[RunId | int | None, str]:
    return pair.run.seed, pair.task


def _match(first: Pair, second: Pair) -> Matched:
    run = str(first.run) if first.run == second.run else f"{first.run} and {second.run}"
    return Matched(run, first.task, first.anchor, first, second)


@dataclass(frozen=True)
class Shift:
    """How much later the second emerged, in steps: between `low` and `high` (infinite where one is censored).

    `doublings`: log2 of the ratio of the first passing steps (NaN: not both emerged).
    """

    low: float
    high: float
    doublings: float

    @property
    def sure(self) -> bool:
        """Whether the brackets alone say which is earlier."""
        return self.low >= 0 or self.high <= 0


def shift(of: Matched) -> Shift | None:
    """How the emergence steps differ; `None` where a scan is missing, or neither emerged."""
    if not (of.first.emerges or of.second.emerges):
        return None
    spans = [_span(pair) for pair in (of.first, of.second)]
    if spans[0] is None or spans[1] is None:
        return None
    (low, high), (later_low, later_high) = spans[0], spans[1]
    both = high > 0 and later_high > 0 and math.isfinite(high) and math.isfinite(later_high)
    doublings = math.log2(later_high / high) if both else math.nan
    return Shift(later_low - high, later_high - low, doublings)


def _span(pair: Pair) -> tuple[float, float] | None:
    """The steps between which a task emerged: up to its first checkpoint, or beyond its last, if it did in none."""
    outcome, curve = pair.outcome, pair.curve
    if outcome is None or curve is None:
        return None
    if outcome.bracket is not None:
        return float(outcome.bracket.pre), float(outcome.bracket.post)
    return _open(outcome, curve.steps[0], curve.steps[-1])


def _open(outcome: Outcome, first: int, last: int) -> tuple[float, float]:
    return (0.0, float(first)) if outcome.status is Status.FROM_START else (float(last), math.inf)


def difference(of: Matched, direction: Direction, head: Head) -> Measured:
    """Mean Δp of a head, second − first, with a pointwise 95 % t interval over prompts; NaN where it has none.

    Prompts are paired where both stores measured on the same ones; else Welch's interval of two samples.
    """
    samples = [pair.samples[direction][:, head.layer, head.head] for pair in (of.first, of.second)]
    if of.first.asked and of.first.asked == of.second.asked and len(samples[0]) == len(samples[1]):
        change = samples[1] - samples[0]
        variance = float(change.var(ddof=1) / len(change)) if len(change) > 1 else math.nan
        return _interval(float(change.mean()), variance, float(len(change) - 1))
    mean = float(samples[1].mean() - samples[0].mean())
    if min(map(len, samples)) < 2:
        return mean, math.nan, math.nan
    parts = [float(values.var(ddof=1) / len(values)) for values in samples]
    variance = sum(parts)
    weight = sum(part**2 / (len(values) - 1) for part, values in zip(parts, samples, strict=True))
    return _interval(mean, variance, variance**2 / weight if weight else math.inf)


def _interval(mean: float, variance: float, freedom: float) -> Measured:
    if math.isnan(variance) or freedom < 1:
        return mean, math.nan, math.nan
    width = float(stats.t.ppf(0.975, freedom) if math.isfinite(freedom) else stats.norm.ppf(0.975)) * math.sqrt(
        variance
    )
    return mean, mean - width, mean + width


def first_heads(of: Matched, direction: Direction, each: int = 6) -> list[Head]:
    """The first heads of either store in a direction."""
    ranked = [pair.ranking.get(direction, ()) for pair in (of.first, of.second)]
    return list(dict.fromkeys(effect.head for effects in ranked for effect in effects[:each]))


def grid_changes(of: Matched) -> Mapping[Direction, np.ndarray]:
    """Mean Δp[layer, head], second − first; empty where heads cannot be held against each other."""
    return {d: of.second.grids[d] - grid for d, grid in of.first.grids.items()} if of.same_heads else {}


def unlike(of: Matched) -> Iterator[str]:
    """What was done differently in the two stores, besides what they are about."""
    one, two = of.first.settings, of.second.settings
    if one is not None and two is not None:
        for name in ("dtype", "device", "bos", "tokenizer"):
            values = [getattr(one, name), getattr(two, name)]
            if values[0] != values[1]:
                yield f"{'BOS' if name == 'bos' else name} ({' and '.join(str(value)[:12] for value in values)})"
    if of.first.asked and of.second.asked and of.first.asked != of.second.asked:
        yield "effect prompts"
    ends = [pair.ends for pair in (of.first, of.second)]
    if of.first.run == of.second.run and all(ends) and ends[0] != ends[1]:
        shown = [f"{formats.step(one.pre)} → {formats.step(one.post)}" for one in ends if one]
        yield f"checkpoints patched ({' and '.join(shown)})"
