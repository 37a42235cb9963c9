"""From a checkpoint to a model that has shown that patterns can be read from it and written into it."""

from __future__ import annotations

from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import AutoConfig, PreTrainedConfig

from interp.models.model import Model
from interp.models.selftest import self_test
from interp.models.weights import assign
from interp.suites.folder import read_config
from interp.values import Checkpoint, InputError, nearest

DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def load(checkpoint: Checkpoint, dtype: str = "float32", device: str = "cpu") -> Model:
    """The model of a checkpoint, self-tested (docs/design.md §5).

    The dtype is never taken from the checkpoint's config: a suite stored as float16 is computed in what is asked for.

    Raises:
        InputError: an unknown family or dtype, an absent device, broken or misshapen weights, a failed self-test.
    """
    if dtype not in DTYPES:
        raise InputError(f"'{dtype}' is not a dtype interp computes in; {nearest(dtype, DTYPES)}")
    config = _config(checkpoint)
    decoder = _family(config)
    on = _device(device)
    try:
        module = decoder.build(config, DTYPES[dtype], on)
    except (ValueError, KeyError) as error:
        raise _no_model(checkpoint, error) from error
    assign(module, checkpoint)
    model = decoder(module, checkpoint)
    self_test(model)
    return model


def _config(checkpoint: Checkpoint) -> PreTrainedConfig:
    read_config(checkpoint.folder)  # a clearer error than the library's on a file that is not JSON
    try:
        return AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True)
    except (OSError, ValueError, KeyError, StrictDataclassError) as error:
        raise _no_model(checkpoint, error) from error


def _no_model(checkpoint: Checkpoint, error: Exception) -> InputError:
    reason = " ".join(str(error).split("\n\n")[0].split())  # the library's advice after it is not for our users
    return InputError(f"{checkpoint}: config.json does not describe a model: {reason}")


def _family(config: PreTrainedConfig) -> Any:
    from interp.models.bridged import Bridged
    from interp.models.gpt2 import GPT2
    from interp.models.gpt_neox import GPTNeoX

    return {"gpt_neox": GPTNeoX, "gpt2": GPT2}.get(config.model_type, Bridged)


def _device(device: str) -> str:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the device '{device}' cannot be used here: {reason}") from error
    return device


class Loader:
    """One module, many weights: the first checkpoint builds the model, later ones are copied into it."""

    def __init__(self, dtype: str = "float32", device: str = "cpu"):
        self._dtype, self._device = dtype, device
        self._model: Model | None = None

    def __call__(self, checkpoint: Checkpoint) -> Model:
        """The model with this checkpoint's weights; a model got earlier from this loader now holds them too."""
        model = self._model
        if model is None:
            model = load(checkpoint, self._dtype, self._device)
        elif model.checkpoint.weights != checkpoint.weights:
            self._model = None  # a swap that fails half-way leaves weights of two checkpoints
            model.swap(checkpoint)
            self_test(model)
        model.checkpoint = checkpoint  # equal weights can stand at several steps
        self._model = model
        return model
