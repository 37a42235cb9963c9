"""Loads and swaps give what the files hold, and what is said of checkpoints that cannot be run."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import interp
from interp.models import Model
from interp.models.loading import Loader
from interp.values import InputError
from tests.models.toy import LAYERS, TOKENS, Shape, Tensors, at, tensors, write


def same_weights(one: Model, other: Model) -> bool:
    pairs = zip(one.module.named_parameters(), other.module.named_parameters(), strict=True)
    return all(name == other_name and torch.equal(a, b) for (name, a), (other_name, b) in pairs)


def test_a_swap_is_a_fresh_load_bit_for_bit(tmp_path: Path) -> None:
    first, second = (write(tmp_path / f"step{i}", tensors(seed=i), step=i) for i in (0, 1))
    swapped, fresh, stale = interp.load(first), interp.load(second), interp.load(first)
    assert not torch.equal(fresh.logits(TOKENS), stale.logits(TOKENS))
    swapped.swap(second)
    assert swapped.checkpoint == second
    assert same_weights(swapped, fresh)
    assert torch.equal(swapped.logits(TOKENS), fresh.logits(TOKENS))
    assert torch.equal(swapped.patterns(TOKENS), fresh.patterns(TOKENS))
    swapped.swap(first)
    assert torch.equal(swapped.logits(TOKENS), stale.logits(TOKENS))


def test_the_loader_gives_what_a_fresh_load_gives(tmp_path: Path) -> None:
    made = [write(tmp_path / f"step{i}", tensors(seed=i), step=i) for i in range(3)]
    loader = Loader()
    for i in (0, 1, 1, 2, 0):
        model = loader(made[i])
        assert model.checkpoint == made[i]
        assert torch.equal(model.logits(TOKENS), interp.load(made[i]).logits(TOKENS))


def test_the_loader_names_the_step_that_was_asked_for_though_its_weights_are_there(tmp_path: Path) -> None:
    first, twin = (write(tmp_path / f"step{i}", tensors(), step=i) for i in (0, 1))
    assert first.weights == twin.weights
    loader = Loader()
    loader(first)
    assert loader(twin).checkpoint == twin


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (Shape(layers=2), r"lacks 12 tensors, 'gpt_neox.layers.2.attention.dense.bias' among them"),
        (Shape(layers=4), r"holds a tensor 'gpt_neox.layers.3.\S+' that this model does not have"),
        (Shape(width=128), r"'\S+' has shape \(.*128\), and the model's is \(.*64\)"),
    ],
)
def test_a_swap_to_another_shape_is_refused_and_leaves_no_mixture(tmp_path: Path, shape: Shape, said: str) -> None:
    good, bad = write(tmp_path / "a", tensors()), write(tmp_path / "b", tensors(shape, seed=1), shape, step=6)
    loader = Loader()
    loader(good)
    with pytest.raises(InputError, match=said) as caught:
        loader(bad)
    assert "toy/seed0 step 6" in str(caught.value)
    assert same_weights(loader(good), interp.load(good))


def broken(given: Tensors, how: str) -> Tensors:
    name = "gpt_neox.final_layer_norm.weight"
    if how == "missing":
        return {key: value for key, value in given.items() if key != name}
    if how == "extra":
        return given | {"gpt_neox.layers.7.attention.dense.weight": torch.zeros(2)}
    return given | {name: torch.zeros(3)}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("missing", "lacks 1 tensors, 'gpt_neox.final_layer_norm.weight' among them"),
        ("extra", "holds a tensor 'gpt_neox.layers.7.attention.dense.weight' that this model does not have"),
        ("misshapen", r"'gpt_neox.final_layer_norm.weight' has shape \(3,\), and the model's is \(64,\)"),
    ],
)
def test_wrong_tensors_are_named_and_leave_no_mixture(tmp_path: Path, how: str, said: str) -> None:
    good, bad = write(tmp_path / "a", tensors()), write(tmp_path / "b", broken(tensors(seed=1), how), step=6)
    with pytest.raises(InputError, match=f"toy/seed0 step 6: .*{said}"):
        interp.load(bad)
    loader = Loader()
    loader(good)
    with pytest.raises(InputError, match=said):
        loader(bad)
    assert same_weights(loader(good), interp.load(good))


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
@pytest.mark.parametrize("cut", ["empty", "half", "text"])
def test_a_broken_file_is_named(tmp_path: Path, name: str, cut: str) -> None:
    checkpoint = write(tmp_path, tensors())
    if name.endswith(".bin"):
        (tmp_path / "model.safetensors").unlink()
        torch.save(tensors(), tmp_path / name)
    path = tmp_path / name
    whole = path.read_bytes()
    path.write_bytes({"empty": b"", "half": whole[: len(whole) // 2], "text": b"hello, this is no model"}[cut])
    with pytest.raises(InputError, match=f"{path} is broken and cannot be read as weights"):
        interp.load(checkpoint)


@pytest.mark.parametrize("zipped", [True, False])
def test_an_old_file_with_buffers_loads_quietly(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], zipped: bool
) -> None:
    expected = interp.load(write(tmp_path / "new", tensors())).logits(TOKENS)
    # names as in the first public Pythia files: buffers that are no parameters, and an unembedding of another name
    old = tensors()
    for layer in range(LAYERS):
        place = f"gpt_neox.layers.{layer}.attention."
        old[place + "bias"] = torch.ones(1, 1, 64, 64, dtype=torch.bool).tril()
        old[place + "masked_bias"] = torch.tensor(-1e9)
        old[place + "rotary_emb.inv_freq"] = torch.full((2,), 123.0)  # not what the config says: never read
    folder = tmp_path / "old"
    write(folder, tensors())
    (folder / "model.safetensors").unlink()
    torch.save(old, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    capfd.readouterr()
    assert torch.equal(interp.load(at(folder)).logits(TOKENS), expected)
    assert capfd.readouterr() == ("", "")


class Hostile:
    """Unpickled, it makes a folder."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_hostile_pickle_is_refused_and_not_run(tmp_path: Path, zipped: bool) -> None:
    mark, folder = tmp_path / "mark", tmp_path / "model"
    pickle.loads(pickle.dumps(Hostile(mark)))
    mark.rmdir()  # so it would have worked
    write(folder, tensors())
    (folder / "model.safetensors").unlink()
    torch.save({"x": Hostile(mark)}, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match=f"{folder}/pytorch_model.bin is broken and cannot be read as weights"):
        interp.load(at(folder))
    assert not mark.exists()


def test_a_pickle_that_is_no_dictionary_of_tensors_is_refused(tmp_path: Path) -> None:
    write(tmp_path, tensors())
    (tmp_path / "model.safetensors").unlink()
    torch.save(torch.zeros(3), tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model.bin is broken and cannot be read as weights"):
        interp.load(at(tmp_path))


def test_an_unknown_dtype_gets_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'float31' is not a dtype interp computes in; did you mean float32"):
        interp.load(write(tmp_path, tensors()), "float31")


def test_weights_of_another_family_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"toy/seed0 step 5: .* that this model does not have"):
        interp.load(write(tmp_path, tensors(), model_type="bert"))


@pytest.mark.parametrize(
    "changed",
    [
        {"model_type": "nonsense"},
        {"model_type": None},
        {"hidden_size": "sixty-four"},
        {"hidden_size": 65},
        {"hidden_act": "nope"},
        {"num_hidden_layers": None},
    ],
)
def test_a_config_that_describes_no_model_is_refused_in_one_line(tmp_path: Path, changed: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"toy/seed0 step 5: config.json does not describe a model: ") as caught:
        interp.load(write(tmp_path, tensors(), **changed))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="the machine has the device")
def test_an_absent_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the device 'cuda' cannot be used here: ") as caught:
        interp.load(write(tmp_path, tensors()), device="cuda")
    assert "\n" not in str(caught.value)


def test_a_device_that_is_no_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the device 'abacus' cannot be used here: "):
        interp.load(write(tmp_path, tensors()), device="abacus")


def test_a_load_reads_what_the_file_holds(tmp_path: Path) -> None:
    checkpoint = write(tmp_path, tensors())
    held = load_file(tmp_path / "model.safetensors")
    model = interp.load(checkpoint)
    for name, parameter in model.module.named_parameters():
        assert torch.equal(parameter, held[name.replace("lm_head", "embed_out")])
    assert len(held) == len(list(model.module.parameters()))
