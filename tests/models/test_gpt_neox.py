"""Our GPT-NeoX against plain transformers, and what is said of checkpoints that cannot be run."""

import json
import math
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import transformers.models.gpt_neox.modeling_gpt_neox as library
from safetensors.torch import load_file, save_file
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

import interp
from interp.models import Attention, Model
from interp.models.gpt_neox import GPTNeoX
from interp.models.loading import Loader
from interp.models.selftest import self_test
from interp.suites.integrity import weights_hash
from interp.values import Checkpoint, InputError, RunId
from tests.planted import PlantedRun

LAYERS, HEADS, WIDTH, VOCAB = 3, 4, 64, 90
Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Shape:
    """A config.json as the Pythia files of old write it."""

    parallel: bool = True
    rotary: float = 0.25
    layers: int = LAYERS
    width: int = WIDTH

    def config(self) -> dict[str, object]:
        return {
            "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "vocab_size": VOCAB,
            "hidden_size": self.width, "num_hidden_layers": self.layers, "num_attention_heads": HEADS,
            "intermediate_size": 2 * self.width, "max_position_embeddings": 64, "hidden_act": "gelu",
            "rotary_pct": self.rotary, "rotary_emb_base": 10000, "use_parallel_residual": self.parallel,
            "tie_word_embeddings": False, "layer_norm_eps": 1e-5, "bos_token_id": 0, "eos_token_id": 0,
            "torch_dtype": "float16",
        }  # fmt: skip


SHAPES = [Shape(parallel, rotary) for parallel in (True, False) for rotary in (0.25, 1.0)]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"parallel={s.parallel} rotary={s.rotary}")


def tensors(shape: Shape = Shape(), seed: int = 0) -> Tensors:
    """Random weights, large enough that attention is sharp and logits are tens, as files of old name them."""
    module = GPTNeoXForCausalLM(GPTNeoXConfig(**shape.config()))  # pyright: ignore[reportArgumentType]
    generator = torch.Generator().manual_seed(seed)
    made = {}
    for name, value in module.state_dict().items():
        noise = torch.randn(value.shape, generator=generator)
        size = 0.3 if name.endswith("bias") else 1.5 if "embed" in name or "lm_head" in name else 2.5 / math.sqrt(WIDTH)
        made[name.replace("lm_head", "embed_out")] = 1 + 0.3 * noise if "norm.weight" in name else size * noise
    return made


def write(folder: Path, given: Tensors, shape: Shape = Shape(), step: int = 5, **config: object) -> Checkpoint:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(shape.config() | config))
    save_file(given, folder / "model.safetensors")
    return at(folder, step)


def at(folder: Path, step: int = 5) -> Checkpoint:
    return Checkpoint(RunId("toy", 0), step, folder, folder, weights_hash(folder))


def plain(checkpoint: Checkpoint, dtype: torch.dtype = torch.float32, attention: str = "eager") -> GPTNeoXForCausalLM:
    """What transformers itself makes of the folder."""
    found = GPTNeoXForCausalLM.from_pretrained(checkpoint.folder, dtype=dtype, attn_implementation=attention)
    return found.eval()


def fifty_prompts() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(VOCAB, (10, length), generator=generator) for length in (1, 2, 7, 16, 40)]


TOKENS = fifty_prompts()[3]


@shapes
@torch.no_grad()
def test_logits_are_those_of_transformers(tmp_path: Path, shape: Shape) -> None:
    checkpoint = write(tmp_path, tensors(shape), shape)
    ours, theirs = interp.load(checkpoint), plain(checkpoint)
    for tokens in fifty_prompts():
        expected = theirs(tokens).logits[:, -1]
        assert expected.abs().max() > 10
        # fp32 rounds a logit of size s by about s · 6e-8 in each of some hundred sums
        assert (ours.logits(tokens) - expected).abs().max() <= 1e-5 * max(1, float(expected.abs().max()))


@shapes
@torch.no_grad()
def test_float64_logits_are_those_of_transformers(tmp_path: Path, shape: Shape) -> None:
    checkpoint = write(tmp_path, tensors(shape), shape)
    # sdpa: the library's eager attention takes its softmax in float32 even in a float64 model
    ours, theirs = interp.load(checkpoint, "float64"), plain(checkpoint, torch.float64, "sdpa")
    for tokens in fifty_prompts():
        expected = theirs(tokens).logits[:, -1]
        assert expected.dtype == torch.float64
        # float64 rounds by 1e-16 of tens; 1e-9 is the project's bound
        assert (ours.logits(tokens) - expected).abs().max() <= 1e-9


@torch.no_grad()
def test_an_unembedding_tied_to_the_embedding_is_one_tensor(tmp_path: Path) -> None:
    given = tensors()
    del given["embed_out.weight"]
    checkpoint = write(tmp_path, given, tie_word_embeddings=True)
    ours, expected = interp.load(checkpoint), plain(checkpoint)(TOKENS).logits[:, -1]
    assert (ours.logits(TOKENS) - expected).abs().max() <= 1e-5 * float(expected.abs().max())


@shapes
@torch.no_grad()
def test_patterns_are_those_of_transformers(tmp_path: Path, shape: Shape) -> None:
    checkpoint = write(tmp_path, tensors(shape), shape)
    ours, theirs = interp.load(checkpoint), plain(checkpoint)
    for tokens in fifty_prompts():
        expected = torch.stack(theirs(tokens, output_attentions=True).attentions)
        assert expected.shape == (LAYERS, len(tokens), HEADS, tokens.shape[1], tokens.shape[1])
        # attention scores here are tens: rounded by some 1e-6 in each of the two, and so by that share are the weights
        assert (ours.patterns(tokens) - expected).abs().max() <= 2e-5


@shapes
@torch.no_grad()
def test_a_forward_resumed_anywhere_is_the_whole_forward(tmp_path: Path, shape: Shape) -> None:
    checkpoint = write(tmp_path, tensors(shape), shape)
    model, theirs = interp.load(checkpoint, "float64"), plain(checkpoint, torch.float64, "sdpa")
    expected = theirs(TOKENS, output_hidden_states=True)
    stream = model.residuals(TOKENS)
    # the last of the library's is after its final norm, so it is not compared
    for after in range(-1, LAYERS - 1):
        assert (stream[after + 1] - expected.hidden_states[after + 1]).abs().max() <= 1e-9
    for after in range(-1, LAYERS):
        assert (model.resume(stream[after + 1], after) - expected.logits[:, -1]).abs().max() <= 1e-9


@pytest.mark.parametrize(("dtype", "eps"), [("float32", 2**-23), ("float64", 2**-52)])
def test_rows_sum_to_one(tmp_path: Path, dtype: str, eps: float) -> None:
    model = interp.load(write(tmp_path, tensors()), dtype)
    for tokens in fifty_prompts():
        # forty rounded weights added up: a few units each way
        assert (model.patterns(tokens).sum(-1) - 1).abs().max() <= 16 * eps


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_head_sees_the_future_however_low_its_scores(tmp_path: Path, dtype: str) -> None:
    given = tensors(Shape(rotary=1.0))
    fused = given["gpt_neox.layers.1.attention.query_key_value.bias"].view(HEADS, 3, WIDTH // HEADS)
    fused[:, 1] *= 300
    fused[:, 0] = -fused[:, 1]
    # where a position attends to itself the rotation cancels, and biases alone score −|key bias|² / √d_head: far below
    # any finite number that stands in for a mask
    assert (-fused[:, 1].square().sum(-1) / math.sqrt(WIDTH // HEADS)).max() < -1e4
    model = interp.load(write(tmp_path, given, Shape(rotary=1.0)), dtype)
    for tokens in fifty_prompts():
        patterns = model.patterns(tokens)
        assert float(patterns.triu(1).abs().max()) == 0
        assert torch.isfinite(patterns).all()
        assert (patterns.sum(-1) - 1).abs().max() <= 16 * 2**-23


@torch.no_grad()
def test_the_last_position_alone_gives_the_last_row(tmp_path: Path) -> None:
    model = interp.load(write(tmp_path, tensors()))
    resid = model.embed(TOKENS)
    whole, last = model.attention(0, resid), model.attention(0, resid, first=-1)
    assert last.pattern.shape == (10, HEADS, 1, 16)
    # one row of a product, computed apart, may be summed in another order
    assert (whole.pattern[:, :, -1:] - last.pattern).abs().max() <= 1e-6


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


@torch.no_grad()
def test_what_is_stored_in_half_is_computed_in_full(tmp_path: Path) -> None:
    halves = {name: value.half() for name, value in tensors().items()}
    checkpoint = write(tmp_path, halves)
    model = interp.load(checkpoint)
    assert model.dtype == torch.float32
    assert {parameter.dtype for parameter in model.module.parameters()} == {torch.float32}
    expected = plain(checkpoint, torch.float32)(TOKENS).logits[:, -1]
    assert (model.logits(TOKENS) - expected).abs().max() <= 1e-5 * float(expected.abs().max())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_dtype_is_the_one_asked_for(tmp_path: Path, dtype: str) -> None:
    model = interp.load(write(tmp_path, tensors()), dtype)
    assert model.dtype == getattr(torch, dtype)
    assert model.patterns(TOKENS).dtype == model.logits(TOKENS).dtype == model.dtype


def test_the_rotary_table_is_full_precision_in_every_dtype(tmp_path: Path) -> None:
    checkpoint = write(tmp_path, tensors(Shape(rotary=1.0)), Shape(rotary=1.0))
    expected = 10_000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    for dtype in ("float16", "float32", "float64"):
        held = interp.load(checkpoint, dtype).module.gpt_neox.rotary_emb.inv_freq
        assert held.dtype == torch.float32
        assert (held.double() / expected - 1).abs().max() <= 2**-22  # float32's rounding


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


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("gpt_neox.embed_in.weight", "the embedding"),
        ("gpt_neox.layers.1.attention.query_key_value.weight", "layer 1"),
        ("gpt_neox.layers.1.attention.dense.bias", "layer 1"),
        ("gpt_neox.layers.1.mlp.dense_4h_to_h.bias", "layer 1"),
        ("gpt_neox.final_layer_norm.bias", "the unembedding"),
        ("embed_out.weight", "the unembedding"),
    ],
)
def test_weights_that_are_not_finite_are_refused_with_step_and_layer(
    tmp_path: Path, name: str, place: str, value: float
) -> None:
    given = tensors()
    given[name].view(-1)[:] = value
    checkpoint = write(tmp_path, given)
    with pytest.raises(InputError, match=f"step 5: the logits are not finite.* come from {place}, in float32"):
        interp.load(checkpoint).logits(TOKENS)


def test_numbers_too_large_for_half_precision_are_refused_where_they_arise(tmp_path: Path) -> None:
    given = tensors()
    given["gpt_neox.layers.1.mlp.dense_4h_to_h.bias"][:] = 60_000
    given["gpt_neox.layers.2.mlp.dense_4h_to_h.bias"][:] = 60_000
    checkpoint = write(tmp_path, given)
    assert torch.isfinite(interp.load(checkpoint).logits(TOKENS)).all()
    with pytest.raises(InputError, match="come from layer 2, in float16"):
        interp.load(checkpoint, "float16").logits(TOKENS)


@torch.no_grad()
def test_the_bridge_gives_our_logits(planted: PlantedRun) -> None:
    checkpoint = interp.suite(planted.folder).run(0).at(planted.planted_at)
    model, bridge = interp.load(checkpoint), interp.bridge(checkpoint)
    tokens = torch.tensor([[0, 5, 3, 9, 2], [0, 2, 4, 6, 8]])
    ours, theirs = model.logits(tokens), bridge(tokens)[:, -1]
    assert (ours - theirs).abs().max() <= 1e-5 * max(1, float(theirs.abs().max()))
    assert bridge.tokenizer.encode("salt bear", add_special_tokens=False) == [2, 3]


@torch.no_grad()
def test_nothing_of_the_library_is_changed(tmp_path: Path, planted: PlantedRun) -> None:
    checkpoint = write(tmp_path, tensors())
    theirs = {attention: plain(checkpoint, attention=attention) for attention in ("eager", "sdpa")}
    before = {attention: module(TOKENS).logits for attention, module in theirs.items()}
    contents = dict(vars(library))
    state = torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled()
    model = interp.load(checkpoint)
    model.logits(TOKENS)
    model.patterns(TOKENS)
    Loader()(checkpoint)
    # before the bridge, since TransformerLens draws from the generator where it builds one
    assert torch.equal(torch.get_rng_state(), state[0])
    interp.bridge(interp.suite(planted.folder).run(0).at(planted.planted_at))
    assert (torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled()) == state[1:]
    assert {name for name, value in vars(library).items() if value is not contents.get(name)} == set()
    for attention, module in theirs.items():
        assert torch.equal(module(TOKENS).logits, before[attention])
        assert torch.equal(plain(checkpoint, attention=attention)(TOKENS).logits, before[attention])


@torch.no_grad()
def test_the_modules_own_forward_stays_what_it_was(tmp_path: Path) -> None:
    checkpoint = write(tmp_path, tensors())
    model = interp.load(checkpoint)
    expected = plain(checkpoint)(TOKENS).logits
    # one implementation, one set of weights, one order of sums
    assert torch.equal(model.module(TOKENS).logits, expected)
    assert all(not part._forward_hooks and not part._forward_pre_hooks for part in model.module.modules())
    assert not any(parameter.requires_grad for parameter in model.module.parameters())


class Deaf(GPTNeoX):
    """Its middle layer's output is computed when the pattern is read, so that what is written there is not heard."""

    def attention(self, layer: int, resid: torch.Tensor, first: int = 0) -> Attention:
        found = super().attention(layer, resid, first)
        self._heard = (found.pattern @ found.value).transpose(1, 2)
        return found

    def project(self, layer: int, mixed: torch.Tensor) -> torch.Tensor:
        return super().project(layer, self._heard if layer == 1 else mixed)


class Changed(GPTNeoX):
    """What its middle layer's patterns are, a subclass says."""

    def attention(self, layer: int, resid: torch.Tensor, first: int = 0) -> Attention:
        pattern, value = super().attention(layer, resid, first)
        return Attention(self.changed(pattern), value) if layer == 1 else Attention(pattern, value)

    def changed(self, pattern: torch.Tensor) -> torch.Tensor:
        return pattern


class Unnormalised(Changed):
    def changed(self, pattern: torch.Tensor) -> torch.Tensor:
        return pattern * 0.9


class Foreseeing(Changed):
    def changed(self, pattern: torch.Tensor) -> torch.Tensor:
        return pattern.flip(-1)


class Sharing(Changed):
    def changed(self, pattern: torch.Tensor) -> torch.Tensor:
        return pattern[:, :1]


class Restless(GPTNeoX):
    """Two forwards of its middle layer differ."""

    calls = 0

    def project(self, layer: int, mixed: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return super().project(layer, mixed) + (1e-3 * self.calls if layer == 1 else 0)


@pytest.mark.parametrize(
    ("decoder", "said"),
    [
        (Deaf, "writing random patterns changes nothing"),
        (Unnormalised, "its attention rows do not sum to one"),
        (Foreseeing, "it attends to the future"),
        (Sharing, r"its patterns have shape \(2, 1, 8, 8\), not \(2, 4, 8, 8\)"),
        (Restless, "writing its own pattern changes its output"),
    ],
)
def test_a_model_whose_patterns_are_not_real_is_refused_with_the_layer(
    tmp_path: Path, decoder: type[GPTNeoX], said: str
) -> None:
    checkpoint = write(tmp_path, tensors())
    self_test(GPTNeoX(plain(checkpoint), checkpoint))
    with pytest.raises(InputError, match=f"toy/seed0 step 5: layer 1 fails the self-test at load: {said}"):
        self_test(decoder(plain(checkpoint), checkpoint))


def test_a_load_reads_what_the_file_holds(tmp_path: Path) -> None:
    checkpoint = write(tmp_path, tensors())
    held = load_file(tmp_path / "model.safetensors")
    model = interp.load(checkpoint)
    for name, parameter in model.module.named_parameters():
        assert torch.equal(parameter, held[name.replace("lm_head", "embed_out")])
    assert len(held) == len(list(model.module.parameters()))
