"""What interp itself remembers of Hub repositories: branch → commit, each commit's files, and what it downloaded.

It lies in interp's own cache folder (`INTERP_CACHE`, else `interp` in the user's cache folder), apart from the shared
Hub cache: with it, steps are known offline, a revision is asked for once, and eviction touches only our own downloads.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from interp.values import InputError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a commit as the Hub describes it: bytes, sha256 where it is in LFS, git object id."""

    size: int
    sha256: str | None
    blob: str

    @property
    def identity(self) -> str:
        """What tells its content apart: the sha256, or the git object id of a file that is not in LFS."""
        return self.sha256 or f"git:{self.blob}"


@dataclass(frozen=True)
class Held:
    """A file that was found good on this disk: the size and time it had then, and whether interp downloaded it."""

    size: int
    modified: int
    ours: bool
    used: float


def cache_root() -> Path:
    """The folder of everything that interp remembers."""
    chosen = os.environ.get("INTERP_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "interp"


def check_commit(text: str) -> str:
    """A commit id, which may name a folder; anything else is refused."""
    if _COMMIT.fullmatch(text) is None:
        raise InputError(f"'{text}' is not a commit id (40 hexadecimal digits)")
    return text


def check_repository(text: str) -> str:
    """A repository's name `owner/name`, which may name a folder; anything else is refused."""
    if _REPOSITORY.fullmatch(text) is None or ".." in text or "--" in text:
        raise InputError(f"'{text}' is not a repository's name; needed: owner/name")
    return text


class Ledger:
    """What is remembered of one repository."""

    def __init__(self, repository: str):
        self.repository = check_repository(repository)
        self.folder = cache_root() / "hub" / repository.replace("/", "--")

    @staticmethod
    def all() -> Iterator[Ledger]:
        """A ledger for every repository that was ever asked for."""
        for folder in sorted((cache_root() / "hub").glob("*--*")):
            yield Ledger(folder.name.replace("--", "/", 1))

    def branches(self) -> dict[str, str] | None:
        """Branch → commit as last told by the Hub, or `None`."""
        return self._read("branches.json")

    def remember_branches(self, branches: Mapping[str, str]) -> None:
        """Keep branch → commit."""
        self._write("branches.json", dict(branches))

    def files(self, commit: str) -> dict[str, RemoteFile] | None:
        """The files of a commit, or `None` where it was never asked for."""
        found = self._read(f"commits/{check_commit(commit)}.json")
        return None if found is None else {name: RemoteFile(**file) for name, file in found.items()}

    def remember_files(self, commit: str, files: Mapping[str, RemoteFile]) -> None:
        """Keep the files of a commit; a commit never changes."""
        self._write(f"commits/{check_commit(commit)}.json", {name: asdict(file) for name, file in files.items()})

    def held(self, commit: str) -> dict[str, Held]:
        """The files of a commit that were found good on this disk."""
        found = self._read(f"held/{check_commit(commit)}.json") or {}
        return {name: Held(**file) for name, file in found.items()}

    def remember_held(self, commit: str, held: Mapping[str, Held]) -> None:
        """Keep which files of a commit were found good, or downloaded by us."""
        self._write(f"held/{check_commit(commit)}.json", {name: asdict(file) for name, file in held.items()})

    def commits_held(self) -> tuple[str, ...]:
        """The commits with files found good on this disk."""
        return tuple(sorted(path.stem for path in (self.folder / "held").glob("*.json") if _COMMIT.match(path.stem)))

    def _read(self, name: str) -> Any:
        try:
            return json.loads((self.folder / name).read_text())
        except (OSError, ValueError):
            return None  # what is lost is asked for again

    def _write(self, name: str, value: Any) -> None:
        path = self.folder / name
        try:
            write_whole(path, value)
        except OSError as error:
            raise InputError(
                f"{path.parent} cannot be written ({error.strerror}); choose another folder in INTERP_CACHE"
            ) from error


def write_whole(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all; `OSError` where that cannot be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "w") as file:
        json.dump(value, file)
    os.replace(part, path)


def now() -> float:
    """Seconds since the epoch, for telling what was used last."""
    return time.time()
