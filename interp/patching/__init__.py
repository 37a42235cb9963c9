"""Donor patterns written into a recipient, head by head and jointly: Δp, Δ log p and Δ margin per prompt.

`patterns` reads a donor; `single` gives the effect of every head alone, `joint` and `written` of sets of heads,
`greedy` the next best head given those already in, `destinations` of one row of a head at a time; `patched` is for your
own forward passes. The method is in docs/patching.md.
"""

from interp.patching.controls import mismatched, permuted
from interp.patching.effects import Effects, destinations, greedy, joint, of_heads, single, written
from interp.patching.hooks import patched
from interp.patching.memory import MEMORY
from interp.patching.outcomes import Outcomes
from interp.patching.reading import Patterns, patterns

VERSION = 3

__all__ = [
    "MEMORY",
    "VERSION",
    "Effects",
    "Outcomes",
    "Patterns",
    "destinations",
    "greedy",
    "joint",
    "mismatched",
    "of_heads",
    "patched",
    "patterns",
    "permuted",
    "single",
    "written",
]
