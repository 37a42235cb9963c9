"""A suite is a family of runs; a run is one seed; a checkpoint is a run at a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interp.suites.integrity import weights_hash
from interp.values import Checkpoint, InputError, RunId


@dataclass(frozen=True)
class Run:
    """One training run: the folders of its steps, in order, and the folder of its tokenizer.

    `missing` lists the steps whose folder holds no weights: holes, never visited.
    """

    id: RunId
    folders: Mapping[int, Path]
    tokenizer: Path
    missing: tuple[int, ...] = ()

    @property
    def seed(self) -> int | None:
        """The run's seed; `None` is the suite's original run."""
        return self.id.seed

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that have weights, ascending."""
        return tuple(self.folders)

    def at(self, step: int) -> Checkpoint:
        """The checkpoint at exactly this step, with the hash of its weights."""
        if step not in self.folders:
            near = sorted(self.steps, key=lambda known: abs(known - step))[:3]
            hole = " (its folder is there but holds no weights)" if step in self.missing else ""
            raise InputError(
                f"{self.id} has no checkpoint at step {step}{hole}; the nearest are "
                + ", ".join(map(str, sorted(near)))
            )
        folder = self.folders[step]
        return Checkpoint(self.id, step, folder, self.tokenizer, weights_hash(folder))

    def __repr__(self) -> str:
        return f"Run({self.id}, {len(self.steps)} steps {self.steps[0]} … {self.steps[-1]})"


@dataclass(frozen=True)
class Suite:
    """A family of runs that share a model shape and a tokenizer."""

    name: str
    runs: tuple[Run, ...]

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """The seeds of the suite's runs, in order."""
        return tuple(run.seed for run in self.runs)

    def run(self, seed: int | None = None) -> Run:
        """The run of this seed."""
        for run in self.runs:
            if run.seed == seed:
                return run
        known = ", ".join("none (a single unnumbered run)" if s is None else str(s) for s in self.seeds)
        raise InputError(f"{self.name} has no run with seed {seed}; its seeds: {known}")

    def select(self, seeds: Sequence[int] | None) -> tuple[Run, ...]:
        """The runs of these seeds, in the order given; all runs where no seeds are given."""
        return self.runs if seeds is None else tuple(self.run(seed) for seed in seeds)

    def __repr__(self) -> str:
        return f"Suite({self.name!r}, {len(self.runs)} runs: seeds {', '.join(map(str, self.seeds))})"
