"""Work for the tests of the engine, in a module that a worker imports at once."""

import os
import signal
import time

from interp.values import InputError


def square(n: int) -> int:
    return n * n


def refuse_three(n: int) -> int:
    if n == 3:
        raise InputError("three was found; needed: anything else")
    return n


def die_at_one(n: int) -> int:
    if n == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


def sleep_long(n: int) -> int:
    time.sleep(600)
    return n
