"""When does a capability appear in training, and which attention heads bring it?

`suite(name_or_folder)` leads to runs, steps and checkpoints; `load(checkpoint)` makes one run; `bridge(checkpoint)`
hands it to TransformerLens. `scan`, `patch`, `trace`, `cohort` and `write_report` do what the commands do;
`patch_heads` and `patched` patch by hand. Names are loaded when first used: importing `interp` imports no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from interp.evaluation import Verdicts, evaluate
    from interp.heads import HeadEffects, patch_heads
    from interp.models import Model, bridge, load
    from interp.patching import patched
    from interp.provenance import Options
    from interp.report.cohorts import cohort
    from interp.session import patch, prompts, recipients, scan, trace, write_report
    from interp.store import Store
    from interp.suites import Run, Suite, suite
    from interp.tasks import Task, task
    from interp.values import Bracket, Checkpoint, Direction, Head, InputError, PromptSet, RunId, Status

_HOME = {
    "Verdicts": "interp.evaluation",
    "evaluate": "interp.evaluation",
    "HeadEffects": "interp.heads",
    "patch_heads": "interp.heads",
    "Model": "interp.models",
    "bridge": "interp.models",
    "load": "interp.models",
    "patched": "interp.patching",
    "Options": "interp.provenance",
    "cohort": "interp.report.cohorts",
    "patch": "interp.session",
    "prompts": "interp.session",
    "recipients": "interp.session",
    "scan": "interp.session",
    "trace": "interp.session",
    "write_report": "interp.session",
    "Store": "interp.store",
    "Run": "interp.suites",
    "Suite": "interp.suites",
    "suite": "interp.suites",
    "Task": "interp.tasks",
    "task": "interp.tasks",
    "Bracket": "interp.values",
    "Checkpoint": "interp.values",
    "Direction": "interp.values",
    "Head": "interp.values",
    "InputError": "interp.values",
    "PromptSet": "interp.values",
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
    "Model",
    "Options",
    "PromptSet",
    "Run",
    "RunId",
    "Status",
    "Store",
    "Suite",
    "Task",
    "Verdicts",
    "__version__",
    "bridge",
    "cohort",
    "evaluate",
    "load",
    "patch",
    "patch_heads",
    "patched",
    "prompts",
    "recipients",
    "scan",
    "suite",
    "task",
    "trace",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'interp' has no attribute '{name}'")
    import_module("interp.progress")  # before any library loads tqdm in a way that warns
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
