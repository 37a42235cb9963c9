"""When a task is first solved, and from when on for good: outcomes by step → brackets and statuses; no torch."""

from interp.emergence.outcome import Crossing, Emergence, Stretch, Which
from interp.emergence.probes import most_telling
from interp.emergence.search import Plan, Search, ends, most_visits, search, upcoming

VERSION = 2

__all__ = [
    "VERSION", "Crossing", "Emergence", "Plan", "Search", "Stretch", "Which", "ends", "most_telling", "most_visits",
    "search", "upcoming",
]  # fmt: skip
