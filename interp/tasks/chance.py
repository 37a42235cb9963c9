"""Draws that are the same on every machine and in every Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Chance:
    """Draws from a seed given as text.

    Only `random.random()` is used: Python promises its sequence across versions, but not that of `choice` or
    `shuffle`.
    """

    def __init__(self, seed: str):
        self._random = random.Random(seed)

    def below(self, n: int) -> int:
        """A whole number in 0 … n−1, uniform."""
        return int(self._random.random() * n)

    def one(self, items: Sequence[Item]) -> Item:
        """One of the items, uniform."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[Item], k: int) -> list[Item]:
        """`k` of the items in random order, none twice."""
        left, random = list(items), self._random.random
        return [left.pop(int(random() * len(left))) for _ in range(k)]
