import itertools
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.tasks import TaskTokenizer, prompts, task, task_names
from interp.values import InputError, PromptSet
from tests.tasks.tokenizers_for_tests import shipped

ALL = task_names()

# The commonest layout of a length may make up this share of the length's prompts (n = 64). Exceptions:
# ioi: an opening allows two places for the answer and no more; counting: a line by itself has one layout, and
# only its last two terms matter in all of them; digit_string: three or four layouts have the same length.
MOST = dict.fromkeys(ALL, 0.3) | {"ioi": 0.56, "counting": 1.0, "digit_string": 0.34}


def pieces(tokens: TaskTokenizer, made: PromptSet, i: int) -> list[str]:
    """A prompt's tokens without BOS and without their spaces."""
    return [piece.strip(" ") for piece in tokens.pieces(made.prompts[i].tokens)][1:]


def answers(tokens: TaskTokenizer, made: PromptSet) -> list[str]:
    return [tokens.piece(prompt.answer).strip(" ") for prompt in made.prompts]


def test_the_shipped_tasks():
    assert ALL == ("counting", "digit_string", "ioi", "named_item", "numbered_list", "pattern", "string")
    for name in ALL:
        assert task(name).name == name
        assert task(name).threshold > task(name).ceiling


@pytest.mark.parametrize("name", ALL)
def test_every_prompt_is_what_was_asked_for(name: str, either: TaskTokenizer):
    search, effect = (shipped(name, either, role) for role in ("search", "effect"))
    for made in (search, effect):
        assert len(made) == len({prompt.tokens for prompt in made.prompts}) == 64
        assert (made.task, made.version, made.threshold) == (name, 1, task(name).threshold)
        assert (made.tokenizer, made.bos) == (either.sha256, True)
        for prompt in made.prompts:
            ids = either.raw.encode(prompt.text, add_special_tokens=False).ids
            assert prompt.tokens == (either.bos_id, *ids)
            assert len(prompt.tokens) <= 64
            assert prompt.text.rstrip(" ").endswith(either.raw.decode([prompt.tokens[-1]]).strip(" "))
            space = "" if name == "numbered_list" else " "
            whole = prompt.text + space + either.piece(prompt.answer).strip(" ")
            assert either.raw.encode(whole, add_special_tokens=False).ids == [*ids, prompt.answer]
            assert (prompt.foil is not None) == (name == "ioi")
    assert not {p.tokens for p in search.prompts} & {p.tokens for p in effect.prompts}


@pytest.mark.parametrize("name", ALL)
def test_layouts_vary_within_a_length(name: str, either: TaskTokenizer):
    for role in ("search", "effect"):
        made = shipped(name, either, role)
        for group in made.by_length():
            layouts = Counter(made.prompts[i].layout for i in group)
            assert layouts.most_common(1)[0][1] <= max(1, MOST[name] * len(group)), (name, layouts)


@settings(max_examples=10, deadline=None)
@given(name=st.sampled_from(ALL), n=st.integers(1, 40), m=st.integers(1, 40))
def test_search_and_effect_are_disjoint_whatever_their_sizes(name: str, n: int, m: int, words_apart: TaskTokenizer):
    search, effect = (
        prompts(task(name), words_apart, "search", n),
        prompts(task(name), words_apart, "effect", m),
    )
    assert not {p.tokens for p in search.prompts} & {p.tokens for p in effect.prompts}
    more = prompts(task(name), words_apart, "search", n + 1)
    assert more.prompts[:n] == search.prompts  # a larger set begins with the smaller one


def test_the_same_in_another_process_with_another_hash_seed(words_apart: TaskTokenizer):
    code = (
        "import sys; from interp import tasks; t = tasks.tokenizer(sys.argv[1]);"
        "print([tasks.prompts(tasks.task(n), t, 'search', 6).prompts for n in tasks.task_names()])"
    )
    run = [sys.executable, "-c", code, str(words_apart.source)]
    found = subprocess.run(run, env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True)
    here = [prompts(task(name), words_apart, "search", 6).prompts for name in ALL]
    assert found.stdout.strip() == repr(here)


def test_both_tokenizers_ask_the_same_of_a_task(words_apart: TaskTokenizer, pythia: TaskTokenizer):
    for name in ALL:
        a, b = (shipped(name, each, "search") for each in (words_apart, pythia))
        assert [p.layout for p in a.prompts] == [p.layout for p in b.prompts]
        assert [len(p.tokens) for p in a.prompts] == [len(p.tokens) for p in b.prompts]


@pytest.mark.parametrize("name", ["string", "named_item", "pattern"])
def test_one_length_and_no_repeated_word_at_the_start(name: str, either: TaskTokenizer):
    made = shipped(name, either, "effect")
    assert len({len(prompt.tokens) for prompt in made.prompts}) == 1
    for prompt in made.prompts:
        assert prompt.text.split().count(prompt.text.split()[0]) == 1
        lead = prompt.text.split(" . ")[0].split()
        assert len(set(lead)) == len(lead)


@pytest.mark.parametrize("name", ["string", "digit_string", "pattern", "named_item"])
def test_the_answer_is_what_followed_the_longest_earlier_copy(name: str, either: TaskTokenizer):
    """Written anew: the longest end of the prompt that also stands earlier, and all that followed it."""
    made = shipped(name, either, "search")
    for i, answer in enumerate(answers(either, made)):
        said = pieces(either, made, i)
        longest = max(n for n in range(1, len(said)) if _after(said, n))
        assert _after(said, longest) == {answer}


def _after(said: list[str], n: int) -> set[str]:
    return {said[j + n] for j in range(len(said) - n) if said[j : j + n] == said[-n:]}


def test_repeated_tokens_are_equal_ids(pythia: TaskTokenizer):
    """GPT-NeoX writes a word at a text's start unlike the same word later; no copy may depend on it."""
    made = shipped("string", pythia, "search")
    stop = pythia.encode("a .")[-1]
    for prompt in made.prompts:
        places = [i for i, token in enumerate(prompt.tokens) if token == stop]
        told, again = prompt.tokens[places[0] + 1 : places[1]], prompt.tokens[places[1] + 1 :]
        assert told[: len(again)] == again
        assert told[len(again)] == prompt.answer


def test_digits_need_two_digits_of_context(either: TaskTokenizer):
    made = shipped("digit_string", either, "search")
    for i in range(len(made)):
        assert len(_after(pieces(either, made, i), 1)) >= 2
        ids = [str(token) for token in made.prompts[i].tokens]  # a line's first digit is a token of its own in GPT-NeoX
        assert len(_after(ids, 1)) >= 2


def test_counting_is_arithmetic_and_no_copying(either: TaskTokenizer):
    made = shipped("counting", either, "search")
    steps = Counter()
    for i, answer in enumerate(answers(either, made)):
        said = pieces(either, made, i)
        step = int(said[-1]) - int(said[-2])
        assert int(answer) == int(said[-1]) + step
        assert answer not in _after(said, 1)
        lines = [[int(digit) for digit in line.split()] for line in made.prompts[i].text.split("\n")]
        assert all(b - a == step for line in lines for a, b in itertools.pairwise(line))
        steps[step] += 1
    assert steps == {1: 16, -1: 16, 2: 16, -2: 16}


def test_numbered_lists_count_on(either: TaskTokenizer):
    made = shipped("numbered_list", either, "search")
    for prompt, answer in zip(made.prompts, answers(either, made), strict=True):
        lines = prompt.text.splitlines()
        numbers = [int(line.split(" . ")[0]) for line in lines]
        assert numbers == list(range(numbers[0], numbers[0] + len(lines)))
        assert int(answer) == numbers[-1] + 1
        assert prompt.layout == "words=" + ",".join(str(len(line.split()) - 2) for line in lines)


def test_named_items(either: TaskTokenizer):
    made = shipped("named_item", either, "search")
    for prompt, answer in zip(made.prompts, answers(either, made), strict=True):
        _, *told, asked = prompt.text.split(" . ")
        has = dict(entry.split(" has ") for entry in told)
        assert len(has) == len(set(told)) == 3
        assert len({*told[:3]}) == 3
        assert 4 <= len(told) <= 7
        assert has[asked.removesuffix(" has")] == answer


def test_indirect_objects(either: TaskTokenizer):
    made = shipped("ioi", either, "search")
    first_named = 0
    for i, prompt in enumerate(made.prompts):
        said = pieces(either, made, i)
        answer, foil = (either.piece(token).strip() for token in (prompt.answer, prompt.foil or 0))
        assert (said.count(answer), said.count(foil)) == (1, 2)
        first_named += said.index(answer) < said.index(foil)
    assert abs(first_named - 32) <= 4


def test_equal_layouts_have_their_names_in_equal_places(words_apart: TaskTokenizer):
    made = prompts(task("ioi"), words_apart, "search")
    places: dict[str, set[tuple[int, ...]]] = {}
    for prompt in made.prompts:
        marked = [i for i, token in enumerate(prompt.tokens) if token in (prompt.answer, prompt.foil)]
        places.setdefault(prompt.layout, set()).add((prompt.tokens.index(prompt.answer), *marked))
    assert all(len(found) == 1 for found in places.values())
    assert len({next(iter(found)) for found in places.values()}) == len(places)


def test_the_literatures_prompts(either: TaskTokenizer):
    ioi = prompts(task("ioi"), either, "single").prompts[0]
    assert ioi.text == "When Mary and John went to the store, John gave a drink to"
    assert [either.piece(token).strip() for token in (ioi.answer, ioi.foil or 0)] == ["Mary", "John"]
    for name in ("string", "digit_string"):
        digits = prompts(task(name), either, "single")
        assert (len(digits), digits.role) == (1, "single")
        assert digits.prompts[0].text == "0 7 3 1 2 0 2 3\n0 7 3 1 2 0 2"
        assert either.piece(digits.prompts[0].answer).strip() == "3"
        assert len(digits.prompts[0].tokens) == 17
    with pytest.raises(InputError, match="task 'pattern': it has no single prompt"):
        prompts(task("pattern"), either, "single")


def test_pythia_ids_of_the_literatures_prompt(pythia: TaskTokenizer):
    # a digit at a line's start is a token without its space: both lines start alike
    made = prompts(task("string"), pythia, "single").prompts[0]
    vocabulary = pythia.raw.get_vocab()
    line = [vocabulary[piece] for piece in ["0", "Ġ7", "Ġ3", "Ġ1", "Ġ2", "Ġ0", "Ġ2", "Ġ3"]]
    assert made.tokens == (0, *line, vocabulary["Ċ"], *line[:7])
    assert made.answer == line[7]


def test_too_many_prompts_are_refused_with_how_many_there_are(words_apart: TaskTokenizer):
    with pytest.raises(InputError, match=r"task 'counting': it can make \d+ distinct prompts for this role, 4000 are"):
        prompts(task("counting"), words_apart, "search", 4000)
    with pytest.raises(InputError, match="0 prompts were asked for"):
        prompts(task("counting"), words_apart, "search", 0)
