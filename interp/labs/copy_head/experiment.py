"""What one experiment is: a table that is computed once and stored, figures of it, and rows for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from interp.execution import Engine
from interp.labs.copy_head.setting import FIGURE, FIGURE_SEQUENCES, SMALL, SMALL_SEQUENCES, Setting
from interp.report.figures.plot import Plot
from interp.store import Store

VERSION = 2
SHIPPED = ("nano-3l", "nano-2l")


@dataclass(frozen=True)
class Size:
    """How large an experiment is run: setting, numbers of sequences, length of training and sampling, line points."""

    setting: Setting
    sequences: tuple[int, ...]
    adam_steps: int
    warmup: int
    draws: int
    chains: int
    seeds: int
    line: int


FULL = Size(FIGURE, FIGURE_SEQUENCES, adam_steps=1000, warmup=150, draws=250, chains=2, seeds=3, line=60)
QUICK = Size(SMALL, SMALL_SEQUENCES, adam_steps=300, warmup=50, draws=80, chains=2, seeds=1, line=24)


@dataclass(frozen=True)
class Lab:
    """What an experiment is run with: its size, what shares work out, where tables are kept, suites of real heads."""

    size: Size
    engine: Engine
    store: Store
    suites: tuple[str, ...] = SHIPPED


def _nothing(lab: Lab) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Experiment:
    """One experiment of the lab. `shows` says in a sentence or two what its figures show; `short` is what is printed.

    `beside` is what the table is made from beside the size.
    """

    name: str
    title: str
    shows: str
    compute: Callable[[Lab], pd.DataFrame]
    figures: Callable[[pd.DataFrame], Sequence[Plot]]
    short: Callable[[pd.DataFrame], list[dict[str, Any]]]
    beside: Callable[[Lab], dict[str, Any]] = _nothing

    @property
    def kind(self) -> str:
        """The kind that the store keeps its table under."""
        return f"copy_head_{self.name.replace('-', '_')}"

    def table(self, lab: Lab) -> pd.DataFrame:
        """The stored table, or the computed one after it is stored."""
        made_from = {"lab": "copy-head", "version": VERSION, "experiment": self.name, "size": asdict(lab.size)}
        made_from |= self.beside(lab)
        return lab.store.cached(self.kind, made_from, made_from, lambda: self.compute(lab))
