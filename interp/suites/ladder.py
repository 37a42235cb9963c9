"""The steps that a search of a run may stand on, revised as it becomes known which of them are holes or equal."""

from __future__ import annotations

from collections.abc import Iterable

from interp.suites.integrity import distinct_steps, equal_steps, foreign_steps
from interp.suites.suite import MissingError, Run


class Ladder:
    """A run's steps with distinct weights, as far as identities are known.

    Nothing is asked for ahead of a visit, with two exceptions that keep claims honest. Where two steps turn out to be
    equal, those between them are identified too, so that it is known whether the two are neighbours. Where weights
    come again after others lay between, some of the run's names are wrong, and every step is identified.
    """

    def __init__(self, run: Run):
        self.run = run

    def steps(self) -> tuple[int, ...]:
        """The steps to search, ascending: no hole, and one of each set of equal ones (see `distinct_steps`)."""
        while True:
            asked = self._unclear()
            if not asked:
                break
            identify(self.run, asked)
        known = self.run.known
        dropped = known.keys() - set(distinct_steps(known))
        return tuple(step for step in self.run.steps if step not in dropped)

    def _unclear(self) -> list[int]:
        known, steps = self.run.known, self.run.steps
        if foreign_steps(known):
            return [step for step in steps if step not in known]
        spans = [(equal[0], equal[-1]) for equal in equal_steps(known)]
        return [step for step in steps if step not in known and any(low < step < high for low, high in spans)]


def identify(run: Run, steps: Iterable[int]) -> None:
    """Make the weights of these steps known; holes become known as such."""
    for step in steps:
        try:
            run.at(step)
        except MissingError:
            continue


def suspicions(run: Run) -> tuple[str, ...]:
    """What makes claims about this run doubtful: what is publicly known of it, and what its known weights show."""
    found, known = list(run.notes), run.known
    foreign = foreign_steps(known)
    if foreign:
        found.append(f"{len(foreign)} steps hold weights that come again later: {some(foreign)}")
    early = equal_to_final(run)
    if early and not foreign:
        found.append(f"{len(early)} steps hold the weights of the last one: {some(early)}")
    return tuple(found)


def equal_to_final(run: Run) -> tuple[int, ...]:
    """The steps, but for the last, whose known weights are those of the last."""
    known = run.known
    last = max(run.steps, default=-1)
    return tuple(step for step in known if step != last and known[step] == known.get(last))


def some(steps: Iterable[int]) -> str:
    """The first few of many steps, in words."""
    listed = list(steps)
    return ", ".join(map(str, listed[:6])) + (f" … {listed[-1]}" if len(listed) > 6 else "")
