"""Order parameters on bases and rows of one's own, and OV copying: values known by derivation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, GemmaConfig, GPT2Config, GPTNeoXConfig, LlamaConfig

import interp
from interp.models import Decoder
from interp.models.circuits import circuits
from interp.signatures import order_parameters, ov_copying
from tests.random_models import VOCAB, write

L = 30
EVEN = torch.full((L, L), 1 / L, dtype=torch.float64)
CYCLIC = torch.eye(L, dtype=torch.float64).roll(1, 0)  # row t on column t − 1 mod L
BASIS = torch.stack([EVEN, CYCLIC])
EXACT = 1e-12


def by_formula(pattern: torch.Tensor) -> tuple[float, float]:
    """Least squares on {J/L, Π} by hand: Gram matrix [[1, 1], [1, L]], so a_G = (⟨A, Π⟩ − ΣA/L) / (L − 1)."""
    mean, on_shift = float(pattern.sum() / L), float((pattern * CYCLIC).sum())
    a_g = (on_shift - mean) / (L - 1)
    return mean - a_g, a_g


def test_mixtures_of_pooling_and_copying_give_back_their_weights() -> None:
    found = order_parameters(torch.stack([0.3 * EVEN + 0.5 * CYCLIC, CYCLIC, -2 * EVEN]), BASIS)
    assert found.coefficients.numpy() == pytest.approx(np.array([[0.3, 0.5], [0, 1], [-2, 0]]), abs=EXACT)
    assert found.coverage.numpy() == pytest.approx(np.ones(3), abs=EXACT)


def test_a_shift_whose_first_row_rests_on_itself_is_nearly_all_copying() -> None:
    # ΣA/L = 1 and ⟨A, Π⟩ = 29: a_G = 28/29, a_1 = 1/29; of ‖A‖² = 30 the fit explains a_1 · 1 + a_G · 29
    pattern = CYCLIC.clone()
    pattern[0] = 0
    pattern[0, 0] = 1
    found = order_parameters(pattern, BASIS)
    assert found.coefficients.numpy() == pytest.approx(np.array([1 / 29, 28 / 29]), abs=EXACT)
    assert float(found.coverage) == pytest.approx((1 / 29 + 28) / 30, abs=EXACT)


def test_any_pattern_gives_what_the_formula_gives() -> None:
    pattern = torch.randn(2, 3, L, L, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = order_parameters(pattern, BASIS).coefficients
    for i, j in np.ndindex(2, 3):
        assert found[i, j].numpy() == pytest.approx(np.array(by_formula(pattern[i, j])), abs=1e-10)


@pytest.mark.parametrize("rows", [slice(1, None), torch.arange(1, L), torch.arange(L) > 0])
def test_rows_that_are_left_out_count_for_nothing(rows: slice | torch.Tensor) -> None:
    pattern = CYCLIC.clone()
    pattern[0] = 7
    found = order_parameters(pattern, BASIS, rows)
    assert found.coefficients.numpy() == pytest.approx(np.array([0, 1]), abs=EXACT)
    assert float(found.coverage) == pytest.approx(1, abs=EXACT)


N = 7


def copying(circuit: torch.Tensor) -> float:
    """The score of a head whose OV circuit is the matrix given: tokens are dimensions, W_O is the identity."""
    eye = torch.eye(N, dtype=torch.float64)
    return float(ov_copying(circuit[None, None], eye[None, None], eye, eye)[0, 0])


def test_eigenvalues_of_hand_set_circuits() -> None:
    eye, even = torch.eye(N, dtype=torch.float64), torch.full((N, N), 1 / N, dtype=torch.float64)
    # with the mean over tokens taken off, the identity has N − 1 eigenvalues of 1 and one of 0
    assert copying(eye) == pytest.approx(1, abs=EXACT)
    assert copying(-3 * eye) == pytest.approx(-1, abs=EXACT)
    # the next token in a circle: all N-th roots of unity, of which 1 is taken off; they sum to −1, their sizes to N − 1
    assert copying(eye.roll(1, 0)) == pytest.approx(-1 / (N - 1), abs=EXACT)
    # the identity on half of the strength, the circle on the other: Σλ = ½(N − 1) − ½, sizes |½ + ½ω|
    roots = np.exp(2j * np.pi * np.arange(1, N) / N)
    expected = (0.5 * (N - 1) - 0.5) / np.abs(0.5 + 0.5 * roots).sum()
    assert copying(0.5 * eye + 0.5 * eye.roll(1, 0)) == pytest.approx(expected, abs=1e-10)
    # raising every token alike copies nothing, and changes nothing
    assert copying(eye + 5 * even) == pytest.approx(1, abs=1e-10)
    assert np.isnan(copying(0 * eye))


def test_the_small_product_has_the_eigenvalues_of_the_circuit() -> None:
    draw = torch.Generator().manual_seed(1)
    value, out = torch.randn(2, 3, 16, 4, generator=draw), torch.randn(2, 3, 4, 16, generator=draw)
    embed, unembed = torch.randn(50, 16, generator=draw), torch.randn(50, 16, generator=draw)
    found = ov_copying(value, out, embed, unembed)
    for layer, head in np.ndindex(2, 3):
        full = (embed @ value[layer, head] @ out[layer, head] @ (unembed - unembed.mean(0)).T).double().numpy()
        eigenvalues = np.linalg.eigvals(full)
        # single-precision products of tens of terms
        assert found[layer, head] == pytest.approx(eigenvalues.sum().real / np.abs(eigenvalues).sum(), abs=1e-4)


SHAPE = {"vocab_size": VOCAB, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
CONFIGS = {
    "gpt_neox": GPTNeoXConfig(**SHAPE, num_attention_heads=4, rotary_pct=0.25),
    "gpt2": GPT2Config(
        vocab_size=VOCAB, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=0, eos_token_id=0
    ),
    "llama": LlamaConfig(**SHAPE, num_attention_heads=4, num_key_value_heads=2),
    "gemma": GemmaConfig(**SHAPE, num_attention_heads=4, num_key_value_heads=2, head_dim=8),
}  # fmt: skip


def odd(x: torch.Tensor) -> torch.Tensor:
    """Half the difference of what two opposite streams give: biases fall out."""
    return (x[:1] - x[1:]) / 2


def values(family: str, model: Any, layer: int, stream: torch.Tensor) -> torch.Tensor:
    """Each head's values, from our decoder, or from the library's own untouched module."""
    if isinstance(model, Decoder):
        return odd(model.attention(layer, stream).value)[0]
    plain: Any = AutoModelForCausalLM.from_pretrained(model.checkpoint.folder, dtype=torch.float64)
    block = plain.model.layers[layer]
    value = odd(block.self_attn.v_proj(block.input_layernorm(stream)))[0]
    return value.unflatten(-1, (2, 8)).repeat_interleave(2, 1).transpose(0, 1)  # two query heads for each


@pytest.mark.parametrize("family", list(CONFIGS))
@torch.no_grad()
def test_a_heads_way_from_stream_to_logits_is_what_the_model_computes(family: str, tmp_path: Path) -> None:
    model = interp.load(write(tmp_path, CONFIGS[family], 0), "float64")
    found = circuits(model)
    assert found is not None
    stream = torch.randn(1, 5, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    centred = stream - stream.mean(-1, keepdim=True) if family in ("gpt_neox", "gpt2") else stream
    size = centred.square().mean(-1, keepdim=True).sqrt()
    both = torch.cat([stream, -stream])
    for layer in range(2):
        expected = values(family, model, layer, both)
        # epsilons under the roots are 1e-5 and 1e-6 of mean squares near 1
        assert ((stream / size)[0] @ found.value[layer]).numpy() == pytest.approx(expected.numpy(), rel=1e-4, abs=1e-4)
    logits = odd(model.final_norm()(both) @ model.module.get_output_embeddings().weight.T)[0]
    assert ((stream / size)[0] @ found.unembed.T).numpy() == pytest.approx(logits.numpy(), rel=1e-4, abs=1e-4)


def test_w_o_is_what_transformer_lens_has(tmp_path: Path) -> None:
    checkpoint = write(tmp_path, CONFIGS["gpt_neox"], 0)
    found = circuits(interp.load(checkpoint))
    bridge = interp.bridge(checkpoint)
    assert found is not None
    for layer in range(2):
        assert torch.equal(found.out[layer], bridge.blocks[layer].attn.W_O)
