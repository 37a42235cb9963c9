"""The report in a real browser: drawn from one file, quiet, usable at 320 and 1440 px, in light and dark."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from interp import report
from interp.store import Store
from tests.report import synthetic
from tests.report.synthetic import Plan

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
STRING = "run-nano-3l-seed1-string"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS), headless=True)
        yield opened
        opened.close()


@dataclass
class Opened:
    """A page, and what it said and asked for."""

    page: playwright.Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def draw(self, selector: str) -> None:
        """Bring a figure into view and wait until it is drawn."""
        self.page.locator(selector).first.scroll_into_view_if_needed()
        self.page.wait_for_selector(f"{selector}[data-state=drawn]")

    def width(self) -> tuple[int, int]:
        return tuple(self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]"))


def opened(
    browser: playwright.Browser, path: Path, anchor: str = "", wait: str = "domcontentloaded", **settings: object
) -> Opened:
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **settings})
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.said.append(f"{message.type}: {message.text}"))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(path.as_uri() + (f"#{anchor}" if anchor else ""), wait_until=wait)
    return found


@pytest.fixture
def report_page(browser: playwright.Browser, nano_page: Path) -> Iterator[Opened]:
    found = opened(browser, nano_page)
    yield found
    found.page.context.close()


@pytest.fixture
def at_string(browser: playwright.Browser, nano_page: Path) -> Iterator[Opened]:
    found = opened(browser, nano_page, STRING)
    yield found
    found.page.context.close()


def test_every_figure_is_drawn_without_an_error_or_a_request(at_string: Opened, nano_page: Path):
    at_string.draw(".plot[data-name=overview]")
    figures = at_string.page.locator(f"#{STRING} .plot:visible")
    # curve, two grids, heads, two joint patches, recipients, one head's pattern at both ends, training
    assert figures.count() == 10
    for name in [figures.nth(i).get_attribute("data-name") for i in range(figures.count())]:
        at_string.draw(f"#{STRING} .plot[data-name='{name}']")
        assert at_string.page.locator(f"#{STRING} .plot[data-name='{name}'] .main-svg").count() > 0
    assert at_string.said == []
    assert {url.split("#")[0] for url in at_string.asked if not url.startswith(("data:", "blob:"))} == {
        nano_page.as_uri()
    }


def test_figures_are_drawn_when_their_run_and_task_is_opened(report_page: Opened):
    # all of those that are open, though nobody scrolled, so that a picture of the whole page has them
    opened_one = "[...document.querySelectorAll('.plot')].filter(e => e.offsetParent)"
    report_page.page.wait_for_load_state("load")
    assert report_page.page.evaluate(f"{opened_one}.every(e => e.dataset.state === 'drawn')")
    assert (
        report_page.page.evaluate(f"{opened_one}.length") == 12
    )  # ten of the run and task, the brackets, and the survival curves of one task
    assert report_page.page.locator(".pair:not(.open) .plot[data-state]").count() == 0
    paint = report_page.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < 1500


def test_tabs_and_select_choose_a_run_and_a_task(report_page: Opened):
    page = report_page.page
    # what the answer names is open at first
    (begun,) = page.locator(".pair:visible").all()
    run, task = begun.get_attribute("data-run"), begun.get_attribute("data-task")
    assert f"on {task} in {run}" in page.locator("#answer").inner_text()
    page.click(".chooser [data-task=ioi]")
    page.select_option("#run", "nano-3l/seed2")
    assert page.locator(".pair:visible").get_attribute("id") == "run-nano-3l-seed2-ioi"
    assert page.evaluate("location.hash") == "#run-nano-3l-seed2-ioi"
    assert set(page.locator(".prompts:visible").evaluate_all("all => all.map(e => e.dataset.task)")) == {"ioi"}
    page.check("#every")
    assert page.locator(".pair:visible").count() == 12


def test_links_lead_to_a_run_a_task_and_a_head(at_string: Opened):
    page = at_string.page
    assert page.locator(".pair:visible").get_attribute("id") == STRING  # the file was opened with this anchor
    for anchor, shown in (
        ("run-nano-3l-seed2", "run-nano-3l-seed2-string"),
        ("task-ledger", "run-nano-3l-seed0-ledger"),
        (f"{STRING}-L1H2", STRING),
        (f"{STRING}-L1H2-pattern", STRING),
    ):
        page.evaluate(f"location.hash = '{anchor}'")
        page.locator(f"#{shown}").wait_for()
        assert page.locator(".pair:visible").get_attribute("id") == shown
        if not anchor.startswith("task-"):
            assert page.locator(f"#{anchor}").evaluate("e => e.getBoundingClientRect().top") < 900


def test_another_heads_pattern_is_chosen_by_its_tab(at_string: Opened):
    at_string.draw(f"#{STRING} .head.open .plot")
    at_string.page.click(f"[data-head='{STRING}-L1H2-pattern']")
    at_string.draw(f"#{STRING}-L1H2-pattern .plot")
    assert at_string.page.locator(f"#{STRING} .head:visible").count() == 1


def test_hovering_a_pattern_shows_its_tokens_as_text(at_string: Opened):
    selector = f"#{STRING}-L2H1-pattern .plot"
    at_string.draw(selector)
    box = at_string.page.locator(f"{selector} .heatmaplayer image").first.bounding_box()
    assert box is not None
    cell = box["width"] / 14, box["height"] / 14
    # row 1 is `<script>alert(1)</script>`, which attends to position 0
    at_string.page.mouse.move(box["x"] + 0.5 * cell[0], box["y"] + 1.5 * cell[1])
    hover = at_string.page.locator(f"{selector} .hoverlayer .hovertext")
    hover.first.wait_for()
    assert "1 <script>alert" in hover.first.text_content()
    assert "0 <|endoftext|>" in hover.first.text_content()


def test_hostile_tokens_show_as_text(at_string: Opened):
    selector = f"#{STRING}-L2H1-pattern .plot"
    at_string.draw(selector)
    labels = at_string.page.locator(f"{selector} .yaxislayer-above text").all_text_contents()
    for shown in ("1 <script>alert…", "3 </script><b>", "4 ab⟨U+202E⟩cd", "8 $x^2$", "9 &lt;", "7 %{z}"):
        assert shown in labels
    tokens = at_string.page.locator(f"#{STRING} .prompt-line bdi").all_text_contents()
    assert "<script>alert(1)</script>" in tokens
    assert "nul⟨U+0000⟩" in tokens
    assert at_string.said == []


@pytest.mark.parametrize("width", [320, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits(browser: playwright.Browser, nano_page: Path, width: int, scheme: str):
    found = opened(browser, nano_page, STRING, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for name in ("curve", "grid-denoising", "heads", "joint-noising"):
        found.draw(f"#{STRING} .plot[data-name={name}]")
    found.page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    scrolled, shown = found.width()
    assert scrolled <= shown == width
    assert found.said == []
    found.page.context.close()


def test_the_theme_is_changed_by_a_click(browser: playwright.Browser, nano_page: Path):
    found = opened(browser, nano_page, color_scheme="light")
    found.draw(".plot[data-name=overview]")
    paper = "getComputedStyle(document.body).backgroundColor"
    mark = ".plot[data-name=overview] .infolayer .xtitle, .plot[data-name=overview] .g-xtitle text"
    before = found.page.evaluate(paper), found.page.locator(mark).first.evaluate("e => getComputedStyle(e).fill")
    found.page.click("#theme")
    found.page.wait_for_function(f"{paper} !== '{before[0]}'")
    found.page.wait_for_timeout(500)
    after = found.page.evaluate(paper), found.page.locator(mark).first.evaluate("e => getComputedStyle(e).fill")
    assert before[0] != after[0]
    assert before[1] != after[1]
    found.page.context.close()


def test_without_javascript_every_run_and_table_is_shown(browser: playwright.Browser, nano_page: Path):
    found = opened(browser, nano_page, java_script_enabled=False)
    assert found.page.locator(".pair:visible").count() == 12
    assert found.page.locator(".plot:visible, .chooser:visible").count() == 0
    assert found.page.locator("noscript p").is_visible()
    assert found.page.locator(f"#{STRING}-L2H1").is_visible()
    found.page.context.close()


def test_what_is_open_is_drawn_when_the_page_has_loaded(browser: playwright.Browser, nano_page: Path):
    # so that `chromium --print-to-pdf` and a picture of the whole page have every figure
    found = opened(browser, nano_page, STRING, wait="load")
    undrawn = (
        "[...document.querySelectorAll('.plot')].filter(e => e.offsetParent && e.dataset.state !== 'drawn').length"
    )
    assert found.page.evaluate(undrawn) == 0
    found.page.context.close()


def test_everything_shown_is_drawn_on_paper_before_printing_begins(at_string: Opened):
    at_string.draw(f"#{STRING} .plot[data-name=training]")
    # a browser prints when the handlers have returned: what they leave for later is not on paper
    printed = """() => {
        dispatchEvent(new Event('beforeprint'));
        const shown = [...document.querySelectorAll('.plot')].filter(e => e.offsetParent);
        return shown.map(e => [e.dataset.name, e.querySelector('.main-svg')?.getBoundingClientRect().width ?? 0]);
    }"""
    found = dict(at_string.page.evaluate(printed))
    assert all(0 < width <= 660 for width in found.values())
    # every head's patterns, not only those of the chosen one
    assert {f"pattern-{head}-{end}" for head in ("L2H1", "L1H2") for end in ("pre", "post")} <= set(found)
    at_string.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert at_string.page.locator(f"#{STRING} .head:visible").count() == 1
    assert at_string.said == []


def test_a_task_is_chosen_in_the_survival_curves(report_page: Opened):
    report_page.page.click("[data-head=survival-ioi]")
    report_page.draw("#survival-ioi .plot")
    assert report_page.page.locator("#emergence .head:visible").get_attribute("id") == "survival-ioi"


def test_two_stores_are_drawn_side_by_side(browser: playwright.Browser, nano: Store, tmp_path: Path):
    later = Plan("emerged", 1800, ("L2H1", "L2H2"), 0.2)
    other = synthetic.write(tmp_path / "<b>other", replace(synthetic.NANO, plans={"string": {1: later}}))
    found = opened(browser, report.compare(nano, other, tmp_path / "c.html"), viewport={"width": 320, "height": 800})
    for name in ("overview", "curve", "grid-denoising-change", "joint-noising"):
        found.draw(f".plot[data-name={name}]")
    assert "“<b>other”" in found.page.locator(".answer").text_content()
    assert found.width() == (320, 320)
    assert found.said == []
    found.page.context.close()


def test_it_prints(at_string: Opened, tmp_path: Path):
    at_string.draw(f"#{STRING} .plot[data-name=curve]")
    at_string.page.evaluate("window.print = () => { window.printed = true; }")
    at_string.page.click("#print")
    at_string.page.wait_for_function("window.printed")
    at_string.page.pdf(path=tmp_path / "r.pdf", format="A4")
    assert (tmp_path / "r.pdf").stat().st_size > 50_000
    assert at_string.said == []
