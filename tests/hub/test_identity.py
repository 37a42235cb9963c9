"""Branches → commits → weights: what is asked of the Hub, how often, and what is known without a download."""

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import constants

from interp.models.loading import Loader, load
from interp.suites import MissingError, suite
from interp.suites.hub import HubRun
from interp.suites.ledger import Ledger
from interp.values import InputError
from tests.hub.repositories import byte_repository, planted_repository
from tests.hub.server import File, HubServer
from tests.planted import STEPS, PlantedRun


def run_of(name: str) -> HubRun:
    found = suite(f"hf:{name}").runs[0]
    assert isinstance(found, HubRun)
    return found


def test_a_suite_is_named_without_a_single_request(hub: HubServer) -> None:
    assert suite("hf:lab/x-seed{1..9}").seeds == tuple(range(1, 10))
    assert suite("pythia-70m").seeds == (*range(1, 10), None)
    assert hub.count() == 0


def test_steps_cost_one_refs_call(hub: HubServer, planted: PlantedRun) -> None:
    planted_repository(hub, planted.folder)
    run = run_of("lab/planted")
    assert run.steps == STEPS
    assert run.steps == STEPS
    assert [path for _, path, _ in hub.requests] == ["/api/models/lab/planted/refs"]


def test_weights_are_known_from_one_metadata_call_without_a_download(hub: HubServer, planted: PlantedRun) -> None:
    repository = planted_repository(hub, planted.folder)
    checkpoint = run_of("lab/planted").at(64)
    content = (planted.folder / "seed0" / "step64" / "model.safetensors").read_bytes()
    assert checkpoint.weights == hashlib.sha256(content).hexdigest()
    assert (checkpoint.repository, checkpoint.commit) == ("lab/planted", repository.branches["step64"])
    assert checkpoint.weights == suite(planted.folder).run(0).at(64).weights
    assert (hub.count(), hub.count("/revision/")) == (2, 1)
    assert not (Path(constants.HF_HUB_CACHE)).exists()


def test_a_commit_is_asked_for_once_on_a_machine(hub: HubServer, planted: PlantedRun) -> None:
    planted_repository(hub, planted.folder)
    run_of("lab/planted").at(64)
    hub.forget()
    assert run_of("lab/planted").at(64) == run_of("lab/planted").at(64)
    assert hub.count("/revision/") == 0


def test_files_come_when_the_model_is_loaded_and_only_those_needed(hub: HubServer, planted: PlantedRun) -> None:
    planted_repository(hub, planted.folder)
    hub.repository("lab/planted").commits[hub.repository("lab/planted").branches["step64"]] |= {
        "optimizer.bin": hub.repository("lab/planted").commits[hub.repository("lab/planted").branches["step1"]][
            "model.safetensors"
        ]
    }
    model = load(run_of("lab/planted").at(64))
    assert model.checkpoint.folder.is_relative_to(constants.HF_HUB_CACHE)
    got = {path.rsplit("/", 1)[-1] for method, path, _ in hub.requests if "/resolve/" in path and method == "GET"}
    assert got == {"config.json", "tokenizer.json", "tokenizer_config.json"}
    assert hub.count("GET /cdn/") == 1
    hub.forget()
    load(model.checkpoint)
    assert hub.count() == 0


def test_every_file_is_asked_for_at_the_commit(hub: HubServer, planted: PlantedRun) -> None:
    repository = planted_repository(hub, planted.folder)
    load(run_of("lab/planted").at(64))
    asked = {path.split("/")[4] for _, path, _ in hub.requests if "/resolve/" in path}
    assert asked == {repository.branches["step64"]}


def test_weights_over_the_hub_are_those_of_the_folder(hub: HubServer, planted: PlantedRun) -> None:
    planted_repository(hub, planted.folder)
    there, here = load(run_of("lab/planted").at(64)), load(suite(planted.folder).run(0).at(64))
    for (name, one), other in zip(there.module.state_dict().items(), here.module.state_dict().values(), strict=True):
        assert one.equal(other), name


def test_a_branch_uploaded_again_is_another_checkpoint(hub: HubServer, planted: PlantedRun) -> None:
    repository = planted_repository(hub, planted.folder)
    before = run_of("lab/planted").at(64)
    old = load(before)
    files = {name: file.source for name, file in repository.commits[repository.branches["step128"]].items()}
    repository.commit("step64", files)
    after = run_of("lab/planted").at(64)
    assert after.weights != before.weights
    assert after.commit != before.commit
    new = load(after)
    assert not old.module.get_input_embeddings().weight.equal(new.module.get_input_embeddings().weight)


def test_a_branch_without_weights_is_a_hole_once_it_is_visited(hub: HubServer) -> None:
    byte_repository(hub, {0: b"a", 1: None, 2: b"b"})
    run = run_of("lab/bytes")
    assert (run.steps, run.missing) == ((0, 1, 2), ())
    with pytest.raises(
        MissingError, match=r"hf:lab/bytes has no checkpoint at step 1 \(its branch is there but holds no"
    ):
        run.at(1)
    assert (run.steps, run.missing) == ((0, 2), (1,))
    assert run_of("lab/bytes").missing == (1,)


def test_a_shard_that_lacks_makes_a_hole(hub: HubServer) -> None:
    repository = byte_repository(hub, {0: b"a"})
    files = {"config.json": b"{}", "tokenizer.json": b"{}", "pytorch_model-00002-of-00002.bin": b"z"}
    repository.commit("step1", files)
    repository.commit("step2", files | {"pytorch_model-00001-of-00002.bin": b"y"})
    run = run_of("lab/bytes")
    with pytest.raises(MissingError):
        run.at(1)
    both = "".join(hashlib.sha256(content).hexdigest() for content in (b"y", b"z"))
    assert run.at(2).weights == hashlib.sha256(both.encode()).hexdigest()


@pytest.mark.parametrize(
    ("branches", "steps"),
    [
        (["checkpoint-100", "checkpoint-20", "main"], (20, 100)),
        (["step1000-tokens4B", "step2000-tokens8B", "main"], (1000, 2000)),
        (["step0", "step512", "step143000", "stepping", "step1/x"], (0, 512, 143000)),
    ],
)
def test_steps_are_read_from_the_branches_in_number_order(hub: HubServer, branches: list[str], steps: tuple) -> None:
    for branch in branches:
        hub.repository("lab/names").commit(branch, {})
    assert run_of("lab/names").steps == steps


def test_a_repository_without_step_branches_is_refused(hub: HubServer) -> None:
    hub.repository("lab/plain").commit("main", {})
    with pytest.raises(InputError, match="lab/plain has no branches that name steps; found: main; needed: step<N>"):
        run_of("lab/plain").steps  # noqa: B018


def test_a_file_that_is_not_in_lfs_is_known_by_its_git_id(hub: HubServer) -> None:
    repository = byte_repository(hub, {0: b"a", 1: b"b"})
    for commit in repository.commits.values():
        commit["model.safetensors"] = File(commit["model.safetensors"].source, lfs=False)
    run = run_of("lab/bytes")
    assert run.at(0).weights == "git:" + repository.commits[repository.branches["step0"]]["model.safetensors"].blob
    run.fetch(run.at(0))
    assert (run.at(0).folder / "model.safetensors").read_bytes() == b"a"


def test_the_token_never_reaches_the_storage_host(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    byte_repository(hub, {0: b"a"})
    hub.tokens.add("hf_good")
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    run = run_of("lab/bytes")
    run.fetch(run.at(0))
    sent = {"/cdn/" in path: "authorization" in map(str.lower, headers) for _, path, headers in hub.requests}
    assert sent == {True: False, False: True}


@pytest.mark.parametrize("name", ["../x", "a/../b", "a", "a/b/c", "a--b/c", "/etc/passwd", "owner/na me"])
def test_names_that_could_climb_are_refused(hub: HubServer, name: str) -> None:
    with pytest.raises(InputError, match="not a repository's name"):
        suite(f"hf:{name}")
    assert hub.count() == 0


def test_a_commit_that_could_climb_is_refused(hub: HubServer) -> None:
    repository = byte_repository(hub, {0: b"a"})
    repository.branches["step0"] = "../../../../tmp"
    with pytest.raises(InputError, match="is not a commit id"):
        run_of("lab/bytes").at(0)


def test_file_names_that_climb_are_never_asked_for(hub: HubServer) -> None:
    repository = byte_repository(hub, {0: b"a"})
    commit = repository.commits[repository.branches["step0"]]
    commit["../../../evil.safetensors"] = commit["x/model-00001-of-00001.safetensors"] = commit["model.safetensors"]
    run = run_of("lab/bytes")
    run.fetch(run.at(0))
    assert not any("evil" in path or "/x/" in path for _, path, _ in hub.requests)


def test_another_tokenizer_at_a_step_is_refused(hub: HubServer) -> None:
    repository = byte_repository(hub, {0: b"a", 1: b"b", 2: b"c"})
    config = {"config.json": b"{}", "model.safetensors": b"x"}
    repository.commit("step1", config | {"tokenizer.json": b'{"model": {"vocab": {"a": 0}}}'})
    repository.commit("step0", config | {"tokenizer.json": b'{"truncation": null}'})
    run = run_of("lab/bytes")
    run.fetch(run.at(0))  # other bytes, the same ids
    with pytest.raises(InputError, match="the tokenizer at step 1 is not that of step 2"):
        run.fetch(run.at(1))


def test_a_config_that_changes_between_steps_is_refused(hub: HubServer, planted: PlantedRun) -> None:
    repository = planted_repository(hub, planted.folder)
    files = {name: file.source for name, file in repository.commits[repository.branches["step128"]].items()}
    config = files["config.json"]
    assert isinstance(config, Path)
    repository.commit("step128", files | {"config.json": config.read_bytes().replace(b'"gelu"', b'"relu"')})
    run = run_of("lab/planted")
    loader = Loader(fetch=run.fetch)
    loader(run.at(64))
    with pytest.raises(
        InputError, match=r"config.json differs between .* step 64 and .* step 128: hidden_act is 'gelu' and 'relu'"
    ):
        loader(run.at(128))


def test_the_ledger_says_what_it_cannot_write(hub: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INTERP_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="choose another folder in INTERP_CACHE"):
        Ledger("lab/x").remember_branches({})
