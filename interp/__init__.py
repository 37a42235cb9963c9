"""When does a capability appear in training, and which attention heads bring it?

`suite(name_or_folder)` leads to runs, steps and checkpoints; `load(checkpoint)` makes one run; `bridge(checkpoint)`
hands it to TransformerLens. Names are loaded when first used: importing `interp` imports no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from interp.heads import HeadEffects, patch_heads
    from interp.models import bridge, load
    from interp.patching import patched
    from interp.report.cohorts import cohort
    from interp.store import Store
    from interp.suites import suite
    from interp.values import Bracket, Checkpoint, Direction, Head, InputError, RunId, Status

_HOME = {
    "bridge": "interp.models",
    "cohort": "interp.report.cohorts",
    "load": "interp.models",
    "HeadEffects": "interp.heads",
    "patch_heads": "interp.heads",
    "patched": "interp.patching",
    "suite": "interp.suites",
    "Store": "interp.store",
    "Bracket": "interp.values",
    "Checkpoint": "interp.values",
    "Direction": "interp.values",
    "Head": "interp.values",
    "InputError": "interp.values",
    "RunId": "interp.values",
    "Status": "interp.values",
}

__all__ = [
    "Bracket",
    "Checkpoint",
    "Direction",
    "Head",
    "HeadEffects",
    "InputError",
    "RunId",
    "Status",
    "Store",
    "__version__",
    "bridge",
    "cohort",
    "load",
    "patch_heads",
    "patched",
    "suite",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'interp' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
