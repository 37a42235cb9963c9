"""One training at a time in a seed's folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interp.values import InputError

LOCK = ".lock"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a seed's folder; the system lets go of it when the process ends, however it ends.

    The file goes when all went well: a run that is finished is held by nobody again.

    Raises:
        InputError: another process holds it.
    """
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"{folder} is being trained by another process; wait until it ends, or give other seeds"
            ) from error
        yield
        (folder / LOCK).unlink(missing_ok=True)
    finally:
        os.close(handle)
