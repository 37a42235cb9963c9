"""Units shared out to workers give what they give here; a worker's death and a unit's error are told in a sentence."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import interp
from interp import pipeline
from interp.cli import app
from interp.execution import InProcess, engine
from interp.provenance import Options
from interp.store import Store
from interp.suites import Suite
from interp.suites.folder import FolderRun
from interp.suites.hub import HubRun
from interp.tasks import parse
from interp.values import InputError, RunId
from tests.planted import PlantedRun
from tests.units_of_work import die_at_one, refuse_three, square


@pytest.mark.parametrize("jobs", [1, 2])
def test_values_come_in_the_order_of_the_units_and_errors_are_raised_here(jobs: int) -> None:
    with engine(jobs) as one:
        assert one.map(square, range(7), title="squares", unit="number") == [0, 1, 4, 9, 16, 25, 36]
        assert one.map(square, [], title="squares", unit="number") == []
        with pytest.raises(InputError, match="three was found"):
            one.map(refuse_three, range(5), title="", unit="")


def test_a_worker_that_dies_is_told_in_one_sentence() -> None:
    with pytest.raises(InputError, match="a worker process died before its work was done") as caught, engine(2) as one:
        one.map(die_at_one, range(4), title="", unit="")
    assert "\n" not in str(caught.value)
    assert not active_children()


def test_no_jobs_are_refused() -> None:
    with pytest.raises(InputError, match="0 jobs were asked for; needed: 1 or more"), engine(0):
        pass


def at_work(tmp_path: Path) -> subprocess.Popen[str]:
    """A script whose two workers are in the midst of something long, in a process group of its own."""
    script = tmp_path / "script.py"
    script.write_text(
        "import time\nfrom interp.execution import engine\nfrom tests.units_of_work import sleep_long\n"
        "if __name__ == '__main__':\n    with engine(2) as one:\n        print('begun', flush=True)\n"
        "        one.map(sleep_long, range(4), title='', unit='')\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    started = subprocess.Popen(
        [sys.executable, str(script)], env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n"
    time.sleep(2)
    return started


def test_an_interrupt_ends_the_workers_at_once(tmp_path: Path) -> None:
    started = at_work(tmp_path)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, said = started.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert said.count("Traceback") == 1  # the script's own: no worker has anything to say
    assert nobody_is_left(started.pid)


def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    started = at_work(tmp_path)
    started.kill()
    started.communicate(timeout=60)
    assert nobody_is_left(started.pid)


def nobody_is_left(group: int) -> bool:
    for _ in range(100):  # what belongs to a process that has ended goes a moment after it
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def tables(store: Store) -> dict[tuple[str, str], pd.DataFrame]:
    kinds = [folder.name for folder in store.root.iterdir()]
    return {(kind, one.key): one.frame for kind in kinds for one in store.results(kind)}


def test_workers_store_what_one_process_stores(planted: PlantedRun, tmp_path: Path) -> None:
    (run,) = interp.suite(planted.folder).runs
    assert isinstance(run, FolderRun)
    twice = Suite("twice", tuple(FolderRun(RunId("twice", i), run.folders, run.tokenizer_folder) for i in (0, 1)))
    tasks, options = [parse(str(planted.task))], Options(prompts=8, draws=2, resamples=50)
    serial, shared = Store(tmp_path / "serial"), Store(tmp_path / "shared")
    here = pipeline.patch(twice, tasks, serial, options=options, engine=InProcess())
    with engine(2, preload="interp.pipeline") as workers:
        there = pipeline.patch(twice, tasks, shared, options=options, engine=workers)
    pd.testing.assert_frame_equal(here, there, check_exact=True)
    one, other = tables(serial), tables(shared)
    assert one.keys() == other.keys()
    assert len(one) >= 2 * 8
    for name, frame in one.items():
        pd.testing.assert_frame_equal(frame, other[name], check_exact=True)


def test_a_disk_budget_is_not_shared_out(planted: PlantedRun, tmp_path: Path) -> None:
    command = ["scan", str(planted.folder), "-t", str(planted.task), "--store", str(tmp_path), "--jobs", "2"]
    done = CliRunner().invoke(app, [*command, "--disk-budget", "1GB"])
    assert done.exit_code == 2
    assert "a disk budget is kept by one process at a time" in done.stderr


def test_a_run_on_the_hub_goes_to_another_process_with_what_it_knows() -> None:
    import pickle

    run = HubRun(RunId("some", 1), "owner/name")
    run.__dict__["commits"] = {3: "0" * 40}  # as if asked
    run.disk.pinned["owner/name"] = {"0" * 40}
    gone = pickle.loads(pickle.dumps(run))
    assert gone == run
    assert gone.commits == {3: "0" * 40}
    assert gone.disk.pinned == run.disk.pinned
    with gone.disk.room("0" * 40, 0):
        assert gone.disk.budget is None
