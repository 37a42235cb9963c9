"""Files that name their tensors in other ways than the library's module: without a prefix, or twice."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPTNeoXConfig, OlmoConfig

import interp
from interp.models.loading import Loader
from interp.values import Checkpoint, InputError
from tests.random_models import VOCAB, write

SHAPE = {
    "vocab_size": VOCAB, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 64,
}  # fmt: skip
GPT2 = GPT2Config(vocab_size=VOCAB, n_embd=32, n_layer=2, n_head=4, n_positions=64)
NEOX = GPTNeoXConfig(**SHAPE, tie_word_embeddings=False)
TIED = GPTNeoXConfig(**SHAPE, tie_word_embeddings=True)
TOKENS = torch.tensor([[5, 9, 3, 5, 9, 1]])


def tensors(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    return load_file(checkpoint.folder / "model.safetensors")


def rewritten(checkpoint: Checkpoint, named: dict[str, torch.Tensor], suffix: str = "safetensors") -> None:
    (checkpoint.folder / "model.safetensors").unlink()
    if suffix == "bin":
        torch.save(named, checkpoint.folder / "pytorch_model.bin")
    else:
        save_file({name: value.contiguous() for name, value in named.items()}, checkpoint.folder / "model.safetensors")


@pytest.mark.parametrize("suffix", ["safetensors", "bin"])
def test_gpt2_files_without_the_prefix_are_the_same_model(tmp_path: Path, suffix: str) -> None:
    """As openai's first files have them: `h.0…`, with the causal mask as a buffer beside it."""
    checkpoint = write(tmp_path / "a", GPT2, 0)
    expected = interp.load(checkpoint).logits(TOKENS)
    bare = {name.removeprefix("transformer."): value for name, value in tensors(checkpoint).items()}
    assert "h.0.attn.c_attn.weight" in bare
    buffers = {f"h.{layer}.attn.bias": torch.ones(64, 64).tril()[None, None] for layer in range(2)}
    masked = {f"h.{layer}.attn.masked_bias": torch.tensor(-1e4) for layer in range(2)}
    rewritten(checkpoint, bare | buffers | masked, suffix)
    assert interp.load(checkpoint).logits(TOKENS).equal(expected)


@pytest.mark.parametrize("name", ["embed_out.weight", "lm_head.weight"])
def test_the_unembedding_is_known_by_either_of_its_names(tmp_path: Path, name: str) -> None:
    checkpoint = write(tmp_path / "a", NEOX, 0)
    expected = interp.load(checkpoint).logits(TOKENS)
    named = tensors(checkpoint)
    (found,) = named.keys() & {"embed_out.weight", "lm_head.weight"}
    rewritten(checkpoint, {name if one == found else one: value for one, value in named.items()})
    assert interp.load(checkpoint).logits(TOKENS).equal(expected)


def test_a_run_may_change_its_names_between_steps(tmp_path: Path) -> None:
    first, second = (write(tmp_path / str(seed), GPT2, seed) for seed in (0, 1))
    expected = interp.load(second).logits(TOKENS)
    rewritten(second, {name.removeprefix("transformer."): value for name, value in tensors(second).items()})
    loader = Loader()
    loader(first)
    assert loader(second).logits(TOKENS).equal(expected)


def test_a_shape_is_compared_under_any_name(tmp_path: Path) -> None:
    checkpoint = write(tmp_path / "a", GPT2, 0)
    bare = {name.removeprefix("transformer."): value for name, value in tensors(checkpoint).items()}
    rewritten(checkpoint, bare | {"h.1.mlp.c_fc.weight": torch.zeros(32, 127)})
    with pytest.raises(
        InputError, match=r"'h.1.mlp.c_fc.weight' has shape \(32, 127\), and the model's is \(32, 128\)"
    ):
        interp.load(checkpoint)


def test_a_name_that_no_prefix_explains_is_refused(tmp_path: Path) -> None:
    checkpoint = write(tmp_path / "a", GPT2, 0)
    rewritten(checkpoint, {f"model.{name}": value for name, value in tensors(checkpoint).items()})
    with pytest.raises(InputError, match="that this model does not have"):
        interp.load(checkpoint)


@pytest.mark.parametrize("tied", [True, False])
def test_olmo_files_load_with_and_without_an_unembedding_of_their_own(tmp_path: Path, tied: bool) -> None:
    """OLMo-1B ties its unembedding to the embedding, OLMo-7B does not; both hold layers as `model.layers.0…`."""
    checkpoint = write(tmp_path / "a", OlmoConfig(**SHAPE, tie_word_embeddings=tied), 0)
    assert ("lm_head.weight" in tensors(checkpoint)) is not tied
    model = interp.load(checkpoint)
    assert (model.n_layers, model.n_heads) == (2, 4)
    assert model.patterns(TOKENS).shape == (2, 1, 4, 6, 6)


def both(folder: Path, config: Any, change: float) -> Checkpoint:
    """A checkpoint that holds embedding and unembedding, which differ by `change` in one entry."""
    checkpoint = write(folder, config, 0)
    named = tensors(checkpoint)
    unembedding = named["gpt_neox.embed_in.weight"].clone()
    unembedding[3, 4] += change
    rewritten(checkpoint, named | {"embed_out.weight": unembedding})
    return checkpoint


def test_a_tied_unembedding_that_is_stored_too_is_read_once(tmp_path: Path) -> None:
    expected = interp.load(write(tmp_path / "plain", TIED, 0)).logits(TOKENS)
    assert interp.load(both(tmp_path / "both", TIED, 0.0)).logits(TOKENS).equal(expected)


def test_a_tied_unembedding_that_differs_is_refused_before_anything_is_copied(tmp_path: Path) -> None:
    loader = Loader()
    model = loader(write(tmp_path / "plain", TIED, 0))
    before = {name: value.clone() for name, value in model.module.state_dict().items()}
    other = both(tmp_path / "both", TIED, 0.5)
    with pytest.raises(InputError, match=r"are one tensor, and the weights hold two .* tie_word_embeddings"):
        model.swap(other)
    assert all(value.equal(before[name]) for name, value in model.module.state_dict().items())


def test_an_untied_unembedding_is_its_own(tmp_path: Path) -> None:
    model = interp.load(both(tmp_path / "a", NEOX, 0.5))
    embedding, unembedding = model.module.get_input_embeddings(), model.module.get_output_embeddings()
    assert float((unembedding.weight - embedding.weight).abs().sum()) == pytest.approx(0.5)


@pytest.mark.parametrize("key", [0, ("a", 1), None])
def test_a_pickle_whose_names_are_no_texts_is_refused(tmp_path: Path, key: object) -> None:
    checkpoint = write(tmp_path / "a", GPT2, 0)
    rewritten(checkpoint, tensors(checkpoint) | {key: torch.zeros(1)}, "bin")  # pyright: ignore
    with pytest.raises(InputError, match="needed: a text"):
        interp.load(checkpoint)
