"""Values that stages hand to one another: what is written is read back, and what is wrong is said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.values import Head, InputError, Prompt, PromptSet, nearest, parse_seeds

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

NUMBER = st.integers(0, 999)


@any_speed
@given(NUMBER, NUMBER)
def test_a_head_is_read_as_it_is_written(layer: int, head: int) -> None:
    assert str(Head(layer, head)) == f"L{layer}H{head}"
    assert Head.parse(f"L{layer}H{head}") == Head(layer, head)


@pytest.mark.parametrize("text", ["", "5.3", "L5", "H3", "l5h3", "L5H", "L-1H0", "L5H3 ", " L5H3", "L5H3\n", "L5H3H1"])
def test_anything_else_is_no_head(text: str) -> None:
    with pytest.raises(InputError, match="written like L5H3"):
        Head.parse(text)


@any_speed
@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=2))
def test_heads_are_ordered_by_layer_then_head(pairs: list[tuple[int, int]]) -> None:
    heads = sorted(Head(*pair) for pair in pairs)
    assert [(head.layer, head.head) for head in heads] == sorted(pairs)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("0", (0,)),
        ("0-3", (0, 1, 2, 3)),
        ("0-3,7", (0, 1, 2, 3, 7)),
        ("7,0-3", (0, 1, 2, 3, 7)),
        ("2,2,1-2", (1, 2)),
        ("4-4", (4,)),
        (" 0 , 2-3 ", (0, 2, 3)),
        ("1234", (1234,)),
    ],
)
def test_seeds_are_read_sorted_and_once(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@any_speed
@given(st.sets(st.integers(0, 50), min_size=1))
def test_any_list_of_seeds_is_read_back(seeds: set[int]) -> None:
    assert parse_seeds(",".join(map(str, seeds))) == tuple(sorted(seeds))


@pytest.mark.parametrize("text", ["", " ", ",", "0,", "a", "0-", "-1", "3-1", "0..3", "1.5", "0 1", "0-1-2", "²"])
def test_anything_else_is_no_list_of_seeds(text: str) -> None:
    with pytest.raises(InputError, match="write them like 0-3 or 0,2,5"):
        parse_seeds(text)


def test_a_typo_gets_the_word_that_was_meant() -> None:
    assert nearest("pythia-7m", ["pythia-70m", "nano-2l"]) == "did you mean pythia-70m?"


def test_a_word_like_none_gets_the_known_ones() -> None:
    assert nearest("zzz", ["b", "a", "b"]) == "known: a, b"
    assert nearest("zzz", []) == "none is known"


def test_many_known_words_are_cut_short() -> None:
    words = [f"word{i:02}" for i in range(13)]
    assert nearest("zzz", words) == "known: " + ", ".join(words[:12]) + ", …"
    assert nearest("zzz", words[:12]) == "known: " + ", ".join(words[:12])


def prompt_set(lengths: list[int]) -> PromptSet:
    made = tuple(Prompt(f"{i}", (0,) * n, 1, None, "") for i, n in enumerate(lengths))
    return PromptSet("t", 1, "search", 0.75, 0.0, made, "none", True)


@any_speed
@given(st.lists(st.integers(1, 6), min_size=1, max_size=30))
def test_groups_by_length_hold_every_prompt_once_and_one_length_each(lengths: list[int]) -> None:
    groups = list(prompt_set(lengths).by_length())
    assert sorted(i for group in groups for i in group) == list(range(len(lengths)))
    assert [{lengths[i] for i in group} for group in groups] == [{n} for n in sorted(set(lengths))]
    assert all(list(group) == sorted(group) for group in groups)


def test_a_subset_keeps_the_order_and_the_rest() -> None:
    whole = prompt_set([1, 2, 3, 4, 5])
    odd = whole.subset(slice(1, None, 2))
    assert [prompt.text for prompt in odd.prompts] == ["1", "3"]
    assert (len(odd), odd.task, odd.threshold, odd.role) == (2, "t", 0.75, "search")
