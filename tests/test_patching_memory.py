"""What a pass holds stays below `memory`: every tensor that torch makes is counted while it lives."""

import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from interp import patching
from tests.random_models import prompt_set
from tests.test_patching_families import DECODERS, pair


class Peak(TorchDispatchMode):
    """The most bytes of tensors alive at once that were made while this was on; views count once."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes, self._now, self._views, self._size = 0, 0, Counter(), {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        known = {
            one.untyped_storage().data_ptr() for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)
        }
        found = func(*args, **(kwargs or {}))
        for one in tree_leaves(found):
            if isinstance(one, torch.Tensor):
                place = one.untyped_storage().data_ptr()
                if place in self._size or place not in known:  # a view of what was there before is nobody's
                    self._see(one, place)
        return found

    def _see(self, one: torch.Tensor, place: int) -> None:
        if not self._views[place]:
            self._size[place] = one.untyped_storage().nbytes()
            self._now += self._size[place]
            self.bytes = max(self.bytes, self._now)
        self._views[place] += 1
        weakref.finalize(one, self._gone, place)

    def _gone(self, place: int) -> None:
        self._views[place] -= 1
        if not self._views[place]:
            self._now -= self._size.pop(place)


def test_the_counter_counts() -> None:
    with Peak() as peak:
        a = torch.ones(1000)
        b = a.view(10, 100)[:5] + 1
        del a, b
        c = torch.ones(500)
    assert peak.bytes == 4 * 1500
    assert len(c) == 500


@pytest.mark.parametrize("name", ["pythia", "gpt2"])
def test_a_pass_holds_no_more_than_it_may(name: str, tmp_path: Path) -> None:
    recipient, donor = pair(tmp_path, DECODERS[name], "float32")
    prompts = prompt_set(12, (40,))
    given = patching.patterns(donor, prompts)
    sets = np.random.default_rng(0).random((8, 3, recipient.n_heads)) < 0.3
    for work in (
        lambda memory: patching.single(recipient, prompts, given, memory=memory),
        lambda memory: patching.written(recipient, prompts, given, sets, memory=memory),
    ):
        peaks = []
        for memory in (2**21, 2**23):
            with Peak() as peak:
                work(memory)
            assert peak.bytes <= memory
            peaks.append(peak.bytes)
        assert peaks[1] > peaks[0]  # the bound is what held the first one back
