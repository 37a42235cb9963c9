"""A suite is a family of runs; a run is one seed; a checkpoint is a run at a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from interp import markup
from interp.values import Checkpoint, InputError, RunId


class MissingError(InputError):
    """A step whose branch or folder is there but holds no weights: a hole."""


class Run(ABC):
    """One training run: its steps, in order, and its tokenizer.

    What is not known of a step is asked for when it is visited; `known` and `missing` grow with that.
    """

    id: RunId
    place = "folder"

    @property
    def seed(self) -> int | None:
        """The run's seed; `None` is the suite's original run."""
        return self.id.seed

    @property
    @abstractmethod
    def steps(self) -> tuple[int, ...]:
        """The steps that have weights as far as is known, ascending."""

    @property
    def listed(self) -> tuple[int, ...] | None:
        """The steps, where they can be told without asking anybody; else `None`."""
        return self.steps

    @property
    @abstractmethod
    def missing(self) -> tuple[int, ...]:
        """The steps that are known to be holes: there by name, without weights."""

    @property
    @abstractmethod
    def tokenizer(self) -> Path:
        """The folder of the run's tokenizer."""

    @property
    @abstractmethod
    def known(self) -> Mapping[int, str]:
        """The weight hashes that can be told without asking anybody, by step."""

    @property
    def shape(self) -> str:
        """A digest of the settings that, with the weights, make the model; empty where the commit stands for them."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is publicly known to be wrong or odd about this run, a sentence each."""
        return ()

    @abstractmethod
    def at(self, step: int) -> Checkpoint:
        """The checkpoint at exactly this step, with the hash of its weights.

        Raises:
            MissingError: the step is a hole.
            InputError: there is no such step.
        """

    def prefetch(self, steps: Iterable[int]) -> None:  # noqa: B027 - nothing is to be done for files on disk
        """Start to bring the files of steps that may be visited next; returns at once."""

    def fetch(self, checkpoint: Checkpoint) -> None:  # noqa: B027
        """Bring a checkpoint's files into its folder, where they are not there."""

    def pin(self, steps: Iterable[int]) -> None:  # noqa: B027
        """Name the steps whose files must stay on disk whatever the budget."""

    def read_again(self) -> None:  # noqa: B027
        """Take the hashes of files on disk anew, whatever is remembered of them; the Hub states those of its own."""

    def no_step(self, step: int) -> InputError:
        """What `at` raises for a step that the run does not have."""
        if not isinstance(step, Integral):
            return InputError(f"{self.id}: {step!r} is not a step; needed: a whole number such as {self.steps[-1]}")
        near = sorted(self.steps, key=lambda known: abs(known - step))[:3]
        hole = step in self.missing
        sentence = (
            f"{self.id} has no checkpoint at step {step}"
            + (f" (its {self.place} is there but holds no weights)" if hole else "")
            + "; the nearest are "
            + ", ".join(map(str, sorted(near)))
        )
        return MissingError(sentence) if hole else InputError(sentence)

    def __repr__(self) -> str:
        steps = self.listed
        if steps is None:
            return f"Run({self.id}, steps not asked for yet)"
        span = f" {steps[0]} … {steps[-1]}" if steps else ""
        return f"Run({self.id}, {len(steps)} steps{span})"

    def _repr_html_(self) -> str:
        steps = self.listed
        rows: dict[str, object] = {"steps": "not asked for yet"}
        if steps is not None:
            rows = {"steps": steps, "missing": self.missing}
        return markup.facts(f"Run {self.id}", rows | ({"known of it": " ".join(self.notes)} if self.notes else {}))


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
        raise InputError(f"{self.name} has no run with seed {seed!r}; its seeds: {known}")

    def select(self, seeds: Sequence[int] | None) -> tuple[Run, ...]:
        """The runs of these seeds, in the order given; all runs for `None`."""
        if seeds is not None and len(seeds) == 0:
            raise InputError(f"an empty list of seeds names no run of {self.name}; needed: seeds, or None for all")
        return self.runs if seeds is None else tuple(self.run(seed) for seed in seeds)

    def _repr_html_(self) -> str:
        rows = []
        for run in self.runs:
            steps = run.listed
            rows.append((str(run.id), run.seed, *((len(steps), steps[0], steps[-1]) if steps else (None, None, None))))
        return markup.table(f"Suite {self.name}", ("run", "seed", "checkpoints", "first", "last"), rows)

    def __repr__(self) -> str:
        return f"Suite({self.name!r}, {len(self.runs)} runs: seeds {', '.join(map(str, self.seeds))})"
