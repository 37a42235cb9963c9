"""`interp scan` and `interp patch`: when, and which heads."""

from __future__ import annotations

from typing import Annotated

import typer

from interp.cli.answering import answering
from interp.cli.estimate import announce_download
from interp.cli.options import (
    DEFAULT_STORE,
    Bos,
    Device,
    DiskBudget,
    Dtype,
    Jobs,
    Json,
    Memory,
    Prompts,
    Search,
    Seeds,
    StoreFolder,
    SuiteName,
    TaskNames,
    chosen_budget,
    chosen_seeds,
    chosen_steps,
    chosen_tasks,
    settings,
    workers,
)
from interp.cli.text import (
    patch_rows,
    print_json,
    print_table,
    recipient_rows,
    scan_rows,
    short_patch_rows,
    short_scan_rows,
)


@answering
def scan(
    suite: SuiteName,
    task: TaskNames = None,
    seeds: Seeds = None,
    search: Search = "bisection",
    prompts: Prompts = 64,
    bos: Bos = True,
    dtype: Dtype = "float32",
    device: Device = "cpu",
    store: StoreFolder = DEFAULT_STORE,
    disk_budget: DiskBudget = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Find the step at which each task emerges in each run."""
    from interp import pipeline
    from interp.store import Store
    from interp.suites import suite as find

    options = settings(prompts, bos, dtype, device, search)
    where, tasks, chosen = find(suite, chosen_budget(disk_budget)), chosen_tasks(task), chosen_seeds(seeds)
    announce_download(where, chosen, len(tasks), search)
    with workers(jobs, disk_budget) as engine:
        found = pipeline.scan(where, tasks, Store(store), chosen, options, engine)
    if json:
        print_json(scan_rows(found))
    else:
        print_table(short_scan_rows(found), "there was nothing to scan")


@answering
def patch(
    suite: SuiteName,
    task: TaskNames = None,
    seeds: Seeds = None,
    pre: Annotated[int | None, typer.Option(help="The earlier step, in place of the bracket's.")] = None,
    post: Annotated[int | None, typer.Option(help="The later step, in place of the bracket's.")] = None,
    recipients: Annotated[
        str | None,
        typer.Option(help="Steps such as 0,64,256, or all: Δp of the top heads by the recipient's step instead."),
    ] = None,
    search: Search = "bisection",
    prompts: Prompts = 64,
    bos: Bos = True,
    dtype: Dtype = "float32",
    device: Device = "cpu",
    memory: Memory = "1GB",
    store: StoreFolder = DEFAULT_STORE,
    disk_budget: DiskBudget = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Rank the heads whose attention patterns bring a task (denoising) or break it (noising)."""
    from interp import pipeline
    from interp.store import Store
    from interp.suites import suite as find

    options = settings(prompts, bos, dtype, device, search, memory)
    where, tasks, chosen = find(suite, chosen_budget(disk_budget)), chosen_tasks(task), chosen_seeds(seeds)
    announce_download(where, chosen, len(tasks), search)
    with workers(jobs, disk_budget) as engine:
        more = {"pre": pre, "post": post, "engine": engine}
        if recipients is not None:
            steps = chosen_steps(recipients)
            found = pipeline.recipients(where, tasks, Store(store), steps, chosen, options, **more)
            rows, short = recipient_rows(found), recipient_rows
        else:
            found = pipeline.patch(where, tasks, Store(store), chosen, options, **more)
            rows, short = patch_rows(found), short_patch_rows
    if json:
        print_json(rows)
    else:
        print_table(short(found), "no task has a bracket in these runs, so there is nothing to patch")
