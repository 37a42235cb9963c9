"""config.json: read as it is, and compared where the checkpoints of a run must agree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interp.values import InputError

_NOT_SHAPE = {
    "_name_or_path", "torch_dtype", "dtype", "transformers_version", "use_cache", "initializer_range",
    "architectures", "_attn_implementation_autoset",
}  # fmt: skip


def read_config(folder: Path) -> dict[str, Any]:
    """A checkpoint's config.json; `InputError` where it is not a JSON object."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(config, dict):
        raise InputError(f"{path} holds {type(config).__name__}; needed: a JSON object")
    return config


def shape_digest(folder: Path) -> str:
    """Sha256 over the settings of a config.json that change the model: equal weights under others are another model."""
    settings = {key: value for key, value in read_config(folder).items() if key not in _NOT_SHAPE}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """The first setting (by name) on which two configs differ in a way that changes the model, or `None`."""
    for key in sorted((one.keys() | other.keys()) - _NOT_SHAPE):
        if one.get(key) != other.get(key):
            return key
    return None
