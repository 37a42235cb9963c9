"""The words that the nano suite knows, in the order of their token ids."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from interp.tasks.words import word_list

BOUNDARY = "<|endoftext|>"
UNKNOWN = "<|unknown|>"
NEWLINE = "\n"
PUNCTUATION = (".", ",", ":", ";", "?", "!")
DIGITS = tuple("0123456789")
STARTS = ("When", "Then", "After", "While", "The", "A")
FUNCTION_WORDS = (
    "when", "then", "after", "while", "the", "a", "and", "to", "at", "in", "near", "it", "them",
    "went", "were", "was", "had", "has", "got", "decided", "give", "gave", "handed", "brought", "sang",
    "said",
)  # fmt: skip
VERBS = ("saw", "found", "took", "made", "held", "crossed", "kept", "broke", "lost", "sold", "left", "hid")
ANIMATE = ("queen", "dog", "cat", "horse", "child", "farmer")


@dataclass(frozen=True)
class Lexicon:
    """The word lists that documents draw from; each word is one token."""

    names: tuple[str, ...]
    places: tuple[str, ...]
    objects: tuple[str, ...]
    fillers: tuple[str, ...]
    things: tuple[str, ...]


def lexicon() -> Lexicon:
    """The product's own word lists, as task files use them."""
    return Lexicon(
        names=word_list("names"),
        places=word_list("places"),
        objects=word_list("objects"),
        fillers=word_list("fillers"),
        things=word_list("things"),
    )


def vocabulary(words: Lexicon) -> tuple[str, ...]:
    """Every token, position = id; a word that stands in two lists is one token."""
    listed = itertools.chain(words.names, words.places, words.objects, words.fillers, words.things)
    return tuple(dict.fromkeys(itertools.chain(_fixed(), listed)))


def _fixed() -> Iterator[str]:
    yield BOUNDARY
    yield UNKNOWN
    yield NEWLINE
    for group in (PUNCTUATION, DIGITS, STARTS, FUNCTION_WORDS, VERBS, ANIMATE):
        yield from group
