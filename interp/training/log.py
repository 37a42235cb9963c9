"""The log of a run, one JSON object a line: step, loss, learning rate and what was evaluated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interp.values import InputError

LOG = "log.jsonl"


@dataclass(frozen=True)
class LogRow:
    """What is known after `step` updates; `loss` is that of the last batch, before its update."""

    step: int
    loss: float | None
    lr: float
    evaluation: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line; evaluated values stand beside step, loss and lr."""
        return json.dumps({"step": self.step, "loss": self.loss, "lr": self.lr} | dict(self.evaluation))

    @classmethod
    def from_json(cls, line: str) -> LogRow:
        """The row of one line; `ValueError` where it is none."""
        fields = json.loads(line)
        if not isinstance(fields, dict) or not isinstance(fields.get("step"), int) or not {"loss", "lr"} <= set(fields):
            raise ValueError("it is not a row with step, loss and lr")
        return cls(fields.pop("step"), fields.pop("loss"), fields.pop("lr"), fields)


def append(run: Path, row: LogRow) -> None:
    """Add a row at the end of the run's log."""
    with (run / LOG).open("a") as file:
        file.write(row.to_json() + "\n")


def read(run: Path) -> tuple[LogRow, ...]:
    """The rows of a run's log; empty where there is none.

    A last line without its end was being written when the run was stopped, and is none yet.

    Raises:
        InputError: a line is damaged.
    """
    path = run / LOG
    if not path.is_file():
        return ()
    rows = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                rows.append(LogRow.from_json(line))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged in line {len(rows) + 1} ({error}); delete that line, or the file, and train again"
        ) from error
    return tuple(rows)


def write(run: Path, rows: Iterable[LogRow]) -> None:
    """Replace the log whole."""
    partial = run / f".partial-{LOG}"
    partial.write_text("".join(row.to_json() + "\n" for row in rows))
    os.replace(partial, run / LOG)
