"""A commit's files: described by one request, brought to disk by the Hub's own client, and held to their hashes."""

from __future__ import annotations

import logging
from collections import defaultdict
from pathlib import Path
from threading import Lock

from interp.suites.connection import UnreachableError, ask, offline, patiently
from interp.suites.disk import Disk, snapshot
from interp.suites.integrity import git_blob_of, sha256_of, weight_names
from interp.suites.ledger import Held, Ledger, RemoteFile, now
from interp.values import Checkpoint, InputError

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_LOG = logging.getLogger(__name__)
_LOCKS: defaultdict[str, Lock] = defaultdict(Lock)


def files_of(repository: str, commit: str) -> dict[str, RemoteFile]:
    """The files of a commit; the Hub is asked once, since a commit never changes."""
    ledger = Ledger(repository)
    found = ledger.files(commit)
    if found is None:
        answer = ask(f"/revision/{commit}?blobs=true", repository)
        found = {
            file["rfilename"]: RemoteFile(file["size"], (file.get("lfs") or {}).get("sha256"), file["blobId"])
            for file in answer["siblings"]
        }
        ledger.remember_files(commit, found)
    return found


def needed(files: dict[str, RemoteFile]) -> tuple[str, ...]:
    """The names of the files that a model is made of: config, weights, tokenizer; nothing else is ever brought."""
    return ("config.json", *weight_names(files), *(name for name in TOKENIZER if name in files))


def fetch(checkpoint: Checkpoint, disk: Disk | None = None) -> None:
    """Bring a checkpoint's files into its folder; nothing is done for one that has no commit, or is there already.

    Raises:
        InputError: a file cannot be had, or is not what the Hub says it is.
    """
    if checkpoint.commit is None or checkpoint.repository is None:
        return
    files = files_of(checkpoint.repository, checkpoint.commit)
    bring(checkpoint.repository, checkpoint.commit, needed(files), disk or Disk())


def to_download(repository: str, commit: str, names: tuple[str, ...]) -> int:
    """Bytes of those of a commit's files that are not on this disk."""
    files, folder = files_of(repository, commit), snapshot(repository, commit)
    blobs = folder.parents[1] / "blobs"
    return sum(
        files[name].size
        for name in names
        if not (folder / name).exists() and not (blobs / (files[name].sha256 or files[name].blob)).exists()
    )


def bring(repository: str, commit: str, names: tuple[str, ...], disk: Disk, evict: bool = True) -> None:
    """Bring these files of a commit to disk, each held to its size and hash; a broken one is fetched again once.

    Where the disk budget is full, older checkpoints go, or none if `evict` is false, which is then an `InputError`.
    """
    with _LOCKS[commit], disk.room(commit, to_download(repository, commit, names), evict):
        files, ledger = files_of(repository, commit), Ledger(repository)
        before = ledger.held(commit)
        held = before | {name: _bring(repository, commit, name, files[name], before.get(name)) for name in names}
        if held != before:
            ledger.remember_held(commit, held)


def _bring(repository: str, commit: str, name: str, file: RemoteFile, held: Held | None) -> Held:
    path = snapshot(repository, commit) / name
    blob = path.parents[2] / "blobs" / (file.sha256 or file.blob)
    ours = held.ours if held and path.exists() else not (path.exists() or blob.exists())
    problem = "is not there"
    for attempt in range(3):
        if path.exists():
            stat = path.stat()
            if held and (held.size, held.modified) == (stat.st_size, stat.st_mtime_ns):
                return held if now() - held.used < 60 else _holding(path, held.ours)
            problem = _problem(path, file)
            if problem is None:
                return _holding(path, ours)
            held = None
            if attempt < 2:
                _LOG.warning("%s %s; it is fetched again", path, problem)
        if attempt < 2:
            _download(repository, commit, name, path, problem)
    raise InputError(f"{path} {problem}, though it was fetched again; the Hub or something on the way breaks it")


def _holding(path: Path, ours: bool) -> Held:
    stat = path.stat()
    return Held(stat.st_size, stat.st_mtime_ns, ours, now())


def _problem(path: Path, file: RemoteFile) -> str | None:
    """What tells a file on disk from the one on the Hub, or `None`."""
    size = path.stat().st_size
    if size != file.size:
        return f"is broken: it has {size} bytes, and the Hub says {file.size}"
    good = sha256_of(path) == file.sha256 if file.sha256 else git_blob_of(path) == file.blob
    return None if good else "is broken: its hash is not the one that the Hub states"


def _download(repository: str, commit: str, name: str, path: Path, problem: str | None) -> None:
    from huggingface_hub import constants, hf_hub_download

    there = path.exists()
    try:
        if offline():
            raise UnreachableError(f"the Hub cannot be reached for {repository}")
        patiently(
            lambda: hf_hub_download(
                repository,
                name,
                revision=commit,
                endpoint=constants.ENDPOINT,
                library_name="interp",
                force_download=there,
            ),
            repository,
        )
    except UnreachableError as error:
        raise InputError(f"{name} of {repository} (commit {commit[:8]}) {problem} at {path}, and {error}") from error
