"""Maps independent units of work over an existing engine: this process, or worker processes on this machine."""

from __future__ import annotations

import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread, current_thread, main_thread
from typing import TypeVar

from interp.values import InputError

Unit = TypeVar("Unit")
Value = TypeVar("Value")

# read by the libraries that compute, when they are first imported
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Engine(ABC):
    """What runs units of work that know nothing of one another."""

    @abstractmethod
    def finished(self, work: Callable[[Unit], Value], units: Sequence[Unit]) -> Iterator[tuple[int, Value]]:
        """Place and value of every unit, each when it is finished; what the work raises is raised here."""

    def map(self, work: Callable[[Unit], Value], units: Sequence[Unit], title: str, unit: str) -> list[Value]:
        """The value of every unit, in the order of the units, with a progress bar of so many `unit`."""
        from interp.progress import tqdm

        found: dict[int, Value] = {}
        with tqdm(total=len(units), desc=title, unit=unit) as bar:
            for place, value in self.finished(work, units):
                found[place] = value
                bar.update()
        return [found[place] for place in range(len(units))]


class InProcess(Engine):
    """One unit after the other, here."""

    def finished(self, work: Callable[[Unit], Value], units: Sequence[Unit]) -> Iterator[tuple[int, Value]]:
        """See `Engine.finished`."""
        yield from enumerate(map(work, units))


class Workers(Engine):
    """Several units at a time, each in a process of its own with one thread; work and units must be picklable."""

    def __init__(self, pool: ProcessPoolExecutor):
        self._pool = pool

    def finished(self, work: Callable[[Unit], Value], units: Sequence[Unit]) -> Iterator[tuple[int, Value]]:
        """See `Engine.finished`.

        Raises:
            InputError: a worker died.
        """
        try:
            places = {self._pool.submit(work, unit): place for place, unit in enumerate(units)}
            for future in as_completed(places):
                yield places[future], future.result()
        except BrokenProcessPool as error:
            raise InputError(
                "a worker process died before its work was done (killed, or short of memory); what was finished is "
                "kept, and the same command goes on from there; fewer --jobs need less memory"
            ) from error


@contextmanager
def engine(jobs: int = 1, preload: str = "") -> Iterator[Engine]:
    """The engine for so many units at a time: this process for one, else `jobs` workers while the context lasts.

    Workers import the module `preload` at once, while this process goes on. An exception or an interrupt ends them
    without waiting for what they are at. A script that starts workers must guard its own start by
    `if __name__ == "__main__":`, since each worker imports it.

    Raises:
        InputError: fewer than one job.
    """
    if jobs < 1:
        raise InputError(f"{jobs} jobs were asked for; needed: 1 or more")
    if jobs == 1:
        yield InProcess()
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (preload,))
    with _interrupts_ignored():  # workers inherit it: an interrupt is this process's to answer, by ending them
        for _ in range(jobs):  # a process is started for each thing to do that nobody is free for
            pool.submit(_nothing)
    try:
        yield Workers(pool)
    except BaseException:
        for worker in set(active_children()) - others:
            worker.terminate()
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if current_thread() is not main_thread():  # only there can it be said, and only there do interrupts arrive
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    """Killed outright, the parent cannot end its workers, and they would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _begin(preload: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    if "torch" in sys.modules:  # imported by the user's own script: it has read its threads already
        sys.modules["torch"].set_num_threads(1)
    if preload:
        import_module(preload)


def _nothing() -> None:
    """What a worker does first: it is there."""
