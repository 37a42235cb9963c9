"""What a run leaves on disk: step folders that transformers loads, and the state from which it goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn
from transformers import PreTrainedModel

from interp.values import InputError

STATE = "state.pt"


def step_folder(run: Path, step: int) -> Path:
    """Where the checkpoint of a step lies in a run's folder."""
    return run / f"step{step}"


def save_checkpoint(model: PreTrainedModel, run: Path, step: int) -> None:
    """Write a step folder whole or not at all: config.json and model.safetensors in half precision.

    The config says float32: plain `from_pretrained(folder)` computes in fp32 from the half-precision numbers.
    """
    folder = step_folder(run, step)
    partial = run / f".partial-step{step}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    config = model.config.to_dict() | {"architectures": [type(model).__name__], "dtype": "float32"}
    type(model.config).from_dict(config).to_json_file(partial / "config.json")
    (partial / "model.safetensors").write_bytes(save(_half(model), metadata={"format": "pt"}))
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def rounded(tensor: Tensor) -> Tensor:
    """A tensor as checkpoints store it: floating-point numbers in half precision."""
    return tensor.half() if tensor.is_floating_point() else tensor


def _half(model: nn.Module) -> dict[str, Tensor]:
    """The model's tensors in half precision; one that does not fit there is refused, never saturated."""
    halves: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        half = rounded(tensor)
        if not bool(torch.isfinite(half).all()):
            raise InputError(f"{name} holds values that half precision cannot; training has diverged")
        halves[name] = half.contiguous()
    return halves


@dataclass(frozen=True)
class State:
    """All that a run needs to go on after `step` updates as if it had never stopped.

    `environment` says what made it: a run that goes on elsewhere would not give the same bytes.
    """

    step: int
    environment: Mapping[str, str]
    model: Mapping[str, Any]
    optimiser: Mapping[str, Any]
    generator: Tensor


def write_state(run: Path, state: State) -> None:
    """Replace the run's state in one move: after a kill there is the old one or the new one."""
    partial = run / f".partial-{STATE}"
    torch.save(state.__dict__, partial)
    os.replace(partial, run / STATE)


def read_state(run: Path) -> State | None:
    """The state of an unfinished run; `None` where there is none, `InputError` where it is damaged."""
    path = run / STATE
    if not path.is_file():
        return None
    try:
        state = State(**torch.load(path, weights_only=True))
        if not isinstance(state.step, int):
            raise TypeError(f"its step is {state.step!r}")
    except Exception as error:  # bytes that are no pickle can raise anything
        raise unfit_state(run, error) from error
    return state


def unfit_state(run: Path, error: Exception) -> InputError:
    """What is said of a state that a run cannot go on from."""
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{run / STATE} is damaged ({reason}); delete it, and this seed is trained from its beginning")


def drop_state(run: Path) -> None:
    """Remove the state of a run that is finished."""
    (run / STATE).unlink(missing_ok=True)
