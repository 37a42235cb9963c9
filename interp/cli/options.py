"""Options that several commands share, and how their texts become values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interp.values import InputError, parse_seeds

if TYPE_CHECKING:
    from interp.execution import Engine
    from interp.provenance import Options
    from interp.tasks import Form, Task

SuiteName = Annotated[
    str, typer.Argument(help="A suite's name (see `interp suites`), hf:owner/name, or a folder of checkpoints.")
]
TaskNames = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        "-t",
        help="A task's name, NAME:single for its one-prompt form, or a .toml file; repeatable. Default: all.",
    ),
]
Seeds = Annotated[str | None, typer.Option(help="Seeds, such as 0-3 or 0,2. Default: all of the suite.")]
StoreFolder = Annotated[Path, typer.Option("--store", help="Where results are kept and found again.")]
Json = Annotated[bool, typer.Option("--json", help="Print rows as JSON.")]
Prompts = Annotated[int, typer.Option("--prompts", "-n", help="Prompts of each of the two sets of a task.")]
Bos = Annotated[bool, typer.Option(help="Whether prompts begin with the BOS token.")]
Dtype = Annotated[str, typer.Option(help="float32, float64, bfloat16 or float16.")]
Device = Annotated[str, typer.Option(help="cpu, or a device torch knows such as cuda (not tested by this project).")]
Memory = Annotated[str, typer.Option(help="The most that patching may hold, such as 512MB; changes no result.")]
Search = Annotated[str, typer.Option(help="bisection, or grid: every checkpoint is evaluated.")]
DiskBudget = Annotated[
    str | None,
    typer.Option("--disk-budget", help="The most that downloaded checkpoints may take on disk, such as 20GB."),
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Processes that share the runs, one thread each; changes no result.")
]

DEFAULT_STORE = Path(".interp")


def chosen_seeds(text: str | None) -> tuple[int, ...] | None:
    """The seeds that an option names; `None` for all."""
    return None if text is None else parse_seeds(text)


def chosen_budget(text: str | None) -> int | None:
    """The bytes that a disk budget names; `None` for no bound."""
    from interp.suites.disk import parse_size

    return None if text is None else parse_size(text)


@contextmanager
def workers(jobs: int, disk_budget: str | None = None) -> Iterator[Engine]:
    """The engine that runs are shared out by."""
    from interp.execution import engine

    if jobs > 1 and disk_budget is not None:
        raise InputError("a disk budget is kept by one process at a time; leave out --disk-budget, or give --jobs 1")
    with engine(jobs, preload="interp.pipeline") as found:
        yield found


def chosen_tasks(names: list[str] | None) -> list[tuple[Task, Form]]:
    """The tasks that an option names, each once; all shipped ones where none is named."""
    from interp.tasks import parse, task_names

    wanted = names or list(task_names())
    double = {name for name in wanted if wanted.count(name) > 1}
    if double:
        raise InputError(f"--task {min(double)} is given twice")
    return [parse(name) for name in wanted]


def chosen_steps(text: str) -> tuple[int, ...] | None:
    """The steps that an option names; `None` for all."""
    if text == "all":
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() for part in parts):
        raise InputError(f"'{text}' is not a list of steps; write them like 0,64,256, or all")
    return tuple(sorted({int(part) for part in parts}))


def byte_count(text: str) -> int:
    """The number of bytes that a text such as 512MB or 2GB names."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise InputError(f"'{text}' is not an amount of memory; write it like 512MB or 2GB")
    return int(float(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " "))


def settings(prompts: int, bos: bool, dtype: str, device: str, search: str, memory: str = "1GB") -> Options:
    """The options that results depend on."""
    from interp.provenance import Options

    found: Any = {"prompts": prompts, "bos": bos, "dtype": dtype, "device": device, "search": search}
    return Options(**found, memory=byte_count(memory))
