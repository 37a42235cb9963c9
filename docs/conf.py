"""How the documentation is built: `make docs`, then open build/docs/index.html."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import interp

project = "interp"
author = "the interp authors"
release = version = interp.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# the tables are parts of other pages
exclude_patterns = [
    "claims_table.md",
    "copy_head_claims.md",
    "copy_head_rates.md",
    "copy_head_rises.md",
    "shipped_tables.md",
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# single backticks in our docstrings mean code, as they do in Markdown
default_role = "code"
smartquotes = False
python_maximum_signature_line_length = 90

html_theme = "furo"
html_title = "interp"
html_static_path = ["_static"]
html_css_files = ["interp.css"]
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False


def commands() -> str:
    """Every command with its arguments and options, as the program itself describes them, in Markdown."""
    command = [sys.executable, "-m", "typer", "interp.cli", "utils", "docs", "--name", "interp"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, _, subcommands = text.partition("\n## ")  # what precedes them lists them with half a sentence each
    return "## " + subcommands


def fill(app: Any, name: str, source: list[str]) -> None:
    """Put the commands in the place of their mark."""
    if name == "cli":
        source[0] = source[0].replace("<!-- the commands -->", commands())


def escape(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """A bar in a docstring is an absolute value, and not the beginning of a substitution; code stays as it is."""
    for i, line in enumerate(lines):
        parts = re.split(r"(`[^`]*`)", line)
        lines[i] = "".join(part if part.startswith("`") else part.replace("|", "\\|") for part in parts)


def inline_math(self: Any, node: nodes.math) -> None:
    """A formula as MathML, which browsers draw themselves: no script from elsewhere."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block_math(self: Any, node: nodes.math_block) -> None:
    """See `inline_math`."""
    self.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", escape)
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
