"""The command line: wrong input gets one sentence, results come as JSON, and an interruption loses nothing."""

import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import Result
from typer.testing import CliRunner

from interp.cli import app
from tests.planted import HEAD, HEADS, LAYERS, STEPS, WORDS, PlantedRun, plant

# SIGINT is set by hand: a process that is started in the background inherits that it be ignored
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from interp.cli import app; app()"


def interp(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def in_a_process(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def refused(*arguments: object) -> str:
    """The one sentence that a refused command says."""
    result = interp(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


@pytest.fixture(scope="module")
def done(planted: PlantedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the planted run is scanned and patched: what only prints needs no work of its own."""
    store = tmp_path_factory.mktemp("done") / "store"
    assert interp("patch", planted.folder, "-t", planted.task, "--store", store).exit_code == 0
    return store


def own_copy(planted: PlantedRun, folder: Path) -> Path:
    """The planted suite in a folder that a test may change."""
    return shutil.copytree(planted.folder, folder / "planted")


def step_folder(suite: Path, step: int) -> Path:
    return suite / "seed0" / f"step{step}"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["scan", "patch"])
def test_an_unknown_suite_gets_the_nearest(here: Path, planted: PlantedRun, command: str) -> None:
    said = refused(command, "pythia-7m", "-t", planted.task)
    assert said.startswith("there is no suite or folder called 'pythia-7m'; did you mean ")
    assert "pythia-70m" in said
    assert list(here.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(here: Path, planted: PlantedRun) -> None:
    assert refused("scan", "no/such", "-t", planted.task).startswith("there is no folder no/such; needed: ")


def test_an_unknown_task_gets_the_nearest(here: Path, planted: PlantedRun) -> None:
    said = refused("scan", planted.folder, "-t", "strin")
    assert said.startswith("'strin' is no task and no path of a .toml file: did you mean string")


def test_an_absent_task_file_is_named(here: Path, planted: PlantedRun) -> None:
    assert refused("scan", planted.folder, "-t", "gone.toml").startswith("gone.toml: cannot be read")


def test_a_task_given_twice_is_refused(here: Path, planted: PlantedRun) -> None:
    assert "is given twice" in refused("scan", planted.folder, "-t", planted.task, "-t", planted.task)


def test_an_unknown_seed_gets_the_known_ones(here: Path, planted: PlantedRun) -> None:
    said = refused("scan", planted.folder, "-t", planted.task, "--seeds", "0,7")
    assert said == "planted has no run with seed 7; its seeds: 0"


@pytest.mark.parametrize("text", ["", "a", "3-1", "0,,1", "-1"])
def test_seeds_that_are_no_seeds_are_refused(here: Path, planted: PlantedRun, text: str) -> None:
    said = refused("scan", planted.folder, "-t", planted.task, f"--seeds={text}")
    assert said == f"'{text}' is not a list of seeds; write them like 0-3 or 0,2,5"


def test_an_unknown_step_gets_the_nearest(here: Path, planted: PlantedRun) -> None:
    said = last_line("patch", planted.folder, "-t", planted.task, "--pre", "3", "--post", "64")
    assert said == "error: planted/seed0 has no checkpoint at step 3; the nearest are 1, 2, 4"


def test_one_end_alone_is_refused(here: Path, planted: PlantedRun) -> None:
    said = refused("patch", planted.folder, "-t", planted.task, "--pre", "32")
    assert said == "--pre and --post choose the two ends together; one was given"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--prompts", "0", "prompts is 0; needed: 1 or more"),
        ("--dtype", "float31", "'float31' is not a dtype interp computes in; did you mean float32"),
        ("--device", "abacus", "the device 'abacus' cannot be used here"),
    ],
)
def test_wrong_options_are_refused(here: Path, planted: PlantedRun, option: str, value: str, said: str) -> None:
    assert last_line("scan", planted.folder, "-t", planted.task, option, value).startswith(f"error: {said}")


def last_line(*arguments: object) -> str:
    """What a command says that is refused at work: on a line of its own, after its progress bar's."""
    result = interp(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    return result.stderr.splitlines()[-1]


def test_a_folder_without_checkpoints_is_refused(here: Path, planted: PlantedRun) -> None:
    (here / "empty").mkdir()
    said = refused("scan", "empty", "-t", planted.task)
    assert said.startswith("empty holds no checkpoints; found: nothing; needed: seed<S>/step<N>/")


def test_a_folder_with_one_checkpoint_has_no_bracket_to_find(here: Path, planted: PlantedRun) -> None:
    suite = own_copy(planted, here)
    for step in STEPS[1:]:
        shutil.rmtree(step_folder(suite, step))
    said = last_line("scan", suite, "-t", planted.task)
    assert said.startswith(
        "error: planted/seed0 has 1 checkpoint, 1 with distinct weights; finding when a task emerges"
    )


@pytest.mark.parametrize("command", ["scan", "patch"])
def test_a_broken_checkpoint_is_named(here: Path, planted: PlantedRun, command: str) -> None:
    path = step_folder(own_copy(planted, here), 1024) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    said = last_line(command, here / "planted", "-t", planted.task)
    assert said.startswith(f"error: {path} is broken and cannot be read as weights: ")


def test_configs_that_differ_are_refused_with_the_key(here: Path, planted: PlantedRun) -> None:
    path = step_folder(own_copy(planted, here), 64) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"num_hidden_layers": 3}))
    said = refused("scan", here / "planted", "-t", planted.task)
    assert "num_hidden_layers is 2 at step 0 and 3 at step 64" in said


def test_a_task_file_with_an_unknown_key_is_refused_with_the_key(here: Path, planted: PlantedRun) -> None:
    text = planted.task.read_text().replace("threshold =", "treshold =")
    (here / "task.toml").write_text(text)
    said = refused("scan", planted.folder, "-t", "task.toml")
    assert said.startswith("task.toml: key 'treshold' is unknown: did you mean threshold")


@pytest.mark.parametrize(
    ("answer", "what"),
    [(" bear moon", r"is 2 tokens"), (" nightingale", "which this tokenizer lacks"), ("", "a text is needed")],
)
def test_an_answer_that_is_not_one_token_is_refused(here: Path, planted: PlantedRun, answer: str, what: str) -> None:
    shutil.copy(planted.task, here / "task.toml")
    rows = [{"prompt": "salt fox", "answer": answer}, {"prompt": "fox salt", "answer": " fox"}]
    (here / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = refused("scan", planted.folder, "-t", "task.toml")
    assert said.startswith("task 'before_last': ")
    assert what in said


@pytest.mark.parametrize("command", ["scan", "patch"])
def test_a_store_that_cannot_be_written_is_named(here: Path, planted: PlantedRun, command: str) -> None:
    # under a regular file nothing can be made, not even by root
    (here / "file").write_text("")
    said = refused(command, planted.folder, "-t", planted.task, "--store", "file/store")
    assert said == "the store file/store cannot be written: Not a directory"


def test_a_broken_result_is_named(here: Path, planted: PlantedRun) -> None:
    assert interp("scan", planted.folder, "-t", planted.task).exit_code == 0
    (path,) = Path(".interp/emergence").iterdir()
    path.write_bytes(b"PAR1")
    said = last_line("scan", planted.folder, "-t", planted.task)
    assert said.startswith(f"error: {path} is not a result of interp's store")
    assert said.endswith("delete it to have it computed again")


def test_a_process_says_it_on_stderr_and_ends_with_2(here: Path, planted: PlantedRun) -> None:
    # in tests the type checks would be first to refuse this word; in a process of its own there are none
    process = in_a_process("scan", planted.folder, "-t", planted.task, "--search", "binary", cwd=here)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err == "error: 'binary' is not a way to search; known: bisection, grid\n"


@pytest.mark.parametrize(
    "arguments", [("scan",), ("scan", "x", "--nonsense"), ("nonsense",), ("patch", "x", "--pre", "a")]
)
def test_a_command_that_is_no_command_is_answered_without_a_traceback(arguments: tuple[str, ...]) -> None:
    result = interp(*arguments)
    assert result.exit_code == 2
    assert "Error" in result.stderr
    assert "Traceback" not in result.stderr


def strict(text: str) -> Any:
    """JSON as the standard has it: NaN and Infinity are none."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in the JSON")

    return json.loads(text, parse_constant=refuse)


def test_scan_prints_the_planted_bracket_as_json(here: Path, planted: PlantedRun) -> None:
    (row,) = strict(interp("scan", planted.folder, "-t", planted.task, "--json").stdout)
    assert (row["run"], row["seed"], row["task"], row["status"]) == ("planted/seed0", 0, "before_last", "emerged")
    assert row["bracket"] == [32, 64]
    assert row["solved"][0] < row["threshold"] == 0.75 <= row["solved"][1]
    assert len(row["steps"]) == len(row["solved_at_steps"])


def test_scan_prints_null_where_there_is_no_bracket(here: Path, tmp_path: Path) -> None:
    run = plant(tmp_path / "run", planted_at=2048, steps=(0, 1))
    (row,) = strict(interp("scan", run.folder, "-t", run.task, "--json").stdout)
    assert (row["status"], row["bracket"], row["p"], row["solved"]) == ("censored", None, None, None)
    assert strict(interp("patch", run.folder, "-t", run.task, "--json").stdout) == []
    assert "no task has a bracket" in interp("patch", run.folder, "-t", run.task).stdout


def test_patch_prints_every_head_as_json(done: Path, planted: PlantedRun) -> None:
    rows = strict(interp("patch", planted.folder, "-t", planted.task, "--store", done, "--json").stdout)
    assert len(rows) == 2 * LAYERS * HEADS
    first = [row for row in rows if row["rank"] == 1]
    assert [row["direction"] for row in first] == ["denoising", "noising"]
    for row in first:
        assert (row["head"], row["bracket"], row["label"], row["label_pre"]) == (
            str(HEAD),
            [32, 64],
            "previous-token",
            "uniform",
        )
        assert row["interval"][0] < row["delta_p"] < row["interval"][1]


@pytest.mark.parametrize("command", ["scan", "patch"])
def test_two_stores_give_the_same_json_byte_for_byte(here: Path, done: Path, planted: PlantedRun, command: str) -> None:
    arguments = (command, planted.folder, "-t", planted.task, "--json", "--store")
    outputs = {interp(*arguments, store).stdout for store in (done, "two", "two")}
    assert len(outputs) == 1
    assert strict(outputs.pop())


def test_tables_name_the_bracket_and_the_head(done: Path, planted: PlantedRun) -> None:
    scan = interp("scan", planted.folder, "-t", planted.task, "--store", done).stdout.splitlines()
    assert len(scan) == 2
    assert "32 … 64" in scan[1]
    patch = interp("patch", planted.folder, "-t", planted.task, "--store", done).stdout.splitlines()
    assert len(patch) == 1 + 2 * 3  # three heads of each direction
    assert [str(HEAD) in line for line in patch] == [False, True, False, False, True, False, False]


def test_suites_lists_a_folders_runs(here: Path, planted: PlantedRun) -> None:
    own_copy(planted, here)
    (step_folder(here / "planted", 8) / "config.json").unlink()
    (row,) = strict(interp("suites", "planted", "--json").stdout)
    assert row == {
        "run": "planted/seed0", "seed": 0, "checkpoints": 11, "first": 0, "last": 1024, "missing": [8],
        "all_steps": [step for step in STEPS if step != 8],
    }  # fmt: skip
    assert "pythia-70m" in {row["name"] for row in strict(interp("suites", "--json").stdout)}


def test_tasks_shows_prompts_with_their_ids(here: Path, planted: PlantedRun) -> None:
    rows = strict(interp("tasks", planted.task, "--suite", planted.folder, "-n", 3, "--json").stdout)
    assert len(rows) == 3
    for row in rows:
        words = row["text"].split()
        assert row["ids"] == [0] + [WORDS.index(word) for word in words]
        assert row["answer_id"] == WORDS.index(words[-2])


HEAVY = ("torch", "transformers", "transformer_lens", "numpy", "pandas", "pyarrow", "scipy", "plotly", "datasets")


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom interp.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print('heavy:', [name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "heavy: []"
    assert all(command in done.stdout for command in ("demo", "suites", "tasks", "scan", "patch", "report", "train"))


def cpu_seconds(program: str) -> float:
    """Processor time of a Python process. Not the time on the clock: other work on the machine would count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_is_there_at_once() -> None:
    program = "from interp.cli import app; app(['--help'])"
    cpu_seconds(program)  # compiles what is not compiled yet
    help_, bare = ([cpu_seconds(each) for _ in range(5)] for each in (program, "pass"))
    # .3 s is the aim; twice that, since machines of a CI are slower, and a loaded one takes more processor time too
    assert statistics.median(help_) - statistics.median(bare) <= 2 * 0.3


@pytest.mark.slow
def test_an_interrupted_scan_keeps_what_it_has_and_goes_on_from_there(tmp_path: Path) -> None:
    run = plant(tmp_path / "run", planted_at=64, steps=tuple(range(40, 80)))
    store = tmp_path / "store"
    arguments = ("scan", run.folder, "-t", run.task, "--search", "grid", "--store", store, "--json")
    process = in_a_process(*arguments, cwd=tmp_path)
    deadline = time.monotonic() + 120
    while len(list(store.glob("evaluations/*.parquet"))) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no result within two minutes"
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted; what was finished is kept, and the same command goes on from there"
    assert "Traceback" not in err
    kept = {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}
    assert 3 <= len(kept) < 40
    assert all(path.suffix == ".parquet" and pq.read_table(path).num_rows == 64 for path in kept)

    again = interp(*arguments)
    assert again.exit_code == 0, again.output
    assert strict(again.stdout)[0]["bracket"] == [63, 64]
    assert len(list(store.glob("evaluations/*.parquet"))) == 40
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
