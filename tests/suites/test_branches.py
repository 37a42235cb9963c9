"""Names that stand for steps and seeds: one number each, and none that a table cannot hold."""

from pathlib import Path

import pytest

from interp.suites import suite
from interp.suites.branches import MOST, SEED, STEP, numbered
from interp.values import InputError


@pytest.mark.parametrize("number", [MOST + 1, 10**30, 10**200])
@pytest.mark.parametrize(("pattern", "name"), [(STEP, "step{}"), (SEED, "seed{}")])
def test_a_number_that_no_table_holds_is_refused_by_name(pattern: str, name: str, number: int) -> None:
    with pytest.raises(InputError, match=rf"here holds {name.format(number)}: branches are numbered up to {MOST}"):
        numbered([name.format(number)], pattern, "here")


def test_the_largest_number_is_one() -> None:
    assert numbered([f"step{MOST}"], STEP, "here") == {MOST: f"step{MOST}"}


@pytest.mark.parametrize("name", ["step99999999999999999999", "seed99999999999999999999/step0"])
def test_a_folder_with_such_a_number_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises(InputError, match="are numbered up to"):
        suite(tmp_path)
