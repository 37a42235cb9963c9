"""Rows: prompts, answers and foils from a table of one's own, taken as they stand."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from interp.tasks.families.family import Draft, Settings
from interp.values import InputError


class Rows(Settings):
    """A JSON-lines or CSV file (`path`, from the task file's folder), or a Hub dataset (`dataset`, `split`).

    Columns: `prompt`, `answer`; `foil` and `layout` where there are any. Rows are taken in order: the first,
    third, … are search prompts, the others effect prompts. Rows without a `layout` count as having one each.
    """

    kind: Literal["rows"]
    path: Path | None = None
    dataset: str | None = None
    split: str = "test"
    revision: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Rows:
        if (self.path is None) == (self.dataset is None):
            raise ValueError("give either 'path' (a file) or 'dataset' (a dataset of the Hub)")
        return self

    def beside(self, folder: Path) -> Rows:
        """The same rows, their path taken from a folder."""
        return self if self.path is None else self.model_copy(update={"path": folder / self.path})

    def drafts(self) -> Iterator[Draft]:
        """The rows as drafts, in order; an `InputError` that names the row which is wrong."""
        seen: dict[str, int] = {}
        source = str(self.path or self.dataset)
        rows = _hub_rows(self) if self.path is None else _file_rows(self.path)
        for number, row in enumerate(rows, start=1):
            draft = _draft(row, number, source)
            if draft.text in seen:
                raise InputError(f"{source}: rows {seen[draft.text]} and {number} have the same prompt {draft.text!r}")
            seen[draft.text] = number
            yield draft
        if not seen:
            raise InputError(f"{source}: holds no row")


def _draft(row: dict[str, Any], number: int, source: str) -> Draft:
    for column in ("prompt", "answer"):
        if not isinstance(row.get(column), str) or not row[column]:
            raise InputError(f"{source}: row {number} has {row.get(column)!r} as its {column}; a text is needed")
    for column in ("foil", "layout"):
        if not isinstance(row.get(column) or "", str):
            raise InputError(f"{source}: row {number} has {row[column]!r} as its {column}; a text is needed")
    return Draft(row["prompt"], row["answer"], row.get("foil") or None, row.get("layout") or f"row {number}")


def _file_rows(path: Path) -> Iterable[dict[str, Any]]:
    """The rows of a local file.

    Read by `csv` and `json`, not `datasets` or pandas: those guess types, and an answer ` 4` or `NA` must
    stay a text.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix == ".csv":
                return list(csv.DictReader(file))
            if path.suffix in (".jsonl", ".json"):
                return [_object(line, number, path) for number, line in enumerate(file, start=1) if line.strip()]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error})") from error
    raise InputError(f"{path}: rows are read from .jsonl or .csv files, this is '{path.suffix}'")


def _object(line: str, number: int, path: Path) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{path}: line {number} is not JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputError(f"{path}: line {number} is no JSON object but {line.strip()[:40]!r}")
    return row


def _hub_rows(rows: Rows) -> Iterable[dict[str, Any]]:
    """The rows of a dataset of the Hub."""
    import datasets

    try:
        return datasets.load_dataset(str(rows.dataset), split=rows.split, revision=rows.revision)  # pyright: ignore
    except (OSError, ValueError) as error:
        raise InputError(f"dataset '{rows.dataset}', split '{rows.split}': cannot be read ({error})") from error
