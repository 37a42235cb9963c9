from pathlib import Path

import pytest

from interp.training.manifest import Finished, Manifest, claim, gather, mark_finished, read_manifest, write_manifest
from interp.values import InputError

MADE = Manifest("nano", {"layers": 2, "deep": {"rate": 0.1}}, corpus="c", tokenizer="t")
DONE = Finished((0, 5), {"torch": "2"}, {0: "always", 5: "ioi lasting"})


def test_written_and_read_it_is_the_same(tmp_path: Path):
    full = Manifest("nano", {"layers": 2}, "c", "t", {3: DONE, 4: Finished((0,), {})}, ("thinned",))
    write_manifest(tmp_path, full)
    assert read_manifest(tmp_path) == full
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_finished_seeds_are_gathered_from_their_folders_and_notes_stay(tmp_path: Path):
    for seed in (10, 2):
        (tmp_path / f"seed{seed}").mkdir()
        mark_finished(tmp_path / f"seed{seed}", DONE)
    (tmp_path / "seed3").mkdir()
    noted = Manifest("nano", {}, "c", "t", notes=("thinned",))
    assert gather(tmp_path, noted) == Manifest("nano", {}, "c", "t", {2: DONE, 10: DONE}, ("thinned",))


def test_a_folder_belongs_to_the_recipe_that_began_it(tmp_path: Path):
    assert claim(tmp_path / "new", MADE) == MADE
    assert claim(tmp_path / "new", MADE) == MADE
    other = Manifest("nano", {"layers": 2, "deep": {"rate": 0.2}}, "c", "t")
    with pytest.raises(InputError, match=r"its recipe\.deep\.rate is 0\.1, this one's is 0\.2"):
        claim(tmp_path / "new", other)
    with pytest.raises(InputError, match="its corpus is 'c', this one's is 'd'"):
        claim(tmp_path / "new", Manifest("nano", MADE.recipe, "d", "t"))


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"name": "nano"}'])
def test_what_is_no_manifest_is_said_to_be_none(tmp_path: Path, text: str):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="is not the manifest of a trained suite"):
        claim(tmp_path, MADE)
