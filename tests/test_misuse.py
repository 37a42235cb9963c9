"""Python misused as people misuse it: an InputError of one sentence. In a process of its own, without type checks."""

import json
import subprocess
import sys

import pytest

from tests.planted import PlantedRun

PROGRAM = """
import json, sys
import torch
import interp
from interp import pipeline
from interp.provenance import Options
from interp.store import Store
from interp.tasks import parse
folder, task, store = sys.argv[1:]
suite = interp.suite(folder)
run = suite.run(0)
checkpoint = run.at(64)
tasks, kept = [parse(task)], Store(store)
said = {}
for text in json.load(sys.stdin):
    try:
        eval(text)
        said[text] = "nothing"
    except interp.InputError as error:
        said[text] = str(error)
    except BaseException as error:
        said[text] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""

MISUSED = {
    "interp.load(run)": "is not a checkpoint; needed: one of a run, such as run.at(run.steps[-1])",
    "interp.load(suite)": "is not a checkpoint",
    "interp.load('nano-3l')": "'nano-3l' is not a checkpoint",
    "interp.bridge(run)": "is not a checkpoint",
    "interp.load(checkpoint, dtype=torch.int8)": "'int8' is not a dtype interp computes in",
    "interp.load(checkpoint, dtype=None)": "'None' is not a dtype",
    "interp.load(checkpoint, device='meta')": "the device 'meta' cannot be used here",
    "interp.load(checkpoint, device=None)": "the device 'None' cannot be used here",
    "run.at('10')": "planted/seed0: '10' is not a step; needed: a whole number such as 1024",
    "run.at(None)": "None is not a step",
    "run.at(10.5)": "10.5 is not a step",
    "run.at(-1)": "has no checkpoint at step -1; the nearest are 0, 1, 2",
    "suite.run('0')": "planted has no run with seed '0'; its seeds: 0",
    "interp.suite(3)": "3 is not a suite; needed: its name, or a folder of checkpoints",
    "interp.suite(None)": "None is not a suite",
    "interp.suite('')": "the suite's name is empty",
    "interp.Store('')": "the store's path is empty",
    "Options(dtype=torch.float32)": "'torch.float32' is not a dtype interp computes in; did you mean float32",
    "Options(dtype='float23')": "'float23' is not a dtype interp computes in; did you mean float32",
    "Options(prompts=0)": "prompts is 0; needed: 1 or more",
    "pipeline.scan(suite, tasks, kept, seeds=[])": "an empty list of seeds names no run of planted; needed: seeds",
    "pipeline.patch(suite, tasks, kept, seeds=())": "an empty list of seeds names no run of planted; needed: seeds",
    "pipeline.scan(suite, [], kept)": "no task is given; needed: one or more",
    "pipeline.scan(suite, ['string'], kept)": "'string' is not a task with its form",
    "pipeline.patch(suite, [tasks[0][0]], kept)": "is not a task with its form; needed: what interp.tasks.parse",
}
RIGHT = ["interp.load(checkpoint, dtype=torch.float32)", "interp.load(checkpoint, dtype='float64')", "suite.run(0)"]


@pytest.fixture(scope="module")
def said(planted: PlantedRun, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    words = [planted.folder, planted.task, tmp_path_factory.mktemp("misuse") / "store"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        input=json.dumps([*MISUSED, *RIGHT]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("text", MISUSED)
def test_misuse_is_one_sentence(said: dict[str, str], text: str) -> None:
    assert MISUSED[text] in said[text]
    assert "\n" not in said[text]
    assert "Error: " not in said[text]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_is_taken(said: dict[str, str], text: str) -> None:
    assert said[text] == "nothing"
