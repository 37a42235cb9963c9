from pathlib import Path

import pytest
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from interp.training.nano.tokenizer import build_tokenizer, write_tokenizer
from interp.training.nano.vocabulary import lexicon, vocabulary

WORDS = vocabulary(lexicon())
DIGIT, NEWLINE = 9, 2  # "0" is token 9: boundary, unknown, newline, six punctuation marks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer")
    write_tokenizer(build_tokenizer(WORDS), folder, 96)
    return folder


@pytest.fixture(scope="module", params=[AutoTokenizer, PreTrainedTokenizerFast])
def loaded(request: pytest.FixtureRequest, folder: Path):
    return request.param.from_pretrained(folder)


def test_boundary_is_id_0_and_nothing_is_added(loaded):
    assert loaded.bos_token_id == loaded.eos_token_id == 0
    assert loaded("fox").input_ids == [WORDS.index("fox")]
    assert loaded("<|endoftext|>fox").input_ids == [0, WORDS.index("fox")]


def test_literature_digit_prompt(loaded):
    told = [0, 7, 3, 1, 2, 0, 2, 3]
    expected = [DIGIT + d for d in told] + [NEWLINE] + [DIGIT + d for d in told[:-1]]
    assert loaded("0 7 3 1 2 0 2 3\n0 7 3 1 2 0 2").input_ids == expected
    assert loaded("07312023 \n 0731202").input_ids == expected
    assert loaded(" 3").input_ids == loaded("3").input_ids == [DIGIT + 3]


def test_literature_name_prompt(loaded):
    typed = "When Mary and John went to the store, John gave a drink to"
    apart = typed.replace(",", " ,")
    assert loaded.convert_ids_to_tokens(loaded(typed).input_ids) == apart.split()
    assert loaded.decode(loaded(typed).input_ids) == typed


def test_list_prompt(loaded):
    tokens = loaded.convert_ids_to_tokens(loaded("1. fox\n2. salt\n3. moon\n").input_ids)
    assert tokens == ["1", ".", "fox", "\n", "2", ".", "salt", "\n", "3", ".", "moon", "\n"]


@pytest.mark.parametrize("text", ["salt bear moon . salt bear", "Clara sang : fox .", "1 3 5 7\n2 4", "a ; b ? c !"])
def test_decoded_text_has_the_same_ids(loaded, text: str):
    ids = loaded(text).input_ids
    assert loaded(loaded.decode(ids)).input_ids == ids


def test_words_that_are_not_known(loaded):
    assert loaded("zebra").input_ids == [loaded.unk_token_id] == [1]


def test_every_word_is_its_own_place_and_no_word_is_there_twice(loaded):
    assert len(set(WORDS)) == len(WORDS)
    words = WORDS[3:]
    assert loaded(" ".join(words)).input_ids == list(range(3, len(WORDS)))
