"""What a report shows, as frozen values: no store, no HTML, no figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from interp.report.made import PromptTable, Provenance, Settings
from interp.values import Bracket, Direction, Head, RunId, Status

SCORE_NAMES = {
    "previous_token": "previous-token",
    "induction": "induction",
    "duplicate_token": "duplicate-token",
    "first_token": "first-token",
    "a_1": "a₁ (uniform)",
    "a_G": "a_G (shift)",
    "sink": "sink",
    "coverage": "coverage",
}
KEY_SCORES = ("previous_token", "induction", "a_1", "a_G", "sink")

Verdict = Literal["recovered", "not recovered", "gap too small"]
Measured = tuple[float, float, float]
"""A value and the two ends of its interval."""


def score_name(score: str) -> str:
    """A score as it is written in a report."""
    return SCORE_NAMES.get(score, score.replace("_", " "))


@dataclass(frozen=True)
class Curve:
    """Share of solved prompts and mean p(answer) at each evaluated step, ascending.

    `share_bounds` and `p_bounds`: (low, high) at each step; empty where no intervals are stored.
    """

    steps: tuple[int, ...]
    shares: tuple[float, ...]
    ps: tuple[float, ...]
    share_bounds: tuple[tuple[float, float], ...] = ()
    p_bounds: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a scan says of one task in one run. `share` and `p` are (pre, post), NaN where there is no bracket.

    `status` and `bracket` are of the first known emergence: emerged, from start, or censored. `lasting` and
    `lasting_bracket` are about the last time that it began to pass for good (empty and `None`: the scan does not say).
    `neighbours`: the bracket's ends are neighbouring distinct checkpoints. `unprobed`: how many
    distinct checkpoints in a row nobody evaluated at most, and between which two steps (`None`: not said, or none).
    """

    status: Status
    bracket: Bracket | None
    share: tuple[float, float]
    p: tuple[float, float]
    threshold: float
    monotone: bool
    lasting: str = ""
    lasting_bracket: Bracket | None = None
    neighbours: bool = True
    unprobed: tuple[int, int, int] | None = None

    @property
    def lost(self) -> bool:
        """Whether the task passed once and fails at the last step."""
        return self.lasting == "lost"

    @property
    def later(self) -> Bracket | None:
        """The lasting bracket, where it is not the first one."""
        return self.lasting_bracket if self.lasting_bracket != self.bracket else None


@dataclass(frozen=True)
class Ends:
    """The two checkpoints that effects were measured between: steps and weight hashes."""

    pre: int
    post: int
    weights: tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """Δp of one head in one direction and its rank (1 = first).

    `low` and `high` are pointwise, `simultaneous` is over all heads of the run and task (NaN: not stored). `control`
    is the 95th percentile, in the direction's sign, of the source-permuted control (NaN: not a candidate, or not
    stored). `causal` is what the claims stage says, by all four conditions; `None` where it is not stored.
    """

    head: Head
    delta_p: float
    low: float
    high: float
    rank: int
    simultaneous: tuple[float, float]
    control: float
    causal: bool | None


@dataclass(frozen=True)
class Signature:
    """How a head's pattern looks: its label at each end (empty: none), and each score at (pre, post)."""

    label_pre: str
    label: str
    scores: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Agreement:
    """Do the heads with large effects carry a signature? Numbers of one direction and score, by their column."""

    direction: Direction
    score: str
    numbers: Mapping[str, float]


@dataclass(frozen=True)
class JointSet:
    """Heads patched together, with Δp, recovered fraction (NaN: the gap is too small) and gap as (value, low, high).

    `gap` is p of the donor minus p of the recipient, so that a fraction of 1 is the whole way in both directions.
    """

    direction: Direction
    name: str
    k: int
    heads: tuple[str, ...]
    delta_p: Measured
    recovered: Measured
    gap: Measured


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
    gap: Measured
    verdict: Verdict


@dataclass(frozen=True)
class Receiving:
    """Δp of one head (or `joint`) by the step of the recipient, the donor being the later end throughout."""

    head: str
    steps: tuple[int, ...]
    delta_p: tuple[Measured, ...]
    p_recipient: tuple[float, ...]


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
    prompt: str
    answer: str
    heads: tuple[HeadPattern, ...]


@dataclass(frozen=True)
class Training:
    """Scores of all heads of a run over training: `values[score][i, layer, head]` at `steps[i]`."""

    steps: tuple[int, ...]
    values: Mapping[str, np.ndarray]
    uniform: Mapping[str, float]
    scored_on: str


@dataclass(frozen=True)
class Pair:
    """One task in one run; a field is `None` or empty where a kind is not in the store.

    `samples`: Δp[prompt, layer, head] on the effect prompts, whose digest is `asked`; `grids`: its mean over prompts.
    `ranking`: effects by direction, first rank first. `uniform`: each
    score of uniform attention; `scored_on`: the prompts that the scores were taken on, `task` or `random`.
    `training` is about the run. `onsets` and `changes` are rows of the tables of these names, by column.
    """

    run: RunId
    task: str
    anchor: str
    settings: Settings | None
    curve: Curve | None
    outcome: Outcome | None
    ends: Ends | None
    samples: Mapping[Direction, np.ndarray]
    grids: Mapping[Direction, np.ndarray]
    asked: str
    ranking: Mapping[Direction, tuple[Effect, ...]]
    signatures: Mapping[Head, Signature]
    uniform: Mapping[str, float]
    scored_on: str
    agreement: tuple[Agreement, ...]
    joint: tuple[JointSet, ...]
    recovery: Mapping[Direction, Recovery]
    recipients: tuple[Receiving, ...]
    patterns: Patterns | None
    training: Training | None
    onsets: tuple[Mapping[str, object], ...]
    changes: tuple[Mapping[str, object], ...]

    @property
    def name(self) -> str:
        """The run and the task in words."""
        return f"{self.run} · {self.task}"

    @property
    def emerges(self) -> bool:
        """Whether a scan saw the task fail and then pass in this run (it may have been lost again)."""
        return self.outcome is not None and self.outcome.status is Status.EMERGED

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores that heads have, the known ones first."""
        found = dict.fromkeys(score for of in self.signatures.values() for score in of.scores)
        return (*(s for s in SCORE_NAMES if s in found), *(s for s in found if s not in SCORE_NAMES))

    @property
    def key_scores(self) -> tuple[str, ...]:
        """Those of the few scores drawn beside the heads that are stored."""
        return tuple(score for score in KEY_SCORES if score in self.scores)

    def first(self, direction: Direction) -> Effect | None:
        """The first-ranked head of a direction."""
        return next(iter(self.ranking.get(direction, ())), None)

    def first_causal(self, direction: Direction) -> Effect | None:
        """The first causal head of a direction; others may be ranked before it."""
        return next((effect for effect in self.ranking.get(direction, ()) if effect.causal), None)

    def of_head(self, direction: Direction, head: Head) -> Effect | None:
        """One head's effect in a direction."""
        return next((effect for effect in self.ranking.get(direction, ()) if effect.head == head), None)


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

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites of the runs, each once."""
        return tuple(dict.fromkeys(run.suite for run in self.runs))
