"""`interp suites` and `interp tasks`: what there is to look at."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from interp.cli.answering import answering
from interp.cli.options import Bos, Json, Prompts
from interp.cli.text import print_json, print_table


@answering
def suites(
    name: Annotated[str | None, typer.Argument(help="One suite or folder: its runs.")] = None,
    json: Json = False,
) -> None:
    """List the suites known by name, or the runs of one."""
    rows = _known() if name is None else _runs(name)
    if json:
        print_json(rows)
    else:
        print_table([{k: v for k, v in row.items() if k != "all_steps"} for row in rows], "no suite is known")


def _known() -> list[dict[str, Any]]:
    from interp.suites.catalogue import entries

    return [{"name": entry.name, "where": entry.where, "about": entry.about} for entry in entries()]


def _runs(name: str) -> list[dict[str, Any]]:
    from interp.suites import suite

    return [
        {
            "run": str(run.id), "seed": run.seed, "checkpoints": len(run.steps), "first": run.steps[0],
            "last": run.steps[-1], "missing": list(run.missing), "all_steps": list(run.steps),
        }
        for run in suite(name).runs
    ]  # fmt: skip


@answering
def tasks(
    name: Annotated[
        str | None, typer.Argument(help="One task (NAME, NAME:single or a .toml file): its prompts.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help="The suite or folder whose tokenizer makes the ids.")] = None,
    role: Annotated[str, typer.Option(help="search or effect: which of the two prompt sets.")] = "search",
    prompts: Prompts = 8,
    bos: Bos = True,
    json: Json = False,
) -> None:
    """List the tasks, or show the prompts, answers and token ids of one."""
    rows = _all_tasks() if name is None else _prompts(name, "nano-3l" if suite is None else suite, role, prompts, bos)
    if json:
        print_json(rows)
    elif name is None:
        print_table(rows, "no task file was found")
    else:
        _show_prompts(rows)


def _all_tasks() -> list[dict[str, Any]]:
    from interp.tasks import task, task_names

    return [
        {
            "name": one.name, "title": one.title, "threshold": one.threshold, "ceiling": one.ceiling,
            "single": one.single is not None, "version": one.version,
        }
        for one in map(task, task_names())
    ]  # fmt: skip


def _prompts(name: str, suite: str, role: str, n: int, bos: bool) -> list[dict[str, Any]]:
    from interp import tasks as library
    from interp.suites import suite as find

    known = library.tokenizer(find(suite).runs[0].tokenizer)
    task, form = library.parse(name)
    made = library.prompts(task, known, "single" if form == "single" else role, n, bos)  # pyright: ignore
    return [
        {
            "text": prompt.text, "answer": known.piece(prompt.answer), "answer_id": prompt.answer,
            "foil": None if prompt.foil is None else known.piece(prompt.foil), "foil_id": prompt.foil,
            "ids": list(prompt.tokens), "pieces": known.pieces(prompt.tokens), "layout": prompt.layout,
        }
        for prompt in made.prompts
    ]  # fmt: skip


def _show_prompts(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        foil = "" if row["foil"] is None else f"   foil {row['foil']!r} ({row['foil_id']})"
        print(f"{row['text']!r}\n  answer {row['answer']!r} ({row['answer_id']}){foil}   {row['layout']}")
        print("  ids " + " ".join(map(str, row["ids"])))
