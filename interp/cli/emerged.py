"""What `scan` and `demo` print of emergence: one table, and what is certain of it in sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from interp.cli.text import plain, run_name
from interp.values import Status

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("run", "task", "status", "fails at", "passes at", "solved there", "p there", "threshold", "evaluated")
# below this many prompts one answer moves the share by more than the noise that a threshold is made for
FEW_PROMPTS = 16

Row = Mapping[str, Any]


def print_emergence(frame: pd.DataFrame) -> None:
    """The table of a scan, and under it what is certain, what relapses and what is in doubt."""
    from interp.report.display import Table
    from interp.report.text import aligned

    rows = [plain(row) for row in frame.to_dict("records")]
    if not rows:
        print("there was nothing to scan")
        return
    print(aligned(Table(COLUMNS, tuple(line for row in rows for line in _lines(row)), words=3)))
    print("\n".join(["", *_certainty(rows), *filter(None, map(_relapse, rows)), *_wide(rows), *_suspect(rows)]))


def warn_of_few_prompts(frame: pd.DataFrame) -> None:
    """One line on stderr about tasks that are judged on few prompts; the one-prompt form has one by intent."""
    rows = frame.to_dict("records")
    few = {str(row["task"]): int(row["prompts"]) for row in rows if row["prompts"] < FEW_PROMPTS}
    named = [f"{task} ({n})" for task, n in few.items() if not task.endswith(":single")]
    if named:
        print(f"few search prompts, so that single answers decide what passes: {', '.join(named)}", file=sys.stderr)


def _lines(row: Row) -> Iterator[tuple[str, ...]]:
    """A task's row, and a second one where its lasting emergence is another than the first known."""
    from interp.report import formats

    differs = not row["monotone"]
    passes = row["post"] if row["post"] is not None else row["steps"][0] if row["status"] == "from_start" else None
    yield (
        run_name(row), row["task"], _status(row, "status") + (", then relapses" if differs else ""),
        formats.step(row["pre"]), formats.step(passes), *_there(row, row["pre"], passes),
        formats.probability(row["threshold"]), formats.counted(len(row["steps"]), "step"),
    )  # fmt: skip
    if differs:
        pre, post = row["lasting_pre"], row["lasting_post"]
        yield (
            "", "", f"lasting: {_status(row, 'lasting_status')}", formats.step(pre), formats.step(post),
            *_there(row, pre, post), "", "",
        )  # fmt: skip


def _status(row: Row, which: str) -> str:
    from interp.report import formats

    last = formats.step(row["steps"][-1])
    return {
        Status.EMERGED: "emerged",
        Status.FROM_START: "passes from the start",
        Status.CENSORED: f"censored: never passes by {last}",
        Status.LOST: f"lost, fails at {last}",
    }[Status(row[which])]


def _there(row: Row, pre: int | None, post: int | None) -> tuple[str, str]:
    """Solved share and p(answer) at both ends of a bracket, or at the one step that the status depends on."""
    from interp.report import formats

    ends = [step for step in (pre, post) if step is not None] or [row["steps"][-1]]
    at = [row["steps"].index(step) for step in ends]
    shares, ps = (" → ".join(formats.probability(row[name][i]) for i in at) for name in ("shares", "ps"))
    return shares, ps


def _certainty(rows: list[Row]) -> Iterator[str]:
    from interp.report import formats

    for run, row in {run_name(row): row for row in rows}.items():
        steps, probes = formats.counted(len(row["steps"]), "step"), formats.counted(row["probes"], "probe")
        if not row["unprobed"]:
            yield f"{run}: every distinct checkpoint was evaluated, so all of this is certain"
            continue
        span = f"between {formats.step(row['unprobed_from'])} and {formats.step(row['unprobed_to'])}"
        gap = f"longest unprobed gap {formats.counted(row['unprobed'], 'checkpoint')}, {span}"
        yield f"{run}: {steps} evaluated, {probes} among them; {gap}"


def _relapse(row: Row) -> str:
    """Where a task fails again after its first known pass, and from where on it passes for good."""
    from interp.report import formats

    if row["monotone"]:
        return ""
    passing = [share >= row["threshold"] for share in row["shares"]]
    first = passing.index(True)
    fails = [formats.step(step) for step, passes in list(zip(row["steps"], passing, strict=True))[first:] if not passes]
    shown = formats.listed(fails if len(fails) < 5 else [*fails[:3], f"{len(fails) - 3} more"])
    start = formats.step(row["steps"][first])
    lasting = f"passes at every evaluated step from {formats.step(row['lasting_post'])}"
    end = "the last step among them" if row["lasting_post"] is None else lasting
    return f"{run_name(row)} {row['task']}: passes at {start}, fails again at {shown}, {end}"


def _wide(rows: list[Row]) -> Iterator[str]:
    from interp.report import formats

    wide = sum(False in (row["neighbours"], row["lasting_neighbours"]) for row in rows)
    if wide:
        yield f"--resolution left unevaluated checkpoints inside the brackets of {formats.counted(wide, 'row')}"


def _suspect(rows: list[Row]) -> Iterator[str]:
    for run, said in {run_name(row): row["suspect"] for row in rows}.items():
        if said:
            yield f"{run} is suspect: {said}"
