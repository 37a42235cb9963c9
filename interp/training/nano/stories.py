"""Stories of two people, in which one gives the other something."""

from __future__ import annotations

from random import Random

from interp.training.nano.vocabulary import Lexicon

OPENINGS = (
    "When {a} and {b} went to the {place} ,",
    "Then , {a} and {b} went to the {place} .",
    "After {a} and {b} went to the {place} ,",
    "While {a} and {b} were at the {place} ,",
    "When {a} and {b} got a {object} at the {place} ,",
)
"""How a giving begins; after the last, the giver `decided to give it to`, after the others `gave a … to`."""
GAVE = ("gave", "gave", "gave", "handed", "brought")


def story(random: Random, words: Lexicon) -> list[str]:
    """1–3 sentences about the same two people, named in either order in each."""
    pair = random.sample(words.names, 2)
    document: list[str] = []
    for _ in range(random.randint(1, 3)):
        a, b = random.sample(pair, 2)
        kind = random.choices((_giving, _outsider, _being), (80, 8, 12))[0]
        document += kind(random, words, a, b)
    return document


def lower_some(random: Random, sentence: list[str]) -> list[str]:
    """The sentence, its first word in lower case one time in five (names keep their capital)."""
    first = sentence[0]
    if random.random() < 0.2 and first in ("When", "Then", "After", "While", "The", "A"):
        return [first.lower(), *sentence[1:]]
    return sentence


def _opening(random: Random, words: Lexicon, a: str, b: str) -> tuple[list[str], bool]:
    place, thing = random.choice(words.places), random.choice(words.objects)
    kind = random.randrange(len(OPENINGS))
    sentence = OPENINGS[kind].format(a=a, b=b, place=place, object=thing).split()
    return lower_some(random, sentence), kind == len(OPENINGS) - 1


def _giving(random: Random, words: Lexicon, a: str, b: str) -> list[str]:
    """One of the two gives something to the other (indirect object identification)."""
    opening, has_it = _opening(random, words, a, b)
    giver, taker = random.sample((a, b), 2)
    if has_it:
        return [*opening, giver, "decided", "to", "give", "it", "to", taker, "."]
    return [*opening, giver, random.choice(GAVE), "a", random.choice(words.objects), "to", taker, "."]


def _outsider(random: Random, words: Lexicon, a: str, b: str) -> list[str]:
    """A third person gives something to both: the giver must be read, not only the two names."""
    opening, _ = _opening(random, words, a, b)
    third = random.choice([name for name in words.names if name not in (a, b)])
    return [*opening, third, random.choice(GAVE), "a", random.choice(words.objects), "to", "them", "."]


def _being(random: Random, words: Lexicon, a: str, b: str) -> list[str]:
    place, thing = random.choice(words.places), random.choice(words.objects)
    return random.choice(
        (
            [a, "and", b, "were", "at", "the", place, "."],
            [a, "had", "a", thing, "."],
            [a, "went", "to", "the", place, "and", "found", "a", thing, "."],
        )
    )
