"""Curves whose crossings are known by arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from interp.curves import Onset, Outcomes, curve, onsets, rise

STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
X = np.log2(STEPS)
# a few operations in double precision on numbers below 20
EXACT = 1e-12
any_speed = settings(deadline=None)


def of_margins(steps: tuple[int, ...], margin: np.ndarray) -> Outcomes:
    """Outcomes of a choice between two tokens: p is the logistic function of the margin."""
    p = 1 / (1 + np.exp(-margin))
    return Outcomes(steps, p, np.log(p), margin, margin > 0)


def by_measure(outcomes: Outcomes, resamples: int = 500) -> dict[str, Onset]:
    return {one.measure: one for one in onsets(outcomes, resamples)}


def test_a_line_over_log_step_takes_eight_tenths_of_its_length() -> None:
    # from 0 at step 1 to 10 at step 1024: 10 % at one doubling, 90 % at nine
    found = rise(STEPS, X[None])
    assert (found.low[0], found.middle[0], found.high[0]) == (1, 5, 9)
    assert found.doublings[0] == 8
    # 10 % is reached at step 2 itself, so after step 1; 90 % at step 512, so after step 256
    assert (found.at_least[0], found.at_most[0]) == (7, 9)


@any_speed
@given(st.floats(3, 9), st.floats(0.1, 9), st.floats(-3, 3), st.floats(0.01, 5))
def test_a_logistic_curve_on_a_fine_grid_takes_what_its_formula_says(
    middle: float, width: float, base: float, height: float
) -> None:
    steps = tuple(range(1, 20_000, 1))
    x = np.log2(steps)
    values = base + height * expit((x - middle) * 20 / width)
    # its ends are cut, so take the levels from the curve as it is evaluated
    first, final = values[0], values[-1]
    levels = [(first + part * (final - first) - base) / height for part in (0.1, 0.9)]
    expected = [middle + width / 20 * np.log(level / (1 - level)) for level in levels]
    found = rise(steps, values[None])
    # between neighbouring steps the curve is taken as straight; the widest intervals are the first ones
    if expected[0] > 5:
        assert (found.low[0], found.high[0]) == pytest.approx(expected, abs=0.05)
    assert found.at_least[0] - 1e-9 <= expected[1] - expected[0] <= found.at_most[0] + 1e-9


def test_a_jump_within_one_interval_can_only_be_bounded() -> None:
    margin = np.where(X[:, None] >= 5, 3.0, -3.0) + np.linspace(-0.1, 0.1, 20)
    for name, one in by_measure(of_margins(STEPS, margin)).items():
        assert (one.verdict, one.at_least, one.at_most) == ("coarse", 0, 1), name
        assert np.isnan([one.doublings, one.doublings_low, one.doublings_high]).all()
        assert (one.jump_from, one.jump_to) == (16, 32)
        assert one.jump == pytest.approx(1, abs=EXACT)
        assert not one.artefact


def test_a_rise_that_begins_at_step_0_has_no_upper_bound() -> None:
    # a quarter of the rise lies before step 16: 10 % is passed somewhere between 0 and 16; 90 % between 64 and 128
    margin = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])[:, None] + np.zeros(8)
    one = by_measure(of_margins((0, 16, 64, 128, 256), margin))["margin"]
    assert (one.verdict, one.at_least) == ("coarse", 3)  # from 16 to 128; 90 % comes after 128
    assert np.isnan(one.at_most)
    assert np.isnan([one.low_step, one.doublings]).all()


def test_a_flicker_that_dies_away_is_no_part_of_the_rise() -> None:
    values = np.array([0, 0, 0.5, 0, 0, 0, 0.2, 0.9, 1, 1, 1.0])
    found = rise(STEPS, values[None])
    # 10 % is last crossed halfway from step 32 to 64, 90 % at step 128
    assert (found.low[0], found.high[0]) == pytest.approx((5.5, 7), abs=EXACT)
    assert not found.coarse[0]


def test_what_falls_after_its_rise_still_rose_where_it_first_got_there() -> None:
    values = np.array([0, 0, 0, 0, 0.5, 1.4, 0.6, 1.2, 0.7, 1.1, 1.0])
    assert rise(STEPS, values[None]).high[0] == pytest.approx(4 + 4 / 9, abs=EXACT)


def test_a_threshold_artefact_shows() -> None:
    # every margin climbs evenly over all ten doublings, and crosses 0 within .8 of one doubling in the middle
    crossing = np.linspace(4.6, 5.4, 81)
    found = by_measure(of_margins(STEPS, X[:, None] - crossing))
    assert found["margin"].doublings == pytest.approx(8, abs=EXACT)
    # none is solved at step 16, half (but for the tie at the middle) at step 32, all at step 64
    assert (found["share"].at_least, found["share"].at_most) == (0, 2)
    # 10 and 90 % are reached at steps 2 and 512 themselves, so that rounding moves a bound by one doubling at most
    assert found["share"].excess == pytest.approx(7 - 2, abs=1)
    assert found["share"].excess_low >= 4
    assert found["share"].artefact
    assert not found["margin"].artefact


def test_where_the_margin_jumps_too_there_is_no_artefact() -> None:
    noise = np.random.default_rng(0).normal(size=(len(X), 64))
    found = by_measure(of_margins(STEPS, np.select([X < 5, X < 7], [-4.0, 0.0], 4.0)[:, None] + noise))
    assert found["share"].verdict == "measured"
    assert not any(one.artefact for one in found.values())


def test_nothing_is_said_where_nothing_rises() -> None:
    noise = np.random.default_rng(0).normal(size=(len(X), 64))
    for one in onsets(of_margins(STEPS, noise - 8), 500):
        assert one.verdict == "no rise"
        assert np.isnan([one.doublings, one.at_least, one.at_most, one.low_step]).all()
        assert not one.artefact
    falling = by_measure(of_margins(STEPS, -X[:, None] + np.zeros(4)))
    assert {one.verdict for one in falling.values()} == {"no rise"}


def test_prompts_are_solved_for_good_from_a_step_on() -> None:
    solved = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    outcomes = of_margins((0, 10, 20, 40), np.where(solved, 1.0, -1.0))
    assert outcomes.lasting_steps() == (10, 0, 20, 40)
    assert of_margins((0, 10), np.array([[1.0, -1], [-1, -1]])).lasting_steps() == (None, None)
    assert outcomes.lasting.mean(1).tolist() == [0.25, 0.5, 0.75, 1]


def test_the_spread_of_prompts_is_told_apart_from_the_rise_of_the_mean() -> None:
    # each prompt jumps, at steps spread evenly over eight doublings
    places = np.repeat(np.arange(1, 9), 8)
    margin = np.where(X[:, None] >= places, 2.0, -2.0)
    found = by_measure(of_margins(STEPS, margin))
    # an eighth of the prompts at each of steps 2 … 256: 10 % at .8 of the first doubling, 90 % at 7 + .2 of the next
    assert found["lasting"].doublings == pytest.approx(7.2 - 0.8, abs=EXACT)
    assert found["lasting"].doublings_low < 6.4 < found["lasting"].doublings_high


def test_intervals_of_a_curve_are_wilsons_and_those_of_a_mean() -> None:
    random = np.random.default_rng(1)
    margin = random.normal(size=(3, 200)) + np.array([[-1.0], [0], [2]])
    table = curve(of_margins((1, 2, 4), margin), resamples=4000)
    n, z = 200, 1.959963984540054
    for row, values in zip(table.to_dict("records"), margin, strict=True):
        share = (values > 0).mean()
        half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        assert (row["share_low"], row["share_high"]) == pytest.approx((centre - half, centre + half), abs=1e-9)
        error = values.std() / np.sqrt(n)
        # an end of a bootstrap interval of 4000 draws has an error of about .04 standard errors of the mean
        assert (row["margin_low"], row["margin_high"]) == pytest.approx(
            (values.mean() - z * error, values.mean() + z * error), abs=0.2 * error
        )
        assert row["p_low"] < row["p"] < row["p_high"]


def test_one_prompt_has_no_interval_over_prompts() -> None:
    outcomes = of_margins(STEPS, (X - 5)[:, None])
    assert curve(outcomes)[["p_low", "p_high", "margin_low", "margin_high"]].isna().all(axis=None)
    found = by_measure(outcomes)
    assert found["margin"].doublings == pytest.approx(8, abs=EXACT)
    assert np.isnan([found["margin"].doublings_low, found["p"].excess_low]).all()
    assert not found["share"].artefact
