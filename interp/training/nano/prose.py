"""Plain sentences with habits of their own: which noun does what to which thing, and how that thing is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random

from interp.training.nano.stories import lower_some
from interp.training.nano.vocabulary import ANIMATE, VERBS, Lexicon

_HABIT = (8, 4, 2, 1)
"""Weights of a word's four habitual neighbours, the most frequent first."""


@dataclass(frozen=True)
class Habits:
    """Fixed neighbours: what a noun does, what a verb is done to, how a noun is."""

    does: dict[str, list[str]]
    done_to: dict[str, list[str]]
    looks: dict[str, list[str]]
    actors: tuple[str, ...]


@lru_cache(maxsize=4)
def habits(words: Lexicon) -> Habits:
    """The habits of this lexicon: drawn once, the same for every corpus."""
    random = Random("habits of the prose")
    actors = (
        *ANIMATE,
        *(thing for thing in words.things if thing in ("king", "bear", "fox", "bird", "wolf")),
    )
    nouns = (*ANIMATE, *words.things)
    return Habits(
        does={noun: random.sample(VERBS, 4) for noun in (*actors, *words.names)},
        done_to={verb: random.sample(words.things, 4) for verb in VERBS},
        looks={noun: random.sample(words.fillers, 4) for noun in nouns},
        actors=actors,
    )


def prose(random: Random, words: Lexicon) -> list[str]:
    """1–4 sentences, each following the habits."""
    known = habits(words)
    document: list[str] = []
    for _ in range(random.randint(1, 4)):
        document += lower_some(random, _sentence(random, words, known))
    return document


def _habitual(random: Random, neighbours: list[str]) -> str:
    return random.choices(neighbours, _HABIT)[0]


def _sentence(random: Random, words: Lexicon, known: Habits) -> list[str]:
    actor = random.choice(known.actors)
    verb = _habitual(random, known.does[actor])
    thing = _habitual(random, known.done_to[verb])
    actor_looks, thing_looks = (_habitual(random, known.looks[noun]) for noun in (actor, thing))
    place = [random.choice(("at", "in", "near")), "the", random.choice(words.places)]
    kind = random.random()
    if kind < 0.5:
        return ["The", actor_looks, actor, verb, "a", thing_looks, thing, *place, "."]
    if kind < 0.7:
        return ["A", actor, verb, "the", thing, "."]
    if kind < 0.85:
        return ["The", thing, "was", thing_looks, "."]
    return [random.choice(words.names), verb, "the", thing_looks, thing, *place, "."]
