"""What a page is made of, as frozen values: words, tables, figures and choices, in sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interp.report.display import Table
from interp.report.figures.plot import Plot


@dataclass(frozen=True)
class Said:
    """Sentences that answer, in large type; `words` names each at its side (empty: no names)."""

    sentences: tuple[str, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Caption:
    """How to read what stands above, and what it does not say."""

    text: str


@dataclass(frozen=True)
class Heading:
    """A small heading within a section."""

    text: str


@dataclass(frozen=True)
class Missing:
    """Why something is not here; `command` would fill it in (empty: nothing would)."""

    text: str
    command: str = ""
    then: str = ""


@dataclass(frozen=True)
class Rows:
    """A table under its name; a folded one is opened by its reader."""

    name: str
    table: Table
    folded: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure under a name of its own within its owner, and in words; `width` (px): narrower pages scroll it."""

    name: str
    plot: Plot
    words: str
    width: int = 0


@dataclass(frozen=True)
class Beside:
    """Figures side by side where there is room."""

    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Tokens:
    """A prompt as its tokens, and what follows; the small print under each is its id or place."""

    pieces: tuple[tuple[str, object], ...]
    answer: tuple[str, object]
    foil: tuple[str, object] | None = None


@dataclass(frozen=True)
class Points:
    """A list; `ordered` ones are numbered."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """One of several things to look at, under an anchor."""

    label: str
    anchor: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Choice:
    """Several things of which one is seen at a time (all of them on paper)."""

    name: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class OfTask:
    """Blocks that are about one task, seen where that task is looked at."""

    task: str
    blocks: tuple[Block, ...]


Block = Said | Caption | Heading | Missing | Rows | Figure | Beside | Tokens | Points | Choice | OfTask


@dataclass(frozen=True)
class Section:
    """A part of the page with its anchor and title."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Article:
    """Everything about one run and task; `run` and `task` choose it, `targets` are further anchors that lead to it."""

    anchor: str
    run: str
    task: str
    sentences: tuple[str, ...]
    sections: tuple[Section, ...]
    targets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A whole page: sections, one of several articles, sections."""

    title: str
    kicker: str
    meta: str
    before: tuple[Section, ...]
    articles: tuple[Article, ...]
    after: tuple[Section, ...]
    detail: str = "One run and task"
    opens: str = ""  # the anchor of the article that is open at first; empty: the first


def figures(blocks: Sequence[Block]) -> Iterator[Figure]:
    """Every figure in some blocks."""
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Beside):
            yield from block.figures
        elif isinstance(block, Choice):
            for option in block.options:
                yield from option.figures
        elif isinstance(block, OfTask):
            yield from figures(block.blocks)
