"""`python docs/claims.py`: the papers' claims against numbers of the shipped suites, as docs/claims_table.md.

Every number is computed here from scans and patches; what is stored already is not computed again (`--store`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

import interp
from interp.cohorts.resampling import wilson

TABLE = Path(__file__).parent / "claims_table.md"
TASKS = ("ioi", "string", "named_item", "digit_string", "pattern", "counting", "numbered_list")
PATCHED = ("ioi", "string", "named_item", "digit_string")
GRID = interp.Options(search="grid", draws=5)

Verdict = Literal["agrees", "agrees in part", "does not agree", "cannot be told here"]


@dataclass(frozen=True)
class Found:
    """Our number with its interval, in words, and how it compares."""

    number: str
    verdict: Verdict


@dataclass(frozen=True)
class Claim:
    """What a paper says; `grade` as in the table's legend; `measure` makes our number of scans and patches."""

    says: str
    grade: str
    measure: Callable[[Numbers], Found]


@dataclass(frozen=True)
class Numbers:
    """What claims are measured on: all tasks scanned on every checkpoint, some patched between the ends of brackets."""

    emergence: pd.DataFrame
    heads: pd.DataFrame
    joint: pd.DataFrame

    @property
    def large(self) -> pd.DataFrame:
        """The scans of nano-3l, where most tasks come."""
        return self.emergence.query("suite == 'nano-3l'")

    def recovered(self, kind: str, k: int | None = None, direction: str = "denoising") -> pd.Series:
        """Recovered fraction of each run and task with a real gap: of the top k, k random heads (mean), or all."""
        rows = self.joint.query("set == @kind and direction == @direction")
        rows = rows if k is None else rows.loc[rows["k"] == k]
        return rows.groupby(["seed", "task"])["recovered"].mean().dropna()


def share(hits: int, n: int) -> str:
    """A share with its 95 % Wilson interval."""
    low, high = wilson(hits, n)
    return f"{hits} of {n} ({hits / n:.0%}; {low:.0%} to {high:.0%})"


def mean(values: pd.Series) -> str:
    """A mean over pairs of run and task with its 95 % bootstrap interval over runs, which are the independent units."""
    by_run = [part.to_numpy() for _, part in values.groupby("seed")]
    draws = np.random.default_rng(0).integers(len(by_run), size=(2000, len(by_run)))
    means = [np.concatenate([by_run[i] for i in draw]).mean() for draw in draws]
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():.2f} [{low:.2f}, {high:.2f}]"


def seeds_differ(numbers: Numbers) -> Found:
    """How far first emergence lies apart over seeds."""
    said, factors = [], []
    for task, rows in numbers.large.groupby("task"):
        known = rows.dropna(subset=["post"])
        first, last = known.loc[known["post"].idxmin()], known.loc[known["post"].idxmax()]
        factors.append(last["post"] / first["post"])
        said.append(f"{task} ({first['pre']:,}, {first['post']:,}] to ({last['pre']:,}, {last['post']:,}]")
    verdict = "agrees" if np.median(factors) >= 1.5 else "does not agree"
    return Found(f"earliest and latest bracket over 5 seeds: {'; '.join(said)}", verdict)


def some_never(numbers: Numbers) -> Found:
    """How many runs never pass."""
    said = [
        f"{suite}: {share(int((rows['status'] == 'censored').sum()), len(rows))}"
        for suite, rows in numbers.emergence.groupby("suite")
    ]
    never = int((numbers.emergence["status"] == "censored").sum())
    return Found("pairs of run and task that never pass: " + "; ".join(said), "agrees" if never else "does not agree")


def not_monotone(numbers: Numbers) -> Found:
    """How many runs fail again after they had passed."""
    passed = numbers.emergence.query("status != 'censored'")
    hits = int((~passed["monotone"]).sum())
    return Found(f"fail again at some step: {share(hits, len(passed))}", "agrees" if hits else "does not agree")


def abrupt(numbers: Numbers) -> Found:
    """The largest part of the rise of p that lies between two neighbouring checkpoints."""
    emerged = numbers.large.dropna(subset=["pre"])
    parts = emerged.apply(lambda row: float(np.diff(row["ps"]).max() / (max(row["ps"]) - min(row["ps"]))), axis=1)
    of_task = parts.groupby(emerged["task"]).median().sort_values()
    said = ", ".join(f"{task} {value:.2f}" for task, value in of_task.items())
    some = "agrees in part" if of_task.iloc[-1] >= 0.4 else "does not agree"
    verdict = "agrees" if (of_task >= 0.4).all() else some
    return Found(f"part of the rise of p in the steepest interval, median over seeds: {said}", verdict)


def few_recover(numbers: Numbers) -> Found:
    """What the first heads bring back together, beside random heads and all heads."""
    top, random = numbers.recovered("top", 4), numbers.recovered("random", 4)
    by_task = top.groupby("task").mean().sort_values()
    said = ", ".join(f"{task} {value:.2f}" for task, value in by_task.items())
    number = (
        f"recovered by the first 4 of 12 heads: {mean(top)} over {len(top)} pairs of run and task ({said}); "
        f"by 4 other heads: {mean(random)}; by all 12: {mean(numbers.recovered('all'))}"
    )
    part = "agrees in part" if by_task.iloc[-1] >= 0.5 else "does not agree"
    return Found(number, "agrees" if top.mean() >= 0.5 else part)


def sparse(numbers: Numbers) -> Found:
    """How many heads may be called causal in a bracket."""
    counts = numbers.heads.groupby(["seed", "task", "direction"])["causal"].sum()
    found = {name: counts.xs(name, level="direction") for name in ("denoising", "noising")}
    said = "; ".join(f"{name} {mean(values)}, at most {values.max()}" for name, values in found.items())
    return Found(f"causal heads of 12 in a bracket: {said}", "agrees" if counts.mean() <= 3 else "does not agree")


def known_kinds(numbers: Numbers) -> Found:
    """Which labels causal heads carry."""
    causal = numbers.heads.loc[numbers.heads["causal"]]
    kinds = causal["label"].isin(["previous-token", "induction"])
    counts = causal["label"].value_counts().to_dict()
    said = ", ".join(f"{label} {n}" for label, n in counts.items())
    verdict = "agrees" if kinds.mean() >= 0.75 else "agrees in part" if kinds.any() else "does not agree"
    number = f"causal heads that look previous-token or induction: {share(int(kinds.sum()), len(kinds))}; {said}"
    return Found(number, verdict)


def not_sufficient(numbers: Numbers) -> Found:
    """What the patterns of all heads bring, and what their loss takes."""
    brings, takes = numbers.recovered("all"), numbers.recovered("all", direction="noising")
    part = "agrees in part" if brings.mean() < takes.mean() else "does not agree"
    verdict = "agrees" if brings.mean() < 0.5 and takes.mean() >= 0.75 else part
    return Found(f"all 12 patterns bring {mean(brings)} of the gap; without them {mean(takes)} of it is lost", verdict)


def two_sizes(numbers: Numbers) -> Found:
    """In how many runs of the two shipped sizes tasks come."""
    rows = numbers.emergence.assign(solved=numbers.emergence["status"] != "censored")
    counts = rows.groupby(["task", "suite"])["solved"].agg(["sum", "size"])
    said = []
    for task in TASKS:
        small, large = (tuple(counts.loc[(task, suite)]) for suite in ("nano-2l", "nano-3l"))
        if small[0] < small[1]:
            said.append(f"{task} {small[0]} of {small[1]} and {large[0]} of {large[1]}")
    number = f"runs of nano-2l and nano-3l that pass, where any of the smaller fails: {'; '.join(said)}"
    return Found(number + "; two sizes make no trend", "cannot be told here")


EMERGENCE = (
    Claim("Seeds emerge at very different steps.", "a", seeds_differ),
    Claim("Some seeds do not solve a task within training.", "d", some_never),
    Claim("p(answer) does not rise monotonically with the step.", "d", not_monotone),
    Claim("Capabilities come abruptly.", "a", abrupt),
    Claim("Success is not monotone in model size.", "d", two_sizes),
)
HEADS = (
    Claim("Patterns of a few causal heads (K = 16 of Pythia's) recover most of the gap.", "s", few_recover),
    Claim("Few heads are causal.", "a", sparse),
    Claim("The first heads are a previous-token head and a copying (induction) head.", "d", known_kinds),
    Claim("A pattern can be needed without being sufficient.", "r", not_sufficient),
)


def scanned(store: interp.Store) -> pd.DataFrame:
    """Every task in every shipped run, on every checkpoint."""
    names = ("nano-2l", "nano-3l")
    return pd.concat([interp.scan(name, TASKS, store=store, options=GRID) for name in names], ignore_index=True)


def numbers(store: interp.Store) -> Numbers:
    """Everything that the claims are measured on."""
    heads = interp.patch("nano-3l", PATCHED, store=store, options=GRID)
    return Numbers(scanned(store), heads, store.table("joint"))


def rows(claims: tuple[Claim, ...], known: Numbers) -> list[str]:
    """A line of the table for each claim."""
    found = [(claim, claim.measure(known)) for claim in claims]
    return [f"| {claim.says} | {claim.grade} | {one.number} | **{one.verdict}** |" for claim, one in found]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(".interp/claims"))
    known = numbers(interp.Store(parser.parse_args().store))
    head = ["| the paper says | grade | here | |", "|---|---|---|---|"]
    TABLE.write_text("\n".join([*head, *rows(EMERGENCE, known), *rows(HEADS, known)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
