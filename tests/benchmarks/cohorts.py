"""How far intervals and tests of a cohort can be trusted at few seeds, by simulation: the numbers of docs/cohorts.md.

Times are exponential or Weibull with 85 % by step 3,000, searched every 100 steps.
"""

import statistics
import time

import numpy as np
from scipy import stats

from interp.cohorts.comparing import log_rank, log_rank_scores
from interp.cohorts.memoryless import bracketed, memoryless
from interp.cohorts.summary import summarise
from interp.cohorts.times import Part, Time
from interp.values import RunId, Status

GRID = tuple(range(0, 3001, 100))
SOLVED, LAST = 0.85, 3000


def times(form: float, size: tuple[int, ...], random: np.random.Generator, factor: float = 1.0) -> np.ndarray:
    """Weibull times of this shape, `factor` times as long as those of which 85 % come by the last step."""
    return factor * LAST / (-np.log(1 - SOLVED)) ** (1 / form) * random.weibull(form, size=size)


def part(found: np.ndarray) -> Part:
    low, high = bracketed(found, GRID)
    status = [Status.EMERGED if np.isfinite(end) else Status.CENSORED for end in high]
    runs = [Time(RunId("s", i), *of) for i, of in enumerate(zip(status, low.tolist(), high.tolist(), strict=True))]
    return Part("s", "t", "", tuple(runs), GRID, None)


def coverage(n: int, cohorts: int = 400) -> tuple[float, ...]:
    """Share of cohorts whose 95 % intervals hold the true median, restricted mean and survival at the true median."""
    random = np.random.default_rng(n)
    rate = -np.log(1 - SOLVED) / LAST
    median, mean = np.log(2) / rate, (1 - np.exp(-rate * LAST)) / rate
    at = max(step for step in GRID if step <= median)
    hits = []
    for _ in range(cohorts):
        found = summarise([part(times(1.0, (n,), random))], "first")
        row = found.cohort.iloc[0]
        curve = found.survival.loc[found.survival["step"] <= at].iloc[-1]
        above = np.inf if row["median_high"] is None or str(row["median_high"]) == "<NA>" else row["median_high"]
        hits.append((
            row["median_low"] <= median <= above,
            row["mean_low"] <= mean <= row["mean_high"],
            curve["low"] <= np.exp(-rate * at) <= curve["high"],
        ))  # fmt: skip
    return tuple(np.mean(hits, axis=0).tolist())


def power_memoryless(n: int, form: float, cohorts: int = 400) -> float:
    random = np.random.default_rng(n)
    found = [memoryless(*bracketed(one, GRID), GRID, draws=399).p_value for one in times(form, (cohorts, n), random)]
    return float(np.mean(np.array(found) <= 0.05))


def power_log_rank(n: int, factor: float, cohorts: int = 200) -> tuple[float, float]:
    """Ours, and scipy's log-rank on the brackets' upper ends, censored where there is none."""
    random = np.random.default_rng(n)
    ours, theirs = [], []
    for _ in range(cohorts):
        ends = [bracketed(times(1.0, (n,), random, scale), GRID) for scale in (1.0, factor)]
        scores = log_rank_scores(*(np.concatenate(of) for of in zip(*ends, strict=True)))
        ours.append(log_rank([scores[:n], scores[n:]]).p_value <= 0.05)
        right = [stats.CensoredData(h[np.isfinite(h)], right=low[np.isinf(h)]) for low, h in ends]
        theirs.append(stats.logrank(*right).pvalue <= 0.05)
    return float(np.mean(ours)), float(np.mean(theirs))


def seconds(n: int, rounds: int = 5) -> float:
    """Median CPU time of every table of one suite and task."""
    one, spent = part(times(1.0, (n,), np.random.default_rng(0))), []
    for _ in range(rounds):
        start = time.process_time()
        summarise([one], "first")
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def main() -> None:
    print("coverage of 95 % intervals: median, restricted mean, survival at the median")
    for n in (3, 4, 5, 10, 20):
        print(f"  {n:2} seeds: " + ", ".join(f"{share:.3f}" for share in coverage(n)))
    print("memoryless: share rejected at .05 for shapes 1 (level), 1.5, 2, 3")
    for n in (9, 20, 40):
        print(f"  {n:2} seeds: " + ", ".join(f"{power_memoryless(n, form):.2f}" for form in (1.0, 1.5, 2.0, 3.0)))
    print("log-rank, permuted / scipy's: share rejected at .05 for times 1 (level), 2, 4 times as long")
    for n in (4, 5, 10):
        rates = [power_log_rank(n, factor) for factor in (1.0, 2.0, 4.0)]
        print(f"  {n:2} + {n} seeds: " + ", ".join(f"{ours:.2f} / {theirs:.2f}" for ours, theirs in rates))
    for n in (10, 100):
        print(f"all tables of one suite and task, {n} seeds: {seconds(n) * 1e3:.0f} ms of CPU")
