"""The sha256 of files that do not change: remembered on this machine, so that a large run is read once."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from interp.suites.ledger import cache_root, write_whole
from interp.values import InputError

# a file changed within the clock's grain after it was read shows the same times: one so young is not remembered
_YOUNG = 2_000_000_000


def sha256_of(path: Path) -> str:
    """Sha256 of a file's content, read now."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def remembered_sha256(path: Path, fresh: bool = False) -> str:
    """Sha256 of a file's content, read once for each state of the file, or now where `fresh`.

    A state is path, size, device, inode, and the times of the last change of content and of anything else; what was
    remembered is trusted only if all of it is the same. (The last of these cannot be set by hand.)
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    state = (str(path.absolute()), stat.st_size, stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)
    if fresh:
        _known.cache_clear()
        found = sha256_of(path)
        _remember(state, found)
        return found
    return _known(state)


@lru_cache(maxsize=4096)
def _known(state: tuple[str | int, ...]) -> str:
    path = _place(state)
    with suppress(OSError, ValueError, KeyError, TypeError):  # never read, or not to be trusted: read anew below
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["state"] == list(state) and len(kept["sha256"]) == 64:
            return kept["sha256"]
    found = sha256_of(Path(str(state[0])))
    _remember(state, found)
    return found


def _place(state: tuple[str | int, ...]) -> Path:
    name = hashlib.sha256(os.fsencode(str(state[0]))).hexdigest()
    return cache_root() / "hashes" / name[:2] / f"{name}.json"


def _remember(state: tuple[str | int, ...], found: str) -> None:
    if time.time_ns() - max(int(state[4]), int(state[5])) < _YOUNG:
        return
    try:
        write_whole(_place(state), {"state": state, "sha256": found})
    except OSError:
        return  # without it all is right, and slower
