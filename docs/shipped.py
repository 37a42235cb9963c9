"""`python docs/shipped.py`: the whole story of the shipped suites, as docs/shipped_tables.md; says how long it took.

Timed: every seed of both suites on every task searched and traced by two processes, and cohorts of what was found.
Agreement needs effects, which take longer than all of this: they are measured after it, for four tasks of nano-3l.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import interp
from interp import cohorts, pipeline
from interp.execution import Engine, engine
from interp.pipeline import Traced
from interp.report import cohort_tables, formats
from interp.report.cohorts import cohort
from interp.report.display import Table
from interp.tasks import parse, task_names

TABLES = Path(__file__).parent / "shipped_tables.md"
SUITES = ("nano-2l", "nano-3l")
PATCHED = ("ioi", "string", "named_item", "counting")
OPTIONS = interp.Options(draws=5)
JOBS = 2
KINDS = {"previous_token": "previous-token", "induction": "induction"}
# from here on a pattern score counts in a head's label
LABELLED = 0.4


@dataclass(frozen=True)
class Story:
    """All that the page tells: tables of both suites, and cohorts of their first and lasting emergence."""

    traced: Traced
    first: cohorts.Cohorts
    lasting: cohorts.Cohorts


def traced(store: interp.Store, suites: Sequence[str], seeds: Sequence[int] | None, workers: Engine) -> Traced:
    """The suites searched and traced on every task."""
    tasks = [parse(name) for name in task_names()]
    found = [pipeline.trace(interp.suite(name), tasks, store, (), seeds, OPTIONS, workers) for name in suites]
    return Traced(*(pd.concat(several, ignore_index=True) for several in zip(*found, strict=True)))


def told(store: interp.Store) -> Story:
    """The story of everything that is shipped, without agreement."""
    with engine(JOBS, preload="interp.pipeline") as workers:
        found = traced(store, SUITES, None, workers)
        first, lasting = workers.map(partial(over_seeds, store), ("first", "lasting"), title="cohorts", unit="cohort")
    return Story(found, first, lasting)


def over_seeds(store: interp.Store, which: cohorts.Which) -> cohorts.Cohorts:
    """First or lasting emergence over the seeds of both suites."""
    return cohort(store, which=which)


def agreed(story: Story, store: interp.Store) -> Story:
    """The same with what patching adds."""
    with engine(JOBS, preload="interp.pipeline") as workers:
        tasks = [parse(name) for name in PATCHED]
        pipeline.patch(interp.suite("nano-3l"), tasks, store, options=OPTIONS, engine=workers)
        found = traced(store, ("nano-3l",), None, workers)
    more = {"agreement": found.agreement, "agreement_seeds": found.agreement_seeds}
    return replace(story, traced=story.traced._replace(**more))


def emergence(found: pd.DataFrame) -> Table:
    """First and lasting brackets of every run and task."""
    columns = ("run", "task", "first", "bracket", "lasting", "bracket", "evaluated", "longest unprobed gap")
    rows = []
    for row in found.to_dict("records"):
        gap = f"{row['unprobed']}, {row['unprobed_from']:,} to {row['unprobed_to']:,}" if row["unprobed"] else "none"
        first, lasting = bracket(row["pre"], row["post"]), bracket(row["lasting_pre"], row["lasting_post"])
        rows.append(
            (run(row), row["task"], row["status"], first, row["lasting_status"], lasting, str(len(row["steps"])), gap)
        )
    return Table(columns, tuple(rows), words=8)


def run(row: Any) -> str:
    """`nano-3l/seed0`."""
    return f"{row['suite']}/seed{row['seed']}"


def bracket(pre: Any, post: Any) -> str:
    """`(300, 400]`; a dash where there is none."""
    return formats.NONE if pd.isna(pre) else f"({pre:,}, {post:,}]"


def sharpness(found: pd.DataFrame) -> Table:
    """Doublings from 10 to 90 % of the rise, by suite, task and measure, over seeds."""
    named = {"p": "p", "margin": "margin", "share": "solved share"}
    rows = []
    for (suite, task), part in found.groupby(["suite", "task"]):
        cells = tuple(doublings(part.loc[part["measure"] == measure]) for measure in named)
        sharper = part.loc[part["measure"].isin(["p", "share"]) & part["artefact"], "seed"].nunique()
        rows.append((str(suite), str(task), *cells, f"{sharper} of {part['seed'].nunique()}"))
    return Table(("suite", "task", *named.values(), "p or share sharper than margin"), tuple(rows), words=6)


def doublings(rows: pd.DataFrame) -> str:
    """Median and range where it was measured; how many seeds allow only bounds, or have no rise."""
    measured, counts = rows.loc[rows["verdict"] == "measured", "doublings"], rows["verdict"].value_counts()
    said = [f"{n} {verdict}" for verdict, n in counts.sort_index().items() if verdict != "measured"]
    if len(measured):
        said.insert(
            0, f"{measured.median():.2f} ({measured.min():.2f} to {measured.max():.2f}), {len(measured)} measured"
        )
    return "; ".join(said)


def changes(found: pd.DataFrame) -> Table:
    """How many heads change, by suite and score on random words, and on which side of the tasks' first brackets."""
    rows = []
    for (suite, score), part in found.loc[found["prompts"] == "random"].groupby(["suite", "score"], sort=False):
        verdicts = part.drop_duplicates(["seed", "layer", "head"])["verdict"].value_counts()
        sides = part["relation"].value_counts()
        counts = [verdicts.get(one, 0) for one in ("abrupt", "gradual", "none")]
        counts += [sides.get(one, 0) for one in ("before", "in", "after")]
        rows.append((str(suite), str(score).replace("_", "-"), *map(str, counts)))
    columns = ("suite", "score", "abrupt", "gradual", "none", "before a bracket", "in one", "after one")
    return Table(columns, tuple(rows), words=2)


def becoming(found: pd.DataFrame) -> Table:
    """Heads that become previous-token or induction heads: when, how, and beside which brackets."""
    chosen = found.loc[
        (found["prompts"] == "random") & found["score"].isin(KINDS) & (found["verdict"] != "none")
        & (found["from_value"] < LABELLED) & (found["to_value"] >= LABELLED)
    ]  # fmt: skip
    rows = []
    for _, part in chosen.groupby(["suite", "seed", "layer", "head", "score"]):
        first = part.iloc[0]
        sides = {side: part.loc[part["relation"] == side, "task"] for side in ("before", "in", "after")}
        values = [formats.probability(first[name]) for name in ("from_value", "to_value", "after")]
        rows.append(
            (
                run(first), f"L{first['layer']}H{first['head']}", KINDS[first["score"]], first["verdict"],
                f"{first['from_step']:,} to {first['to_step']:,}", f"{values[0]} → {values[1]}", values[2],
                *(", ".join(tasks) or formats.NONE for tasks in sides.values()),
            )
        )  # fmt: skip
    columns = ("run", "head", "becomes", "how", "steps", "score", "at the end", "before the bracket of", "in", "after")
    return Table(columns, tuple(rows), words=10)


def agreement(found: pd.DataFrame) -> Table:
    """Of every patched bracket and direction: the score whose change goes best with effects."""
    columns = (
        "run",
        "task",
        "direction",
        "score",
        "ρ",
        "95 %",
        "p in layers",
        "p (Holm)",
        "K",
        "precision at K",
        "by chance",
    )
    rows = []
    for row in best(found, ["seed", "task", "direction"]):
        precision = [row[name] if row["k"] else float("nan") for name in ("precision", "precision_layer")]
        rows.append(
            (
                run(row), row["task"], row["direction"], row["score"].replace("_", "-"), formats.signed(row["rho"]),
                formats.interval(row["rho_low"], row["rho_high"]), p(row["p_layer"]), p(row["p_holm"]), str(row["k"]),
                *map(formats.probability, precision),
            )
        )  # fmt: skip
    return Table(columns, tuple(rows), words=4)


def agreement_seeds(found: pd.DataFrame) -> Table:
    """The same over seeds, and whether the first-ranked heads of the seeds look alike in that score."""
    columns = (
        "task",
        "direction",
        "seeds",
        "score",
        "mean ρ",
        "least to most",
        "p in layers",
        "p (Holm)",
        "alike",
        "others",
        "p",
    )
    rows = [
        (
            row["task"], row["direction"], str(len(row["seeds"])), row["score"].replace("_", "-"),
            formats.signed(row["rho"]), f"{formats.signed(row['rho_min'])} to {formats.signed(row['rho_max'])}",
            p(row["p_layer"]), p(row["p_holm"]), formats.probability(row["alike"]),
            formats.probability(row["alike_layer"]), p(row["p_alike"]),
        )
        for row in best(found, ["task", "direction"])
    ]  # fmt: skip
    return Table(columns, tuple(rows), words=4)


def best(found: pd.DataFrame, by: list[str]) -> Iterator[dict[str, Any]]:
    """The row of the largest ρ in each group."""
    for _, part in found.dropna(subset=["rho"]).groupby(by, sort=False):
        yield {str(name): value for name, value in part.loc[part["rho"].idxmax()].items()}


def p(value: float) -> str:
    """A p-value."""
    return formats.NONE if pd.isna(value) else "< .001" if value < 0.001 else formats.probability(value)


def lines(table: Table) -> list[str]:
    """A table in Markdown."""
    rows = [table.columns, tuple("---" for _ in table.columns), *table.rows]
    return ["| " + " | ".join(row) + " |" for row in rows]


def page(story: Story) -> str:
    """All tables under their headings."""
    found = story.traced
    parts = [
        ("When each task emerges", emergence(found.emergence)),
        ("How sharply", sharpness(found.onsets)),
        ("Which heads change", changes(found.changes)),
        ("Heads that become previous-token or induction heads", becoming(found.changes)),
        ("Do effects go with signatures? Each run", agreement(found.agreement)),
        ("Do effects go with signatures? Over seeds", agreement_seeds(found.agreement_seeds)),
    ]
    for which, one in (("First", story.first), ("Lasting", story.lasting)):
        parts.append((f"{which} emergence over seeds", cohort_tables.outcomes(one)))
        parts.append((f"{which} emergence: do the suites differ?", cohort_tables.comparisons(one)))
    said = ["\n".join([f"## {title}", "", *lines(table)]) for title, table in parts]
    notes = dict.fromkeys(note for one in (story.first, story.lasting) for note in cohort_tables.sentences(one))
    return "\n\n".join([*said, *notes]) + "\n"


def main() -> None:
    """Measure, time and write."""
    with tempfile.TemporaryDirectory() as folder:
        store, before = interp.Store(folder), time.perf_counter()
        story = told(store)
        print(f"scan, trace and cohorts: {time.perf_counter() - before:.0f} s, {cpu():.0f} s of CPU", flush=True)
        before, spent = time.perf_counter(), cpu()
        story = agreed(story, store)
        print(f"patching and agreement: {time.perf_counter() - before:.0f} s, {cpu() - spent:.0f} s of CPU")
    TABLES.write_text(page(story), encoding="utf-8")
    print(f"wrote {TABLES}")


def cpu() -> float:
    """Processor seconds of this process and of the workers that have ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
