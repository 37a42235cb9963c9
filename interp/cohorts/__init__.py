"""Many seeds and sizes: emergence times as intervals → survival, medians, restricted means, tests for few seeds."""

from interp.cohorts.summary import Cohorts, summarise
from interp.cohorts.times import Part, Time, Which, time_of

__all__ = ["Cohorts", "Part", "Time", "Which", "summarise", "time_of"]
