from pathlib import Path

import pytest

from interp.tasks import TaskTokenizer, tokenizer
from tests.tasks.tokenizers_for_tests import PYTHIA, word_level


@pytest.fixture(scope="session")
def words_apart(tmp_path_factory: pytest.TempPathFactory) -> TaskTokenizer:
    return word_level(tmp_path_factory.mktemp("word_level"))


@pytest.fixture(scope="session")
def pythia() -> TaskTokenizer:
    if not PYTHIA.is_file():
        pytest.skip(f"needs GPT-NeoX's tokenizer at {PYTHIA}, which this project does not ship")
    return tokenizer(PYTHIA)


@pytest.fixture(params=["words_apart", "pythia"])
def either(request: pytest.FixtureRequest) -> TaskTokenizer:
    return request.getfixturevalue(request.param)


@pytest.fixture
def task_file(tmp_path: Path):
    """Writes a task file: a sound one with lines replaced or added."""

    def write(old: str = "", new: str = "") -> Path:
        sound = SOUND.replace(old, new) if old else SOUND + new
        assert old in SOUND
        path = tmp_path / "mine.toml"
        path.write_text(sound, encoding="utf-8")
        return path

    return write


SOUND = """\
name = "mine"
version = 1
title = "Mine"
threshold = 0.75
ceiling = 0.5
shortcut = "none"
reference = "none"

[family]
kind = "repetition"
symbols = "things"
k = [5, 8]
lengths = [30]
lead = "fillers"
"""
