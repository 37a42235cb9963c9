"""Page → one HTML file: text and tables as they are, figures and plotly.js compressed, nothing loaded from outside."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import plotly.offline
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from interp.report import formats
from interp.report.blocks import Figure, Page, Section, figures
from interp.report.figures import style
from interp.values import InputError

TOP = "page"
"""The owner of the figures that stand outside of any article."""


def write(page: Page, out: Path) -> Path:
    """Write the whole document, or leave what is there; gives its path.

    Raises:
        InputError: the file cannot be written.
    """
    text = document(page)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(out.name + ".part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"the report {out} cannot be written: {error.strerror}") from error
    return out


def document(page: Page) -> str:
    """The whole document."""
    return _environment().get_template("page.html.j2").render(
        page=page,
        top=TOP,
        payloads=_payloads(page),
        runs=tuple(dict.fromkeys(article.run for article in page.articles)),
        tasks=tuple(dict.fromkeys(article.task for article in page.articles)),
        theme=_packed(json.dumps(_theme())),
        library=_library(),
        formats=formats,
        style=_asset("style.css"),
        script=_asset("script.js"),
    )  # fmt: skip


def _payloads(page: Page) -> dict[str, Markup]:
    """The figures of every article, and of the rest of the page, packed."""
    found = {TOP: _payload(_figures((*page.before, *page.after)))}
    for article in page.articles:
        found[article.anchor] = _payload(_figures(article.sections))
    return found


def _figures(sections: Iterable[Section]) -> Iterable[Figure]:
    for section in sections:
        yield from figures(section.blocks)


def _payload(drawn: Iterable[Figure]) -> Markup:
    return _packed("{" + ",".join(f"{json.dumps(of.name)}:{of.plot.json()}" for of in drawn) + "}")


def _theme() -> Mapping[str, Any]:
    return {"dark": style.DARK, "templates": {"light": style.template(False), "dark": style.template(True)}}


def _packed(text: str) -> Markup:
    """The text gzipped, in base64: safe inside any element."""
    return Markup(base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode())


@cache
def _library() -> Markup:
    return _packed(plotly.offline.get_plotlyjs())


def _asset(name: str) -> Markup:
    return Markup(resources.files("interp.report").joinpath("templates", name).read_text("utf-8"))


def _environment() -> Environment:
    """Every string is escaped, and its unseen characters are written out, unless it is marked as markup."""
    found = Environment(
        loader=PackageLoader("interp.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    found.filters["kind"] = lambda block: type(block).__name__
    return found


def _shown(value: object) -> object:
    return formats.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
