"""How often each way to search finds the true first and the true lasting step, and at what cost in loads."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from interp.emergence import Crossing, Emergence, Plan, most_telling, search
from interp.emergence.probes import longest_middle
from interp.emergence.search import Placement
from tests.benchmarks.curves import SHAPES, STEPS, TASKS, THRESHOLD, Simulated, simulate

RUNS, SEED = 250, 1


@dataclass(frozen=True)
class Strategy:
    """A way to search, over every `every`-th step (and the last)."""

    name: str
    plan: Plan
    place: Placement = most_telling
    every: int = 1

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted({*STEPS[:: self.every], STEPS[-1]}))


@dataclass
class Score:
    """What a strategy made of simulated runs; `right[which]` holds a verdict for each curve."""

    shapes: list[str] = field(default_factory=list)
    right: dict[str, list[bool]] = field(default_factory=lambda: {"first": [], "lasting": []})
    doublings: list[float] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)

    def share(self, which: str, shape: str | None = None) -> float:
        """How often the bracket of a kind is right: it holds the true step, or there is none and there is none."""
        return float(
            np.mean([right for right, s in zip(self.right[which], self.shapes, strict=True) if shape in (None, s)])
        )


def log_middle(known: Sequence[Emergence]) -> int | None:
    """A rival placement: the middle of the stretch that is longest in log(step), not in checkpoints."""
    inside = [
        (math.log1p(high) - math.log1p(low), low, high)
        for low, high in zip(known[0].steps, known[0].steps[1:], strict=False)
        if any(low < step < high for step in known[0].distinct)
    ]
    if not inside:
        return None
    _, low, high = max(inside)
    middle = (math.log1p(low) + math.log1p(high)) / 2
    return min((s for s in known[0].distinct if low < s < high), key=lambda s: abs(math.log1p(s) - middle))


def outwards(known: Sequence[Emergence]) -> int | None:
    """A rival placement: the unevaluated checkpoints nearest to any bracket, on its outer side."""
    distinct, seen = known[0].distinct, set(known[0].steps)
    best: tuple[int, int] | None = None
    for one in known:
        below = distinct.index(one.first.bracket.pre) if one.first.bracket else -1
        above = distinct.index(one.lasting.bracket.post) if one.lasting.bracket else len(distinct)
        for place, step in enumerate(distinct):
            distance = max(below - place, place - above)
            if step not in seen and distance > 0 and (place < below or place > above):
                best = min(best or (distance, step), (distance, step))
    return best[1] if best else None


STRATEGIES = (
    Strategy("plain bisection", Plan(probes=0)),
    *(Strategy(f"bisection, {n} probe{'s' * (n > 1)}", Plan(probes=n)) for n in (1, 2, 3, 4, 5, 6, 12, 24)),
    Strategy("bisection, 6 probes in the longest stretch", Plan(probes=6), longest_middle),
    Strategy("bisection, 6 probes in the longest log stretch", Plan(probes=6), log_middle),
    Strategy("bisection, 6 probes next to the brackets", Plan(probes=6), outwards),
    Strategy("bisection to a factor 1.25", Plan(resolution=1.25, probes=0)),
    Strategy("bisection to a factor 1.25, 6 probes", Plan(resolution=1.25, probes=6)),
    Strategy("every 8th checkpoint", Plan("grid"), every=8),
    Strategy("every 4th checkpoint", Plan("grid"), every=4),
    Strategy("every checkpoint (grid)", Plan("grid")),
)


def score(strategy: Strategy, runs: Iterable[Simulated]) -> Score:
    """A strategy on simulated runs."""
    found, thresholds = Score(), {str(task): THRESHOLD for task in range(TASKS)}
    place = {step: i for i, step in enumerate(STEPS)}
    for run in runs:
        asked: list[int] = []

        def shares(step: int, run: Simulated = run, asked: list[int] = asked) -> dict[str, float]:
            asked.append(step)
            return {task: float(run.shares[int(task), place[step]]) for task in thresholds}

        results = search(strategy.steps, shares, thresholds, strategy.plan, strategy.place)
        found.loads.append(len(asked))
        for task, one in results.items():
            truth = Emergence(task, THRESHOLD, STEPS, STEPS, tuple(map(float, run.shares[int(task)])))
            found.shapes.append(run.shapes[int(task)])
            found.right["first"].append(holds(one.first, truth.first))
            found.right["lasting"].append(holds(one.lasting, truth.lasting))
            if one.first.bracket is not None:
                pre, post = one.first.bracket.pre, one.first.bracket.post
                found.doublings.append(math.log2((post + 1) / (pre + 1)))
    return found


def holds(found: Crossing, truth: Crossing) -> bool:
    """Whether a status is the true one, and its bracket holds the true step."""
    if found.bracket is None or truth.bracket is None:
        return found == truth
    return found.bracket.pre < truth.bracket.post <= found.bracket.post


def table(runs: Sequence[Simulated]) -> str:
    """Every strategy, as Markdown."""
    lines = ["| search | first right | lasting right | doublings between the ends | loads, mean | most |"]
    lines += ["|---|---|---|---|---|---|"]
    for strategy in STRATEGIES:
        one = score(strategy, runs)
        cells = (f"{one.share(which):.3f}" for which in ("first", "lasting"))
        spent = f"{np.mean(one.doublings):.2f} | {np.mean(one.loads):.1f} | {max(one.loads)}"
        lines.append(f"| {strategy.name} | {' | '.join(cells)} | {spent} |")
    return "\n".join(lines)


def table_by_shape(runs: Sequence[Simulated], names: Iterable[str]) -> str:
    """First and lasting right by the curve's shape, as Markdown."""
    lines = [f"| search | {' | '.join(SHAPES)} |", "|---" * (1 + len(SHAPES)) + "|"]
    for strategy in (one for one in STRATEGIES if one.name in names):
        one = score(strategy, runs)
        cells = (f"{one.share('first', s):.2f}, {one.share('lasting', s):.2f}" for s in SHAPES)
        lines.append(f"| {strategy.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    runs = simulate(RUNS, SEED)
    print(table(runs) + "\n")
    print(table_by_shape(runs, ("plain bisection", "bisection, 6 probes", "every 4th checkpoint")))


if __name__ == "__main__":
    main()
