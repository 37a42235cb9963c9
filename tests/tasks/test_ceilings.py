"""What cheap shortcuts reach on each task, measured on its prompts: the stated ceiling covers them all."""

import itertools
from collections.abc import Callable

import pytest

from interp.tasks import Role, TaskTokenizer, task, task_names
from tests.tasks.test_prompts import answers, pieces
from tests.tasks.tokenizers_for_tests import shipped

N = 300
SLACK = 0.08  # about 2.8 standard deviations of a share of N independent prompts (worst case .5 / √300 = .029)

Guess = Callable[[list[str]], list[str]]


def back(distance: int) -> Guess:
    """A head that looks a learned distance back."""
    return lambda said: [said[-distance]] if distance <= len(said) else ["?"]


def after_earlier(which: int) -> Guess:
    """Induction from the last token alone, to its first (0) or latest (−1) earlier copy."""

    def guess(said: list[str]) -> list[str]:
        found = [after for token, after in itertools.pairwise(said) if token == said[-1]]
        return [found[which]] if found else ["?"]

    return guess


def string_rest(said: list[str]) -> list[str]:
    body = said[said.index(".") + 1 :]
    told, again = body[: body.index(".")], body[body.index(".") + 1 :]
    return [word for word in told if word not in again]


def digits_rest(said: list[str]) -> list[str]:
    told, again = said[: said.index("⏎")], said[said.index("⏎") + 1 :]
    for digit in again:
        told.remove(digit)
    return told


def items(said: list[str]) -> list[str]:
    return [item for verb, item in itertools.pairwise(said) if verb == "has"]


def counted(step: int) -> Guess:
    return lambda said: [str(int(said[-1]) + step)]


def by_one(said: list[str]) -> list[str]:
    up = int(said[-1]) > int(said[-2])
    return [str(int(said[-1]) + (1 if up else -1))]


def after_any_number(said: list[str]) -> list[str]:
    return [str(int(token) + 1) for token in said if token.isdigit()]


def names(said: list[str]) -> list[str]:
    people = [token for token in said[1:] if token[0].isupper()]
    return list(dict.fromkeys(people))


def other_words(said: list[str]) -> list[str]:
    body = said[said.index(".") + 1 :]
    return sorted({*body} - {body[-1]})


DISTANCES = [back(distance) for distance in range(1, 17)]
FIRST, LATEST = after_earlier(0), after_earlier(-1)
BLIND = [FIRST, LATEST, *DISTANCES]  # these know token ids alone, and one word may be two tokens
SHORTCUTS: dict[str, list[Guess]] = {
    "string": [string_rest, *DISTANCES],
    "digit_string": [FIRST, LATEST, digits_rest, *DISTANCES],
    "named_item": [
        items,
        lambda said: items(said)[:1],
        lambda said: items(said)[-1:],
        lambda said: [max(items(said), key=items(said).count)],
        *DISTANCES,
    ],
    "pattern": [other_words, *DISTANCES],
    "numbered_list": [after_any_number, *[lambda said, n=n: [str(n)] for n in range(10)], *DISTANCES],
    "counting": [
        by_one,
        *[counted(step) for step in (1, -1, 2, -2)],
        FIRST,
        LATEST,
        *DISTANCES,
    ],
    "ioi": [names, lambda said: names(said)[:1], lambda said: names(said)[1:2], *DISTANCES],
}


def test_every_task_has_shortcuts():
    assert set(SHORTCUTS) == set(task_names())


@pytest.mark.parametrize("name", sorted(SHORTCUTS))
def test_no_shortcut_passes_the_ceiling_and_the_best_comes_near_it(name: str, words_apart: TaskTokenizer):
    found = best(name, words_apart, "search", N)
    assert task(name).ceiling - SLACK <= found <= task(name).ceiling + SLACK


@pytest.mark.parametrize("name", sorted(SHORTCUTS))
def test_no_shortcut_solves_a_task_on_the_prompts_that_are_used(name: str, either: TaskTokenizer):
    for role in ("search", "effect"):
        assert best(name, either, role, 64) < task(name).threshold - 0.05


def share(guess: Guess, said: list[list[str]], right: list[str]) -> float:
    """The expected share of prompts solved by saying one of the guesses at random."""
    options = [guess(list(tokens)) for tokens in said]
    return sum(g.count(answer) / max(1, len(g)) for g, answer in zip(options, right, strict=True)) / len(right)


def best(name: str, tokens: TaskTokenizer, role: Role, n: int) -> float:
    made = shipped(name, tokens, role, n)
    said, right = [pieces(tokens, made, i) for i in range(n)], answers(tokens, made)
    ids, right_ids = [list(map(str, p.tokens[1:])) for p in made.prompts], [str(p.answer) for p in made.prompts]
    by_text = [share(guess, said, right) for guess in SHORTCUTS[name]]
    return max(by_text + [share(guess, ids, right_ids) for guess in SHORTCUTS[name] if guess in BLIND])
