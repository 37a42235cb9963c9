"""One word for a head, from its scores."""

from __future__ import annotations

from collections.abc import Mapping


def label(scores: Mapping[str, float]) -> str:
    """One word for a head: previous-token, induction, first-token, uniform, mixed or none.

    A mass score counts from .4 on. One counts, and is at least 4/3 of every other: its name. Several count: mixed.
    None counts: uniform if a_1 ≥ .6 and coverage ≥ .6, else none. The cuts are ours; the scores stand beside the label.
    """
    names = {"previous_token": "previous-token", "induction": "induction", "first_token": "first-token"}
    ranked = sorted(
        ((scores[name], word) for name, word in names.items() if scores[name] == scores[name]), reverse=True
    )
    if ranked and ranked[0][0] >= 0.4:
        return ranked[0][1] if len(ranked) == 1 or ranked[0][0] >= ranked[1][0] * 4 / 3 else "mixed"
    return "uniform" if scores["a_1"] >= 0.6 and scores["coverage"] >= 0.6 else "none"
