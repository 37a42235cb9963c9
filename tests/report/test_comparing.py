"""Two stores side by side: differences whose values are known."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from interp import report
from interp.report.comparing import words
from interp.report.comparing.matching import Comparison, compare, difference, grid_changes, shift, unlike
from interp.report.tables import read
from interp.store import Store
from interp.values import Direction, Head, InputError
from tests.report import synthetic
from tests.report.synthetic import Plan, Suite

DEN = Direction.DENOISING
EARLY, LATE = Plan("emerged", 600, ("L1H0", "L0H1"), 0.4), Plan("emerged", 1200, ("L1H0", "L0H1"), 0.3)


def suite(name: str = "tiny", **plans: Plan) -> Suite:
    return Suite(name, 2, 2, {task: {0: plan} for task, plan in plans.items()}, prompts=8)


def of(tmp_path: Path, first: Suite, second: Suite) -> Comparison:
    stores = (synthetic.write(tmp_path / "before", first), synthetic.write(tmp_path / "after", second))
    return compare(("before", "after"), read([stores[0]]), read([stores[1]]))


def test_emergence_differs_by_what_both_brackets_allow(tmp_path: Path):
    found = of(tmp_path, suite(a=EARLY, b=EARLY, c=EARLY), suite(a=LATE, b=EARLY, c=Plan("censored")))
    by_task = {one.task: shift(one) for one in found.matched}
    later = by_task["a"]
    assert later is not None
    # (450, 600] and (1050, 1200]: at least 1050 − 600, at most 1200 − 450
    assert (later.low, later.high) == (450, 750)
    assert later.doublings == pytest.approx(1)
    same = by_task["b"]
    assert same is not None
    assert (same.low, same.high, same.sure) == (-150, 150, False)
    open_end = by_task["c"]
    assert open_end is not None
    assert (open_end.low, open_end.high) == (3000 - 600, math.inf)
    assert words.answer(found)[0] == (
        "The stores “before” and “after” share 3 run–task pairs: in “after” the task surely emerges earlier in 0, "
        "surely later in 2, and in 1 the brackets overlap; in the median the first passing step is 1.41 times as late."
    )


def test_nothing_that_emerged_in_neither_is_compared(tmp_path: Path):
    found = of(
        tmp_path, suite(a=Plan("censored"), b=Plan("from_start")), suite(a=Plan("censored"), b=Plan("from_start"))
    )
    assert [shift(one) for one in found.matched] == [None, None]


def test_effects_on_the_same_prompts_are_paired(tmp_path: Path):
    found = of(tmp_path, suite(a=EARLY), suite(a=replace(EARLY, effect=0.3)))
    only = found.matched[0]
    assert only.same_heads
    # both stores have the same noise prompt by prompt, so that the difference of .1 has no spread
    assert difference(only, DEN, Head(1, 0)) == pytest.approx((-0.1, -0.1, -0.1))
    assert grid_changes(only)[DEN][1, 0] == pytest.approx(-0.1)
    assert "Δp changes most for L1H0 on a in tiny/seed0, by −.100" in words.answer(found)[1]


def test_effects_on_other_prompts_have_welchs_interval(tmp_path: Path):
    found = of(tmp_path, suite(a=EARLY), replace(suite(a=replace(EARLY, effect=0.3)), asked="other prompts"))
    only = found.matched[0]
    mean, low, high = difference(only, DEN, Head(1, 0))
    one, two = (pair.samples[DEN][:, 1, 0] for pair in (only.first, only.second))
    error = np.sqrt(one.var(ddof=1) / 8 + two.var(ddof=1) / 8)
    assert mean == pytest.approx(-0.1)
    # equal variances and sizes: 2 · (8 − 1) degrees of freedom, whose 97.5 % quantile is 2.1448
    assert high - mean == pytest.approx(mean - low) == pytest.approx(2.1448 * error, rel=1e-4)
    assert list(unlike(only)) == ["effect prompts"]


def test_two_suites_are_matched_by_seed_and_their_heads_not_subtracted(tmp_path: Path):
    found = of(tmp_path, suite("small", a=EARLY), suite("large", a=LATE))
    assert [one.name for one in found.matched] == ["small/seed0 and large/seed0 · a"]
    assert not found.matched[0].same_heads
    assert grid_changes(found.matched[0]) == {}
    assert "side by side by rank, and not subtracted" in words.answer(found)[1]


def test_what_only_one_store_has_is_said(tmp_path: Path):
    first = synthetic.write(tmp_path / "before", suite(a=EARLY, b=EARLY))
    second = synthetic.write(tmp_path / "after", suite(a=LATE))
    text = report.compare(first, second, tmp_path / "c.html").read_text("utf-8")
    assert "Only in before: tiny/seed0 · b." in text
    assert "+450 to +750" in text
    row = re.findall(r'<tr id="run-tiny-seed0-a-L1H0-denoising" class="marked">(.*?)</tr>', text)
    assert "<td>−.100 [−.100, −.100]</td>" in row[0]


def test_a_store_is_not_compared_with_itself(tmp_path: Path):
    store = synthetic.write(tmp_path, suite(a=EARLY))
    with pytest.raises(InputError, match="both stores are"):
        report.compare(store, Store(tmp_path / "." / ""), tmp_path / "c.html")
