"""What a result is made from (its key) and what is told beside it (its facts)."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, get_args

from interp.emergence import Plan, Search, Which
from interp.values import Checkpoint, InputError, PromptSet, RunId

_PACKAGES = ("interp", "torch", "transformers", "tokenizers", "numpy", "scipy", "pandas")


@dataclass(frozen=True)
class Options:
    """Settings that results depend on; all of them are part of a result's key where it depends on them.

    `search`, `resolution` and `probes` are a `Plan`; `bracket` is the one that is patched. `memory`, in bytes, bounds
    the passes of patching and changes no result: it is in no key.
    """

    prompts: int = 64
    bos: bool = True
    dtype: str = "float32"
    device: str = "cpu"
    search: Search = "bisection"
    resolution: float = Plan.resolution
    probes: int = Plan.probes
    bracket: Which = "first"
    resamples: int = 2000
    draws: int = 20
    memory: int = 2**30

    def __post_init__(self) -> None:
        _ = self.plan  # which refuses what is no plan
        if self.bracket not in get_args(Which):
            raise InputError(f"'{self.bracket}' is no bracket; known: {', '.join(get_args(Which))}")
        for name in ("prompts", "resamples", "draws", "memory"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; needed: 1 or more")
        if self.prompts > 10_000:
            raise InputError(f"{self.prompts} prompts were asked for; at most 10,000 can be")

    @property
    def plan(self) -> Plan:
        """How a run is searched."""
        return Plan(self.search, self.resolution, self.probes)

    @property
    def forward(self) -> dict[str, Any]:
        """What a forward pass depends on beside weights and tokens; of the device its kind (cpu, cuda)."""
        return {"dtype": self.dtype, "device": self.device.split(":")[0], "bos": self.bos}


def prompts_digest(prompts: PromptSet) -> str:
    """Sha256 of a prompt set's token ids, answers and foils."""
    content = [(prompt.tokens, prompt.answer, prompt.foil) for prompt in prompts.prompts]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def of_run(run: RunId) -> dict[str, Any]:
    """A run's identity."""
    return {"suite": run.suite, "seed": run.seed}


def of_checkpoints(checkpoints: Sequence[Checkpoint]) -> dict[str, Any]:
    """Which weights, of which run and steps; at which commits, where they are on the Hub."""
    commits = [checkpoint.commit for checkpoint in checkpoints]
    return (
        of_run(checkpoints[0].run)
        | {
            "steps": [checkpoint.step for checkpoint in checkpoints],
            "weights": [checkpoint.weights for checkpoint in checkpoints],
        }
        | ({"commits": commits} if any(commits) else {})
    )


def of_prompts(prompts: PromptSet) -> dict[str, Any]:
    """Which prompts, in which tokenizer."""
    return {
        "task": prompts.task,
        "task_version": prompts.version,
        "role": prompts.role,
        "prompts": prompts_digest(prompts),
        "tokenizer": prompts.tokenizer,
    }


def facts(made_from: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """What stands beside a result: what it was made from, further facts, and the versions that made it."""
    return {**made_from, **more, "versions": versions()}


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
