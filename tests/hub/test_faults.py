"""What goes wrong between here and the Hub: each ends in the right bytes, or in one sentence; nothing wrong is used."""

import logging
import os
import time
from pathlib import Path

import pytest
from huggingface_hub import constants

from interp.suites import connection, suite
from interp.suites.disk import snapshot
from interp.values import Checkpoint, InputError
from tests.hub.conftest import point_to
from tests.hub.repositories import byte_repository
from tests.hub.server import HubServer

WEIGHTS = os.urandom(100_000)


def got(hub: HubServer) -> bytes:
    """What lies on disk after step 0 of a repository whose weights are WEIGHTS is fetched."""
    if not hub.repository("lab/bytes").branches:
        byte_repository(hub, {0: WEIGHTS})
    run = suite("hf:lab/bytes").runs[0]
    checkpoint = run.at(0)
    run.fetch(checkpoint)
    return (checkpoint.folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("where", ["/refs", "/revision/"])
def test_what_passes_is_waited_for(hub: HubServer, status: int, where: str) -> None:
    fault = hub.fail(where, status, times=3, Retry_After="0")
    assert got(hub) == WEIGHTS
    assert (fault.hit, hub.count(where)) == (3, 4)


def test_a_server_that_goes_on_failing_is_left_in_peace(hub: HubServer) -> None:
    hub.fail("/refs", 503, times=1000)
    with pytest.raises(InputError, match=r"the Hub failed 6 times in a row for lab/bytes, last with: .*503"):
        got(hub)
    assert hub.count("/refs") == 6


def test_waits_grow_keep_to_retry_after_and_have_a_bound() -> None:
    patience = connection.Patience()
    assert [patience.wait(n, None) for n in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [patience.wait(1, wished) for wished in (0.0, 30.0, 86_400.0)] == [0, 30, 60]


@pytest.mark.parametrize("kind", [503, 429, "close", "reset"])
def test_a_download_that_breaks_off_ends_in_the_right_bytes(hub: HubServer, kind: int | str) -> None:
    fault = hub.fail("GET /cdn/", kind, times=2, after=30_000, Retry_After="0")
    assert got(hub) == WEIGHTS
    assert fault.hit == 2


def test_a_connection_closed_in_mid_file_is_resumed_where_it_ended(hub: HubServer) -> None:
    block = 10 * 1024 * 1024  # what the client writes at once
    content = WEIGHTS * 120
    byte_repository(hub, {0: content})
    hub.fail("GET /cdn/", "close", after=block + 1000)
    assert got(hub) == content
    ranges = [headers.get("range") for _, path, headers in hub.requests if "/cdn/" in path]
    assert ranges == [None, f"bytes={block}-"]


def test_a_body_that_ends_early_and_says_it_is_whole_is_fetched_again(hub: HubServer) -> None:
    hub.fail("GET /cdn/", "truncate", after=500)
    assert got(hub) == WEIGHTS


def test_wrong_bytes_are_named_and_fetched_again_once(hub: HubServer, caplog: pytest.LogCaptureFixture) -> None:
    hub.fail("GET /cdn/", "corrupt")
    with caplog.at_level(logging.WARNING, "interp"):
        assert got(hub) == WEIGHTS
    assert (
        "model.safetensors is broken: its hash is not the one that the Hub states; it is fetched again" in caplog.text
    )
    assert hub.count("GET /cdn/") == 2


def test_wrong_bytes_twice_are_refused_by_name(hub: HubServer) -> None:
    hub.fail("GET /cdn/", "corrupt", times=9)
    with pytest.raises(InputError, match=r"model.safetensors is broken: its hash .*, though it was fetched again"):
        got(hub)
    assert hub.count("GET /cdn/") == 2


@pytest.mark.parametrize("how", ["truncated", "corrupt"])
@pytest.mark.parametrize("by", ["interp", "others"])
def test_a_broken_file_in_the_cache_is_named_and_fetched_again_once(
    hub: HubServer, caplog: pytest.LogCaptureFixture, tmp_path: Path, how: str, by: str
) -> None:
    got(hub)
    checkpoint = suite("hf:lab/bytes").runs[0].at(0)
    blob = (checkpoint.folder / "model.safetensors").resolve()
    blob.write_bytes(WEIGHTS[:-1] if how == "truncated" else WEIGHTS[:-1] + b"?")
    os.utime(blob, ns=(1, 1))  # the clock may be too coarse to tell this write from the download
    if by == "others":
        for held in (tmp_path / "interp").rglob("held/*.json"):
            held.unlink()
    hub.forget()
    with caplog.at_level(logging.WARNING, "interp"):
        assert got(hub) == WEIGHTS
    assert f"{checkpoint.folder / 'model.safetensors'} is broken" in caplog.text
    assert hub.count("GET /cdn/") == 1


def test_a_broken_file_is_named_when_the_hub_is_out_of_reach(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    got(hub)
    checkpoint = suite("hf:lab/bytes").runs[0].at(0)
    (checkpoint.folder / "model.safetensors").resolve().write_bytes(b"short")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    run = suite("hf:lab/bytes").runs[0]
    with pytest.raises(InputError, match=r"model.safetensors of lab/bytes .* is broken: it has 5 bytes"):
        run.fetch(run.at(0))


def unreachable(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "offline":
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    else:  # nobody listens on port 1
        point_to("http://127.0.0.1:1", tmp_path, monkeypatch)


@pytest.mark.parametrize("how", ["offline", "no network"])
def test_without_a_network_a_warm_cache_serves_silently(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    got(hub)
    hub.forget()
    unreachable(how, tmp_path, monkeypatch)
    run = suite("hf:lab/bytes").runs[0]
    begun = time.monotonic()
    run.fetch(run.at(0))
    assert (run.at(0).folder / "model.safetensors").read_bytes() == WEIGHTS
    assert run.steps == (0,)
    assert hub.count() == 0
    assert not caplog.records
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("how", ["offline", "no network"])
def test_without_a_network_a_cold_cache_is_one_sentence(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    unreachable(how, tmp_path, monkeypatch)
    with pytest.raises(InputError, match="the steps of lab/bytes were never listed on this machine"):
        suite("hf:lab/bytes").runs[0].steps  # noqa: B018


@pytest.mark.parametrize("how", ["offline", "no network"])
def test_a_file_that_was_never_fetched_is_named_offline(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    byte_repository(hub, {0: WEIGHTS})
    suite("hf:lab/bytes").runs[0].at(0)
    unreachable(how, tmp_path, monkeypatch)
    run = suite("hf:lab/bytes").runs[0]
    begun = time.monotonic()
    with pytest.raises(
        InputError, match=r"config.json of lab/bytes \(commit \w{8}\) is not there at .* cannot be reac"
    ):
        run.fetch(run.at(0))
    assert time.monotonic() - begun < 5


def test_a_step_that_was_never_visited_is_named_offline(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    byte_repository(hub, {0: b"a", 1: b"b"})
    suite("hf:lab/bytes").runs[0].at(0)
    unreachable("offline", tmp_path, monkeypatch)
    with pytest.raises(InputError, match="the Hub cannot be reached for lab/bytes"):
        suite("hf:lab/bytes").runs[0].at(1)


def test_branches_that_only_the_hub_cache_knows_serve_offline(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import snapshot_download

    repository = byte_repository(hub, {0: WEIGHTS, 8: b"late"})
    for branch in repository.branches:
        snapshot_download("lab/bytes", revision=branch, endpoint=hub.endpoint)
    unreachable("offline", tmp_path, monkeypatch)
    run = suite("hf:lab/bytes").runs[0]
    assert run.steps == (0, 8)
    there = suite(Path(constants.HF_HUB_CACHE) / "models--lab--bytes").runs[0]
    assert there.steps == (0, 8)
    assert there.at(8).folder == snapshot("lab/bytes", repository.branches["step8"])
    assert there.at(0).weights == there.known[0]


def test_a_cache_of_one_family_is_a_suite_of_seeds(hub: HubServer) -> None:
    from huggingface_hub import snapshot_download

    for seed in (1, 2):
        byte_repository(hub, {0: b"a%d" % seed}, f"lab/toy-seed{seed}")
        snapshot_download(f"lab/toy-seed{seed}", revision="step0", endpoint=hub.endpoint)
    assert suite(constants.HF_HUB_CACHE).seeds == (1, 2)


@pytest.mark.parametrize("token", [None, "", "  ", "\n"])
def test_an_empty_token_is_none(hub: HubServer, monkeypatch: pytest.MonkeyPatch, token: str | None) -> None:
    if token is not None:
        monkeypatch.setenv("HF_TOKEN", token)
    assert got(hub) == WEIGHTS
    assert not any(name.lower() == "authorization" for _, _, headers in hub.requests for name in headers)


@pytest.mark.parametrize(
    ("private", "gated", "token", "sentence"),
    [
        (
            True,
            False,
            None,
            "the Hub has no repository lab/bytes, or it is private; needed: the right name, or a token",
        ),
        (False, True, None, "lab/bytes is gated on the Hub; needed: its terms accepted there, and a token"),
        (False, True, "hf_good", "lab/bytes is gated on the Hub"),
        (True, False, "hf_bad", r"the Hub refuses access to lab/bytes \(401\); needed: a token that may read it"),
    ],
)
def test_closed_repositories_are_named_at_once(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch, private: bool, gated: bool, token: str | None, sentence: str
) -> None:
    hub.repository("lab/bytes", private=private, gated=gated)
    hub.tokens.add("hf_good")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(InputError, match=sentence):
        got(hub)
    assert hub.count() == 1


def test_a_private_repository_opens_with_its_token(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repository("lab/bytes", private=True)
    hub.tokens.add("hf_good")
    monkeypatch.setenv("HF_TOKEN", " hf_good\n")
    assert got(hub) == WEIGHTS


def test_a_repository_that_is_not_there_is_named(hub: HubServer) -> None:
    with pytest.raises(InputError, match="the Hub has no repository lab/nothing"):
        suite("hf:lab/nothing").runs[0].steps  # noqa: B018


def test_a_name_without_its_prefix_is_shown_it() -> None:
    with pytest.raises(InputError, match="for the repository on the Hub, write hf:EleutherAI/pythia-70m-seed1"):
        suite("EleutherAI/pythia-70m-seed1")


def test_nothing_is_written_outside_the_caches(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    got(hub)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "hub", "interp"]
    assert not [*(tmp_path / "here").iterdir()]


def test_a_local_checkpoint_is_never_asked_for(hub: HubServer, tmp_path: Path) -> None:
    from interp.suites import fetch
    from interp.values import RunId

    fetch(Checkpoint(RunId("x", None), 0, tmp_path, tmp_path, "0"))
    assert hub.count() == 0
