"""Our GPT-NeoX against plain transformers, and what is said of weights whose numbers cannot be computed with."""

import math
from pathlib import Path

import pytest
import torch
import transformers.models.gpt_neox.modeling_gpt_neox as library

import interp
from interp.models.loading import Loader
from interp.values import InputError
from tests.models.toy import HEADS, LAYERS, TOKENS, WIDTH, Shape, fifty_prompts, plain, shapes, tensors, write
from tests.planted import PlantedRun


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
