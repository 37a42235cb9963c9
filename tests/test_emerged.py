"""What `scan` and `demo` print of emergence: both brackets, relapses in words, and what is certain."""

from typing import Any

import pandas as pd
import pytest

from interp import frames
from interp.cli.emerged import print_emergence, warn_of_few_prompts
from interp.emergence import Plan, search

STEPS = (0, 500, 1000, 1500, 2000, 2500)
CURVES = {
    "jumps": (0.1, 0.2, 0.9, 1.0, 1.0, 1.0),
    "dips": (0.1, 0.8, 0.7, 0.9, 0.6, 0.9),
    "never": (0.0, 0.1, 0.2, 0.2, 0.1, 0.3),
    "lost": (0.1, 0.1, 0.8, 0.1, 0.1, 0.2),
    "known": (0.8, 0.9, 0.9, 0.9, 0.9, 0.9),
    "slips": (0.8, 0.2, 0.9, 0.9, 0.9, 0.9),
}


def scanned(plan: Plan, tasks: tuple[str, ...] = tuple(CURVES), **more: Any) -> pd.DataFrame:
    found = search(
        STEPS, lambda step: {task: CURVES[task][STEPS.index(step)] for task in tasks}, dict.fromkeys(tasks, 0.75), plan
    )
    rows = frames.emergence_rows(found, {task: dict.fromkeys(STEPS, 0.5) for task in tasks})
    return rows.assign(**({"suite": "s", "seed": 3, "prompts": 64, "suspect": ""} | more))


def printed(frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_emergence(frame)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_every_status_has_its_row_and_a_second_where_the_lasting_one_differs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = printed(scanned(Plan("grid")), capsys)
    assert lines[0] == "run task status fails at passes at solved there p there threshold evaluated"
    rest = ".500 → .500 .750 6 steps"
    assert lines[2:12] == [
        f"s/seed3 jumps emerged 500 1,000 .200 → .900 {rest}",
        f"s/seed3 dips emerged, then relapses 0 500 .100 → .800 {rest}",
        "lasting: emerged 2,000 2,500 .600 → .900 .500 → .500",
        "s/seed3 never censored: never passes by 2,500 – – .300 .500 .750 6 steps",
        f"s/seed3 lost emerged, then relapses 500 1,000 .100 → .800 {rest}",
        "lasting: lost, fails at 2,500 – – .200 .500",
        "s/seed3 known passes from the start – 0 .800 .500 .750 6 steps",
        "s/seed3 slips passes from the start, then relapses – 0 .800 .500 .750 6 steps",
        "lasting: emerged 500 1,000 .200 → .900 .500 → .500",
        "",
    ]
    assert lines[12:] == [
        "s/seed3: every distinct checkpoint was evaluated, so all of this is certain",
        "s/seed3 dips: passes at 500, fails again at 1,000 and 2,000, passes at every evaluated step from 2,500",
        "s/seed3 lost: passes at 1,000, fails again at 1,500, 2,000 and 2,500, the last step among them",
        "s/seed3 slips: passes at 0, fails again at 500, passes at every evaluated step from 1,000",
    ]


def test_what_nobody_evaluated_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(scanned(Plan(probes=1), ("never",)), capsys)
    assert lines[-1] == (
        "s/seed3: 3 steps evaluated, 1 probe among them; longest unprobed gap 2 checkpoints, between 0 and 1,500"
    )
    lines = printed(scanned(Plan(probes=0, resolution=10.0), ("jumps",), suspect="its weights are old"), capsys)
    assert lines[-3:] == [
        "s/seed3: 3 steps evaluated, 0 probes among them; longest unprobed gap 3 checkpoints, between 500 and 2,500",
        "--resolution left unevaluated checkpoints inside the brackets of 1 row",
        "s/seed3 is suspect: its weights are old",
    ]


def test_an_empty_scan_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(scanned(Plan("grid")).head(0), capsys) == ["there was nothing to scan"]


def test_tasks_of_few_prompts_are_named_in_one_line_and_the_one_prompt_form_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame = scanned(Plan("grid"), ("jumps", "dips", "never")).assign(prompts=[2, 16, 1])
    warn_of_few_prompts(frame.replace({"never": "never:single"}))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "few search prompts, so that single answers decide what passes: jumps (2)\n"
    warn_of_few_prompts(frame.assign(prompts=64))
    assert capsys.readouterr().err == ""


def test_the_table_holds_both_brackets_and_what_is_unprobed() -> None:
    rows = scanned(Plan(probes=0), ("dips",)).iloc[0]
    # both ends, then the middle in log(step + 1) is 500, which passes; the last failure known is then 0's
    assert list(rows["steps"]) == [0, 500, 2500]
    assert (rows["pre"], rows["post"], rows["lasting_pre"], rows["lasting_post"]) == (0, 500, 0, 500)
    assert (rows["share_pre"], rows["share_post"], rows["p_pre"]) == (0.1, 0.8, 0.5)
    assert (rows["probes"], rows["unprobed"], rows["unprobed_from"], rows["unprobed_to"]) == (0, 3, 500, 2500)
    assert bool(rows["monotone"])
