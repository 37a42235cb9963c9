"""Room on disk: sizes as people write them, what is ours to remove, and what is not."""

import threading
from pathlib import Path

import pytest
from huggingface_hub import constants, snapshot_download

from interp.cli.estimate import _visits
from interp.suites import disk, suite
from interp.suites.disk import Disk, in_words, kept, parse_size, remove
from interp.suites.hub import HubRun
from interp.values import InputError
from tests.hub.repositories import byte_repository
from tests.hub.server import HubServer

SIZE = 1000


def run_of(hub: HubServer, budget: int | None = None, equal: bool = False) -> HubRun:
    if not hub.repository("lab/bytes").branches:
        byte_repository(hub, {step: (b"0" if equal else b"%d" % step) * SIZE for step in range(5)})
    run = suite("hf:lab/bytes", budget).runs[0]
    assert isinstance(run, HubRun)
    return run


def visit(run: HubRun, *steps: int) -> None:
    for step in steps:
        run.fetch(run.at(step))


def there(run: HubRun) -> list[int]:
    return [step for step in run.steps if (run.at(step).folder / "model.safetensors").exists()]


def test_the_oldest_use_goes_first(hub: HubServer) -> None:
    run = run_of(hub, 3 * SIZE + 500)
    visit(run, 0, 1, 2, 3)
    assert there(run) == [1, 2, 3]
    visit(run, 4)
    assert there(run) == [2, 3, 4]


def test_pinned_steps_stay(hub: HubServer) -> None:
    run = run_of(hub, 3 * SIZE + 500)
    visit(run, 0, 1)
    run.pin((0, 1))
    visit(run, 2, 3, 4)
    assert there(run) == [0, 1, 4]


def test_a_removed_step_comes_again_when_it_is_visited(hub: HubServer) -> None:
    run = run_of(hub, SIZE + 500)
    visit(run, 0, 1, 0)
    assert there(run) == [0]
    assert (run.at(0).folder / "model.safetensors").read_bytes() == b"0" * SIZE


def test_a_blob_that_two_steps_share_outlives_the_first(hub: HubServer) -> None:
    byte_repository(hub, {0: b"a" * SIZE, 1: b"a" * SIZE})
    repository = hub.repository("lab/bytes")
    config = repository.commits[repository.branches["step1"]]
    repository.commit("step1", {name: file.source for name, file in config.items()} | {"README.md": b"other"})
    run = run_of(hub)
    visit(run, 0, 1)
    first = next(one for one in kept() if one.commit == run.commits[0])
    assert remove(first) == 0
    assert (run.at(1).folder / "model.safetensors").read_bytes() == b"a" * SIZE


def test_what_others_downloaded_is_not_ours(hub: HubServer) -> None:
    run = run_of(hub, SIZE + 500)
    theirs = Path(snapshot_download("lab/bytes", revision="step2", endpoint=hub.endpoint))
    visit(run, 2, 0, 1)
    assert (theirs / "model.safetensors").exists()
    assert {one.commit: one.ours for one in kept()} == {run.commits[2]: False, run.commits[1]: True}


def test_a_file_fetched_again_after_damage_stays_with_its_owner(hub: HubServer) -> None:
    run = run_of(hub)
    theirs = Path(snapshot_download("lab/bytes", revision="step2", endpoint=hub.endpoint))
    (theirs / "model.safetensors").resolve().write_bytes(b"short")
    visit(run, 2)
    assert [one.ours for one in kept()] == [False]


def test_a_full_disk_is_said_before_the_download(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(hub)
    monkeypatch.setattr(disk, "free_space", lambda: 500)
    with pytest.raises(InputError, match=r"1\.1 kB are to be downloaded to .*, and 500 bytes are free; make room"):
        visit(run, 0)
    assert hub.count("/cdn/") == 0


def test_an_estimate_shrinks_with_what_is_there(hub: HubServer) -> None:
    run = run_of(hub)
    assert (run.size, run.estimate(4)) == (SIZE, 4 * SIZE)
    visit(run, 0, 3)
    assert run.estimate(4) == 2 * SIZE
    assert run.estimate(100) == 3 * SIZE


@pytest.mark.parametrize(("steps", "tasks", "visits"), [(154, 1, 10), (154, 4, 34), (2, 4, 2), (12, 9, 12)])
def test_the_most_visits_of_a_bisection(steps: int, tasks: int, visits: int) -> None:
    assert _visits(steps, tasks, "bisection") == visits
    assert _visits(steps, tasks, "grid") == steps


@pytest.mark.parametrize(
    ("text", "size"),
    [("20GB", 20 * 10**9), ("1.5 tb", 1.5 * 10**12), ("500M", 5 * 10**8), ("12", 12), ("0", 0), ("3 kb", 3000)],
)
def test_sizes_are_read_as_people_write_them(text: str, size: float) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-3GB", "many", "1e9", "20 GBs", "20 XB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a size; write it like 20GB or 500MB"):
        parse_size(text)


def test_sizes_in_words() -> None:
    assert [in_words(n) for n in (0, 999, 1000, 166_029_852, 12 * 10**9)] == [
        "0 bytes", "999 bytes", "1.0 kB", "166.0 MB", "12.0 GB",
    ]  # fmt: skip


def test_a_guess_never_evicts(hub: HubServer) -> None:
    run = run_of(hub, 2 * SIZE + 500)
    visit(run, 0, 1)
    run.prefetch((2, 3))
    for thread in run._prefetching.values():
        thread.join()
    assert there(run) == [0, 1]


def test_the_disk_has_no_bound_by_itself(hub: HubServer) -> None:
    with Disk().room("0" * 40, disk.free_space() // 2):
        assert Path(constants.HF_HUB_CACHE).parent.exists()
    with pytest.raises(InputError, match="are free; make room"), Disk().room("0" * 40, 2 * disk.free_space()):
        raise AssertionError("there is no room")


def test_bytes_that_are_coming_have_their_place(hub: HubServer) -> None:
    shared = Disk(1000)
    with shared.room("a" * 40, 600):
        with pytest.raises(InputError, match="too small"), shared.room("b" * 40, 600, evict=False):
            raise AssertionError("there is no room")
        waiting = threading.Thread(target=lambda: _enter(shared, "c" * 40, 600))
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()  # what is asked for waits for a guess that is under way
    waiting.join(10)
    assert not waiting.is_alive()


def _enter(shared: Disk, commit: str, size: int) -> None:
    with shared.room(commit, size):
        pass
