"""What a report shows, as frozen values: no store, no HTML, no figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from interp.values import Bracket, Direction, Head, RunId, Status

SCORES = (
    "previous_token",
    "induction",
    "duplicate_token",
    "first_token",
    "a_1",
    "a_G",
    "sink",
    "coverage",
)
KEY_SCORES = ("previous_token", "induction", "a_1", "a_G", "sink")
SCORE_NAMES = {
    "previous_token": "previous-token",
    "duplicate_token": "duplicate-token",
    "first_token": "first-token",
    "a_1": "a₁ (uniform)",
    "a_G": "a_G (shift)",
}

Verdict = Literal["recovered", "not recovered", "gap too small"]


@dataclass(frozen=True)
class Curve:
    """Share of solved prompts and mean p(answer) at each evaluated step, ascending."""

    steps: tuple[int, ...]
    shares: tuple[float, ...]
    ps: tuple[float, ...]


@dataclass(frozen=True)
class Outcome:
    """What a scan says of one task in one run. `share` and `p` are (pre, post), NaN where there is no bracket."""

    status: Status
    bracket: Bracket | None
    share: tuple[float, float]
    p: tuple[float, float]
    threshold: float
    monotone: bool


@dataclass(frozen=True)
class Ends:
    """The two checkpoints that effects were measured between: steps and weight hashes."""

    pre: int
    post: int
    weights: tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """Δp of one head in one direction, its simultaneous interval and its rank (1 = first).

    `clear`: it has the right sign (positive in denoising, negative in noising), its interval excludes 0, and it is at
    least 5 % of the gap.
    """

    head: Head
    delta_p: float
    low: float
    high: float
    rank: int
    clear: bool


@dataclass(frozen=True)
class Signature:
    """How a head's pattern looks: its label at each end (empty: none), and each score at (pre, post)."""

    label_pre: str
    label: str
    scores: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Agreement:
    """Rank correlation of |Δp| with |change of the score| over the heads of one direction."""

    direction: Direction
    score: str
    rho: float
    p_value: float


@dataclass(frozen=True)
class JointSet:
    """Heads patched together, with Δp, recovered fraction (NaN: the gap is too small) and gap as (value, low, high).

    `gap` is p of the donor minus p of the recipient, so that a fraction of 1 is the whole way in both directions.
    """

    direction: Direction
    name: str
    k: int
    heads: tuple[str, ...]
    delta_p: tuple[float, float, float]
    recovered: tuple[float, float, float]
    gap: tuple[float, float, float]


@dataclass(frozen=True)
class Recovery:
    """What the joint patch of the top `k` heads brings back in one direction, beside its controls.

    `share`, `low`, `high`: recovered fraction of the gap (NaN: the gap is too small). `random`: smallest and largest
    share over the random sets of equal size. `every`: the share with all heads patched.
    """

    direction: Direction
    k: int
    heads: tuple[str, ...]
    delta_p: float
    share: float
    low: float
    high: float
    random: tuple[float, float]
    every: float
    gap: tuple[float, float, float]
    verdict: Verdict


@dataclass(frozen=True)
class HeadPattern:
    """One head's pattern `[dest, src]` on the named prompt at each end; `None` where it is not stored."""

    head: Head
    pre: np.ndarray | None
    post: np.ndarray | None


@dataclass(frozen=True)
class Patterns:
    """The named prompt and the patterns of the top heads on it."""

    pieces: tuple[str, ...]
    prompt_text: str
    answer_text: str
    heads: tuple[HeadPattern, ...]


@dataclass(frozen=True)
class Pair:
    """Everything stored about one task in one run; `None` or empty where a kind is not in the store.

    `grids`: mean Δp[layer, head] over the prompts. `ranking`: effects by direction, first rank first. `uniform`: each
    score of uniform attention; `scored_on`: the prompts that the scores were taken on, `task` or `random`.
    """

    run: RunId
    task: str
    anchor: str
    curve: Curve | None
    outcome: Outcome | None
    ends: Ends | None
    grids: Mapping[Direction, np.ndarray]
    ranking: Mapping[Direction, tuple[Effect, ...]]
    signatures: Mapping[Head, Signature]
    uniform: Mapping[str, float]
    scored_on: str
    agreement: tuple[Agreement, ...]
    joint: tuple[JointSet, ...]
    recovery: Mapping[Direction, Recovery]
    patterns: Patterns | None

    @property
    def emerges(self) -> bool:
        """Whether a scan says that the task emerged in this run."""
        return self.outcome is not None and self.outcome.status is Status.EMERGED

    def first(self, direction: Direction) -> Effect | None:
        """The first-ranked head of a direction."""
        return next(iter(self.ranking.get(direction, ())), None)

    def first_clear(self, direction: Direction) -> Effect | None:
        """The first head of a direction whose effect is clear; others may be ranked before it."""
        return next((effect for effect in self.ranking.get(direction, ()) if effect.clear), None)


@dataclass(frozen=True)
class PromptRow:
    """One prompt: its tokens as strings and ids, the answer and the foil (`None`: there is none) as (string, id)."""

    pieces: tuple[str, ...]
    tokens: tuple[int, ...]
    answer: tuple[str, int]
    foil: tuple[str, int] | None


@dataclass(frozen=True)
class PromptTable:
    """The prompts of a task for one tokenizer and role, and how many there are."""

    task: str
    role: str
    tokenizer: str
    threshold: float
    ceiling: float
    version: int
    total: int
    shown: tuple[PromptRow, ...]


@dataclass(frozen=True)
class Provenance:
    """How one run's results were made; several values where results differ."""

    run: RunId
    search: tuple[str, ...]
    tokenizers: tuple[str, ...]
    bos: tuple[str, ...]
    dtypes: tuple[str, ...]
    devices: tuple[str, ...]
    versions: tuple[str, ...]
    made: tuple[str, str]
    hashes: Mapping[int, str]
    equal: tuple[tuple[int, ...], ...]
    missing: tuple[int, ...]


@dataclass(frozen=True)
class View:
    """A whole report. `pairs` are ordered by task within run; `left_out` says which results were not used, and why."""

    runs: tuple[RunId, ...]
    tasks: tuple[str, ...]
    pairs: tuple[Pair, ...]
    prompts: tuple[PromptTable, ...]
    provenance: tuple[Provenance, ...]
    left_out: tuple[str, ...]

    def of_task(self, task: str) -> tuple[Pair, ...]:
        """The pairs of one task, one for each run that has it."""
        return tuple(pair for pair in self.pairs if pair.task == task)
