"""The main job over a Hub: what is asked and downloaded, and that holes, equal and foreign weights mislead no claim."""

import json
import math
import threading
from pathlib import Path

import pandas as pd
import pytest

from interp import pipeline
from interp.provenance import Options
from interp.store import Store
from interp.suites import suite
from interp.suites.disk import kept
from interp.suites.hub import HubRun
from interp.suites.ladder import suspicions
from interp.tasks import parse
from interp.values import InputError
from tests.hub.repositories import planted_repository
from tests.hub.server import HubServer, Repository
from tests.planted import STEPS, PlantedRun

FEW = Options(prompts=8, resamples=50, draws=2, probes=0)
PROBED = Options(prompts=8, resamples=50, draws=2, probes=6)


@pytest.fixture
def repository(hub: HubServer, planted: PlantedRun) -> Repository:
    return planted_repository(hub, planted.folder)


def scan(planted: PlantedRun, store: Path, budget: int | None = None, options: Options = FEW) -> dict:
    rows = pipeline.scan(suite("hf:lab/planted", budget), [parse(str(planted.task))], Store(store), options=options)
    return rows.to_dict("records")[0]


def serve(repository: Repository, branch: str, other: str) -> None:
    """Have a branch serve the files of another one."""
    repository.branches[branch] = repository.branches[other]


def test_the_planted_step_is_found_over_the_hub(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    row = scan(planted, tmp_path / "store")
    assert (row["status"], row["pre"], row["post"], row["suspect"]) == ("emerged", 32, 64, "")
    visits = 2 + math.ceil(math.log2(len(STEPS) - 1))
    assert len(row["steps"]) <= visits
    assert hub.count("/refs") == 1
    # each visit may have one guess beside it that was not taken
    assert len(row["steps"]) <= hub.count("/revision/") <= 2 * visits
    assert hub.count("/revision/") < len(STEPS) + 1


def test_facts_hold_the_commits(repository: Repository, planted: PlantedRun, tmp_path: Path) -> None:
    scan(planted, tmp_path / "store")
    (result,) = Store(tmp_path / "store").results("emergence")
    for step, commit in result.facts["commits"].items():
        assert repository.branches[f"step{step}"] == commit
    for one in Store(tmp_path / "store").results("evaluations"):
        assert one.facts["commits"] == [repository.branches[f"step{one.facts['step']}"]]


def test_a_second_scan_asks_for_the_refs_alone(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    first = scan(planted, tmp_path / "store")
    hub.forget()
    second = scan(planted, tmp_path / "store")
    pd.testing.assert_series_equal(pd.Series(first), pd.Series(second))
    assert [path for _, path, _ in hub.requests] == ["/api/models/lab/planted/refs"]


@pytest.mark.parametrize("hole", [0, 8, 32, 64, 128, 1024])
def test_holes_are_stepped_around(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path, hole: int
) -> None:
    repository.commit(f"step{hole}", {"README.md": b"the weights are lost"})
    row = scan(planted, tmp_path / "store")
    there = [step for step in STEPS if step != hole]
    assert row["pre"] == max(step for step in there if step < 64)
    assert row["post"] == min(step for step in there if step >= 64)
    assert hole not in row["steps"]


def test_probes_step_around_holes_and_equal_steps_and_find_the_same_again(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    repository.commit("step2", {"README.md": b"the weights are lost"})
    repository.commit("step256", {"README.md": b"the weights are lost"})
    serve(repository, "step16", "step8")
    serve(repository, "step512", "step128")
    row = scan(planted, tmp_path / "store", options=PROBED)
    assert (row["pre"], row["post"], row["lasting_pre"], row["lasting_post"]) == (32, 64, 32, 64)
    # every distinct checkpoint: one of each two equal ones, and no hole
    assert len(row["steps"]) == 8
    assert not {2, 256} & set(row["steps"])
    assert (row["unprobed"], bool(row["neighbours"])) == (0, True)
    again = scan(planted, tmp_path / "store", options=PROBED)
    pd.testing.assert_series_equal(pd.Series(row), pd.Series(again))


def test_equal_early_steps_count_as_one(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    for step in (1, 2):
        serve(repository, f"step{step}", "step0")
    run = suite("hf:lab/planted").runs[0]
    row = scan(planted, tmp_path / "store")
    assert (row["pre"], row["post"]) == (32, 64)
    assert not {1, 2} & set(row["steps"])
    assert suspicions(run) == ()


def test_equal_steps_around_the_bracket_leave_it_distinct(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    serve(repository, "step32", "step16")
    serve(repository, "step128", "step64")
    row = scan(planted, tmp_path / "store")
    run = suite("hf:lab/planted").runs[0]
    # 16 and 32 are one set of weights, as are 64 and 128
    assert (row["pre"], row["post"]) in {(16, 64), (32, 64)}
    assert run.at(row["pre"]).weights != run.at(row["post"]).weights


@pytest.mark.parametrize("late", [(0,), (0, 4, 16), (0, 1, 2, 4, 8, 16, 128)])
def test_late_weights_under_early_names_never_make_a_claim(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path, late: tuple[int, ...]
) -> None:
    for step in late:
        serve(repository, f"step{step}", "step1024")
    row = scan(planted, tmp_path / "store")
    assert (row["status"], row["pre"], row["post"]) == ("emerged", 32, 64)
    assert not set(late) & set(row["steps"])
    assert f"{len(late)} steps hold weights that come again later: 0" in row["suspect"]


def test_the_next_candidates_are_fetched_while_a_checkpoint_is_evaluated(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[int]] = []
    original = HubRun.prefetch

    def prefetch(self: HubRun, steps: tuple[int, ...]) -> None:
        asked.append(list(steps))
        original(self, steps)
        for thread in self._prefetching.values():
            thread.join()

    monkeypatch.setattr(HubRun, "prefetch", prefetch)
    monkeypatch.setattr(HubRun, "fetch", lambda self, one: _only_if_there(self, one, asked))
    row = scan(planted, tmp_path / "store")
    assert (row["pre"], row["post"]) == (32, 64)
    assert asked[0] == [1024]
    assert all(1 <= len(steps) <= 2 for steps in asked[:-1])


def _only_if_there(run: HubRun, checkpoint: object, asked: list) -> None:
    """After the first step, every file must have come in the background."""
    from interp.suites import fetch
    from interp.values import Checkpoint

    assert isinstance(checkpoint, Checkpoint)
    assert not asked or (checkpoint.folder / "model.safetensors").exists()
    fetch(checkpoint)


def test_prefetching_is_bounded_and_its_failure_is_not_ours(hub: HubServer, repository: Repository) -> None:
    hub.fail("/revision/", 404, times=100)
    run = suite("hf:lab/planted").runs[0]
    run.prefetch(STEPS)
    assert isinstance(run, HubRun)
    assert len(run._prefetching) <= 2
    for thread in run._prefetching.values():
        thread.join()
    assert all(thread is not threading.current_thread() for thread in run._prefetching.values())


def test_a_budget_is_kept_and_the_bracket_stays(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    size = (planted.folder / "seed0" / "step64" / "model.safetensors").stat().st_size
    config = (planted.folder / "seed0" / "step64" / "config.json").stat().st_size
    row = scan(planted, tmp_path / "store", 3 * (size + config) + 20_000)
    assert (row["pre"], row["post"]) == (32, 64)
    there = {one.commit for one in kept()}
    assert {repository.branches["step32"], repository.branches["step64"]} <= there
    assert len(there) <= 4
    assert sum(one.size for one in kept()) <= 3 * (size + config) + 20_000


def test_a_budget_that_holds_nothing_says_so(repository: Repository, planted: PlantedRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the disk budget of 100 bytes is too small"):
        scan(planted, tmp_path / "store", 100)


def test_eviction_never_touches_what_others_downloaded(
    hub: HubServer, repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    from huggingface_hub import snapshot_download

    theirs = Path(snapshot_download("lab/planted", revision="step0", endpoint=hub.endpoint))
    size = (planted.folder / "seed0" / "step64" / "model.safetensors").stat().st_size
    scan(planted, tmp_path / "store", 3 * size)
    assert (theirs / "model.safetensors").exists()


def test_patching_over_the_hub_names_the_planted_head(
    repository: Repository, planted: PlantedRun, tmp_path: Path
) -> None:
    rows = pipeline.patch(suite("hf:lab/planted"), [parse(str(planted.task))], Store(tmp_path / "store"), options=FEW)
    first = rows[rows["rank"] == 1]
    assert {(row.layer, row.head) for row in first.itertuples()} == {(planted.head.layer, planted.head.head)}
    for one in Store(tmp_path / "store").results("effects"):
        assert one.facts["commits"] == [repository.branches["step32"], repository.branches["step64"]]
        assert json.dumps(one.facts)
