"""A report of a store that also holds tables of a lab: the section is there, and a browser draws it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from interp import report
from interp.execution import InProcess
from interp.labs import stored
from interp.labs.copy_head.experiment import QUICK, Lab
from interp.labs.copy_head.landscape import LANDSCAPE
from interp.store import Store
from tests.report.test_browser import CHROMIUM, browser, opened

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

__all__ = ["browser"]


@pytest.fixture(scope="module")
def with_lab(nano: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    found = Store(tmp_path_factory.mktemp("lab") / "store")
    shutil.copytree(nano.root, found.root)
    LANDSCAPE.table(Lab(replace(QUICK, line=4), InProcess(), found))
    return found


def test_a_store_without_tables_of_a_lab_has_no_such_section(nano: Store) -> None:
    assert stored.sections([nano]) == ()


def test_the_section_says_what_it_shows_and_at_which_size(with_lab: Store, tmp_path: Path) -> None:
    (section,) = stored.sections([with_lab])
    text = report.write(with_lab, tmp_path / "r.html", beside=(section,)).read_text("utf-8")
    assert section.anchor == "copy-head"
    assert text.count('<a href="#copy-head">') == 1
    assert "Energy landscape (L = 16, V = 5, σ_w² = 0.2, σ_B² = 4)" in text
    assert "our own derivation" in text
    # between what is about runs and what is about the whole
    assert text.index('<section id="detail"') < text.index('<section id="copy-head"') < text.index('id="integrity"')


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_the_section_is_drawn(
    browser: "playwright.Browser", with_lab: Store, tmp_path: Path, width: int, scheme: str
) -> None:
    out = report.write(with_lab, tmp_path / "r.html", beside=stored.sections([with_lab]))
    found = opened(browser, out, "copy-head", viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert found.page.locator("#copy-head .plot").count() == 2
    for i in (1, 2):
        found.draw(f"#copy-head .plot[data-name=copy-head-landscape-{i}]")
        assert found.page.locator(f"[data-name=copy-head-landscape-{i}] .main-svg").count() > 0
    assert found.page.locator("#copy-head canvas").count() > 0  # the surface
    assert found.width() == (width, width)
    # the surface is drawn without a graphics card here, which browsers warn of
    assert [said for said in found.said if not said.startswith("warning: ")] == []
    found.page.context.close()
