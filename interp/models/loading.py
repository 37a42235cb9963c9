"""From a checkpoint to a model that has shown that patterns can be read from it and written into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig

from interp.models.model import Model
from interp.models.selftest import self_test
from interp.models.weights import WeightFiles, assign, match
from interp.suites import fetch
from interp.suites.config import difference, read_config
from interp.values import Checkpoint, InputError, nearest

DTYPES = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def load(checkpoint: Checkpoint, dtype: str = "float32", device: str = "cpu") -> Model:
    """The model of a checkpoint, self-tested (docs/design.md §5); its files are brought first where it is on the Hub.

    The dtype is never taken from the checkpoint's config: a suite stored as float16 is computed in what is asked for.

    Raises:
        InputError: an unknown family or dtype, an absent device, broken or misshapen weights, a failed self-test.
    """
    if dtype not in DTYPES:
        raise InputError(f"'{dtype}' is not a dtype interp computes in; {nearest(dtype, DTYPES)}")
    fetch(checkpoint)
    config = _config(checkpoint)
    decoder, on = _family(config), _device(device)
    try:
        _check_shapes(checkpoint, config)
        module = decoder.build(config, DTYPES[dtype], on)
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise _no_model(checkpoint, error) from error
    assign(module, checkpoint)
    try:
        model = decoder(module, checkpoint)
        self_test(model)
    except RuntimeError as error:  # shapes that fit the weights and not one another
        raise _no_model(checkpoint, error) from error
    return model


def _config(checkpoint: Checkpoint) -> PreTrainedConfig:
    read_config(checkpoint.folder)  # a clearer error than the library's on a file that is not JSON
    try:
        return AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True)
    except (OSError, ValueError, KeyError, StrictDataclassError) as error:
        raise _no_model(checkpoint, error) from error


def parameters(checkpoint: Checkpoint) -> int | None:
    """How many weights a checkpoint's config describes, embeddings included, tied ones once.

    `None` where its config.json is not on this machine.
    """
    if not (checkpoint.folder / "config.json").is_file():
        return None
    config = _config(checkpoint)
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    return sum(weight.numel() for weight in skeleton.parameters())


def _no_model(checkpoint: Checkpoint, error: Exception) -> InputError:
    reason = " ".join(str(error).split("\n\n")[0].split())  # the library's advice after it is not for our users
    return InputError(f"{checkpoint}: config.json does not describe a model: {reason}")


def _check_shapes(checkpoint: Checkpoint, config: PreTrainedConfig) -> None:
    """What the config claims against what the files claim, before anything of that size is allocated."""
    with WeightFiles(checkpoint.folder) as files:
        shapes = files.shapes()
    if config.num_hidden_layers > len(shapes):
        raise InputError(
            f"{checkpoint}: config.json says {config.num_hidden_layers} layers, and there are {len(shapes)} tensors"
        )
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    match(skeleton, checkpoint, shapes)


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
    """One module, many weights: the first checkpoint builds the model, later ones are copied into it.

    The self-test proves of the module and of our decoder that patterns are read and written; it is done when they are
    built, and holds for later weights of the same shapes (repeated at every step, it took longer than the step itself).
    `fetch` brings a checkpoint's files to disk first.
    """

    def __init__(self, dtype: str = "float32", device: str = "cpu", fetch: Callable[[Checkpoint], None] = fetch):
        self._dtype, self._device, self._fetch = dtype, device, fetch
        self._model: Model | None = None
        self._config: dict[str, Any] = {}

    def __call__(self, checkpoint: Checkpoint) -> Model:
        """The model with this checkpoint's weights; a model got earlier from this loader now holds them too."""
        model = self._model
        if model is not None and model.checkpoint.weights == checkpoint.weights:
            model.checkpoint = checkpoint  # equal weights can stand at several steps
            return model
        self._fetch(checkpoint)
        if model is None:
            model = load(checkpoint, self._dtype, self._device)
            self._config = read_config(checkpoint.folder)
        else:
            self._model, before = None, model.checkpoint  # a swap that fails leaves weights of two checkpoints
            model.swap(checkpoint)
            self._check_config(before, checkpoint)
        self._model = model
        return model

    def release(self) -> None:
        """Let go of the model: its memory is free once nobody else holds it."""
        self._model = None

    def _check_config(self, before: Checkpoint, checkpoint: Checkpoint) -> None:
        """What shapes cannot show, such as the activation, must be the same too."""
        config = read_config(checkpoint.folder)
        key = difference(self._config, config)
        if key:
            raise InputError(
                f"config.json differs between {before} and {checkpoint}: {key} is {self._config.get(key)!r} and "
                f"{config.get(key)!r}; the checkpoints of a run must have one shape"
            )
