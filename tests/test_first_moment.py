"""The first second of a command: wrong words are answered before torch is loaded; interrupted, it says so."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.planted import PlantedRun

# each command in one process, as a user's would run; what is heavy must not be loaded when the answer is there
PROGRAM = """
import json, sys
from typer.testing import CliRunner
from interp.cli import app
said = []
for words in json.load(sys.stdin):
    result = CliRunner().invoke(app, words)
    said.append([result.exit_code, result.stdout, result.stderr, "torch" in sys.modules, "transformers" in sys.modules])
print(json.dumps(said))
"""

WRONG = {
    "a wrong path": ("scan", "wrong/path", "-t", "string"),
    "an empty path": ("scan", "", "-t", "string"),
    "a wrong name": ("scan", "nano-4l"),
    "a wrong task": ("scan", "nano-3l", "-t", "strin"),
    "no task file": ("patch", "nano-3l", "-t", "gone.toml"),
    "a wrong seed": ("scan", "nano-3l", "-t", "string", "--seeds", "99"),
    "wrong seeds": ("scan", "nano-3l", "-t", "string", "--seeds", "9" * 5000),
    "a wrong dtype": ("scan", "nano-3l", "-t", "string", "--dtype", "float31"),
    "a wrong search": ("scan", "nano-3l", "-t", "string", "--search", "binary"),
    "no prompts": ("scan", "nano-3l", "-t", "string", "-n", "0"),
    "a wrong budget": ("scan", "nano-3l", "-t", "string", "--disk-budget", "9" * 400 + "GB"),
    "wrong memory": ("patch", "nano-3l", "-t", "string", "--memory", "9" * 400 + "GB"),
    "an empty suite": ("tasks", "string", "--suite", ""),
    "a wrong role": ("tasks", "string", "--role", "both"),
    "a store that is missing": ("report", "{done}", "missing"),
    "a store without results": ("report", "{done}", "{empty}"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list]:
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "empty").mkdir()
    (folder / "done" / "prompts").mkdir(parents=True)
    (folder / "done" / "prompts" / "a.parquet").write_bytes(b"")
    words = [[word.format(done="done", empty="empty") for word in words] for words in WRONG.values()]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(words), cwd=folder, capture_output=True, text=True, check=True
    )
    return dict(zip(WRONG, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("what", WRONG)
def test_wrong_words_are_answered_before_torch_is_loaded(said: dict[str, list], what: str) -> None:
    code, out, err, *heavy = said[what]
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert heavy == [False, False]


def test_every_store_of_a_report_must_be_there(said: dict[str, list]) -> None:
    needed = "needed: a folder that scan or patch wrote to"
    assert said["a store that is missing"][2] == f"error: missing is not a store: there is no such folder; {needed}\n"
    assert said["a store without results"][2] == f"error: empty is not a store: it holds no results; {needed}\n"


@pytest.mark.parametrize(
    "words", [("scan", "nano-3l", "--store", ""), ("report", ""), ("train", "nano-2l", "--out", "")]
)
def test_an_empty_path_is_not_the_working_folder(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "interp", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "the path is empty; needed: a file or a folder" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


STARTED = (
    "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from interp.__main__ import main\nprint('up', flush=True)\nmain()"
)


@pytest.mark.parametrize("after", [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.6, 1.0, 1.5])
def test_an_interruption_while_modules_are_loaded_is_one_sentence(
    planted: PlantedRun, tmp_path: Path, after: float
) -> None:
    words = ["scan", str(planted.folder), "-t", str(planted.task)]
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    time.sleep(0.01 + after)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted; what was finished is kept, and the same command goes on from there"
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def ascii_only(*words: str, cwd: Path) -> str:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-m", "interp", *words], cwd=cwd, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode("ascii")


def test_a_terminal_that_knows_only_ascii_gets_every_character_spelled_out(tmp_path: Path) -> None:
    assert "6 layers \\xd7 4 heads" in ascii_only("suites", cwd=tmp_path)
    rows = json.loads(ascii_only("suites", "--json", cwd=tmp_path))
    assert any("6 layers × 4 heads" in row["about"] for row in rows)
