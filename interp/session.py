"""The commands as functions, for notebooks and scripts: names of suites, tasks and stores in, tidy frames out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from interp import pipeline, report
from interp.execution import engine
from interp.labs import stored
from interp.pipeline import Traced
from interp.provenance import Options
from interp.store import Store
from interp.suites import Run, Suite
from interp.suites import suite as find
from interp.tasks import Form, Role, Task, parse, task_names, tokenizer
from interp.tasks import prompts as make
from interp.values import Checkpoint, PromptSet

AnyTask = str | Task


def scan(
    suite: str | Path | Suite,
    tasks: AnyTask | Sequence[AnyTask] | None = None,
    *,
    seeds: Sequence[int] | None = None,
    store: str | Path | Store = ".interp",
    options: Options = Options(),  # noqa: B008 - frozen
    jobs: int = 1,
) -> pd.DataFrame:
    """When each task emerges in each run: one row per run and task, as `interp scan` finds them.

    Columns as in docs/design.md §6, table `emergence`. What the store holds already is not computed again.

    Args:
        suite: a suite, its name or its folder.
        tasks: tasks, their names (`ioi`, `ioi:single`) or .toml files; all shipped ones by default.
        seeds: seeds; all of the suite by default.
        store: where results are kept and found again.
        options: prompts, dtype, device, how to search …
        jobs: processes that runs are shared out to; a script that asks for several guards its start by
            `if __name__ == "__main__":`.

    Raises:
        InputError: one sentence that says what was found and what was needed.
    """
    with engine(jobs, preload="interp.pipeline") as workers:
        return pipeline.scan(_suite(suite), _tasks(tasks), _store(store), seeds, options, workers)


def patch(
    suite: str | Path | Suite,
    tasks: AnyTask | Sequence[AnyTask] | None = None,
    *,
    seeds: Sequence[int] | None = None,
    pre: int | None = None,
    post: int | None = None,
    store: str | Path | Store = ".interp",
    options: Options = Options(),  # noqa: B008 - frozen
    jobs: int = 1,
) -> pd.DataFrame:
    """Heads ranked by Δp between the ends of each task's bracket: one row per run, task, direction and head.

    As `interp patch`; columns as in docs/design.md §6, table `heads`. `pre` and `post`, given together, take the place
    of the bracket. The other arguments are those of `scan`.

    Raises:
        InputError: one sentence that says what was found and what was needed.
    """
    with engine(jobs, preload="interp.pipeline") as workers:
        return pipeline.patch(_suite(suite), _tasks(tasks), _store(store), seeds, options, pre, post, workers)


def recipients(
    suite: str | Path | Suite,
    tasks: AnyTask | Sequence[AnyTask] | None = None,
    steps: Sequence[int] | None = None,
    *,
    seeds: Sequence[int] | None = None,
    pre: int | None = None,
    post: int | None = None,
    store: str | Path | Store = ".interp",
    options: Options = Options(),  # noqa: B008 - frozen
    jobs: int = 1,
) -> pd.DataFrame:
    """Δp of the first-ranked heads by the recipient's step, the donor fixed: where does the pattern begin to work?

    As `interp patch --recipients`; columns as in docs/design.md §6, table `recipients`. `steps`: all distinct ones
    up to the donor's by default. The other arguments are those of `patch`.

    Raises:
        InputError: one sentence that says what was found and what was needed.
    """
    with engine(jobs, preload="interp.pipeline") as workers:
        return pipeline.recipients(
            _suite(suite), _tasks(tasks), _store(store), steps, seeds, options, pre, post, workers
        )


def trace(
    suite: str | Path | Suite,
    tasks: AnyTask | Sequence[AnyTask] | None = None,
    steps: Sequence[int] | None = (),
    *,
    seeds: Sequence[int] | None = None,
    store: str | Path | Store = ".interp",
    options: Options = Options(),  # noqa: B008 - frozen
    jobs: int = 1,
) -> Traced:
    """Curves of every task, their sharpness, and the scores of every head, over the steps that a scan evaluates.

    As `interp trace`; a value whose fields `emergence, curves, onsets, changes, agreement, agreement_seeds` are frames
    (docs/design.md §6). `steps` are evaluated beside those of the scan; `None`: all of a run's distinct checkpoints.
    The other arguments are those of `scan`.

    Raises:
        InputError: one sentence that says what was found and what was needed.
    """
    with engine(jobs, preload="interp.pipeline") as workers:
        return pipeline.trace(_suite(suite), _tasks(tasks), _store(store), steps, seeds, options, workers)


def write_report(
    store: str | Path | Store = ".interp",
    out: str | Path = "reports/report.html",
    title: str | None = None,
    *,
    beside: str | Path | Store | None = None,
) -> Path:
    """Write what a store holds as one HTML file that opens without a network; gives its path.

    `beside`: a second store, which is set side by side with the first (two suites, two sizes, before and after).

    Raises:
        InputError: a store holds no results, or the file cannot be written.
    """
    if beside is None:
        kept = [_store(store)]
        return report.write(kept, Path(out), title, "interp.write_report(…)", stored.sections(kept))
    return report.compare(_store(store), _store(beside), Path(out), title, "interp.write_report(…)")


def prompts(
    task: AnyTask, source: Run | Checkpoint, role: Role | None = None, n: int = 64, bos: bool = True
) -> PromptSet:
    """A task's prompts in the tokenizer of a run or checkpoint, the same on every machine.

    `role`: "effect" (the default; effects are measured on them), "search" (brackets are found on them; disjoint from
    the former), or "single", the literature's one prompt (the default for `NAME:single`).

    Raises:
        InputError: the task cannot be had in this tokenizer, or cannot make n distinct prompts.
    """
    one, form = _form(task)
    return make(one, tokenizer(source.tokenizer), role or ("single" if form == "single" else "effect"), n, bos)


def _suite(suite: str | Path | Suite) -> Suite:
    return suite if isinstance(suite, Suite) else find(suite)


def _store(store: str | Path | Store) -> Store:
    return store if isinstance(store, Store) else Store(store)


def _tasks(tasks: AnyTask | Sequence[AnyTask] | None) -> list[tuple[Task, Form]]:
    several = task_names() if tasks is None else [tasks] if isinstance(tasks, str | Task) else tasks
    return [_form(one) for one in several]


def _form(task: AnyTask) -> tuple[Task, Form]:
    return parse(task) if isinstance(task, str) else (task, "many")
