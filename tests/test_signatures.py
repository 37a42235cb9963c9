"""Scores of patterns written by hand: every value is known without the code."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import interp
from interp.signatures import MASS_SCORES, PATTERN_SCORES, SCORES, Scorer, label, repeated_random, signatures
from tests.planted import HEAD, HEADS, LAYERS, PlantedRun, expected_previous_token

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

OF_REPEATS = {"induction", "duplicate_token", "a_I", "coverage_induction"}

# sums of a few dozen double-precision numbers
EXACT = 1e-12


def rows_of(length: int, source: Sequence[int]) -> torch.Tensor:
    """A pattern that puts all weight of row i on position source[i]."""
    pattern = torch.zeros(length, length, dtype=torch.float64)
    pattern[torch.arange(length), torch.tensor(source)] = 1
    return pattern


def shift(length: int) -> torch.Tensor:
    return rows_of(length, [max(i - 1, 0) for i in range(length)])


def sink(length: int) -> torch.Tensor:
    return rows_of(length, [0] * length)


def uniform(length: int) -> torch.Tensor:
    rows = [[1 / (i + 1) if j <= i else 0.0 for j in range(length)] for i in range(length)]
    return torch.tensor(rows, dtype=torch.float64)


def random_pattern(shape: tuple[int, ...], seed: int = 0) -> torch.Tensor:
    weights = torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).tril()
    return weights / weights.sum(-1, keepdim=True)


def distinct(prompts: int, length: int) -> torch.Tensor:
    return torch.arange(length).expand(prompts, length)


def scores(*samples: tuple[torch.Tensor, torch.Tensor]) -> dict[str, float]:
    """Scores of one head whose [dest, src] pattern is the same on every prompt of a sample."""
    given = [(tokens, pattern.expand(1, len(tokens), 1, *pattern.shape)) for tokens, pattern in samples]
    return {name: float(value[0, 0]) for name, value in signatures(given).value.items()}


def near(**expected: float) -> dict[str, object]:
    return {name: pytest.approx(value, abs=EXACT) for name, value in expected.items()}


def some(found: dict[str, float], *names: str) -> dict[str, float]:
    return {name: found[name] for name in names}


def test_a_pure_shift_is_previous_token() -> None:
    found = scores((distinct(3, 9), shift(9)))
    expected = near(previous_token=1, first_token=0, a_1=0, a_G=1, sink=0, coverage=1)
    assert some(found, *expected) == expected


def test_uniform_attention_is_uniform() -> None:
    found = scores((distinct(3, 9), uniform(9)))
    assert some(found, "a_1", "a_G", "sink", "coverage") == near(a_1=1, a_G=0, sink=0, coverage=1)


def test_a_sink_is_first_token_and_no_pooling() -> None:
    found = scores((distinct(3, 9), sink(9)))
    expected = near(previous_token=0, first_token=1, a_1=0, a_G=0, sink=1, coverage=1)
    assert some(found, *expected) == expected


@any_speed
@given(st.tuples(*[st.floats(0, 1)] * 3).filter(lambda weights: sum(weights) > 0.1), st.integers(3, 12))
def test_a_mixture_gives_back_its_weights(weights: tuple[float, float, float], length: int) -> None:
    a, b, c = (weight / sum(weights) for weight in weights)
    found = scores((distinct(1, length), a * uniform(length) + b * shift(length) + c * sink(length)))
    # at three tokens the basis has a condition number near 50, squared in the normal equations
    assert [found[name] for name in ("a_1", "a_G", "sink", "coverage")] == pytest.approx([a, b, c, 1], abs=1e-10)


def test_order_parameters_are_least_squares_over_all_prompts_and_lengths() -> None:
    samples = [
        (distinct(p, n), random_pattern((2, p, 3, n, n), seed)) for seed, (p, n) in enumerate([(4, 5), (3, 9), (1, 3)])
    ]
    found = signatures(samples).value
    for layer in range(2):
        for head in range(3):
            design, target = [], []
            for tokens, pattern in samples:
                n = tokens.shape[1]
                for prompt in range(len(tokens)):
                    design.append(torch.stack([b[2:].flatten() for b in (uniform(n), shift(n), sink(n))], 1))
                    target.append(pattern[layer, prompt, head, 2:].flatten())
            matrix, aim = torch.cat(design).numpy(), torch.cat(target).numpy()
            coefficients, residual, *_ = np.linalg.lstsq(matrix, aim)
            got = [found[name][layer, head] for name in ("a_1", "a_G", "sink")]
            assert got == pytest.approx(coefficients, abs=1e-10)
            assert found["coverage"][layer, head] == pytest.approx(1 - residual[0] / (aim**2).sum(), abs=1e-10)


def twice(length: int, bos: bool) -> tuple[torch.Tensor, int]:
    """Distinct tokens told twice, and the place where the second copy begins."""
    once = [10 + i for i in range(length)]
    return torch.tensor([[0] * bos + once + once]), bos + length


@pytest.mark.parametrize("bos", [True, False])
def test_an_induction_head_written_by_hand_scores_one(bos: bool) -> None:
    tokens, second = twice(6, bos)
    n = tokens.shape[1]
    # in the first copy there is nothing to continue, and the head rests on the first position
    found = scores((tokens, rows_of(n, [0 if i < second else i - 6 + 1 for i in range(n)])))
    assert some(found, "induction", "duplicate_token") == near(induction=1, duplicate_token=0)


@pytest.mark.parametrize("bos", [True, False])
def test_a_duplicate_token_head_written_by_hand_scores_one(bos: bool) -> None:
    tokens, second = twice(6, bos)
    n = tokens.shape[1]
    found = scores((tokens, rows_of(n, [0 if i < second else i - 6 for i in range(n)])))
    assert some(found, "induction", "duplicate_token") == near(induction=0, duplicate_token=1)


def by_hand(tokens: list[list[int]], pattern: torch.Tensor) -> dict[str, float]:
    """Mass scores of one head, pattern[prompt, dest, src], place by place as the definitions say."""
    gathered: dict[str, list[float]] = {name: [] for name in MASS_SCORES}
    for p, row in enumerate(tokens):
        for i in range(2, len(row)):
            places = {
                "previous_token": [i - 1],
                "first_token": [0],
                "duplicate_token": [j for j in range(i) if row[j] == row[i]],
                "induction": [j + 1 for j in range(i - 1) if row[j] == row[i]],
            }
            for name, sources in places.items():
                if sources:
                    gathered[name].append(sum(float(pattern[p, i, j]) for j in sources))
    return {name: float(np.mean(values)) if values else float("nan") for name, values in gathered.items()}


@any_speed
@given(st.integers(3, 9).flatmap(lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1)))
def test_mass_scores_are_what_a_sum_over_places_gives(tokens: list[list[int]]) -> None:
    n = len(tokens[0])
    pattern = random_pattern((1, len(tokens), 1, n, n))
    found = signatures([(torch.tensor(tokens), pattern)])
    expected = by_hand(tokens, pattern[0, :, 0])
    flat = by_hand(tokens, uniform(n).expand(len(tokens), n, n))
    for name in MASS_SCORES:
        assert float(found.value[name][0, 0]) == pytest.approx(expected[name], abs=EXACT, nan_ok=True)
        assert found.uniform[name] == pytest.approx(flat[name], abs=EXACT, nan_ok=True)


def test_scores_of_uniform_attention_stand_beside() -> None:
    tokens, second = twice(6, True)
    n = tokens.shape[1]
    found = signatures([(tokens, random_pattern((1, 1, 1, n, n)))]).uniform
    assert found["previous_token"] == pytest.approx(np.mean([1 / (i + 1) for i in range(2, n)]), abs=EXACT)
    assert found["first_token"] == pytest.approx(np.mean([1 / (i + 1) for i in range(2, n)]), abs=EXACT)
    assert found["induction"] == pytest.approx(np.mean([1 / (i + 1) for i in range(second, n)]), abs=EXACT)
    assert found["duplicate_token"] == pytest.approx(np.mean([1 / (i + 1) for i in range(second, n)]), abs=EXACT)
    assert some(found, "a_1", "a_G", "sink", "coverage") == near(a_1=1, a_G=0, sink=0, coverage=1)


def test_the_first_two_rows_count_for_nothing() -> None:
    tokens = torch.tensor([[5, 5, 5, 6, 5, 6]])
    pattern = random_pattern((2, 1, 3, 6, 6))
    other = pattern.clone()
    other[..., :2, :] = 0
    other[..., 0, 0] = other[..., 1, 1] = 1
    assert not torch.equal(pattern, other)
    one, same = signatures([(tokens, pattern)]).value, signatures([(tokens, other)]).value
    assert all(np.array_equal(one[name], same[name]) for name in PATTERN_SCORES)


def test_without_a_repeated_token_nothing_is_said_of_repeats() -> None:
    found = signatures([(distinct(2, 6), random_pattern((2, 2, 3, 6, 6)))])
    for name in OF_REPEATS:
        assert np.isnan(found.value[name]).all()
        assert np.isnan(found.uniform[name])
    assert all(np.isfinite(found.value[name]).all() for name in set(PATTERN_SCORES) - OF_REPEATS)


def test_lengths_are_pooled_by_rows() -> None:
    # 3 prompts × 2 counted rows of a shift, and 2 prompts × 7 of a sink: 6 of 20 rows, 14 of 20
    found = scores((distinct(3, 4), shift(4)), (distinct(2, 9), sink(9)))
    assert some(found, "previous_token", "first_token") == near(previous_token=6 / 20, first_token=14 / 20)


def test_heads_and_layers_keep_their_places() -> None:
    pattern = torch.stack([shift(7), sink(7), uniform(7), uniform(7), sink(7), shift(7)]).reshape(2, 1, 3, 7, 7)
    found = signatures([(distinct(1, 7), pattern)]).value
    flat = np.mean([1 / (i + 1) for i in range(2, 7)])
    assert found["previous_token"] == pytest.approx(np.array([[1, 0, flat], [flat, 0, 1]]), abs=EXACT)
    assert found["sink"] == pytest.approx(np.array([[0, 1, 0], [0, 1, 0]]), abs=EXACT)


def test_entropy_is_in_nats_and_beside_that_of_uniform_attention() -> None:
    # each row spreads evenly over its first two positions: ln 2, where uniform has ln of the row's number
    pattern = torch.zeros(6, 6, dtype=torch.float64)
    pattern[:, :2] = 0.5
    found = scores((distinct(2, 6), pattern))
    expected = near(entropy=np.log(2), entropy_ratio=4 * np.log(2) / np.log([3, 4, 5, 6]).sum())
    assert some(found, *expected) == expected
    assert some(scores((distinct(2, 6), uniform(6))), "entropy_ratio") == near(entropy_ratio=1)
    assert some(scores((distinct(2, 6), sink(6))), "entropy", "entropy_ratio") == near(entropy=0, entropy_ratio=0)


def test_uniform_is_the_part_shared_with_uniform_attention() -> None:
    assert some(scores((distinct(1, 6), uniform(6))), "uniform") == near(uniform=1)
    # all weight on one of n positions shares 1/n
    assert some(scores((distinct(1, 6), shift(6))), "uniform") == near(uniform=np.mean([1 / 3, 1 / 4, 1 / 5, 1 / 6]))
    # half uniform, half on the first: shares ½ everywhere and a further ½ · 1/n on the first
    half = 0.5 * uniform(6) + 0.5 * sink(6)
    expected = 0.5 + 0.5 * np.mean([1 / 3, 1 / 4, 1 / 5, 1 / 6])
    assert some(scores((distinct(1, 6), half)), "uniform") == near(uniform=expected)


@any_speed
@given(st.tuples(*[st.floats(0, 1)] * 3).filter(lambda weights: sum(weights) > 0.1), st.booleans())
def test_a_mixture_with_induction_gives_back_its_weights(weights: tuple[float, float, float], bos: bool) -> None:
    tokens, second = twice(6, bos)
    n = tokens.shape[1]
    a, b, c = (weight / sum(weights) for weight in weights)
    induction = rows_of(n, [0 if i < second else i - 6 + 1 for i in range(n)])
    found = scores((tokens, a * uniform(n) + b * induction + c * sink(n)))
    assert some(found, "a_I", "coverage_induction") == {
        "a_I": pytest.approx(b, abs=1e-10), "coverage_induction": pytest.approx(1, abs=1e-10)
    }  # fmt: skip


def test_an_induction_head_that_rests_elsewhere_at_first_is_still_covered() -> None:
    # rows without an induction source do not count: in the first copy the head looks at the previous token
    tokens, second = twice(6, True)
    n = tokens.shape[1]
    found = scores((tokens, rows_of(n, [max(i - 1, 0) if i < second else i - 5 for i in range(n)])))
    assert some(found, "a_I", "coverage_induction") == near(a_I=1, coverage_induction=1)


def test_random_attention_is_covered_as_its_distribution_says() -> None:
    # a row drawn evenly from the simplex of n has mean 1/n everywhere and a mean square of 2 / (n (n + 1)): uniform
    # attention explains Σ 1/n of Σ 2/(n + 1) over rows, and the other coefficients have expectation 0
    tokens = repeated_random(range(40), 0, lengths=(6, 12), each=64)
    found = Scorer(tokens).random
    rows = np.array([i + 1 for one in tokens for i in range(2, one.shape[1])])
    # 16 heads × 64 prompts × 34 rows: a standard error of a few thousandths
    assert found["coverage"] == pytest.approx((1 / rows).sum() / (2 / (rows + 1)).sum(), abs=0.01)
    assert found["a_1"] == pytest.approx(1, abs=0.02)
    assert (found["a_G"], found["sink"]) == pytest.approx((0, 0), abs=0.02)
    assert found["previous_token"] == pytest.approx((1 / rows).mean(), abs=0.01)
    repeats = np.array([i + 1 for one in tokens for i in range((one.shape[1] + 1) // 2, one.shape[1])])
    assert found["coverage_induction"] == pytest.approx((1 / repeats).sum() / (2 / (repeats + 1)).sum(), abs=0.01)


def test_a_scorer_serves_many_models() -> None:
    tokens = [distinct(2, 6), distinct(3, 8)]
    score = Scorer(tokens)
    for seed in (0, 1):
        patterns = [random_pattern((2, len(one), 3, one.shape[1], one.shape[1]), seed) for one in tokens]
        own = signatures(zip(tokens, patterns, strict=True))
        again = score(patterns)
        assert all(np.array_equal(own.value[name], again.value[name], equal_nan=True) for name in PATTERN_SCORES)
        assert own.random.keys() == again.uniform.keys() == set(PATTERN_SCORES)


BASE = dict.fromkeys(SCORES, 0.0)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"previous_token": 0.9}, "previous-token"),
        ({"induction": 0.9}, "induction"),
        ({"first_token": 0.9}, "first-token"),
        ({"previous_token": 0.4}, "previous-token"),
        ({"previous_token": 0.39}, "none"),
        ({"previous_token": 0.6, "first_token": 0.4}, "previous-token"),  # 1.5 times the other
        ({"previous_token": 0.5, "first_token": 0.4}, "mixed"),  # 1.25 times
        ({"previous_token": 0.45, "first_token": 0.35}, "mixed"),  # a runner-up counts below .4 too
        ({"a_1": 0.9, "coverage": 0.9}, "uniform"),
        ({"a_1": 0.6, "coverage": 0.6}, "uniform"),
        ({"a_1": 0.9, "coverage": 0.5}, "none"),
        ({"a_1": 0.5, "coverage": 0.9}, "none"),
        ({"a_1": 0.9, "coverage": 0.9, "previous_token": 0.5}, "previous-token"),
        ({"induction": float("nan"), "previous_token": 0.8}, "previous-token"),
        ({"induction": float("nan"), "a_1": 0.8, "coverage": 0.8}, "uniform"),
        ({"sink": 0.9}, "none"),
        ({}, "none"),
    ],
)
def test_labels(given: dict[str, float], word: str) -> None:
    assert label(BASE | given) == word


@pytest.mark.parametrize("bos", [None, 3])
def test_random_tokens_are_told_twice_with_no_bos_inside(bos: int | None) -> None:
    made = repeated_random(range(40), bos, lengths=(6, 12, 20), each=8)
    assert [tuple(tokens.shape) for tokens in made] == [(8, (bos is not None) + 2 * n) for n in (6, 12, 20)]
    for tokens in made:
        body = tokens if bos is None else tokens[:, 1:]
        if bos is not None:
            assert (tokens[:, 0] == bos).all()
        half = body.shape[1] // 2
        assert torch.equal(body[:, :half], body[:, half:])
        assert all(len(set(row[:half].tolist())) == half for row in body)
        assert set(body.flatten().tolist()) <= set(range(40)) - {bos}
        assert len({tuple(row.tolist()) for row in body}) == 8


def test_random_tokens_are_the_same_for_a_seed_and_any_order_of_the_vocabulary() -> None:
    one, same, other = (
        repeated_random(vocab, 0, seed=seed) for vocab, seed in ((range(50), 1), (range(49, -1, -1), 1), (range(50), 2))
    )
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_planted_head_has_the_score_that_its_formula_gives(planted: PlantedRun) -> None:
    run = interp.suite(planted.folder).run(0)
    samples = repeated_random(range(2, 16), 0, lengths=(6, 12))
    for step, expected in (
        (planted.planted_at, [expected_previous_token(i) for n in (13, 25) for i in range(2, n)]),
        (planted.failing, [1 / (i + 1) for n in (13, 25) for i in range(2, n)]),
    ):
        model = interp.load(run.at(step))
        value = signatures([(tokens, model.patterns(tokens)) for tokens in samples]).value
        # biases are stored in half precision (2⁻¹¹), which moves scores of size 100 by about .01 and the few per cent
        # of attention that go elsewhere by about 1 % of themselves
        assert value["previous_token"][HEAD.layer, HEAD.head] == pytest.approx(np.mean(expected), abs=1e-3)
        assert value["previous_token"].shape == (LAYERS, HEADS)
        others = np.delete(value["previous_token"].ravel(), HEAD.layer * HEADS + HEAD.head)
        assert others.max() < 0.5
