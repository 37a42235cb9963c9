"""Weight files: shards, claims that no file can keep, and what a refused file leaves behind."""

import json
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import interp
from interp.models.loading import Loader
from interp.models.weights import WeightFiles
from interp.suites import suite
from interp.values import Checkpoint, InputError, RunId
from tests.planted import PlantedRun


def copied(planted: PlantedRun, folder: Path, **config: object) -> dict[str, torch.Tensor]:
    """The planted run's step 64 in a folder without weights; its tensors."""
    source = planted.folder / "seed0" / "step64"
    folder.mkdir()
    stated = json.loads((source / "config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps(stated))
    return load_file(source / "model.safetensors")


def at(folder: Path, weights: str = "other") -> Checkpoint:
    return Checkpoint(RunId("toy", None), 5, folder, folder, weights)


@pytest.mark.parametrize("name", ["model-{:05}-of-00003.safetensors", "pytorch_model-{:05}-of-00003.bin"])
def test_shards_are_one_model(planted: PlantedRun, tmp_path: Path, name: str) -> None:
    tensors = copied(planted, tmp_path / "step5")
    names = sorted(tensors)
    for shard in range(3):
        part = {key: tensors[key] for key in names[shard::3]}
        path = tmp_path / "step5" / name.format(shard + 1)
        save_file(part, path) if path.suffix == ".safetensors" else torch.save(part, path)
    (tmp_path / "tokenizer.json").write_text("{}")
    run = suite(tmp_path).runs[0]
    expected = interp.load(suite(planted.folder).run(0).at(64))
    tokens = torch.arange(2, 9)[None]
    assert interp.load(run.at(5)).logits(tokens).equal(expected.logits(tokens))


def test_a_run_whose_shard_lacks_has_a_hole(planted: PlantedRun, tmp_path: Path) -> None:
    tensors = copied(planted, tmp_path / "step5")
    save_file(tensors, tmp_path / "step5" / "model-00001-of-00002.safetensors")
    copied(planted, tmp_path / "step6")
    save_file(tensors, tmp_path / "step6" / "model.safetensors")
    (tmp_path / "tokenizer.json").write_text("{}")
    assert suite(tmp_path).runs[0].missing == (5,)


@pytest.mark.parametrize("suffix", ["bin", "safetensors"])
def test_a_small_file_that_claims_a_huge_tensor_is_refused_before_anything_of_that_size(
    planted: PlantedRun, tmp_path: Path, suffix: str
) -> None:
    tensors = copied(planted, tmp_path / "a")
    huge = torch.zeros(1).as_strided((10**6, 10**6), (0, 0))
    name = "gpt_neox.layers.0.attention.dense.weight"
    if suffix == "bin":
        torch.save(tensors | {name: huge}, tmp_path / "a" / "pytorch_model.bin")
    else:  # by hand: a header whose tensor is longer than the file
        header = json.dumps({name: {"dtype": "F32", "shape": [10**6, 10**6], "data_offsets": [0, 4 * 10**12]}}).encode()
        (tmp_path / "a" / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"has shape \(1000000, 1000000\), and the model's|cannot be read as weights"):
        interp.load(at(tmp_path / "a"))
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "claim",
    [
        {"vocab_size": 10**9}, {"hidden_size": 10**6, "num_attention_heads": 10**3}, {"num_hidden_layers": 10**9},
        {"intermediate_size": 10**10},
    ],
)  # fmt: skip
def test_a_config_that_claims_a_huge_model_is_refused_before_it_is_built(
    planted: PlantedRun, tmp_path: Path, claim: dict[str, int]
) -> None:
    save_file(copied(planted, tmp_path / "a", **claim), tmp_path / "a" / "model.safetensors")
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"has shape|config.json says 1000000000 layers, and there are"):
        interp.load(at(tmp_path / "a"))
    assert time.monotonic() - begun < 20


def test_nothing_is_copied_from_a_file_whose_last_tensor_is_wrong(planted: PlantedRun, tmp_path: Path) -> None:
    tensors = {name: value + 1 for name, value in copied(planted, tmp_path / "a").items()}
    last = sorted(tensors)[-1]
    save_file(tensors | {last: torch.zeros(3)}, tmp_path / "a" / "model.safetensors")
    model = Loader()(suite(planted.folder).run(0).at(64))
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    with pytest.raises(InputError, match="has shape"):
        model.swap(at(tmp_path / "a"))
    assert all(value.equal(before[name]) for name, value in model.module.state_dict().items())


def test_a_tensor_in_two_shards_is_refused(planted: PlantedRun, tmp_path: Path) -> None:
    tensors = copied(planted, tmp_path / "a")
    for shard in (1, 2):
        save_file(tensors, tmp_path / "a" / f"model-0000{shard}-of-00002.safetensors")
    with pytest.raises(InputError, match="stands in two of its files"):
        interp.load(at(tmp_path / "a"))


def test_what_is_no_tensor_is_named(planted: PlantedRun, tmp_path: Path) -> None:
    torch.save(copied(planted, tmp_path / "a") | {"step": 5}, tmp_path / "a" / "pytorch_model.bin")
    with pytest.raises(InputError, match="'step' is a int; needed: a tensor"):
        interp.load(at(tmp_path / "a"))


def test_an_adapter_beside_the_weights_is_not_read(planted: PlantedRun, tmp_path: Path) -> None:
    save_file(copied(planted, tmp_path / "a"), tmp_path / "a" / "model.safetensors")
    save_file({"x": torch.zeros(1)}, tmp_path / "a" / "adapter_model.safetensors")
    with WeightFiles(tmp_path / "a") as files:
        assert "x" not in files.shapes()
