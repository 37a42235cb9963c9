"""The fenced blocks of a Markdown page, and what a comment before a block says of it."""

import re
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(r"<!--\s*(not run|file):\s*(.*?)\s*-->")


@dataclass(frozen=True)
class Snippet:
    """A fenced block: its language, its text, the line where it begins, and the mark before it.

    `not_run`: the reason why it is not run. `file`: the name of the file that it is.
    """

    language: str
    text: str
    line: int
    not_run: str | None = None
    file: str | None = None


def snippets(page: Path) -> list[Snippet]:
    """The blocks of a page in order; directives such as ```{toctree} are none."""
    found: list[Snippet] = []
    marks: dict[str, str] = {}
    inside: list[str] | None = None
    language, begun = "", 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if inside is not None:
            if line.strip() == "```":
                if not language.startswith("{"):
                    found.append(Snippet(language, "\n".join(inside), begun, marks.get("not run"), marks.get("file")))
                inside, marks = None, {}
            else:
                inside.append(line)
        elif line.startswith("```"):
            inside, language, begun = [], line[3:].strip(), number
        elif match := _MARK.fullmatch(line.strip()):
            marks[match[1]] = match[2]
        elif line.strip():
            marks = {}
    assert inside is None, f"{page}: the block at line {begun} has no end"
    return found
