"""A model whose patterns are not real is refused at load, with the layer."""

from pathlib import Path

import pytest
import torch

from interp.models import Attention
from interp.models.gpt_neox import GPTNeoX
from interp.models.selftest import self_test
from interp.values import InputError
from tests.models.toy import plain, tensors, write


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
