"""Stored pattern rows → one square matrix per head and end."""

from __future__ import annotations

import numpy as np

from interp.report.views import HeadPattern, Patterns
from interp.store import Result
from interp.values import Head


def read_patterns(result: Result) -> Patterns:
    """The patterns of a `patterns` result, in the order in which its heads are stored; the future is NaN."""
    pieces = tuple(map(str, result.facts["pieces"]))
    n = len(pieces)
    found: dict[Head, dict[str, np.ndarray]] = {}
    columns = ("layer", "head", "end", "dest", "src", "weight")
    for layer, head, end, dest, src, weight in zip(*(result.frame[c].tolist() for c in columns), strict=True):
        of = found.setdefault(Head(layer, head), {})
        of.setdefault(end, np.full((n, n), np.nan))[dest, src] = weight
    heads = tuple(HeadPattern(head, of.get("pre"), of.get("post")) for head, of in found.items())
    return Patterns(pieces, str(result.facts["prompt_text"]), str(result.facts["answer_text"]), heads)
