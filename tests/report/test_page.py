"""The HTML file: one file, nothing from outside, all text as text, small, and complete without JavaScript."""

import base64
import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import plotly.graph_objects as go
import pytest

from interp import report
from interp.report import assembly
from interp.report.blocks import figures
from interp.report.tables import read
from interp.store import Store
from interp.values import InputError
from tests.report import synthetic
from tests.report.synthetic import Plan, Suite

MB = 1_000_000


@dataclass
class Parsed(HTMLParser):
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def attributes(self, name: str) -> Iterator[str]:
        return (of[name] or "" for _, of in self.tags if name in of)


def parsed(path: Path) -> Parsed:
    found = Parsed()
    found.feed(path.read_text("utf-8"))
    return found


def payloads(path: Path) -> dict[str, dict[str, object]]:
    packed = re.findall(r'class="payload" data-name="([^"]+)">([^<]*)</script>', path.read_text("utf-8"))
    return {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in packed}


def test_nothing_is_loaded_from_outside(nano_page: Path):
    page = parsed(nano_page)
    loading = {"src", "srcset", "data", "poster", "action", "background", "xlink:href"}
    assert not [of for _, attributes in page.tags for of in attributes if of in loading]
    assert all(link.startswith("#") for link in page.attributes("href"))
    assert not [tag for tag, _ in page.tags if tag in ("link", "iframe", "object", "embed", "base", "img")]
    text = nano_page.read_text("utf-8")
    assert "http://" not in text
    assert "https://" not in text
    assert "@import" not in text
    assert "url(" not in text
    policy = next(of["content"] for tag, of in page.tags if of.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_plotly_is_there_once(nano_page: Path):
    library = re.findall(r'id="library">([^<]*)</script>', nano_page.read_text("utf-8"))
    assert len(library) == 1
    assert gzip.decompress(base64.b64decode(library[0])).startswith(b"/**\n* plotly.js")


def test_hostile_tokens_are_text(nano_page: Path):
    page = parsed(nano_page)
    assert {"script", "b", "style"} & {tag for tag, _ in page.tags} == {"script", "style"}
    joined = "".join(page.texts)
    for shown in (
        "<script>alert(1)</script>",
        "\"quoted'",
        "</script><b>",
        "ab⟨U+202E⟩cd",
        "␣🦊",
        "nul⟨U+0000⟩",
        "&lt;",
    ):
        assert shown in joined
    assert "\x00" not in joined
    assert "\u202e" not in joined


def test_a_hostile_title_and_command_are_text(tmp_path: Path):
    store = synthetic.write(tmp_path / "store", kinds=("emergence",))
    out = report.write(store, tmp_path / "r.html", title="</title><script>x", command="<b>&</b>")
    page = parsed(out)
    assert "</title><script>x" in "".join(page.texts)
    assert "<b>&</b>" in page.texts
    assert "b" not in {tag for tag, _ in page.tags}


def test_every_anchor_is_unique_and_every_link_leads_somewhere(nano_page: Path):
    page = parsed(nano_page)
    ids = Counter(page.attributes("id"))
    assert [name for name, n in ids.items() if n > 1] == []
    assert {link[1:] for link in page.attributes("href")} <= set(ids)
    assert {"run-nano-3l-seed1", "run-nano-3l-seed1-string", "run-nano-3l-seed1-string-L2H1", "task-ioi"} <= set(ids)


def test_every_figure_is_valid_and_has_its_place(nano: Store, nano_page: Path):
    found = payloads(nano_page)
    places = {(of["data-owner"], of["data-name"]) for _, of in parsed(nano_page).tags if "data-owner" in of}
    assert places == {(owner, name) for owner, figures in found.items() for name in figures}
    page = assembly.page(read([nano]), None, None)
    for section in (*page.before, *(section for article in page.articles for section in article.sections)):
        for of in figures(section.blocks):
            assert isinstance(of.plot.figure(), go.Figure), of.name  # raises where an attribute is not plotly's


def test_only_an_emergence_is_drawn_as_one(nano_page: Path):
    overview = payloads(nano_page)["page"]["overview"]
    assert isinstance(overview, dict)
    marks = {trace["name"].split(":")[0]: trace for trace in overview["data"]}
    counts = {name: len(marks[name]["x"]) for name in ("emerged", "lost", "from start", "censored")}
    assert counts == {"emerged": 10, "lost": 1, "from start": 1, "censored": 1}
    symbols = [marks[name]["marker"]["symbol"] for name in counts]
    assert len(set(symbols)) == 4
    assert len([x for x in marks["bracket"]["x"] if x is not None]) == 2 * 10


def test_both_directions_share_one_scale_centred_at_zero(nano_page: Path):
    figures = payloads(nano_page)["run-nano-3l-seed1-string"]
    heats = [figures[f"grid-{direction}"]["data"][0] for direction in ("denoising", "noising")]  # pyright: ignore
    assert heats[0]["zmin"] == heats[1]["zmin"] == -heats[0]["zmax"] == -heats[1]["zmax"]
    assert heats[0]["colorscale"][3][0] == 0.5


def test_the_tables_read_without_javascript(nano_page: Path):
    text = nano_page.read_text("utf-8")
    assert text.count('class="no-js"') == 1
    assert "<noscript>" in text
    rows = re.findall(r"<tr[^>]*id=\"run-nano-3l-seed1-string-L2H1\"[^>]*>(.*?)</tr>", text)
    assert "+.402 [+.342, +.462]" in rows[0]  # the simultaneous interval


def test_how_it_was_made_is_said(nano_page: Path):
    text = nano_page.read_text("utf-8")
    assert "steps 0 and 1 hold the same weights and count as one point" in text
    assert synthetic.weights("nano-3l", 1, 1500) in text
    assert "torch 2.13.0" in text
    assert "interp demo --seeds 0-2" in text


def test_what_is_missing_is_said_with_the_command_that_fills_it(tmp_path: Path):
    store = synthetic.write(tmp_path / "store", kinds=("prompts", "emergence"))
    text = report.write(store, tmp_path / "r.html").read_text("utf-8")
    assert (
        "No effects are stored for this run and task. <code>interp patch nano-3l --seeds 1 --task string</code>" in text
    )
    assert "This task is censored here, so no effects were measured." in text
    store = synthetic.write(tmp_path / "other", kinds=("effects",))
    text = report.write(store, tmp_path / "r.html").read_text("utf-8")
    assert "No scan is stored. <code>interp scan SUITE</code>" in text
    assert "No ranking is stored." in text
    assert "No joint patch is stored." in text
    assert "No patterns are stored." in text
    assert "No prompts are stored." in text
    assert "Signatures are not stored at several steps." in text
    assert "was not measured. <code>interp patch nano-3l --seeds 1 --task string --recipients all</code>" in text


def test_the_file_stays_small_and_is_made_quickly(tmp_path: Path):
    # a process of its own: the type checks that are on in tests take longer than the work
    timed = (
        "import sys, time; from pathlib import Path; from interp.report import write; from interp.store import Store; "
        "start = time.process_time(); write(Store(sys.argv[1]), Path(sys.argv[2])); print(time.process_time() - start)"
    )
    for name, suite, largest in (("wide", synthetic.wide(), 3 * MB), ("demo", synthetic.demo(), 5 * MB)):
        synthetic.write(tmp_path / name, suite)
        out = tmp_path / f"{name}.html"
        seconds = subprocess.check_output([sys.executable, "-c", timed, tmp_path / name, out], text=True)
        assert float(seconds) < 3 * len(next(iter(suite.plans.values())))  # of one core, for each run
        assert out.stat().st_size <= largest


def test_the_same_store_gives_the_same_file(tmp_path: Path):
    suite = Suite("tiny", 2, 2, {"string": {0: Plan("emerged", 600, ("L1H0",), 0.4)}}, prompts=2)
    store = synthetic.write(tmp_path / "store", suite)
    first, second = (report.write(store, tmp_path / name) for name in ("a.html", "b.html"))
    assert first.read_bytes() == second.read_bytes()


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path):
    nano = synthetic.write(tmp_path / "store", kinds=("emergence",))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        report.write(nano, tmp_path / "file" / "r.html")
    with pytest.raises(InputError, match="cannot be written"):
        report.write(nano, tmp_path)
