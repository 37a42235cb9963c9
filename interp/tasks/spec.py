"""What a task file may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from interp import markup
from interp.tasks.families import AnyFamily, family_kinds
from interp.tasks.families.family import Settings
from interp.values import nearest

Share = Annotated[float, Field(ge=0, lt=1)]
Sentence = Annotated[str, Field(min_length=1)]


class Single(Settings):
    """The literature's one prompt: text up to the prediction, the text right after it, a competing text."""

    prompt: Sentence
    answer: Sentence
    foil: str | None = None


class Task(Settings):
    """A behaviour with prompts and answers, as its file says it.

    A task is solved at a step when the share of solved prompts reaches `threshold`; `ceiling` is the share
    that the cheap `shortcut` reaches, so the threshold must lie above it.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
    version: Annotated[int, Field(ge=1)]
    title: Sentence
    family: AnyFamily
    ceiling: Share
    shortcut: Sentence
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.75
    reference: Sentence
    single: Single | None = None

    @model_validator(mode="after")
    def _threshold_above_ceiling(self) -> Task:
        if self.threshold <= self.ceiling:
            raise ValueError(f"threshold {self.threshold} does not lie above the shortcut ceiling {self.ceiling}")
        return self

    def _repr_html_(self) -> str:
        settings = ", ".join(f"{name} {value!r}" for name, value in self.family if name != "kind")
        rows: dict[str, object] = {
            "family": f"{self.family.kind}: {settings}" if settings else self.family.kind,
            "solved from": self.threshold, "shortcut reaches": self.ceiling, "shortcut": self.shortcut,
            "reference": self.reference,
        }  # fmt: skip
        single = {"single prompt": f"{self.single.prompt}⟶{self.single.answer}"} if self.single else {}
        return markup.facts(f"Task {self.name}, version {self.version}: {self.title}", rows | single)


def explain(error: ValidationError) -> str:
    """What the first fault of a task file is: the key, what was found, what was needed."""
    details = error.errors()
    first = _explain(details[0])
    more = len(details) - 1
    return first if more == 0 else f"{first} (and {more} more)"


def _explain(detail: ErrorDetails) -> str:
    kind, found, loc = detail["type"], detail["input"], [str(part) for part in detail["loc"]]
    tag = loc.pop(1) if loc[:1] == ["family"] and len(loc) > 1 else None  # the kind is no part of the file's path
    key = ".".join(loc)
    if kind == "missing":
        return f"key '{key}' is missing"
    if kind == "extra_forbidden":
        return f"key '{key}' is unknown: {nearest(loc[-1], _keys(loc, tag))}"
    if kind == "union_tag_not_found":
        return f"key '{key}.kind' is missing; known: {', '.join(sorted(family_kinds()))}"
    if kind == "union_tag_invalid":
        wrong = str(found.get("kind"))
        return f"key '{key}.kind' is '{wrong}', which is no family: {nearest(wrong, family_kinds())}"
    if kind == "value_error":
        return f"{key or 'task'}: {detail['msg'].removeprefix('Value error, ')}"
    shown = repr(found) if len(repr(found)) <= 60 else repr(found)[:57] + "…"
    return f"key '{key}' is {shown}, but {_needed(detail['msg'])}"


def _needed(message: str) -> str:
    """Pydantic's 'Input should be …' as the end of a sentence."""
    if message.startswith("Input should"):
        return message.replace("Input", "it", 1)
    return message[0].lower() + message[1:]


def _keys(loc: list[str], tag: str | None) -> list[str]:
    """The keys allowed in the table where an unknown one was found."""
    if tag is not None:
        return list(family_kinds()[tag].model_fields)
    return list((Single if loc[0] == "single" and len(loc) > 1 else Task).model_fields)
