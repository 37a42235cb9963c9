"""Weights from files into a module that is already built, tensor by tensor, in place."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from transformers import PreTrainedModel

from interp.suites.integrity import weight_files
from interp.values import Checkpoint, InputError

# Buffers that old files carry beside the parameters (Pythia's `.bin` files); they are recomputed, never read.
_BUFFERS = re.compile(r"\.attn\.(masked_)?bias$|\.attention\.(masked_)?bias$|rotary_emb\.inv_freq$")
# Names of the unembedding over the years; the module's own name for it comes from its accessor.
_UNEMBEDDING = {"embed_out.weight", "lm_head.weight"}


def read_tensors(folder: Path) -> Iterator[tuple[str, Tensor]]:
    """The named tensors of a checkpoint's weight files, one at a time."""
    for path in weight_files(folder):
        try:
            if path.suffix == ".safetensors":
                with safe_open(path, framework="pt") as file:
                    for name in file.keys():  # noqa: SIM118 - not a dict
                        yield name, file.get_tensor(name)
            else:
                yield from _pickled(path).items()
        except (SafetensorError, OSError, RuntimeError) as error:
            raise _broken(path, error) from error


def _pickled(path: Path) -> dict[str, Tensor]:
    try:
        # files of torch before 1.6 are no zip archives, and cannot be mapped
        held = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # bytes that are no pickle can raise anything there
        raise _broken(path, error) from error
    if not isinstance(held, dict):
        raise _broken(path, ValueError(f"it holds a {type(held).__name__}; needed: named tensors"))
    return held


def _broken(path: Path, error: Exception) -> InputError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{path} is broken and cannot be read as weights: {reason}")


@torch.no_grad()
def assign(module: PreTrainedModel, checkpoint: Checkpoint) -> None:
    """Copy a checkpoint's weights into the module's parameters; every parameter must be given, in its shape."""
    targets = dict(module.named_parameters())
    unembedding = _unembedding_name(module, targets)
    missing = set(targets)
    for name, tensor in read_tensors(checkpoint.folder):
        own_name = unembedding if name in _UNEMBEDDING and unembedding else name
        target = targets.get(own_name)
        if target is None:
            if _BUFFERS.search(name) or (own_name not in targets and name in _UNEMBEDDING):
                continue
            raise InputError(f"{checkpoint}: {checkpoint.folder} holds a tensor '{name}' that this model does not have")
        if target.shape != tensor.shape:
            raise InputError(
                f"{checkpoint}: '{name}' has shape {tuple(tensor.shape)}, and the model's is {tuple(target.shape)}"
            )
        target.copy_(tensor)
        missing.discard(own_name)
    if missing:
        raise InputError(f"{checkpoint}: {checkpoint.folder} lacks {len(missing)} tensors, '{min(missing)}' among them")


def _unembedding_name(module: PreTrainedModel, targets: dict[str, torch.nn.Parameter]) -> str | None:
    layer: Any = module.get_output_embeddings()
    return next((name for name, p in targets.items() if layer is not None and p is layer.weight), None)
