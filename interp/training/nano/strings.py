"""Documents that repeat a run of words: told again whole, or cycling."""

from __future__ import annotations

from random import Random

from interp.training.nano.documents import LONGEST, lead_in
from interp.training.nano.vocabulary import NEWLINE, Lexicon

SHORTEST_STRING, LONGEST_STRING = 4, 14


def string(random: Random, words: Lexicon) -> list[str]:
    """4–14 different words told 2–4 times: bare, with full stops, by lines, or sung by someone."""
    told = random.sample(words.things, random.randint(SHORTEST_STRING, LONGEST_STRING))
    form = random.choices(("bare", "stops", "lines", "sung"), (25, 35, 10, 30))[0]
    extra = {"bare": 0, "stops": 1, "lines": 1, "sung": 4}[form]
    copies = min(random.randint(2, 4), LONGEST // (len(told) + extra))
    document = lead_in(random, words, LONGEST - copies * (len(told) + extra), 0.5 if form == "stops" else 0.15)
    for _ in range(copies):
        if form == "sung":
            document += [random.choice(words.names), random.choice(("sang", "said")), ":"]
        document += told
        document += {"bare": [], "stops": ["."], "lines": [NEWLINE], "sung": ["."]}[form]
    return document


def pattern(random: Random, words: Lexicon) -> list[str]:
    """2–4 different words going round for two periods and up to 24 words more, cut anywhere."""
    cycle = random.sample(words.things, random.randint(2, 4))
    length = 2 * len(cycle) + random.randint(0, 24)
    sung = random.random() < 0.3
    front = [random.choice(words.names), "sang", ":"] if sung else lead_in(random, words, LONGEST - length, 0.6)
    return front + [cycle[i % len(cycle)] for i in range(length)] + ["."]
