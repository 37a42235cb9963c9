"""Simulated runs: shares of solved prompts over Pythia's steps, of known shape and with the noise of real ones."""

from dataclasses import dataclass

import numpy as np

STEPS = (0, *(2**i for i in range(10)), *range(1000, 144_000, 1000))
THRESHOLD, PROMPTS, TASKS = 0.75, 64, 4

# steps at which published seeds of Pythia 14M to 410M first repeat a string, and how many of the 50 never did
# (Baherwani et al. 2026, arXiv 2606.25010, read off their figures)
LISTED = (
    *(2_500, 3_500, 7_500, 13_500, 67_000, 114_000),
    *(1_500, 1_500, 2_500, 9_500, 14_500, 48_000, 105_500, 143_000),
    *(756, 12_500, 97_000, 105_500, 143_000),
    *(756, 1_500, 4_500, 5_500, 6_500, 6_500, 18_500, 48_000, 140_000),
    *(1_500, 1_500, 1_500, 1_500, 2_500, 4_500, 4_500, 4_500, 5_500, 30_500),
)
UNSOLVED = 12

SHAPES = ("jump", "ramp", "dip", "flicker", "never")
# wiggle of the curves in logits from checkpoint to checkpoint, half of it carried over to the next
WIGGLE, CARRIED = 0.4, 0.5

_DOUBLINGS = np.log2(np.array(STEPS) + 1.0)


@dataclass(frozen=True)
class Simulated:
    """One run: the shape of each task's curve, and the shares [task, step]."""

    shapes: tuple[str, ...]
    shares: np.ndarray


def simulate(runs: int, seed: int) -> list[Simulated]:
    """Runs of four tasks, each of a shape drawn at random."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        shapes = tuple(map(str, chance.choice(SHAPES, TASKS)))
        found.append(Simulated(shapes, np.array([_shares(shape, chance) for shape in shapes])))
    return found


def _shares(shape: str, chance: np.random.Generator) -> np.ndarray:
    """Solved shares of 64 prompts: the shape in logits, wiggle that half carries over, and binomial noise."""
    logits = _shape(shape, chance)
    wiggle = WIGGLE * chance.normal(size=len(STEPS))
    for i in range(1, len(STEPS)):
        wiggle[i] = CARRIED * wiggle[i - 1] + np.sqrt(1 - CARRIED**2) * wiggle[i]
    return chance.binomial(PROMPTS, 1 / (1 + np.exp(-logits - wiggle))) / PROMPTS


def _shape(shape: str, chance: np.random.Generator) -> np.ndarray:
    """A ramp is a quarter to two doublings wide; a dip or flicker lasts .05 to .4, or falls between two checkpoints."""
    low, top = _logit(chance.uniform(0.05, 0.4)), _logit(chance.uniform(0.92, 0.99))
    onset = int(np.searchsorted(STEPS, chance.choice(LISTED)))
    logits = np.full(len(STEPS), low)
    if shape == "ramp":
        distance = _DOUBLINGS - _DOUBLINGS[onset]
        return low + (top - low) / (1 + np.exp(-4 * distance / chance.uniform(0.25, 2)))
    if shape != "never":
        logits[onset:] = top
    if shape == "dip":
        start = chance.uniform(_DOUBLINGS[min(onset + 1, len(STEPS) - 1)], _DOUBLINGS[-1])
        logits[_lasting(start, chance)] = _logit(chance.uniform(0.3, 0.6))
    if shape == "flicker":
        start = chance.uniform(6, _DOUBLINGS[onset - 1])  # from step 63 on
        logits[_lasting(start, chance) & (np.arange(len(STEPS)) < onset)] = _logit(chance.uniform(0.85, 0.95))
    return logits


def _lasting(start: float, chance: np.random.Generator) -> np.ndarray:
    end = start + chance.uniform(0.05, 0.4)
    return (start <= _DOUBLINGS) & (end >= _DOUBLINGS)


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))
