"""A config.json that describes no model ends in one sentence, whatever the library makes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import interp
from interp.values import Checkpoint, InputError, RunId
from tests.planted import PlantedRun


def checkpoint(planted: PlantedRun, folder: Path, text: str) -> Checkpoint:
    source = planted.folder / "seed0" / "step64"
    folder.mkdir()
    save_file(load_file(source / "model.safetensors"), folder / "model.safetensors")
    (folder / "config.json").write_text(text)
    return Checkpoint(RunId("toy", None), 5, folder, planted.folder, "odd")


def good(planted: PlantedRun) -> dict[str, Any]:
    return json.loads((planted.folder / "seed0" / "step64" / "config.json").read_text())


ODD: list[dict[str, Any]] = [
    {"num_attention_heads": 0}, {"num_attention_heads": -4}, {"num_attention_heads": 5}, {"num_attention_heads": None},
    {"num_attention_heads": "4"}, {"hidden_size": 0}, {"hidden_size": 63}, {"hidden_size": 10**30},
    {"hidden_size": [64]}, {"num_hidden_layers": 0}, {"num_hidden_layers": -1}, {"num_hidden_layers": None},
    {"vocab_size": 10**30}, {"vocab_size": "16"}, {"intermediate_size": -1}, {"max_position_embeddings": "many"},
    {"model_type": ["gpt_neox"]}, {"model_type": None}, {"model_type": "gpt_neox_2"}, {"model_type": {}},
    {"hidden_act": "gelu_3"}, {"hidden_act": 7}, {"rope_parameters": "default"}, {"rope_parameters": {"rope_type": 3}},
    {"rope_parameters": {"rope_type": "yarn"}}, {"rope_scaling": {"type": "none such", "factor": 2}},
    {"layer_norm_eps": "small"}, {"architectures": 5, "model_type": 5}, {"tie_word_embeddings": "no"},
]  # fmt: skip


@pytest.mark.parametrize("change", ODD, ids=str)
def test_an_odd_setting_is_one_sentence(planted: PlantedRun, tmp_path: Path, change: dict[str, Any]) -> None:
    odd = checkpoint(planted, tmp_path / "a", json.dumps(good(planted) | change))
    with pytest.raises(InputError, match="toy step 5: ") as refused:
        interp.load(odd)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("key", ["model_type", "hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size"])
def test_a_missing_setting_is_one_sentence(planted: PlantedRun, tmp_path: Path, key: str) -> None:
    config = good(planted)
    del config[key]
    with pytest.raises(InputError, match="toy step 5: "):
        interp.load(checkpoint(planted, tmp_path / "a", json.dumps(config)))


@pytest.mark.parametrize("text", ["", "[]", "5", "{", '{"model_type": ', "[" * 100_000, "\x00"])
def test_what_is_no_config_is_named(planted: PlantedRun, tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"config.json (cannot be read as JSON|holds \w+)"):
        interp.load(checkpoint(planted, tmp_path / "a", text))


@pytest.mark.parametrize("device", ["meta", "abacus", "cuda:99", "", "cpu:x", "privateuseone"])
def test_a_device_that_cannot_compute_is_named(planted: PlantedRun, device: str) -> None:
    made = interp.suite(planted.folder).run(0).at(64)
    with pytest.raises(InputError, match=rf"the device '{device}' cannot be used here: ") as refused:
        interp.load(made, device=device)
    assert "\n" not in str(refused.value)


def test_a_dtype_may_be_torchs_own(planted: PlantedRun) -> None:
    made = interp.suite(planted.folder).run(0).at(64)
    assert interp.load(made, dtype=torch.float64).dtype == torch.float64
    with pytest.raises(InputError, match="'int8' is not a dtype interp computes in"):
        interp.load(made, dtype=torch.int8)
