"""Memory that products share one after the other."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor


class Room:
    """Tensors handed out by name; what was handed out under a name before is overwritten.

    Fresh memory of megabytes is mapped page by page at its first use: a large product into it takes a tenth longer.
    """

    def __init__(self) -> None:
        self._held: dict[str, Tensor] = {}

    def take(self, name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """A tensor of this shape, its values unset, of the dtype and device of another."""
        size, held = prod(shape), self._held.get(name)
        if held is None or held.numel() < size or (held.dtype, held.device) != (like.dtype, like.device):
            held = self._held[name] = like.new_empty(size)
        return held[:size].view(shape)


class Fresh(Room):
    """Room in which nothing is overwritten."""

    def take(self, name: str, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """See `Room.take`."""
        return torch.empty(shape, dtype=like.dtype, device=like.device)


FRESH = Fresh()
