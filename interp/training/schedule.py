"""The learning rate at a step: linear warm-up, then constant, then linear decay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Warm-up over the first `warmup` updates; over the last share `decay`, down to `floor` × peak."""

    peak: float
    warmup: int
    decay: float
    floor: float

    def at(self, update: int, updates: int) -> float:
        """The learning rate of update number `update` (1 is the first) of a run of `updates`."""
        decaying = round(self.decay * updates)
        left = updates - update
        if update <= self.warmup:
            return self.peak * update / self.warmup
        if left >= decaying:
            return self.peak
        return self.peak * (self.floor + (1 - self.floor) * left / decaying)
