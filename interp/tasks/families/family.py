"""What every prompt family is: closed settings, the layouts they allow, and one draft of a layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from interp.tasks.chance import Chance
from interp.tasks.words import Words


class Settings(BaseModel):
    """Closed and frozen: an unknown key or a wrong type is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True)
class Draft:
    """A prompt before it is tokenized: text, the text right after it, a competing text, and the layout."""

    text: str
    answer: str
    foil: str | None
    layout: str


class Family(Settings, ABC):
    """A way to make prompts. A plan is what the family balances: a layout in its terms, or part of one."""

    @abstractmethod
    def plans(self) -> Sequence[Any]:
        """Every plan that the settings allow; draws go round them evenly, so one listed twice comes twice."""

    @abstractmethod
    def draft(self, plan: Any, chance: Chance, words: Words) -> Draft | None:
        """One prompt of a plan; `None` where the draw fell on a prompt that the family excludes."""


def lead_in(count: int, fillers: str, chance: Chance, words: Words, without: str) -> str:
    """A lead-in of `count` ≥ 2 tokens: distinct fillers, none of the list `without`, and a full stop.

    It comes first, so that no word of a repeated span stands at the start of the text: there a byte-level
    tokenizer writes it without its space, which is another token.
    """
    first = chance.one(words.opening(fillers, 1, without))
    rest = words.usable(fillers, count - 1, without)
    others = chance.some([word for word in rest if word != first], count - 2)
    return " ".join([first, *others, "."])


def require_plans(plans: Sequence[object], why: str) -> None:
    """A `ValueError` (a fault of the task file) if the settings allow no plan."""
    if not plans:
        raise ValueError(f"these settings allow no prompt: {why}")


def followers(symbols: Sequence[str], context: int) -> list[str]:
    """What came after earlier copies of the last `context` symbols, each once, in order of first coming."""
    last = list(symbols[len(symbols) - context :])
    ends = range(context, len(symbols))
    return list(dict.fromkeys(symbols[end] for end in ends if list(symbols[end - context : end]) == last))


def longest_context(symbols: Sequence[str]) -> set[str]:
    """What came after the earlier copies of the longest last span that has occurred before."""
    found: set[str] = set()
    for context in range(1, len(symbols)):
        longer = followers(symbols, context)
        if not longer:
            break
        found = set(longer)
    return found
