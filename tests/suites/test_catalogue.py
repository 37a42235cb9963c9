"""The catalogue is data: every entry leads to repositories, and what is known of them can be quoted."""

import pytest

from interp.suites import catalogue, suite
from interp.suites.hub import HubRun
from interp.suites.integrity import foreign_steps, weight_names
from interp.values import InputError

HUB = [entry.name for entry in catalogue.entries() if entry.where == "hub" and not entry.name.startswith("hf:")]


def repositories(name: str) -> dict[int | None, str]:
    return {run.seed: run.repository for run in suite(name).runs if isinstance(run, HubRun)}


@pytest.mark.parametrize("name", HUB)
def test_every_entry_leads_to_runs(name: str) -> None:
    found = repositories(name)
    assert found
    assert len(set(found.values())) == len(found)


def test_pythia_and_its_seeds_are_where_eleutherai_has_them() -> None:
    found = repositories("pythia-410m")
    assert found[None] == "EleutherAI/pythia-410m"
    assert [found[seed] for seed in range(1, 10)] == [f"EleutherAI/pythia-410m-seed{seed}" for seed in range(1, 10)]
    assert repositories("pythia-160m-data-seed")[3] == "EleutherAI/pythia-160m-data-seed3"
    assert repositories("pythia-12b") == {None: "EleutherAI/pythia-12b"}


def test_the_stanford_runs_are_seeds_of_one_suite() -> None:
    assert repositories("stanford-gpt2-small")[343] == "stanford-crfm/darkmatter-gpt2-small-x343"


def test_branches_are_named_as_their_publishers_say() -> None:
    """From the README of stanford-crfm/mistral and the model cards of allenai/OLMo."""
    for name, branch, step in (
        ("stanford-gpt2-small", "checkpoint-300000", 300_000),
        ("stanford-gpt2-medium", "checkpoint-10", 10),
        ("olmo-1b", "step738020-tokens3094B", 738_020),
        ("olmo-1b-0724", "step0-tokens0B", 0),
        ("olmo-7b", "step556000-tokens2460B", 556_000),
    ):
        run = suite(name).runs[0]
        assert isinstance(run, HubRun)
        assert run._steps({branch: "0" * 40, "main": "1" * 40, "fp32": "2" * 40}) == {step: "0" * 40}
    assert repositories("stanford-gpt2-medium")[777] == "stanford-crfm/eowyn-gpt2-medium-x777"


def test_what_could_not_be_confirmed_is_told_to_the_user() -> None:
    told = {entry.name: entry.about for entry in catalogue.entries() if "not confirmed" in entry.about}
    assert list(told) == ["olmo-7b"]
    assert "not confirmed: which of the steps of allenai/OLMo-7B" in told["olmo-7b"]


def test_a_pattern_of_repositories_is_a_suite_of_seeds() -> None:
    assert repositories("hf:me/toy-seed{2..4}") == {seed: f"me/toy-seed{seed}" for seed in (2, 3, 4)}
    assert repositories("hf:me/toy-{7,1}-base") == {1: "me/toy-1-base", 7: "me/toy-7-base"}
    assert repositories("hf:me/toy") == {None: "me/toy"}


@pytest.mark.parametrize("pattern", ["hf:me/x{1..3}-{1..3}", "hf:me/x{a..b}", "hf:me/x{3..1}", "hf:me/x{}"])
def test_a_pattern_that_names_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(InputError):
        suite(pattern)


def test_known_exceptions_can_be_quoted() -> None:
    holes = [note for note in catalogue.notes("pythia-410m", 9) if note.steps]
    assert [(note.steps, note.suspect) for note in holes] == [((40000,), False)]
    assert any("outliers" in note.says for note in catalogue.notes("pythia-410m", 3))
    assert not any("outliers" in note.says for note in catalogue.notes("pythia-410m", 5))
    assert any("Pile" in note.says for note in catalogue.notes("pythia-14m", None))
    assert not any("Pile" in note.says for note in catalogue.notes("pythia-14m", 1))
    assert any("86 of the 154" in note.says for note in catalogue.notes("pythia-2.8b", None))
    assert {note.steps for note in catalogue.notes("pythia-12b", None)} >= {(50000, 58000)}
    assert any("step 0" in note.says for note in catalogue.notes("pythia-160m-weight-seed", 2) if note.suspect)
    assert catalogue.notes("hf:me/toy", None) == ()


def test_runs_that_are_known_to_be_odd_say_so() -> None:
    assert suite("pythia-160m-weight-seed").run(1).notes
    assert not suite("pythia-160m-weight-seed").run(3).notes


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["pytorch_model.bin", "model.safetensors"], ["model.safetensors"]),
        (["pytorch_model.bin", "optimizer.pt", "training_args.bin"], ["pytorch_model.bin"]),
        (["model-00002-of-00002.safetensors", "model-00001-of-00002.safetensors"], None),
        (["model-00002-of-00002.safetensors", "pytorch_model.bin"], ["pytorch_model.bin"]),
        (["weights.safetensors"], ["weights.safetensors"]),
        (["a.safetensors", "b.safetensors"], []),
        (["adapter_model.safetensors"], []),
        (["../model.safetensors", "x/pytorch_model.bin", "model.safetensors.index.json"], []),
    ],
)
def test_weights_are_known_by_exact_names(names: list[str], chosen: list[str] | None) -> None:
    assert weight_names(names) == tuple(sorted(names) if chosen is None else chosen)


@pytest.mark.parametrize(
    ("weights", "foreign"),
    [
        ("abcd", ()), ("aabb", ()), ("abcb", (1,)), ("dabd", (0,)), ("zzaz", (0, 1)), ("aaaa", ()), ("", ()),
    ],
)  # fmt: skip
def test_weights_that_come_again_are_foreign(weights: str, foreign: tuple[int, ...]) -> None:
    assert foreign_steps(dict(enumerate(weights))) == foreign
