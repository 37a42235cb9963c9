"""Weights from files into a module that is already built, tensor by tensor, in place."""

from __future__ import annotations

import pickle
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
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


class WeightFiles:
    """A checkpoint's weight files, opened: names and shapes at once, tensors one at a time. A context manager."""

    def __init__(self, folder: Path):
        self._open = ExitStack()
        self._files = [(path, self._opened(path)) for path in weight_files(folder)]
        if not self._files:
            raise InputError(f"{folder} holds no weights")

    def __enter__(self) -> WeightFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _opened(self, path: Path) -> Any:
        if path.suffix != ".safetensors":
            return _pickled(path)
        try:
            return self._open.enter_context(safe_open(path, framework="pt"))
        except (SafetensorError, OSError, RuntimeError) as error:
            raise _broken(path, error) from error

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape that every tensor claims; nothing of its size is read or allocated."""
        found: dict[str, tuple[int, ...]] = {}
        for path, file in self._files:
            for name in file.keys():  # noqa: SIM118 - one of the two is not a dict
                if name in found:
                    raise _broken(path, ValueError(f"'{name}' stands in two of its files"))
                if isinstance(file, dict):
                    found[name] = tuple(file[name].shape)
                else:
                    found[name] = tuple(file.get_slice(name).get_shape())
        return found

    def tensor(self, name: str) -> Tensor:
        """One named tensor."""
        return next(tensor for found, tensor in self._read(lambda known: known == name))

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The named tensors."""
        return self._read(lambda _: True)

    def _read(self, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Tensor]]:
        for path, file in self._files:
            try:
                for name in filter(wanted, file.keys()):
                    yield name, file[name] if isinstance(file, dict) else file.get_tensor(name)
            except (SafetensorError, OSError, RuntimeError) as error:
                raise _broken(path, error) from error


def _pickled(path: Path) -> dict[str, Tensor]:
    try:
        # files of torch before 1.6 are no zip archives, and cannot be mapped
        held = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        raise _broken(path, ValueError("it is damaged, or holds code beside tensors, which is never run")) from error
    except Exception as error:  # bytes that are no pickle can raise anything there
        raise _broken(path, error) from error
    if not isinstance(held, dict):
        raise _broken(path, ValueError(f"it holds a {type(held).__name__}; needed: named tensors"))
    for name, value in held.items():
        if not isinstance(name, str):
            raise _broken(path, ValueError(f"it names a tensor {name!r}; needed: a text"))
        if not isinstance(value, Tensor):
            raise _broken(path, ValueError(f"'{name}' is a {type(value).__name__}; needed: a tensor"))
    return held


def _broken(path: Path, error: Exception) -> InputError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{path} is broken and cannot be read as weights: {reason}")


@torch.no_grad()
def assign(module: PreTrainedModel, checkpoint: Checkpoint) -> None:
    """Copy a checkpoint's weights into the module's parameters; every parameter must be given, in its shape.

    All names and shapes, and what is given twice, are compared before the first tensor is copied.
    """
    targets = dict(module.named_parameters())
    with WeightFiles(checkpoint.folder) as files:
        own_names = match(module, checkpoint, files.shapes())
        _check_twins(checkpoint, own_names, files)
        for name, tensor in files.tensors():
            if name in own_names:
                targets[own_names[name]].copy_(tensor)


def match(module: PreTrainedModel, checkpoint: Checkpoint, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, str]:
    """Name in the files → name of the parameter that it fills; the module may be on the meta device.

    Files of a model without its head (the first GPT-2 files) lack the prefix that the model with a head gives to its
    inner names (`h.0…` for `transformer.h.0…`); as in the library, it is added where that leads to a parameter.

    Raises:
        InputError: a tensor that the model does not have or in another shape, or a parameter that no file gives.
    """
    targets = dict(module.named_parameters())
    unembedding, prefix = _unembedding_name(module, targets), f"{module.base_model_prefix}."
    own_names: dict[str, str] = {}
    for name, shape in shapes.items():
        own_name = prefix + name if name not in targets and prefix + name in targets else name
        if own_name in _UNEMBEDDING and unembedding:
            own_name = unembedding
        target = targets.get(own_name)
        if target is None:
            if _BUFFERS.search(name) or own_name in _UNEMBEDDING:
                continue
            raise InputError(f"{checkpoint}: {checkpoint.folder} holds a tensor '{name}' that this model does not have")
        if tuple(target.shape) != shape:
            raise InputError(f"{checkpoint}: '{name}' has shape {shape}, and the model's is {tuple(target.shape)}")
        own_names[name] = own_name
    missing = targets.keys() - set(own_names.values())
    if missing:
        raise InputError(f"{checkpoint}: {checkpoint.folder} lacks {len(missing)} tensors, '{min(missing)}' among them")
    return own_names


def _check_twins(checkpoint: Checkpoint, own_names: Mapping[str, str], files: WeightFiles) -> None:
    """Two tensors for one parameter (embedding and unembedding of a model whose config ties them) must be equal."""
    given = Counter(own_names.values())
    first: dict[str, tuple[str, Tensor]] = {}
    for name in (name for name, own_name in own_names.items() if given[own_name] > 1):
        tensor = files.tensor(name)
        twin, other = first.setdefault(own_names[name], (name, tensor))
        if not torch.equal(tensor, other):
            raise InputError(
                f"{checkpoint}: by its config '{twin}' and '{name}' are one tensor, and the weights hold two different "
                "ones; tie_word_embeddings in config.json may be wrong"
            )


def _unembedding_name(module: PreTrainedModel, targets: dict[str, torch.nn.Parameter]) -> str | None:
    layer: Any = module.get_output_embeddings()
    return next((name for name, p in targets.items() if layer is not None and p is layer.weight), None)
