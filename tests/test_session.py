"""The commands as functions: the planted truth from names, folders and files, in one line each."""

from pathlib import Path

import pytest

import interp
from tests.planted import HEAD, PlantedRun


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def test_scan_finds_the_planted_bracket(planted: PlantedRun, store: Path) -> None:
    (row,) = interp.scan(planted.folder, str(planted.task), store=store).to_dict("records")
    assert (row["suite"], row["seed"], row["task"], row["pre"], row["post"]) == ("planted", 0, "before_last", 32, 64)


def test_patch_ranks_the_planted_head_first(planted: PlantedRun, store: Path) -> None:
    heads = interp.patch(interp.suite(planted.folder), [interp.task(planted.task)], store=interp.Store(store))
    first = heads.loc[heads["rank"] == 1]
    assert list(first["direction"]) == ["denoising", "noising"]
    assert {interp.Head(*pair) for pair in zip(first["layer"], first["head"], strict=True)} == {HEAD}


def test_a_store_is_read_back_as_one_frame_of_each_kind(planted: PlantedRun, store: Path) -> None:
    interp.scan(planted.folder, str(planted.task), store=store)
    evaluations = interp.Store(store).table("evaluations")
    search = evaluations.loc[evaluations["role"] == "search"]
    assert set(search["task"]) == {"before_last"}
    solved = search.groupby("step")["solved"].mean()
    assert (solved[solved.index < 64] < 0.75).all()
    assert (solved[solved.index >= 64] >= 0.75).all()
    assert interp.Store(store).table("nothing").empty


def test_a_report_is_written_where_it_is_asked_for(planted: PlantedRun, store: Path, tmp_path: Path) -> None:
    interp.scan(planted.folder, str(planted.task), store=store)
    out = interp.write_report(store, tmp_path / "new" / "report.html")
    assert out == tmp_path / "new" / "report.html"
    assert "before_last" in out.read_text()


def test_prompts_are_those_that_the_stages_use(planted: PlantedRun) -> None:
    run = interp.suite("nano-3l").run(0)
    search, effect = (interp.prompts("ioi", run, role) for role in ("search", "effect"))
    assert (len(search), len(effect)) == (64, 64)
    assert not {one.tokens for one in search.prompts} & {one.tokens for one in effect.prompts}
    assert interp.prompts("ioi", run.at(0)) == effect
    single = interp.prompts("string:single", run)
    assert (len(single), single.role) == (1, "single")


def test_wrong_names_get_one_sentence(planted: PlantedRun, store: Path) -> None:
    with pytest.raises(interp.InputError, match=r"did you mean nano-3l"):
        interp.scan("nano-4l", "ioi", store=store)
    with pytest.raises(interp.InputError, match=r"is no task"):
        interp.scan(planted.folder, "strin", store=store)


def test_every_public_name_is_there_and_told() -> None:
    for name in interp.__all__:
        value = getattr(interp, name)
        assert name == "__version__" or (value.__doc__ or "").strip(), name
