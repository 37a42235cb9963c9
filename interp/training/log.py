"""The log of a run, one JSON object a line: step, loss, learning rate and what was evaluated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
        """The row of one line."""
        fields = json.loads(line)
        return cls(fields.pop("step"), fields.pop("loss"), fields.pop("lr"), fields)


def append(run: Path, row: LogRow) -> None:
    """Add a row at the end of the run's log."""
    with (run / LOG).open("a") as file:
        file.write(row.to_json() + "\n")


def read(run: Path) -> tuple[LogRow, ...]:
    """The rows of a run's log; empty where there is none."""
    path = run / LOG
    return tuple(map(LogRow.from_json, path.read_text().splitlines())) if path.is_file() else ()


def write(run: Path, rows: Iterable[LogRow]) -> None:
    """Replace the log whole."""
    partial = run / f".partial-{LOG}"
    partial.write_text("".join(row.to_json() + "\n" for row in rows))
    os.replace(partial, run / LOG)
