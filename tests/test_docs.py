"""The documentation builds without a warning, says what the program says, and every block in it runs."""

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from interp.cli import app
from interp.suites.catalogue import SHIPPED
from tests.snippets import Snippet, snippets

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# what may keep a block from being run here
CAUSES = ("the Hub", "a GPU", "a scheduler", "make ", "minutes", "an hour", "yours", "your own")
LANGUAGES = {"sh", "python", "toml", "text", "json"}


def title(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the blocks run: with a suite at the place that the pages call path/to/checkpoints."""
    root = tmp_path_factory.mktemp("docs")
    suite = root / "path" / "to" / "checkpoints"
    shutil.copytree(SHIPPED / "nano-3l" / "seed4", suite / "seed4")
    shutil.copy(SHIPPED / "nano-3l" / "tokenizer.json", suite)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=title)
def test_every_block_of_a_page_runs(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for snippet in snippets(page):
        where = f"{title(page)}, line {snippet.line}"
        assert snippet.language in LANGUAGES, f"{where}: a block needs a language"
        if snippet.file is not None:
            Path(snippet.file).write_text(snippet.text)
        elif snippet.not_run is not None:
            continue
        elif snippet.language == "python":
            exec(compile(snippet.text, where, "exec"), names)
        elif snippet.language == "sh":
            for command in commands(snippet):
                run(command, where)


def commands(snippet: Snippet) -> Iterator[list[str]]:
    for line in snippet.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def run(words: list[str], where: str) -> None:
    """A command; `interp` in this process, since a new one takes seconds to import what it needs."""
    assert words[0] == "interp", f"{where}: '{words[0]}' cannot be run here; mark the block <!-- not run: REASON -->"
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, f"{where}: {shlex.join(words)}\n{done.output}"


def test_blocks_are_left_out_for_what_a_test_cannot_have() -> None:
    for page in PAGES:
        for snippet in snippets(page):
            assert snippet.not_run is None or any(cause in snippet.not_run for cause in CAUSES), (page, snippet)


def test_marks_belong_to_the_block_after_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: needs the Hub -->\n\n```sh\na\n```\ntext\n\n```sh\nb\n```\n\n"
        "<!-- not run: lost -->\n\ntext\n\n```python\nc\n```\n"
        "<!-- file: d.toml -->\n```toml\nd\n```\n```{toctree}\ne\n```\n"
    )
    assert snippets(page) == [
        Snippet("sh", "a", 3, not_run="needs the Hub"),
        Snippet("sh", "b", 8),
        Snippet("python", "c", 16),
        Snippet("toml", "d", 20, file="d.toml"),
    ]


def text_of(page: Path) -> str:
    """What a page shows, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page.read_text())).split())


def every_command(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from every_command(inner, f"{path} {name}")
    else:
        yield path, command


def the_commands_page_says_what_the_program_says(site: Path) -> None:
    said = text_of(site / "cli.html")
    known = list(every_command(typer.main.get_command(app), "interp"))
    assert len(known) > 8
    for path, command in known:
        assert f" {path}" in said
        assert " ".join((command.help or "?").split()) in said, path
        for option in command.params:
            assert all(name in said for name in option.opts if name.startswith("--")), (path, option.name)


def the_api_page_has_every_public_name(site: Path) -> None:
    import interp

    ids = set(re.findall(r'id="([\w.]+)"', (site / "api.html").read_text()))
    assert {f"interp.{name}" for name in interp.__all__ if name != "__version__"} <= ids


def the_quick_start_is_the_readme(site: Path) -> None:
    said = text_of(site / "start.html")
    assert "A task is a TOML file: a prompt family with its settings, or rows of your own" in said
    assert (site / "nano.html").exists()
    assert 'href="nano.html"' in (site / "start.html").read_text()


def nobody_is_asked_for_anything(site: Path) -> None:
    address = r"""=["'](?:https?:)?//"""
    loads = re.compile(rf"<(?:script|img|iframe)[^>]+src{address}|<link[^>]+stylesheet[^>]+href{address}")
    assert not [page.name for page in site.rglob("*.html") if loads.search(page.read_text())]


def every_page_can_be_reached(site: Path) -> None:
    index = (site / "index.html").read_text()
    (parts,) = re.findall(r"exclude_patterns = \[(.*?)\]", (ROOT / "docs" / "conf.py").read_text(), re.DOTALL)
    for page in (ROOT / "docs").rglob("*.md"):
        if page.stem != "index" and f'"{page.name}"' not in parts:
            assert f'href="{page.relative_to(ROOT / "docs").with_suffix(".html")}"' in index, page


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_is_whole(tmp_path: Path) -> None:
    """One test, since every worker of a test run would build a site of its own."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(ROOT / "docs"),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    the_commands_page_says_what_the_program_says(tmp_path)
    the_api_page_has_every_public_name(tmp_path)
    the_quick_start_is_the_readme(tmp_path)
    nobody_is_asked_for_anything(tmp_path)
    every_page_can_be_reached(tmp_path)
