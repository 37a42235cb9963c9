"""Numbers, tokens and anchors as they are written."""

import math

import pytest

from interp.report import formats
from interp.values import RunId


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.9724, ".972"), (1.0, "1.000"), (0.0, ".000"), (-0.154, "−.154"), (-0.0001, ".000"), (math.nan, "–")],
)
def test_a_probability_has_three_digits(value: float, written: str):
    assert formats.probability(value) == written


@pytest.mark.parametrize(("value", "written"), [(0.098, "+.098"), (-0.098, "−.098"), (0.0, ".000"), (1.25, "+1.250")])
def test_a_difference_has_its_sign(value: float, written: str):
    assert formats.signed(value) == written


def test_steps_have_separators_and_spans_name_one_step_once():
    assert formats.step(143000) == "143,000"
    assert formats.span([750, 750]) == "750"
    assert formats.span([2100, 750]) == "750 to 2,100"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("nul\x00", "nul⟨U+0000⟩"),
        ("\n", "⏎"),
        ("\ud800", "⟨U+D800⟩"),
        ("👩‍🔬", "👩‍🔬"),
        ("é ش", "é ش"),
    ],
)
def test_nothing_unseen_is_left(text: str, shown: str):
    assert formats.visible(text) == shown


def test_a_token_shows_its_spaces_and_an_empty_one_is_named():
    assert formats.piece(" fox") == "␣fox"
    assert formats.piece("") == "⟨empty⟩"


def test_a_label_of_a_plot_is_not_read_as_markup():
    assert formats.plotted("<b>&lt;") == "&lt;b&gt;&amp;lt;"


def test_an_anchor_is_plain():
    assert formats.run_slug(RunId("nano-3l", 1)) == "nano-3l-seed1"
    assert formats.run_slug(RunId("EleutherAI/pythia-70m", None)) == "eleutherai-pythia-70m"
    assert formats.slug("<>") == "x"
