"""How far the weights move between the checkpoints of a run, and which moves are out of line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from interp.models.weights import WeightFiles

# a sample is enough to tell runs apart: rows of each matrix, evenly spaced
_ROWS = 32
# a neighbour this many times farther away than the next but one, or than the moves before and after, is out of line
_FACTOR = 5.0
# independent weights correlate by 0 ± 1/√n; anything trained from the other stays far above this many times that
_SIGMAS = 6.0


@dataclass(frozen=True)
class Move:
    """From one checkpoint to the next: relative change of the weights, and their correlation.

    `change` is ‖after − before‖ / ‖before‖ over a sample of the matrices' entries; `descends` says whether the two
    correlate at all, as weights do of which one was trained from the other.
    """

    before: int
    after: int
    change: float
    correlation: float
    descends: bool


def moves(folders: Mapping[int, Path]) -> tuple[Move, ...]:
    """The moves between neighbouring steps that are given, ascending; two samples are held at a time."""
    found, last = [], None
    for step in sorted(folders):
        sample = _sample(folders[step])
        if last is not None:
            found.append(_move(last[0], step, last[1], sample))
        last = (step, sample)
    return tuple(found)


def leaps(folders: Mapping[int, Path]) -> tuple[int, ...]:
    """Steps that are not where their neighbours say: far from both, while these two are near one another."""
    steps, found = sorted(folders), []
    near = {move.after: move for move in moves(folders)}
    for before, step, after in zip(steps, steps[1:], steps[2:], strict=False):
        shorter = min(near[step].change, near[after].change)
        # few steps are far from both sides, so that the third file is rarely read
        if shorter > 0 and _stands_out(near, steps, step):
            around = _move(before, after, _sample(folders[before]), _sample(folders[after]))
            if shorter > _FACTOR * around.change:
                found.append(step)
    return tuple(found)


def _stands_out(near: Mapping[int, Move], steps: list[int], step: int) -> bool:
    others = [move.change for move in near.values() if step not in (move.before, move.after)]
    around = [near[step].change, near[steps[steps.index(step) + 1]].change]
    typical = sorted(others)[len(others) // 2] if others else 0.0
    return min(around) > typical


def breaks(found: tuple[Move, ...]) -> tuple[Move, ...]:
    """Moves after which the weights do not descend from those before, or that are far longer than those around."""
    out = []
    for i, move in enumerate(found):
        around = [found[j].change for j in (i - 1, i + 1) if 0 <= j < len(found)]
        far = len(around) == 2 and move.change > _FACTOR * max(around)
        if far or not move.descends:
            out.append(move)
    return tuple(out)


def _move(before: int, after: int, one: Float[Tensor, "entry"], other: Float[Tensor, "entry"]) -> Move:
    change = float((other - one).norm() / one.norm().clamp_min(1e-30))
    centred, shifted = one - one.mean(), other - other.mean()
    correlation = float(centred @ shifted / (centred.norm() * shifted.norm()).clamp_min(1e-30))
    return Move(before, after, change, correlation, abs(correlation) > _SIGMAS / len(one) ** 0.5)


def _sample(folder: Path) -> Float[Tensor, "entry"]:
    """Entries of every matrix in the order of the names, as float32."""
    rows = {}
    with WeightFiles(folder) as files:
        shapes = files.shapes()
        for name, tensor in files.tensors():
            if len(shapes[name]) == 2:
                stride = max(1, shapes[name][0] // _ROWS)
                rows[name] = tensor[::stride].float().flatten()
    return torch.cat([rows[name] for name in sorted(rows)])
