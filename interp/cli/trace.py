"""`interp trace`: how sharply tasks come, which heads change, and whether the two go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from interp.cli.answering import answering
from interp.cli.estimate import announce_download
from interp.cli.options import (
    DEFAULT_STORE,
    NEIGHBOURS,
    PROBES,
    Bos,
    Device,
    DiskBudget,
    Dtype,
    Jobs,
    Json,
    Probes,
    Prompts,
    Resolution,
    Search,
    Seeds,
    StoreFolder,
    SuiteName,
    TaskNames,
    WhichBracket,
    chosen_budget,
    chosen_seeds,
    chosen_steps,
    chosen_tasks,
    settings,
    workers,
)
from interp.cli.text import print_json, print_table, run_name

if TYPE_CHECKING:
    import pandas as pd

    from interp.pipeline import Traced

# the patterns that are told of a head in words; `--json` has all scores
_TOLD = ("previous_token", "induction", "duplicate_token", "first_token")


@answering
def trace(
    suite: SuiteName,
    task: TaskNames = None,
    seeds: Seeds = None,
    steps: Annotated[
        str | None,
        typer.Option(help="Steps to evaluate beside those that a scan visits, such as 0,64,256, or all."),
    ] = None,
    search: Search = "bisection",
    resolution: Resolution = NEIGHBOURS,
    probes: Probes = PROBES,
    bracket: WhichBracket = "first",
    prompts: Prompts = 64,
    bos: Bos = True,
    dtype: Dtype = "float32",
    device: Device = "cpu",
    store: StoreFolder = DEFAULT_STORE,
    disk_budget: DiskBudget = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Follow tasks and heads over training: curves, sharpness, signatures, and what changes when."""
    from interp.suites import suite as find

    options = settings(prompts, bos, dtype, device, search, resolution, probes, bracket=bracket)
    where, tasks, chosen = find(suite, chosen_budget(disk_budget)), chosen_tasks(task), chosen_seeds(seeds)
    further = () if steps is None else chosen_steps(steps)
    announce_download(where, chosen, len(tasks), options.plan)
    with workers(jobs, disk_budget) as engine:
        from interp import pipeline  # imports torch, which takes seconds: after wrong words were answered
        from interp.store import Store

        found = pipeline.trace(where, tasks, Store(store), further, chosen, options, engine)
    if json:
        print_json(as_rows(found))
    else:
        _tell(found, bracket)


def as_rows(found: Traced) -> dict[str, list[dict[str, Any]]]:
    """What `trace --json` prints: the rows of every table, under its name."""
    return {
        name: [
            {"run": run_name({"seed": None} | row)}
            | {key: _listed(value) for key, value in row.items() if key != "suite"}
            for row in getattr(found, name).to_dict("records")
        ]
        for name in found._fields
    }


def _listed(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _tell(found: Traced, which: str) -> None:
    print("Doublings of the step from 10 to 90 % of the rise, over the evaluated steps\n")
    print_table(sharpness_rows(found, which), "there was nothing to trace")
    print("\nHeads whose patterns change most, on random words told twice\n")
    print_table(changed_rows(found.changes), "no head changes by .2 or more in any of these scores")
    rows = agreement_rows(found)
    if rows:
        print(
            "\nScores that go with effects: rank correlation of |Δp| with |change|, p within layers, Holm-corrected\n"
        )
        print_table(rows, "")


def sharpness_rows(found: Traced, which: str = "first") -> list[dict[str, Any]]:
    """One row for each run and task: bracket, and doublings of the measures or what the spacing allows."""
    brackets = {(run_name(row), row["task"]): row for row in found.emergence.to_dict("records")}
    rows = []
    for (run, task), part in _by_run(found.onsets, "task"):
        scanned, lasting = brackets[run, task], "lasting_" * (which == "lasting")
        of = {row["measure"]: row for row in part.to_dict("records")}
        rows.append(
            {"run": run, "task": task, "status": scanned[f"{lasting}status"], "bracket": _bracket(scanned, lasting)}
            | {name: _doublings(of[measure]) for name, measure in _COLUMNS.items()}
            | {"sharper than margin": ", ".join(m for m in ("share", "p") if of[m]["artefact"]) or "–"}
        )
    return rows


_COLUMNS = {"p": "p", "margin": "margin", "solved": "share", "prompts, for good": "lasting"}


def _doublings(row: Mapping[str, Any]) -> str:
    if row["verdict"] == "measured":
        return f"{row['doublings']:.2f} [{_number(row['doublings_low'])}, {_number(row['doublings_high'])}]"
    if row["verdict"] == "no rise":
        return "no rise"
    return f"≥ {row['at_least']:.2f}" if row["at_most"] != row["at_most"] else f"≤ {row['at_most']:.2f}"


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


def _bracket(row: Mapping[str, Any], lasting: str) -> list[Any] | None:
    from pandas import isna

    pre, post = row[f"{lasting}pre"], row[f"{lasting}post"]
    return None if isna(pre) else [pre, post]


def changed_rows(changes: pd.DataFrame, top: int = 4) -> list[dict[str, Any]]:
    """The heads of each run whose patterns change most, one row for each: the score, when, beside which brackets."""
    random = changes.loc[
        (changes["prompts"] == "random") & changes["score"].isin(_TOLD) & (changes["verdict"] != "none")
    ]
    rows = []
    for (run,), part in _by_run(random):
        heads = [one for _, one in part.sort_values(by="size", ascending=False).groupby(["layer", "head"], sort=False)]
        for one in heads[:top]:
            first = one.iloc[0]
            of_score = one.loc[one["score"] == first["score"]]
            rows.append(
                {
                    "run": run, "head": f"L{first['layer']}H{first['head']}", "score": first["score"].replace("_", "-"),
                    "change": first["verdict"],
                    "steps": [first["from_step"], first["to_step"]], "value": [first["from_value"], first["to_value"]],
                    "at the end": first["after"],
                }
                | {f"{name} the bracket of": _tasks(of_score, name) for name in ("before", "in", "after")}
            )  # fmt: skip
    return rows


def _tasks(changed: pd.DataFrame, relation: str) -> str:
    return ", ".join(changed.loc[changed["relation"] == relation, "task"]) or "–"


def agreement_rows(found: Traced) -> list[dict[str, Any]]:
    """The best-agreeing score of each run, task and direction, and of each task over seeds."""
    rows = []
    if len(found.agreement):
        for (run, task, direction), part in _by_run(found.agreement, "task", "direction"):
            rows.append({"run": run, "task": task, "direction": direction} | _best(part))
    if len(found.agreement_seeds):
        for key, part in found.agreement_seeds.groupby(["suite", "task", "direction"], sort=False):
            suite, task, direction = cast("tuple[str, str, str]", key)
            seeds = len(part["seeds"].iloc[0])
            rows.append({"run": f"{suite}, {seeds} seeds", "task": task, "direction": direction} | _best(part))
    return rows


def _best(part: pd.DataFrame) -> dict[str, Any]:
    known = part.dropna(subset=["rho"])
    if not len(known):
        return {"score": "–", "rho": None, "p_holm": None}
    best = known.loc[known["rho"].idxmax()]
    return {"score": best["score"].replace("_", "-"), "rho": best["rho"], "p_holm": best["p_holm"]}


def _by_run(frame: pd.DataFrame, *more: str) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    if not len(frame):
        return []
    named = frame.assign(run=[run_name(row) for row in frame.filter(["suite", "seed"]).to_dict("records")])
    return [(cast("tuple[Any, ...]", key), part) for key, part in named.groupby(["run", *more], sort=False)]
