"""Simultaneous intervals, the verdict "causal", controls: true values known by construction."""

import numpy as np
import pytest

from interp import claims, patching, ranking
from interp.values import Direction, Prompt, PromptSet


def null_effects(random: np.random.Generator, kind: str, n: int, heads: int) -> np.ndarray:
    """Δp of true mean 0, heads correlated through the prompt: normal, heavy-tailed or skewed."""
    shared, own = random.standard_normal((2, n, heads))
    z = 0.6 * shared[:, :1] + 0.8 * own
    if kind == "heavy":
        z = z * np.sqrt(4 / random.chisquare(4, (n, 1)))
    if kind == "skewed":
        z = np.exp(0.5 * z) - np.exp(0.125)
    return 0.05 * z.reshape(n, 1, heads)


@pytest.mark.parametrize("kind", ["normal", "heavy", "skewed"])
@pytest.mark.parametrize(("n", "heads"), [(32, 12), (64, 96)])
def test_at_most_one_null_family_in_twenty_has_a_claim(kind: str, n: int, heads: int) -> None:
    random, families, false = np.random.default_rng(0), 300, 0
    for _ in range(families):
        delta_p = null_effects(random, kind, n, heads)
        low, high = ranking.simultaneous(delta_p, resamples=400)
        known = claims.Evidence(Direction.DENOISING, delta_p.mean(0), low, high, gap=0.01)
        false += bool(known.candidates().any())
    # 300 families at a true rate of 5 %: 15 ± 3.8
    assert false / families <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / families)


def test_simultaneous_intervals_are_wider_than_pointwise_ones_and_hold_together() -> None:
    random, hits = np.random.default_rng(1), 0
    truth = np.linspace(-0.1, 0.1, 20).reshape(1, 20)
    for _ in range(200):
        delta_p = truth + null_effects(random, "normal", 48, 20)
        low, high = ranking.simultaneous(delta_p, resamples=400)
        order = ranking.rank_heads(delta_p, Direction.DENOISING, resamples=400)
        assert (high - low > order.high - order.low).all()
        hits += bool(((low <= truth) & (truth <= high)).all())
    assert hits / 200 >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 200)


def test_one_prompt_and_heads_without_spread_make_no_interval() -> None:
    one = np.full((1, 2, 2), 0.3)
    assert np.isnan(ranking.simultaneous(one)[0]).all()
    known = claims.Evidence(Direction.DENOISING, one[0], *ranking.simultaneous(one), gap=0.5)
    assert not known.candidates().any()
    still = np.zeros((8, 1, 2))
    still[:, 0, 1] = np.linspace(0.1, 0.2, 8)
    low, high = ranking.simultaneous(still)
    assert low[0, 0] == high[0, 0] == 0
    assert low[0, 1] > 0


def grid(*values: float) -> np.ndarray:
    return np.array([values])


@pytest.mark.parametrize("direction", list(Direction))
def test_each_condition_can_deny_the_claim(direction: Direction) -> None:
    sign = 1 if direction is Direction.DENOISING else -1
    # right; wrong sign; interval touches 0; below 5 % of the gap; no better than the permuted control; no control
    mean = sign * grid(0.2, -0.2, 0.2, 0.02, 0.2, 0.2)
    half = grid(0.1, 0.1, 0.25, 0.01, 0.1, 0.1)
    known = claims.Evidence(direction, mean, mean - half, mean + half, gap=sign * 0.6)
    permuted = sign * grid(0.05, 0.05, 0.05, 0.01, 0.3, np.nan)
    assert known.causal(permuted).tolist() == [[True, False, False, False, False, False]]
    none = claims.Evidence(direction, mean, mean - half, mean + half, gap=np.nan)
    assert not none.causal(permuted).any()


def test_controls_are_of_the_head_itself_in_denoising_and_of_others_in_noising() -> None:
    own = {(0, 1): np.linspace(0, 1, 21)}
    others = {(0, 0): np.linspace(-1, 0, 21), (1, 0): np.linspace(-1, 0, 21)}
    found = claims.permuted_95(Direction.DENOISING, (2, 2), own, others)
    assert found[0, 1] == pytest.approx(0.95)
    assert np.isnan(found).sum() == 3
    assert claims.permuted_95(Direction.NOISING, (2, 2), own, others)[0, 1] == pytest.approx(-0.95)
    assert np.isnan(claims.permuted_95(Direction.NOISING, (2, 2), own, {})).all()


def prompts(*layouts: str, length: int = 4) -> PromptSet:
    made = tuple(Prompt("", (1, *range(2, length), i), i, None, layout) for i, layout in enumerate(layouts))
    return PromptSet("t", 1, "effect", 0.5, 0.0, made, "none", True)


def causal_patterns(n: int, length: int = 4) -> "patching.Patterns":
    import torch

    torch.manual_seed(0)
    given = torch.rand(2, n, 3, length, length).tril()
    return (given / given.sum(-1, keepdim=True),)


def test_permuted_rows_keep_their_weights_and_see_no_future() -> None:
    (given,) = donor = causal_patterns(3, 5)
    (shuffled,) = patching.permuted(donor, seed=1)
    assert float(shuffled.triu(1).abs().max()) == 0
    assert (shuffled.sort(-1).values == given.sort(-1).values).all()
    assert (shuffled != given).any(-1)[
        ...,
        2:,
    ].float().mean() > 0.5
    assert (patching.permuted(donor, seed=2)[0] != shuffled).any()
    assert (patching.permuted(donor, seed=1)[0] == shuffled).all()


def test_mismatched_patterns_come_from_another_layout_and_are_absent_where_there_is_none() -> None:
    (given,) = donor = causal_patterns(4)
    asked = prompts("a", "b", "a", "b")
    some, (found,) = patching.mismatched(asked, donor)
    assert some == asked
    for i, layout in enumerate("abab"):
        assert any((found[:, i] == given[:, j]).all() for j, other in enumerate("abab") if other != layout)
    some, found = patching.mismatched(prompts("a", "a", "a", "a"), donor)
    assert len(some) == 0
    assert found == ()
