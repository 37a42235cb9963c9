"""Experiments as one HTML file of the report's kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interp.labs.copy_head.section import ABOUT, Done, sections
from interp.report import formats, html
from interp.report.blocks import Missing, Page, Said, Section


def write(done: Sequence[Done], out: Path, command: str, setting: str) -> Path:
    """Write experiments as one HTML file that opens without a network; gives its path.

    Raises:
        InputError: the file cannot be written.
    """
    page = Page(
        title="The copy-head phase transition",
        kicker="interp lab copy-head",
        meta=f"{formats.counted(len(done), 'experiment')} · {setting}",
        before=(Section("about", "What this is", (Said((ABOUT,)),)), *sections(done)),
        articles=(),
        after=(Section("made", "How it was made", (Missing("Made with", command),)),),
    )
    return html.write(page, out)
