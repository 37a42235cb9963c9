"""The scores of heads as a report names and orders them."""

from __future__ import annotations

SCORE_NAMES = {
    "previous_token": "previous-token",
    "induction": "induction",
    "duplicate_token": "duplicate-token",
    "first_token": "first-token",
    "a_1": "a₁ (uniform)",
    "a_G": "a_G (shift)",
    "sink": "sink",
    "coverage": "coverage",
    "a_I": "a_I (induction)",
    "coverage_induction": "coverage with induction",
    "ov_copying": "OV copying",
    "uniform": "closeness to uniform",
    "entropy": "entropy (nats)",
    "entropy_ratio": "entropy, of uniform's",
}
KEY_SCORES = ("previous_token", "induction", "a_1", "a_G", "sink")


def score_name(score: str) -> str:
    """A score as it is written in a report."""
    return SCORE_NAMES.get(score, score.replace("_", " "))
