"""Pythia-shaped repositories scanned, patched and reported over the local Hub by the commands that a user types."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub.pythia import HEAD, TOKENIZER, WHY_SKIPPED, pythia_repository, write_task
from tests.hub.server import HubServer

pytestmark = [pytest.mark.skipif(not TOKENIZER.is_file(), reason=WHY_SKIPPED), pytest.mark.slow]
SEED1 = {0: "off", 1: "hole", 2: "=0", 512: "off", 1000: "hole", 2000: "on", 143000: "on"}


class Machine:
    """A user's machine: its caches, its working folder, and a Hub that HF_ENDPOINT names."""

    def __init__(self, hub: HubServer, folder: Path):
        self.hub, self.folder = hub, folder
        folder.mkdir()

    def interp(self, *words: str | Path, code: int = 0, **environment: str) -> tuple[str, str]:
        """What a command prints, to stdout and stderr."""
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "OMP_NUM_THREADS") if name in os.environ}
        caches = {"HF_HOME": str(self.folder / "hf"), "INTERP_CACHE": str(self.folder / "interp")}
        home = {"HOME": str(self.folder), "HF_ENDPOINT": self.hub.endpoint}
        done = subprocess.run(
            [sys.executable, "-c", "from interp.cli import app; app()", *map(str, words)],
            cwd=self.folder, env=kept | caches | home | environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    folder = tmp_path_factory.mktemp("pythia")
    with HubServer() as server:
        pythia_repository(server, folder, "14m", 1, SEED1)
        pythia_repository(server, folder, "14m", 2, {0: "off", 143000: "on"})
        pythia_repository(server, folder, "70m", 1, {0: "off", 143000: "on"})
        yield server


@pytest.fixture(scope="module")
def machine(hub: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(hub, tmp_path_factory.mktemp("user") / "home")


@pytest.fixture(scope="module")
def task(machine: Machine) -> Path:
    return write_task(machine.folder)


@pytest.fixture(scope="module")
def scanned(machine: Machine, task: Path) -> list[dict]:
    out, said = machine.interp("scan", "pythia-14m", "--seeds", "1,2", "-t", task, "-n", "8", "--json")
    assert "to download" in said
    assert "Traceback" not in said
    return json.loads(out)


@pytest.fixture(scope="module")
def patched(machine: Machine, task: Path, scanned: list[dict]) -> tuple[list[dict], str]:
    out, said = machine.interp("patch", "pythia-14m", "--seeds", "1", "-t", task, "-n", "8", "--json")
    return json.loads(out), said


def test_the_planted_step_is_found_in_both_seeds(scanned: list[dict]) -> None:
    assert [(row["run"], row["status"], row["bracket"]) for row in scanned] == [
        ("pythia-14m/seed1", "emerged", [512, 2000]),
        ("pythia-14m/seed2", "emerged", [0, 143000]),
    ]


def test_only_weights_configs_and_tokenizers_were_fetched(machine: Machine, scanned: list[dict]) -> None:
    names = {path.split("/")[5] for _, path, _ in machine.hub.requests if "/resolve/" in path}
    small = {"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}
    assert names == {"pytorch_model.bin", *small}
    assert machine.hub.count("/refs") == 2
    assert machine.hub.count("/resolve/main/") == 0
    # no thread asks for a conversion: nothing but refs, revisions, files and blobs is ever requested
    assert machine.hub.count() == sum(
        machine.hub.count(kind) for kind in ("/refs$", "/revision/", "/resolve/", "/cdn/")
    )


def test_the_planted_head_is_named(patched: tuple[list[dict], str]) -> None:
    rows, said = patched
    first = {(row["direction"], row["head"]) for row in rows if row["rank"] == 1}
    assert first == {("denoising", str(HEAD)), ("noising", str(HEAD))}
    assert "to download" not in said


def test_all_is_reported(machine: Machine, patched: tuple[list[dict], str]) -> None:
    machine.interp("report", ".interp", "--out", "report.html")
    assert str(HEAD) in (machine.folder / "report.html").read_text()


@pytest.mark.parametrize("way", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:1"}])
def test_a_warm_cache_serves_without_a_network(
    machine: Machine, task: Path, scanned: list[dict], way: dict[str, str]
) -> None:
    words = ("scan", "pythia-14m", "--seeds", "2", "-t", task, "-n", "8", "--json", "--store", f"other-{min(way)}")
    before = machine.hub.count()
    out, said = machine.interp(*words, **way)
    assert [row["bracket"] for row in json.loads(out)] == [[0, 143000]]
    assert machine.hub.count() == before
    assert "Error" not in said
    assert "to download" not in said


def test_a_cold_cache_says_what_is_missing(machine: Machine, task: Path) -> None:
    words = ("scan", "pythia-31m", "--seeds", "4", "-t", task)
    _, said = machine.interp(*words, code=2, HF_HUB_OFFLINE="1")
    assert "the steps of EleutherAI/pythia-31m-seed4 were never listed on this machine" in said
    assert "Traceback" not in said


def test_verify_lists_holes_and_equal_steps_without_a_download(machine: Machine, scanned: list[dict]) -> None:
    before = machine.hub.count("/cdn/")
    (row,) = json.loads(machine.interp("verify", "pythia-14m", "--seeds", "1", "--json")[0])
    assert (row["missing"], row["equal"], row["equal_to_final"]) == ([1, 1000], [[0, 2]], [])
    assert (row["checkpoints"], row["discontinuous"], row["foreign"]) == (5, [], [])
    assert machine.hub.count("/cdn/") == before
    table, _ = machine.interp("verify", "pythia-14m", "--seeds", "1,2")
    assert "0=2" in table
    assert "pythia-14m/seed2" in table


def test_a_70m_run_is_scanned_and_its_cache_pruned(machine: Machine, task: Path) -> None:
    words = ("scan", "pythia-70m", "--seeds", "1", "-t", task, "-n", "4", "--json", "--disk-budget", "700MB")
    (row,) = json.loads(machine.interp(*words)[0])
    assert (row["status"], row["bracket"]) == ("emerged", [0, 143000])
    listed = json.loads(machine.interp("cache", "list", "--json")[0])
    sizes = {one["size"] for one in listed if one["repository"] == "EleutherAI/pythia-70m-seed1"}
    assert all(160e6 < size < 172e6 for size in sizes)
    assert all(one["downloaded_by_interp"] for one in listed)
    out, _ = machine.interp("cache", "prune", "EleutherAI/pythia-70m-seed1")
    assert out.startswith("removed 2 checkpoints, 33")
    left = json.loads(machine.interp("cache", "list", "--json")[0])
    assert {one["repository"] for one in left} <= {"EleutherAI/pythia-14m-seed1", "EleutherAI/pythia-14m-seed2"}


def test_a_wrong_name_is_answered_with_the_nearest(machine: Machine, task: Path) -> None:
    _, said = machine.interp("scan", "pythia-70n", "-t", task, code=2)
    assert "did you mean pythia-70m" in said
