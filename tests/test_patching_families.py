"""Δp on random weights of many shapes and architectures, against forwards hooked by others."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    GemmaConfig,
    GPT2Config,
    GPTJConfig,
    GPTNeoXConfig,
    LlamaConfig,
    MistralConfig,
    PhiConfig,
    Qwen2Config,
    Qwen3Config,
    StableLmConfig,
)
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.gpt_neox import modeling_gpt_neox

import interp
from interp import patching
from interp.models import Decoder, Model
from interp.values import Head, InputError, PromptSet
from tests.random_models import VOCAB, prompt_set, write

SHAPE = {
    "vocab_size": VOCAB, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
    "num_attention_heads": 4, "max_position_embeddings": 64,
}  # fmt: skip
DECODERS = {
    "pythia": GPTNeoXConfig(**SHAPE, rotary_pct=0.25, tie_word_embeddings=False),
    "sequential": GPTNeoXConfig(**SHAPE, rotary_pct=0.5, use_parallel_residual=False, tie_word_embeddings=False),
    "gpt2": GPT2Config(vocab_size=VOCAB, n_embd=32, n_layer=3, n_head=4, n_positions=64),
    "gpt2-scaled": GPT2Config(
        vocab_size=VOCAB, n_embd=32, n_layer=3, n_head=2, n_positions=64, scale_attn_by_inverse_layer_idx=True
    ),
}  # fmt: skip
BRIDGED = {
    "llama": LlamaConfig(**SHAPE, num_key_value_heads=2),
    "qwen2": Qwen2Config(**SHAPE, num_key_value_heads=1),
    "qwen3": Qwen3Config(**SHAPE, num_key_value_heads=2, head_dim=8),
    "mistral": MistralConfig(**SHAPE, num_key_value_heads=2),
    "gemma": GemmaConfig(**SHAPE, num_key_value_heads=2, head_dim=8),
    "phi": PhiConfig(**SHAPE),
    "stablelm": StableLmConfig(**SHAPE, num_key_value_heads=2),
}


def pair(folder: Path, config: Any, dtype: str) -> tuple[Model, Model]:
    recipient, donor = (interp.load(write(folder / str(seed), config, seed), dtype) for seed in (0, 1))
    return recipient, donor


def plain(model: Model) -> Any:
    """The library's own module of a checkpoint, eager, that nothing of ours or of TransformerLens has touched."""
    return AutoModelForCausalLM.from_pretrained(
        model.checkpoint.folder, dtype=model.dtype, attn_implementation="eager"
    ).eval()


def effects_by_library(
    recipient: Model, donor: Model, prompts: PromptSet, monkeypatch: pytest.MonkeyPatch, softmax: torch.dtype
) -> np.ndarray:
    """Δp[prompt, layer, head] with the library's own eager attention replaced by one that writes patterns.

    `softmax`: what attention is normalised in; the library's own is in float32 whatever the model's dtype.
    """
    to, source = plain(recipient), plain(donor)
    layers, heads = to.config.num_hidden_layers, to.config.num_attention_heads
    module = __import__(type(to).__module__, fromlist=["eager_attention_forward"])
    now: dict[str, Any] = {"layer": -1, "head": -1, "pattern": None}

    def written(attention: Any, query: Any, key: Any, value: Any, mask: Any, *args: Any, **options: Any) -> Any:
        key, value = (x.repeat_interleave(heads // x.shape[1], 1) for x in (key, value))
        weights = (query @ key.transpose(2, 3) * attention.scaling + mask).softmax(-1, dtype=softmax).to(query.dtype)
        if attention.layer_idx == now["layer"]:
            weights[:, now["head"]] = now["pattern"]
        return (weights @ value).transpose(1, 2).contiguous(), weights

    monkeypatch.setattr(module, "eager_attention_forward", written)
    found = np.empty((len(prompts), layers, heads))
    with torch.no_grad():
        for i, prompt in enumerate(prompts.prompts):
            tokens = torch.tensor([prompt.tokens])
            now["layer"] = -1
            given = source(tokens, output_attentions=True).attentions

            def p(tokens: Any = tokens, answer: int = prompt.answer) -> float:
                return float(to(tokens).logits[0, -1].double().softmax(-1)[answer])

            before = p()
            for layer in range(layers):
                for head in range(heads):
                    now.update(layer=layer, head=head, pattern=given[layer][:, head])
                    found[i, layer, head] = p() - before
    return found


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-9)])
@pytest.mark.parametrize("name", DECODERS)
def test_decoders_equal_the_library_with_patterns_written_into_it(
    name: str, dtype: str, tolerance: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipient, donor = pair(tmp_path, DECODERS[name], dtype)
    assert isinstance(recipient, Decoder)
    prompts = prompt_set()
    ours = patching.single(recipient, prompts, patching.patterns(donor, prompts)).delta_p
    theirs = effects_by_library(recipient, donor, prompts, monkeypatch, recipient.dtype)
    assert np.abs(theirs).max() > 1e-3
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.parametrize("name", DECODERS)
def test_sets_of_heads_in_the_growing_pass_equal_full_forwards(name: str, tmp_path: Path) -> None:
    recipient, donor = pair(tmp_path, DECODERS[name], "float64")
    prompts = prompt_set(4)
    heads = recipient.n_heads
    sets = np.random.default_rng(0).random((20, 3, heads)) < 0.3
    sets[0] = False
    grown = patching.written(recipient, prompts, patching.patterns(donor, prompts), sets)
    # scores are written in full forwards, one for each set, and over whole rows are the pattern after softmax
    scores = patching.patterns(donor, prompts, where="scores")
    whole = patching.written(recipient, prompts, scores, sets, where="scores")
    assert np.abs(whole.delta_p).max() > 1e-3
    assert not grown.delta_p[:, 0].any()
    for one, other in zip((*grown.recipient, *grown.patched), (*whole.recipient, *whole.patched), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10, rtol=1e-10)
    in_pieces = patching.written(recipient, prompts, patching.patterns(donor, prompts), sets, memory=200_000)
    np.testing.assert_allclose(in_pieces.delta_p, grown.delta_p, atol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-9)])
@pytest.mark.parametrize("name", BRIDGED)
def test_other_architectures_equal_the_library_with_patterns_written_into_it(
    name: str, dtype: str, tolerance: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipient, donor = pair(tmp_path, BRIDGED[name], dtype)
    assert recipient.n_heads == 4  # query heads, also where keys and values are shared
    prompts = prompt_set(4)
    ours = patching.single(recipient, prompts, patching.patterns(donor, prompts)).delta_p
    theirs = effects_by_library(recipient, donor, prompts, monkeypatch, torch.float32)
    assert np.abs(theirs).max() > 1e-3
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


def test_a_model_that_shows_its_patterns_too_late_is_refused(tmp_path: Path) -> None:
    config = GPTJConfig(vocab_size=VOCAB, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64)
    with pytest.raises(
        InputError, match="layer 0 fails the self-test at load: writing random patterns changes nothing"
    ):
        interp.load(write(tmp_path / "0", config, 0))


def test_heads_that_do_not_fit_one_another_are_refused_in_one_sentence(tmp_path: Path) -> None:
    config = StableLmConfig(**SHAPE, num_key_value_heads=32)  # more keys than queries
    with pytest.raises(InputError, match=r"config\.json does not describe a model: The size of tensor a") as caught:
        interp.load(write(tmp_path, config, 0))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["pythia", "gpt2", "llama"])
def test_own_patterns_change_exactly_nothing_and_batches_do_not_matter(name: str, tmp_path: Path) -> None:
    recipient, donor = pair(tmp_path, (DECODERS | BRIDGED)[name], "float32")
    prompts = prompt_set(8)
    own, given = patching.patterns(recipient, prompts), patching.patterns(donor, prompts)
    assert not patching.single(recipient, prompts, own).delta_p.any()
    every = np.ones((1, recipient.n_layers, recipient.n_heads), dtype=bool)
    assert not patching.joint(recipient, prompts, own, every).any()
    whole = patching.single(recipient, prompts, given)
    for i in range(3):  # one prompt at a time
        alone = patching.single(recipient, prompts.some([i]), patching.patterns(donor, prompts.some([i])))
        np.testing.assert_allclose(alone.delta_p[0], whole.delta_p[i], atol=1e-5)
        assert (alone.solved[0] == whole.solved[i]).all()


def test_another_weight_swap_gives_the_same_as_a_fresh_model(tmp_path: Path) -> None:
    prompts = prompt_set(3)
    for name in ("gpt2", "llama"):
        recipient, donor = pair(tmp_path / name, (DECODERS | BRIDGED)[name], "float32")
        fresh = patching.patterns(donor, prompts)
        recipient.swap(donor.checkpoint)
        assert all(torch.equal(a, b) for a, b in zip(patching.patterns(recipient, prompts), fresh, strict=True))


def test_nothing_process_wide_is_changed(tmp_path: Path) -> None:
    names = ("eager_attention_forward", "apply_rotary_pos_emb", "rotate_half")
    modules = (modeling_gpt2, modeling_gpt_neox)
    before = [getattr(module, name, None) for module in modules for name in names]
    for name in ("pythia", "llama"):
        recipient, donor = pair(tmp_path / name, (DECODERS | BRIDGED)[name], "float32")
        tokens = torch.tensor([prompt_set(1).prompts[0].tokens])
        with torch.no_grad():
            first = plain(recipient)(tokens).logits
            prompts = prompt_set(2)
            patching.single(recipient, prompts, patching.patterns(donor, prompts))
            assert torch.equal(plain(recipient)(tokens).logits, first)
    assert [getattr(module, name, None) for module in modules for name in names] == before


def test_hooks_leave_nothing_after_an_interrupt(tmp_path: Path) -> None:
    model, _ = pair(tmp_path, BRIDGED["llama"], "float32")
    tokens = torch.tensor([prompt_set(1).prompts[0].tokens])
    clean = model.logits(tokens)

    def interrupted(layer: int, own: torch.Tensor) -> torch.Tensor:
        if layer:
            raise KeyboardInterrupt
        return torch.zeros_like(own)

    with pytest.raises(KeyboardInterrupt):
        model.logits_with(tokens, interrupted)
    assert torch.equal(model.logits(tokens), clean)


@pytest.mark.parametrize("name", ["pythia", "sequential"])
def test_sharp_heads_never_see_the_future(name: str, tmp_path: Path) -> None:
    checkpoint = write(tmp_path / "0", DECODERS[name], 0)
    model = interp.load(checkpoint)
    assert isinstance(model, Decoder)
    for block in model._blocks:
        block.attention.query_key_value.bias.mul_(300)
    tokens = torch.tensor([prompt.tokens for prompt in prompt_set(2, (9,)).prompts])
    scores, patterns = model.patterns(tokens, "scores"), model.patterns(tokens)
    assert float(scores.masked_fill(scores == -torch.inf, 0).abs().max()) > 100
    assert float(patterns.triu(1).abs().max()) == 0
    torch.testing.assert_close(patterns.sum(-1), torch.ones_like(patterns[..., 0]))


def test_rows_sets_scores_and_greedy_growth_agree_with_one_another(tmp_path: Path) -> None:
    recipient, donor = pair(tmp_path, DECODERS["pythia"], "float64")
    prompts = prompt_set(4, (8,))
    given = patching.patterns(donor, prompts)
    top = [Head(0, 1), Head(2, 3)]
    # all rows at once are the whole pattern; the answer row alone is the last column of the map
    answer_row = patching.single(recipient, prompts, given, rows=[-1]).delta_p
    maps = patching.destinations(recipient, prompts, given, top)[0]
    for i, head in enumerate(top):
        np.testing.assert_allclose(maps[:, i, -1], answer_row[:, head.layer, head.head], atol=1e-12)
    np.testing.assert_allclose(maps[:, 1, :-1], 0, atol=1e-12)  # in the last layer only the answer row matters
    # scores written before softmax are the donor's pattern after it
    sets = np.zeros((2, 3, 4), dtype=bool)
    sets[0, 0, 1] = sets[1, 1] = True
    scores = patching.patterns(donor, prompts, where="scores")
    after = patching.written(recipient, prompts, given, sets).delta_p
    np.testing.assert_allclose(
        patching.written(recipient, prompts, scores, sets, where="scores").delta_p, after, atol=1e-12
    )
    # greedy growth: its second step is the best pair that holds its first head
    grown = patching.greedy(recipient, prompts, given, sign=1, most=2)
    first, second = (head for head, _ in grown)
    pairs = np.array(
        [[Head(layer, h) in (first, Head(*divmod(i, 4))) for h in range(4)] for i in range(12) for layer in range(3)]
    )
    means = patching.joint(recipient, prompts, given, pairs.reshape(12, 3, 4)).mean(1)
    best = int(np.argmax(np.where(np.arange(12) == first.layer * 4 + first.head, -np.inf, means)))
    assert Head(*divmod(best, 4)) == second
    np.testing.assert_allclose(grown[1][1].mean(), means[best], atol=1e-12)


def test_a_donor_of_another_run_is_a_donor_like_any_other(tmp_path: Path) -> None:
    recipient, donor = pair(tmp_path, DECODERS["pythia"], "float32")
    prompts = prompt_set(2)
    assert recipient.checkpoint.run != donor.checkpoint.run
    assert patching.single(recipient, prompts, patching.patterns(donor, prompts)).delta_p.any()


def test_too_little_memory_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    recipient, donor = pair(tmp_path, DECODERS["pythia"], "float32")
    prompts = prompt_set(2)
    with pytest.raises(
        InputError, match=r"1000 bytes of memory are too few for prompts of \d tokens .*; needed: at least"
    ):
        patching.single(recipient, prompts, patching.patterns(donor, prompts), memory=1000)
