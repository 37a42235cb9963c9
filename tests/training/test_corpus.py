from itertools import islice, pairwise
from random import Random

import numpy as np
import pytest

from interp.training.nano.corpus import KINDS, corpus, corpus_hash, documents
from interp.training.nano.digits import COUNTING_STEPS, counting, digits, numbered_list
from interp.training.nano.documents import LONGEST
from interp.training.nano.ledger import ledger
from interp.training.nano.recipe import MIXTURE
from interp.training.nano.stories import OPENINGS, story
from interp.training.nano.strings import pattern, string
from interp.training.nano.vocabulary import lexicon, vocabulary

WORDS = lexicon()
VOCABULARY = vocabulary(WORDS)
FEW_ROWS = "2c230e3714a9fea322bc415e9cbad23dfc7c054b22a80ddb4879b418603c5e0a"


def many(kind, count: int = 300) -> list[list[str]]:
    return [kind(Random(seed), WORDS) for seed in range(count)]


def without_lead(document: list[str]) -> list[str]:
    """The document after its filler words and their full stop."""
    if document[0] not in WORDS.fillers:
        return document
    stop = document.index(".")
    fillers = document[:stop]
    assert len(set(fillers)) == len(fillers) <= 28
    assert set(fillers) <= set(WORDS.fillers)
    return document[stop + 1 :]


def runs(document: list[str], belong: set[str]) -> list[list[str]]:
    """The stretches of words that belong, in order."""
    found, current = [], []
    for word in [*document, ""]:
        if word in belong:
            current.append(word)
        elif current:
            found.append(current)
            current = []
    return found


def test_the_same_corpus_everywhere():
    rows = corpus(MIXTURE, WORDS, VOCABULARY, tokens=64 * 50, row=64, seed=0)
    assert rows.shape == (50, 64)
    assert rows.dtype == np.uint16
    assert corpus_hash(rows) == FEW_ROWS


def test_another_seed_is_another_corpus_and_a_longer_one_begins_alike():
    short = corpus(MIXTURE, WORDS, VOCABULARY, tokens=640, row=64, seed=0)
    assert (corpus(MIXTURE, WORDS, VOCABULARY, tokens=1280, row=64, seed=0)[:10] == short).all()
    assert (corpus(MIXTURE, WORDS, VOCABULARY, tokens=640, row=64, seed=1) != short).any()


def test_every_document_fits_a_row_and_every_kind_occurs():
    drawn = list(islice(documents(MIXTURE, WORDS, seed=1), 2000))
    assert {kind for kind, _ in drawn} == set(KINDS)
    assert max(len(document) for _, document in drawn) <= LONGEST
    assert {word for _, document in drawn for word in document} <= set(VOCABULARY)


def test_every_word_of_the_vocabulary_but_three_is_trained():
    drawn = islice(documents(MIXTURE, WORDS, seed=1), 6_000)
    seen = {word for _, document in drawn for word in document}
    assert set(VOCABULARY) - seen == {"<|endoftext|>", "<|unknown|>", ";", "?", "!"}


def test_string_copies_are_equal():
    lengths, copies_seen = set(), set()
    for document in many(string):
        told = without_lead(document)
        copies = runs(told, set(WORDS.things))
        if len(copies) == 1:  # bare: one stretch, itself periodic
            period = next(k for k in range(1, 15) if copies[0][k] == copies[0][0])
            copies = [copies[0][i : i + period] for i in range(0, len(copies[0]), period)]
        assert all(copy == copies[0] for copy in copies)
        assert len(set(copies[0])) == len(copies[0])
        lengths.add(len(copies[0]))
        copies_seen.add(len(copies))
    assert lengths == set(range(4, 15))
    assert copies_seen == {2, 3, 4}


def test_pattern_has_a_period_of_two_to_four():
    periods = set()
    for document in many(pattern):
        (told,) = runs(document, set(WORDS.things))
        period = told.index(told[0], 1)
        periods.add(period)
        assert len(set(told[:period])) == period
        assert all(later == earlier for earlier, later in zip(told, told[period:], strict=False))
        assert len(told) >= 2 * period
    assert periods == {2, 3, 4}


def test_digit_copies_are_equal_and_some_digits_repeat():
    by_lines, repeats = 0, 0
    for document in many(digits):
        copies = [tuple(run) for run in runs(without_lead(document), set("0123456789"))]
        if len(copies) > 1:
            assert len(set(copies)) == 1
            repeats += len(set(copies[0])) < len(copies[0])
        by_lines += "\n" in document
    assert 0.6 < by_lines / 300 < 0.8
    assert repeats > 50


def test_numbered_lists_count_up_by_one():
    for document in many(numbered_list):
        lines = " ".join(document).split("\n")[:-1]
        numbers = [int(line.split(" . ")[0]) for line in lines]
        assert len(numbers) >= 3
        assert all(later == earlier + 1 for earlier, later in pairwise(numbers))
        assert all(1 <= len(line.split(" . ")[1].split()) <= 3 for line in lines)


def test_counting_has_one_step_in_a_document():
    for document in many(counting):
        lines = [[int(digit) for digit in line.split()] for line in " ".join(document).split("\n")[:-1]]
        steps = {(later - earlier) % 10 for line in lines for earlier, later in pairwise(line)}
        assert len(steps) == 1
        assert steps <= {step % 10 for step in COUNTING_STEPS}
        assert all(4 <= len(line) <= 12 for line in lines)


def test_ledgers_never_contradict_themselves_nor_repeat_at_once():
    forms = set()
    for document in many(ledger):
        entries = [entry.split() for entry in " ".join(without_lead(document)).split(" .") if entry]
        has = ["has" in entry for entry in entries]
        assert has == sorted(has)  # once an entry says "has", all later ones do
        forms.add((has[0], has[-1]))
        pairs = [(entry[0], entry[-1]) for entry in entries]
        owners = dict(pairs)
        assert all(owners[name] == thing for name, thing in pairs)
        assert len(set(owners.values())) == len(owners)
        assert 2 <= len(owners) <= 4
        assert len({name for name, _ in pairs[: len(owners)]}) == len(owners)
        # The second telling of all (two of five "told, then has" ledgers) is freshly shuffled.
        begun = has.index(True) if has[-1] and not has[0] else len(owners)
        assert all(one != other for one, other in pairwise(pairs[begun - 1 :]))
    assert forms == {(False, False), (False, True), (True, True)}


def test_who_is_given_something_is_the_other_of_the_two():
    gifts = 0
    for document in many(story):
        people = {word for word in document if word in WORDS.names}
        for sentence in " ".join(document).replace("Then ,", "Then").split(" ."):
            words = sentence.split()
            if len(words) > 1 and words[-2] == "to" and words[-1] in people:
                giver = words[max(i for i, w in enumerate(words[:-1]) if w in people)]
                assert giver != words[-1]
                gifts += 1
    assert gifts > 300


def test_openings_are_those_of_the_shipped_task():
    from interp.tasks import task

    begun = [" ".join(opening.replace(" ,", ",").replace(" .", ".").split()) for opening in OPENINGS]
    names = {"first": "{a}", "second": "{b}", "place": "{place}", "object": "{object}", "giver": "{giver}"}
    templates = [template.format(**names) for template in task("ioi").family.templates]
    for opening in begun:
        assert any(template.startswith(opening) for template in templates), opening
    assert len(templates) == len(begun)


@pytest.mark.slow
def test_the_full_corpus_is_the_published_one():
    from interp.training.nano.recipe import NANO_3L

    rows = corpus(MIXTURE, WORDS, VOCABULARY, NANO_3L.tokens, NANO_3L.row, NANO_3L.corpus_seed)
    assert corpus_hash(rows) == "a187aafa4d953dc4f267b4023c06faa26216a7dd860e6ffdd4fd2d40a1ad9ec9"
