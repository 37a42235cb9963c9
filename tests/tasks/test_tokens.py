import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.tasks import TaskTokenizer, prompts, task, tokenizer
from interp.tasks.families.family import Draft
from interp.tasks.prompting import finish
from interp.values import InputError
from tests.tasks.tokenizers_for_tests import PYTHIA, write_config, write_word_level


def test_folder_and_file_give_the_same_and_the_hash_is_that_of_the_bytes(tmp_path: Path):
    folder = write_word_level(tmp_path)
    by_folder, by_file = tokenizer(folder), tokenizer(folder / "tokenizer.json")
    assert by_folder.sha256 == by_file.sha256 == hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert by_folder.encode("salt . bear") == by_file.encode("salt . bear")


def test_a_folder_without_tokenizer_json_is_refused_with_what_it_holds(tmp_path: Path):
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json was needed at .* \(found: vocab\.json\)"):
        tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"is not a tokenizer\.json"):
        tokenizer(tmp_path)


@pytest.mark.parametrize("flag", [True, False, None])
def test_ids_are_the_same_whatever_the_bos_flags_say(tmp_path: Path, flag: bool | None):
    """Fault 8: one tokenizer with and without add_bos_token gave two token streams."""
    folder = write_word_level(tmp_path)
    from tokenizers import Tokenizer, processors

    raw = Tokenizer.from_file(str(folder / "tokenizer.json"))
    if flag:  # what add_bos_token does to a fast tokenizer
        raw.post_processor = processors.TemplateProcessing(
            single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
        )
        raw.enable_padding(length=64)
        raw.enable_truncation(3)
        raw.save(str(folder / "tokenizer.json"))
    write_config(folder, **({} if flag is None else {"add_bos_token": flag}), bos_token="<|endoftext|>")
    plain = tokenizer(write_word_level(tmp_path / "plain"))
    ours = tokenizer(folder)
    assert ours.encode("salt bear moon . salt") == plain.encode("salt bear moon . salt")
    both = [prompts(task("string"), each, "search", 4).prompts for each in (ours, plain)]
    assert both[0] == both[1]
    assert all(prompt.tokens[0] == 0 and 0 not in prompt.tokens[1:] for prompt in both[0])


def test_bos_is_what_the_config_names(tmp_path: Path):
    folder = write_word_level(tmp_path)
    assert tokenizer(folder).bos_id == 0
    for named in ("salt", {"content": "salt", "lstrip": False}):
        write_config(folder, bos_token=named)
        assert tokenizer(folder).bos_id == tokenizer(folder).encode("salt")[0]
    write_config(folder, bos_token=None)
    assert tokenizer(folder).bos_id == 0
    write_config(folder, bos_token="<s>")
    with pytest.raises(InputError, match="names BOS '<s>', which it does not hold"):
        _ = tokenizer(folder).bos_id
    (folder / "tokenizer_config.json").write_text("[]")
    with pytest.raises(InputError, match="is not a JSON object"):
        tokenizer(folder)


def test_bos_is_needed_only_where_it_is_asked_for(tmp_path: Path):
    without = tokenizer(write_word_level(tmp_path, bos=False))
    made = prompts(task("named_item"), without, "search", 4, bos=False)
    assert not made.bos
    assert without.piece(made.prompts[0].tokens[0]) != "<|endoftext|>"
    with pytest.raises(InputError, match="has no BOS token"):
        prompts(task("named_item"), without, "search", 4)


def test_bos_goes_in_front_and_changes_nothing_else(either: TaskTokenizer):
    for role in ("search", "single"):
        with_bos = prompts(task("string"), either, role, 8)
        without = prompts(task("string"), either, role, 8, bos=False)
        for a, b in zip(with_bos.prompts, without.prompts, strict=True):
            assert a.tokens == (either.bos_id, *b.tokens)
            assert (a.text, a.answer, a.layout) == (b.text, b.answer, b.layout)


def test_an_id_beyond_the_vocabulary_is_shown_as_unused(either: TaskTokenizer):
    """Fault 29: the argmax lands on a padded row of the vocabulary."""
    assert either.piece(60_000) == "<unused 60000>"
    assert either.pieces([either.bos_id, 60_000]) == ["<|endoftext|>", "<unused 60000>"]


def test_pythia_pieces(pythia: TaskTokenizer):
    # GPT-NeoX writes a word after a space as one token that holds the space
    assert pythia.pieces(pythia.encode("salt bear\n4")) == ["salt", " bear", "⏎", "4"]
    assert pythia.piece(50_280) == "<unused 50280>"
    assert pythia.bos_id == 0
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pythia.pieces(pythia.encode("🦊")))


def test_words_apart_pieces(words_apart: TaskTokenizer):
    assert words_apart.pieces(words_apart.encode("salt  bear.\n47")) == ["salt", "bear", ".", "⏎", "4", "7"]


@pytest.mark.parametrize("unknown", [True, False])
def test_a_word_that_the_vocabulary_lacks_is_named(tmp_path: Path, unknown: bool):
    made = tokenizer(write_word_level(tmp_path, unknown=unknown))
    with pytest.raises(InputError, match="zebra"):
        made.encode("salt zebra")
    assert not made.is_one_token("zebra")


def test_characters_that_vanish_are_named(tmp_path: Path):
    """A BPE model without an unknown token drops what it lacks and says nothing."""
    from tokenizers import Tokenizer, models

    Tokenizer(models.BPE({"a": 0, "b": 1}, [])).save(str(tmp_path / "tokenizer.json"))
    assert tokenizer(tmp_path).encode("ab") == [0, 1]
    with pytest.raises(InputError, match="holds 'x', which this tokenizer lacks"):
        tokenizer(tmp_path).encode("axb")


def draft(text: str, answer: str, foil: str | None = None) -> Draft:
    return Draft(text, answer, foil, "mine")


@pytest.mark.parametrize("end", [" ", "  ", "\t", " \t"])
def test_a_prompt_that_ends_in_a_space_is_refused_with_the_mended_text(either: TaskTokenizer, end: str):
    """Fault 30: the answer would be asked without its space."""
    with pytest.raises(InputError, match=r"ends in a space.*write 'Tom has salt . Tom has'$"):
        finish(draft("Tom has salt . Tom has" + end, "salt"), either, True)


def test_an_answer_of_two_tokens_is_named_with_its_pieces(pythia: TaskTokenizer):
    with pytest.raises(InputError, match=r"answer ' bakery' is 2 tokens \(' bak', 'ery'\)"):
        finish(draft("They went to the", " bakery"), pythia, True)


def test_an_answer_without_its_space_is_told_so(either: TaskTokenizer):
    with pytest.raises(InputError, match=r"needs its leading space .* write ' Mary'"):
        finish(draft("John gave a drink to", "Mary"), either, True)


def test_an_answer_that_melts_into_the_prompt_is_refused(pythia: TaskTokenizer):
    with pytest.raises(InputError, match="runs into the last token"):
        finish(draft("the store\n", "\n"), pythia, True)
    with pytest.raises(InputError, match="is empty"):
        finish(draft("the store", " "), pythia, True)


def test_bos_written_into_a_prompt_is_refused(either: TaskTokenizer):
    """Fault 7: BOS twice."""
    with pytest.raises(InputError, match="holds the BOS token"):
        finish(draft("<|endoftext|>John gave a drink to", " Mary"), either, True)


def test_answer_and_foil_differ(either: TaskTokenizer):
    with pytest.raises(InputError, match="answer and foil are the same token"):
        finish(draft("John gave a drink to", " Mary", " Mary"), either, True)


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.sampled_from("salt bear.\n07 "), min_size=1, max_size=20),
    answer=st.sampled_from([" salt", "4", " 4"]),
)
def test_whatever_is_accepted_splits_at_the_prompts_end(text: str, answer: str):
    if not PYTHIA.is_file():
        pytest.skip(f"needs GPT-NeoX's tokenizer at {PYTHIA}")
    tokens = _pythia()
    try:
        made = finish(draft(text, answer), tokens, True)
    except InputError:
        return
    raw = tokens.raw
    assert raw.decode(list(made.tokens[1:]), skip_special_tokens=False) == text
    assert raw.encode(text + answer, add_special_tokens=False).ids == [*made.tokens[1:], made.answer]


_LOADED: list[TaskTokenizer] = []


def _pythia() -> TaskTokenizer:
    if not _LOADED:
        _LOADED.append(tokenizer(PYTHIA))
    return _LOADED[0]


@pytest.mark.parametrize("named", [5, 0, True, ["<|endoftext|>"], {}, {"content": 5}, {"content": None}])
def test_a_bos_that_is_no_text_is_refused_by_name(tmp_path: Path, named: object):
    folder = write_word_level(tmp_path)
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": named}))
    with pytest.raises(InputError, match=r"tokenizer_config.json: bos_token is .*; needed: a text"):
        tokenizer(folder)


@pytest.mark.parametrize("named", ["<|endoftext|>", {"content": "<|endoftext|>", "special": True}, None, ""])
def test_a_bos_may_be_a_text_or_an_object_or_none(tmp_path: Path, named: object):
    folder = write_word_level(tmp_path)
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": named}))
    assert tokenizer(folder).bos == "<|endoftext|>"


def test_the_tokenizer_file_is_not_changed(tmp_path: Path):
    folder = write_word_level(tmp_path)
    before = json.loads((folder / "tokenizer.json").read_text())
    tokenizer(folder).encode("salt")
    assert json.loads((folder / "tokenizer.json").read_text()) == before
