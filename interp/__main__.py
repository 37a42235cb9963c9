"""The command `interp` from its first moment on: interrupted while modules are loaded, it ends in one sentence too."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = "interrupted; what was finished is kept, and the same command goes on from there"


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it may be ignored
        signal.signal(signal.SIGINT, interrupted)
    from interp.cli import app

    app()


def interrupted(_signal: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt in a command at work; while it starts, or a module is loaded, end the process at once.

    A library that is half loaded answers an exception in ways of its own. Nothing is lost: results are written whole.
    """
    at_work = False
    while frame is not None:
        at_work = at_work or frame.f_globals.get("__name__") == "interp.cli.answering"
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            at_work = False
            break
        frame = frame.f_back
    if at_work:
        raise KeyboardInterrupt
    if "multiprocessing" in sys.modules:
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()
    os.write(2, f"{INTERRUPTED}\n".encode())
    os._exit(130)


if __name__ == "__main__":
    main()
