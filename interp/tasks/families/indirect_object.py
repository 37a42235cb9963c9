"""Indirect object: two people, one of them gives something; the other one is asked."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from interp.tasks.chance import Chance
from interp.tasks.families.family import Draft, Family
from interp.tasks.words import Words

PLACES = ("first", "second", "giver", "place", "object")


def _template(text: str) -> str:
    """A template that names each of the five parts once, in braces and after a space."""
    try:
        found = [field for _, field, spec, conversion in string.Formatter().parse(text) if field is not None]
        plain = all(not spec and not conversion for _, _, spec, conversion in string.Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"template {text!r} has unbalanced braces") from error
    if sorted(found) != sorted(PLACES) or not plain:
        needed = ", ".join(f"{{{place}}}" for place in PLACES)
        raise ValueError(f"template {text!r} must name each of {needed} exactly once")
    if any(text[match.start() - 1 : match.start()] != " " for match in re.finditer(r"\{", text)):
        raise ValueError(
            f"template {text!r}: each part must follow a space, so that a name is the same token throughout"
        )
    if text != text.rstrip():
        raise ValueError(f"template {text!r} ends in a space; write {text.rstrip()!r}")
    return text


@dataclass(frozen=True)
class Scene:
    """A template and whether the one named first gives (BAB) or the one named second (ABB)."""

    template: str
    first_gives: bool

    def __str__(self) -> str:
        words = re.findall(r"\w+|[^\w\s{}]", self.template)
        first, second, giver = (words.index(part) for part in ("first", "second", "giver"))
        names = (second, first) if self.first_gives else (first, second)
        return f"answer={names[0]} other={names[1]} giver={giver} words={len(words)}"


class IndirectObject(Family):
    """`When Mary and John went to the store, John gave a drink to` → ` Mary`, foil ` John`.

    Both orders of every template, each equally often. A layout gives the places of the names in the text.
    """

    kind: Literal["indirect_object"]
    names: str
    places: str
    objects: str
    templates: Annotated[tuple[Annotated[str, AfterValidator(_template)], ...], Field(min_length=1)]

    def plans(self) -> tuple[Scene, ...]:
        """Every template in both orders."""
        return tuple(Scene(template, gives) for template in self.templates for gives in (False, True))

    def draft(self, plan: Scene, chance: Chance, words: Words) -> Draft:
        """One pair of people, place and object."""
        first, second = chance.some(words.usable(self.names, 2), 2)
        giver, answer = (first, second) if plan.first_gives else (second, first)
        place = chance.one(words.usable(self.places, 1))
        given = chance.one(words.usable(self.objects, 1))
        text = plan.template.format(first=first, second=second, giver=giver, place=place, object=given)
        return Draft(text, " " + answer, " " + giver, str(plan))
