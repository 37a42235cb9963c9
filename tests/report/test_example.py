"""The committed example says what the shipped suite gives today.

Words must be equal. Numbers may differ by rounding and by the processor's arithmetic: by .003, or 1 % of larger ones.
Left out: the time, versions and places at which it was made.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.report import example

COMMITTED = Path(__file__).parents[2] / "reports" / "example" / "index.html"
_NUMBER = re.compile(r"[−+-]?(?:\d[\d,]*)?\.?\d+")
_MADE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?: UTC)?|interp report \S+.*|interp \d.*")


class Visible(HTMLParser):
    """The text of a page that a reader sees, element by element."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "title")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "title")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.texts.append(_MADE.sub("", " ".join(data.split())))


def visible(text: str) -> list[str]:
    page = Visible()
    page.feed(text)
    return page.texts


def differences(first: str, second: str) -> list[str]:
    """Where two pages differ in words, or in a number by more than its tolerance."""
    one, two = visible(first), visible(second)
    found = [] if len(one) == len(two) else [f"{len(one)} and {len(two)} texts"]
    for a, b in zip(one, two, strict=False):
        if _NUMBER.sub("#", a) != _NUMBER.sub("#", b) or not all(map(_near, _NUMBER.findall(a), _NUMBER.findall(b))):
            found.append(f"{a!r}, now {b!r}")
    return found


def _near(a: str, b: str) -> bool:
    x, y = (float(text.replace("−", "-").replace(",", "")) for text in (a, b))
    return abs(x - y) <= max(0.003, 0.01 * abs(x))


def test_a_changed_word_and_a_changed_number_are_seen():
    page = "<p>L2H1 brings most back, Δp +.141 [+.095, +.193]</p><script>7</script><td>2026-12-01 15:23</td>"
    assert differences(page, page.replace(".141", ".142").replace("15:23", "16:00").replace(">7<", ">8<")) == []
    for was, now in (
        (".141", ".151"),
        ("L2H1", "L1H1"),
        ("most", "least"),
        ("+.095", "−.095"),
        ("<td>", "<td>x</td><td>"),
    ):
        assert differences(page, page.replace(was, now))


@pytest.mark.skipif(not COMMITTED.exists(), reason="no example report is in this checkout")
def test_the_example_is_what_the_shipped_suite_gives(tmp_path: Path):
    committed = COMMITTED.read_text("utf-8")
    assert len(committed) <= 3_000_000
    assert differences(committed, example.write(tmp_path / "index.html").read_text("utf-8")) == []
