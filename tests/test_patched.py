"""`with interp.patched(...)`: the user's own forward passes, exact and without a trace."""

from pathlib import Path

import pytest
import torch

import interp
from interp import patching
from interp.models import Model
from interp.values import Head, InputError
from tests.random_models import prompt_set
from tests.test_patching_families import BRIDGED, DECODERS, pair

NAMES = ["pythia", "sequential", "gpt2", "llama", "qwen3"]


def models(name: str, folder: Path) -> tuple[Model, Model]:
    return pair(folder, (DECODERS | BRIDGED)[name], "float32")


@pytest.mark.parametrize("name", NAMES)
def test_the_modules_own_forward_gives_the_engines_effect(name: str, tmp_path: Path) -> None:
    recipient, donor = models(name, tmp_path)
    prompts = prompt_set(3, (8,))
    tokens = torch.tensor([prompt.tokens for prompt in prompts.prompts])
    answers = torch.tensor([prompt.answer for prompt in prompts.prompts])
    given = patching.patterns(donor, prompts)
    heads = [Head(0, 1), Head(1, 3), Head(2, 0)]
    mask = torch.zeros(1, 3, 4, dtype=torch.bool)
    for head in heads:
        mask[0, head.layer, head.head] = True
    expected = patching.written(recipient, prompts, given, mask.numpy()).patched.p[:, 0]
    for source in (donor, given[0]):
        with interp.patched(recipient, ["L0H1", *heads[1:]], source) as module, torch.no_grad():
            found = module(tokens).logits[:, -1].double().softmax(-1).gather(1, answers[:, None])[:, 0]
        torch.testing.assert_close(found, torch.from_numpy(expected), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["pythia", "gpt2", "llama"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_nothing_is_left_after_an_error(name: str, error: type[BaseException], tmp_path: Path) -> None:
    recipient, donor = models(name, tmp_path)
    tokens = torch.tensor([prompt_set(1).prompts[0].tokens])
    with torch.no_grad():
        clean = recipient.module(tokens).logits.clone()
        seen = []

        def stopped() -> None:
            with interp.patched(recipient, [Head(0, 0)], donor) as module:
                seen.append(module(tokens).logits)
                raise error

        with pytest.raises(error):
            stopped()
        assert not torch.equal(seen[0], clean)
        assert torch.equal(recipient.module(tokens).logits, clean)
    assert not any(
        part._forward_hooks or part._forward_pre_hooks for part in recipient.module.modules() if name != "llama"
    )


def test_shown_weights_are_those_written(tmp_path: Path) -> None:
    recipient, donor = models("pythia", tmp_path)
    tokens = torch.tensor([prompt_set(1).prompts[0].tokens])
    with interp.patched(recipient, ["L1H2"], donor) as module, torch.no_grad():
        shown = module(tokens, output_attentions=True).attentions
    torch.testing.assert_close(shown[1][:, 2], donor.patterns(tokens)[1][:, 2])


def test_what_cannot_be_patched_is_refused(tmp_path: Path) -> None:
    recipient, donor = models("pythia", tmp_path)
    tokens = torch.tensor([prompt_set(1).prompts[0].tokens])
    mask = torch.ones_like(tokens)
    mask[0, 0] = 0
    with pytest.raises(InputError, match="L9H0 is no head of"), interp.patched(recipient, ["L9H0"], donor):
        pass
    with interp.patched(recipient, ["L0H0"], donor) as module, torch.no_grad():
        with pytest.raises(InputError, match="without padding"):
            module(tokens, attention_mask=mask)
        with pytest.raises(InputError, match="tokens as ids"):
            module(inputs_embeds=torch.zeros(1, 3, 32))
    short = donor.patterns(tokens[:, :-1])
    with interp.patched(recipient, ["L0H0"], short) as module, pytest.raises(InputError, match="this pass needs"):
        module(tokens)
