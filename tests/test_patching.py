"""Δp against TransformerLens, against patches worked one head at a time, and the laws of an intervention."""

import numpy as np
import pytest
import torch
from transformer_lens import patching as lens

import interp
from interp import patching
from interp.models import Model
from interp.models.room import FRESH, Room
from interp.values import Head, InputError, Prompt, PromptSet
from tests.planted import HEAD, HEADS, LAYERS, WORDS, PlantedRun


def prompt_set(n: int = 12, lengths: tuple[int, ...] = (7, 9)) -> PromptSet:
    random = np.random.default_rng(0)
    prompts = []
    for i in range(n):
        words = random.permutation(np.arange(2, len(WORDS)))[: lengths[i % len(lengths)] - 1]
        prompts.append(Prompt("", (0, *map(int, words)), int(words[-2]), None, f"n={len(words)}"))
    return PromptSet("before_last", 1, "effect", 0.75, 0.2, tuple(prompts), "none", True)


def at(planted: PlantedRun, step: int, dtype: str = "float32") -> Model:
    return interp.load(interp.suite(planted.folder).run(0).at(step), dtype)


def lens_delta_p(recipient: Model, donor: Model, prompts: PromptSet) -> np.ndarray:
    """Δp[prompt, layer, head] as TransformerLens computes it, one hooked forward for every head."""
    found = np.empty((len(prompts), recipient.n_layers, recipient.n_heads))
    name = str(recipient.dtype).removeprefix("torch.")
    to, source = interp.bridge(recipient.checkpoint, name), interp.bridge(donor.checkpoint, name)
    for group in prompts.by_length():
        tokens = torch.tensor([prompts.prompts[i].tokens for i in group])
        answers = torch.tensor([prompts.prompts[i].answer for i in group])

        seen: list[torch.Tensor] = []

        def p(logits: torch.Tensor, answers: torch.Tensor = answers, seen: list = seen) -> torch.Tensor:
            # kept here, since the function itself returns what it gathered in float32
            seen.append(logits[:, -1].double().softmax(-1).gather(1, answers[:, None])[:, 0])
            return seen[-1].mean()

        with torch.no_grad():
            _, cache = source.run_with_cache(tokens)
            lens.get_act_patch_attn_head_pattern_all_pos(to, tokens, cache, p)
            p(to(tokens))
        values = torch.stack(seen[:-1]).reshape(recipient.n_layers, recipient.n_heads, len(group))
        found[list(group)] = (values - seen[-1]).permute(2, 0, 1).numpy()
    return found


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-9)])
def test_delta_p_equals_transformer_lens(planted: PlantedRun, dtype: str, tolerance: float) -> None:
    prompts = prompt_set()
    pre, post = at(planted, planted.failing, dtype), at(planted, planted.planted_at, dtype)
    for recipient, donor in ((pre, post), (post, pre)):
        ours = patching.single(recipient, prompts, patching.patterns(donor, prompts)).delta_p
        theirs = lens_delta_p(recipient, donor, prompts)
        assert np.abs(theirs).max() > 0.3
        assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


def test_effects_equal_a_forward_worked_head_by_head(planted: PlantedRun) -> None:
    prompts = prompt_set()
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    donor = patching.patterns(post, prompts)
    effects = patching.single(pre, prompts, donor)
    masks = np.eye(LAYERS * HEADS, dtype=bool).reshape(-1, LAYERS, HEADS)
    one_by_one = np.concatenate([patching.joint(pre, prompts, donor, mask[None]) for mask in masks])
    # both are fp32 forwards of the same thing, in different batches
    np.testing.assert_allclose(effects.delta_p.reshape(len(prompts), -1), one_by_one.T, atol=1e-6)


def test_a_models_own_patterns_change_exactly_nothing(planted: PlantedRun) -> None:
    prompts = prompt_set(40)
    for step in (planted.failing, planted.planted_at):
        model = at(planted, step)
        own = patching.patterns(model, prompts)
        assert not patching.single(model, prompts, own).delta_p.any()
        every = np.ones((1, LAYERS, HEADS), dtype=bool)
        assert not patching.joint(model, prompts, own, every).any()


def test_patching_every_pattern_reproduces_the_donors_patterns_effect(planted: PlantedRun) -> None:
    prompts = prompt_set()
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    every = np.ones((1, LAYERS, HEADS), dtype=bool)
    delta = patching.joint(pre, prompts, patching.patterns(post, prompts), every)[0]
    # the two checkpoints differ in one head's pattern and in noise, so all patterns bring nearly all of p
    assert (patching.single(pre, prompts, patching.patterns(post, prompts)).p_recipient + delta > 0.9).all()


def test_the_planted_head_comes_first_in_both_directions(planted: PlantedRun) -> None:
    prompts = prompt_set(40)
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    denoising = patching.single(pre, prompts, patching.patterns(post, prompts)).delta_p.mean(0)
    noising = patching.single(post, prompts, patching.patterns(pre, prompts)).delta_p.mean(0)
    for effect, sign in ((denoising, 1), (noising, -1)):
        layer, head = np.unravel_index(np.argmax(sign * effect), effect.shape)
        assert Head(int(layer), int(head)) == HEAD
        others = np.delete(np.abs(effect).ravel(), HEAD.layer * HEADS + HEAD.head)
        assert sign * effect[HEAD.layer, HEAD.head] > 0.5 > 0.01 > others.max()


def test_memory_changes_no_effect(planted: PlantedRun) -> None:
    prompts = prompt_set(10)
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    donor = patching.patterns(post, prompts)
    whole = patching.single(pre, prompts, donor).delta_p
    for memory in (100_000, 200_000, 400_000, 1_000_000):
        found = patching.single(pre, prompts, donor, memory=memory).delta_p
        np.testing.assert_allclose(found, whole, atol=1e-6)


def test_the_models_weights_and_forward_are_untouched(planted: PlantedRun) -> None:
    prompts = prompt_set()
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    tokens = torch.tensor([prompts.prompts[0].tokens])
    before = pre.module(tokens).logits.detach().clone()
    donor = patching.patterns(post, prompts)
    kept = [given.clone() for given in donor]
    patching.single(pre, prompts, donor)
    assert torch.equal(pre.module(tokens).logits, before)
    assert all(torch.equal(a, b) for a, b in zip(kept, donor, strict=True))


def test_donor_of_another_shape_is_refused_with_both_shapes(planted: PlantedRun) -> None:
    prompts = prompt_set()
    model = at(planted, planted.planted_at)
    three_layers = tuple(given[[0, 1, 1]] for given in patching.patterns(model, prompts))
    with pytest.raises(InputError, match=r"\(3, 6, 4, 7, 7\) and planted/seed0 step 64 needs \(2, 6, 4, 7, 7\)"):
        patching.single(model, prompts, three_layers)


def test_a_patch_that_reaches_no_logit_is_an_error(planted: PlantedRun) -> None:
    prompts = prompt_set()
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    donor = patching.patterns(post, prompts)
    with torch.no_grad():
        for block in pre.module.gpt_neox.layers:
            block.attention.dense.weight.zero_()
    with pytest.raises(InputError, match="no patch changed any logit"):
        patching.single(pre, prompts, donor)


def test_donor_patterns_that_are_not_finite_are_an_error_and_never_an_effect(planted: PlantedRun) -> None:
    prompts = prompt_set()
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    donor = patching.patterns(post, prompts)
    donor[0][1, 0, 0, -1, 0] = torch.nan
    with pytest.raises(InputError, match="patched logits are not finite"):
        patching.single(pre, prompts, donor)


def test_verdicts_do_not_change_with_the_batch(planted: PlantedRun) -> None:
    prompts = prompt_set(8, (8,))
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    whole = patching.single(pre, prompts, patching.patterns(post, prompts))
    for size in (1, 2, 5):
        for start in range(0, 8, size):
            some = prompts.some(range(start, min(start + size, 8)))
            part = patching.single(pre, some, patching.patterns(post, some))
            at_ = slice(start, start + size)
            np.testing.assert_allclose(part.delta_p, whole.delta_p[at_], atol=1e-5)
            np.testing.assert_allclose(part.delta_margin, whole.delta_margin[at_], atol=1e-4)
            assert (part.solved == whole.solved[at_]).all()


def test_prompts_of_many_lengths_equal_single_runs(planted: PlantedRun) -> None:
    prompts = prompt_set(9, (5, 7, 9))
    pre, post = at(planted, planted.failing), at(planted, planted.planted_at)
    whole = patching.single(pre, prompts, patching.patterns(post, prompts)).delta_p
    for i in range(9):
        alone = prompts.some([i])
        np.testing.assert_allclose(
            patching.single(pre, alone, patching.patterns(post, alone)).delta_p[0], whole[i], atol=1e-6
        )


def test_cost_is_linear_in_prompts(planted: PlantedRun) -> None:
    model = at(planted, planted.failing)
    rows: list[int] = []
    kept = type(model).unembed

    class Counting(type(model)):
        def unembed(self, resid: torch.Tensor, room: Room = FRESH) -> torch.Tensor:
            rows.append(len(resid))
            return kept(self, resid, room)

    model.__class__ = Counting
    for n in (4, 8):
        prompts = prompt_set(n, (8,))
        rows.clear()
        patching.single(model, prompts, patching.patterns(at(planted, planted.planted_at), prompts))
        assert sum(rows) == n * (1 + LAYERS * HEADS)
