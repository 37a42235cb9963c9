"""What a command says when it cannot do what was asked: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from interp.__main__ import INTERRUPTED
from interp.values import InputError


def answering(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose wrong input ends in one sentence and exit code 2, and whose interruption in 130."""

    @functools.wraps(command)
    def answered(*args: Any, **options: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is spelled out: \u0394 for Δ
                stream.reconfigure(errors="backslashreplace")
        problem = _problem(command, *args, **options)
        # said only here, where the error is gone and has let go of the progress bar that it interrupted
        if problem is not None:
            print(problem[0], file=sys.stderr)
            raise typer.Exit(problem[1])

    return answered


def _problem(command: Callable[..., None], *args: Any, **options: Any) -> tuple[str, int] | None:
    """What kept a command from its end, as a sentence and an exit code."""
    try:
        command(*args, **options)
    except InputError as error:
        return f"error: {error}", 2
    except BrokenPipeError:
        # whoever read has gone: there is nobody to tell, and what is left must not be flushed to them
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return f"error: {error.strerror or error}{where}", 2
    except KeyboardInterrupt:
        return INTERRUPTED, 130
    return None
