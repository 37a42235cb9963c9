"""A comparison → page."""

from __future__ import annotations

from interp.report import formats
from interp.report.blocks import Page
from interp.report.comparing import sections
from interp.report.comparing.matching import Comparison


def page(of: Comparison, title: str | None, command: str | None) -> Page:
    """Two stores side by side."""
    sizes = [f"{name}: {formats.counted(len(view.pairs), 'run–task pair')}"
             for name, view in zip(of.names, of.views, strict=True)]  # fmt: skip
    return Page(
        title=title or f"{of.names[0]} and {of.names[1]}, side by side",
        kicker="interp comparison",
        meta=f"{formats.counted(len(of.matched), 'pair')} compared · {' · '.join(sizes)}",
        before=(sections.answer(of), sections.emergence(of)),
        articles=tuple(sections.article(one, of.names) for one in of.matched),
        after=(sections.integrity(of), sections.made(of, command)),
    )
