"""What the documents share: who draws, how long a document may get, and the words that may stand in front."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from interp.training.nano.vocabulary import Lexicon

Document = Callable[[Random, Lexicon], list[str]]
LONGEST = 62
"""Tokens of a document: a row of 64 can hold it whole, with a boundary before and after."""
LONGEST_LEAD = 28


def lead_in(random: Random, words: Lexicon, room: int, share: float) -> list[str]:
    """A share of the time some unrepeated filler words and a full stop, `room` tokens at most; else nothing.

    Without them every document would begin with its content, and positions could stand for words.
    """
    most = min(LONGEST_LEAD, room - 1)
    if random.random() >= share or most < 1:
        return []
    return [*random.sample(words.fillers, random.randint(1, most)), "."]
