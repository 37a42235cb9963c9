"""Task files: where they lie, and from a name or a path to a task."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from interp.tasks.families import Rows
from interp.tasks.spec import Task, explain
from interp.tasks.words import shipped_folder
from interp.values import InputError, nearest

Form = Literal["many", "single"]


def task_names() -> tuple[str, ...]:
    """The names of the shipped tasks, sorted."""
    return tuple(sorted(path.stem for path in shipped_folder().glob("*.toml")))


def task(name_or_path: str | Path) -> Task:
    """The task of a shipped name, or of a task file of one's own."""
    if isinstance(name_or_path, str) and name_or_path in task_names():
        return _read(shipped_folder() / f"{name_or_path}.toml")
    path = Path(name_or_path)
    if path.suffix == ".toml":
        return _read(path)
    raise InputError(
        f"'{name_or_path}' is no task and no path of a .toml file: {nearest(str(name_or_path), task_names())}"
    )


def parse(text: str) -> tuple[Task, Form]:
    """The task and form that a command line names: `string` (many prompts), `string:single` (one)."""
    name, colon, form = text.rpartition(":")
    if not colon or (form != "single" and Path(text).suffix == ".toml"):
        return task(text), "many"
    if form != "single":
        raise InputError(f"'{text}' names no form of a task; write '{name}' or '{name}:single'")
    found = task(name)
    if found.single is None:
        raise InputError(f"task '{found.name}' has no single prompt; write '{name}' for its many prompts")
    return found, "single"


def _read(path: Path) -> Task:
    """The task that a file says; every fault is an `InputError` that names the file and the key."""
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise InputError(f"{path}: is not a TOML file ({error})") from error
    try:
        found = Task.model_validate_json(json.dumps(raw, default=str))  # as JSON: strict, yet an array is a tuple
    except ValidationError as error:
        raise InputError(f"{path}: {explain(error)}") from error
    if isinstance(found.family, Rows):
        return found.model_copy(update={"family": found.family.beside(path.parent)})
    return found
