"""What a command says when it cannot do what was asked: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import typer

from interp.values import InputError


def answering(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose wrong input ends in one sentence and exit code 2, and whose interruption in 130."""

    @functools.wraps(command)
    def answered(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except InputError as error:
            _stop(f"error: {error}", 2)
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            _stop(f"error: {error.strerror or error}{where}", 2)
        except KeyboardInterrupt:
            _stop("interrupted; what was finished is kept, and the same command goes on from there", 130)

    return answered


def _stop(sentence: str, code: int) -> None:
    print(sentence, file=sys.stderr)
    raise typer.Exit(code)
