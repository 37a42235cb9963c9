"""How often the Hub is asked: nothing twice, whatever is fetched ahead; and its wish to be left in peace is kept to."""

import threading
import time
from collections import Counter
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from interp import pipeline
from interp.models.loading import load
from interp.provenance import Options
from interp.store import Store
from interp.suites import suite
from interp.suites.hub import HubRun
from interp.tasks import parse
from tests.hub.repositories import byte_repository, planted_repository
from tests.hub.server import HubServer
from tests.planted import PlantedRun


def doubled(hub: HubServer) -> dict[tuple[str, str], int]:
    """The requests that were made more than once."""
    counts = Counter((method, path.split("?")[0]) for method, path, _ in hub.requests)
    return {request: count for request, count in counts.items() if count > 1}


def joined(run: HubRun) -> None:
    for thread in run._prefetching.values():
        thread.join()


def own_threads() -> set[str]:
    """All but those that the server answers in."""
    return {thread.name for thread in threading.enumerate() if "process_request_thread" not in thread.name}


@pytest.mark.parametrize("search", ["bisection", "grid"])
def test_a_scan_that_fetches_ahead_asks_for_nothing_twice(
    hub: HubServer, planted: PlantedRun, tmp_path: Path, search: str
) -> None:
    planted_repository(hub, planted.folder)
    found, tasks = suite("hf:lab/planted"), [parse(str(planted.task))]
    pipeline.scan(found, tasks, Store(tmp_path / "store"), options=Options(prompts=8, search=search))
    run = found.runs[0]
    assert isinstance(run, HubRun)
    assert run._prefetching
    joined(run)
    assert doubled(hub) == {}
    assert hub.count("/revision/") == len(run.known)
    assert hub.count("GET /cdn/") <= len(run.known)


def test_a_file_that_is_fetched_ahead_and_asked_for_meanwhile_comes_once(hub: HubServer) -> None:
    byte_repository(hub, {0: b"a" * 200_000, 1: b"b" * 200_000})
    run = suite("hf:lab/bytes").runs[0]
    assert isinstance(run, HubRun)
    threads = [threading.Thread(target=lambda: run.fetch(run.at(1))) for _ in range(3)]
    run.prefetch((1, 1))
    run.prefetch((1,))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    joined(run)
    assert (run.at(1).folder / "model.safetensors").read_bytes() == b"b" * 200_000
    assert hub.count("GET /cdn/") == 1
    assert doubled(hub) == {}


@pytest.mark.parametrize("request_", ["/refs", "/revision/", "HEAD .*/resolve/.*safetensors", "GET /cdn/"])
def test_retry_after_is_kept_to_by_every_kind_of_request(hub: HubServer, request_: str) -> None:
    """The client's own download requests wait as told too (and one second more); see docs/suites.md for its bound."""
    byte_repository(hub, {0: b"weights"})
    hub.fail(request_, 429, Retry_After="1")
    begun = time.monotonic()
    run = suite("hf:lab/bytes").runs[0]
    run.fetch(run.at(0))
    assert hub.count(request_) == 2
    if request_ == "GET /cdn/":
        assert time.monotonic() - begun >= 2


def test_a_repository_of_pickles_loads_quietly_and_main_is_never_asked_for(
    hub: HubServer, planted: PlantedRun, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Faults 22 and 23: no conversion is asked for in the background, and `main`, which holds no weights, is left."""
    step = planted.folder / "seed0" / "step64"
    pickled = tmp_path / "pytorch_model.bin"
    torch.save(load_file(step / "model.safetensors"), pickled)
    files = {name: planted.folder / name for name in ("tokenizer.json", "tokenizer_config.json")}
    repository = hub.repository("lab/pickled")
    repository.commit("main", {"README.md": b"nothing here"})
    repository.commit("step64", {"config.json": step / "config.json", "pytorch_model.bin": pickled, **files})
    before = own_threads()
    model = load(suite("hf:lab/pickled").runs[0].at(64))
    assert model.checkpoint.commit == repository.branches["step64"]
    kinds = ("/refs$", "/revision/", f"/resolve/{repository.branches['step64']}/", "/cdn/")
    assert hub.count() == sum(hub.count(kind) for kind in kinds)
    assert hub.count(repository.branches["main"]) == hub.count("/main") == 0
    assert own_threads() == before
    assert capfd.readouterr().err == ""
