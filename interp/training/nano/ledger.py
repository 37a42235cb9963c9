"""Documents that bind things to names and tell them again in random order."""

from __future__ import annotations

from random import Random

from interp.training.nano.documents import LONGEST, lead_in
from interp.training.nano.vocabulary import Lexicon

TOLD, OWNED = 3, 4
"""Tokens of an entry: `Tom salt .` and `Tom has salt .`"""


def ledger(random: Random, words: Lexicon) -> list[str]:
    """2–4 bindings told in random order, then again at random, never the same entry twice running.

    Entries read `Tom salt .`, or so at first and then `Tom has salt .`, or the longer form throughout.
    The first two are what teaches the third: on their own, documents of the third form never did.
    """
    count = random.randint(2, 4)
    names, things = random.sample(words.names, count), random.sample(words.things, count)
    bindings = list(zip(names, things, strict=True))
    form = random.choices(("told", "told, then owned", "owned"), (40, 45, 15))[0]
    first = random.sample(bindings, count)
    if form == "told, then owned" and random.random() < 0.4:
        first += random.sample(bindings, count)
    size = TOLD if form == "told" else OWNED
    at_first = len(first) * (OWNED if form == "owned" else TOLD)
    later = min(random.randint(4, 10), (LONGEST - at_first) // size)
    told = first + _never_twice_running(random, bindings, first[-1], later)
    owned_from = {"told": len(told), "told, then owned": len(first), "owned": 0}[form]
    document = lead_in(random, words, min(15, LONGEST - at_first - later * size), 0.3)
    for place, (name, thing) in enumerate(told):
        document += [name, "has", thing, "."] if place >= owned_from else [name, thing, "."]
    return document


def _never_twice_running(
    random: Random, bindings: list[tuple[str, str]], before: tuple[str, str], count: int
) -> list[tuple[str, str]]:
    """Bindings drawn at random, each another than the one before it."""
    drawn: list[tuple[str, str]] = []
    for _ in range(count):
        before = random.choice([binding for binding in bindings if binding != before])
        drawn.append(before)
    return drawn
