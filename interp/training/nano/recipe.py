"""The recipes of the nano suites: everything that decides their weights, but for the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from interp.training.nano.corpus import Mixture
from interp.training.schedule import Schedule
from interp.training.trainer import Optimisation


@dataclass(frozen=True)
class Recipe:
    """A GPT-NeoX shape, a corpus, an optimisation, and the steps that are saved.

    `spread` is the standard deviation of the initial weights, `row` the tokens of a training row, `positions`
    the most a prompt may have; the vocabulary is padded to a multiple of eight.
    """

    name: str
    layers: int
    width: int
    heads: int
    inner: int
    positions: int
    spread: float
    row: int
    tokens: int
    corpus_seed: int
    mixture: Mixture
    optimisation: Optimisation
    saved: tuple[int, ...]


MIXTURE = Mixture(
    prose=0.10,
    story=0.20,
    string=0.22,
    pattern=0.06,
    digits=0.10,
    numbered_list=0.05,
    counting=0.10,
    ledger=0.13,
)

SAVED = (0, 1, 2, 4, 8, 16, 32, 64, 128, *range(150, 3001, 50))

NANO_3L = Recipe(
    name="nano-3l",
    layers=3,
    width=64,
    heads=4,
    inner=128,
    positions=96,
    spread=0.08,
    row=64,
    tokens=4_000_000,
    corpus_seed=0,
    mixture=MIXTURE,
    optimisation=Optimisation(updates=3000, batch=32, schedule=Schedule(peak=8e-3, warmup=100, decay=0.25, floor=0.05)),
    saved=SAVED,
)
NANO_2L = replace(NANO_3L, name="nano-2l", layers=2)

SIZES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (NANO_2L, NANO_3L)}
