"""How well a model solves the tasks while it trains: the evaluation that `interp train` logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

from interp.evaluation import evaluate
from interp.models.gpt_neox import GPTNeoX
from interp.tasks import Form, Task, prompts, tokenizer
from interp.values import Checkpoint, PromptSet, RunId

if TYPE_CHECKING:
    from torch.nn import Module

Watched = Callable[["Module", int], dict[str, float]]


def watch_tasks(suite: Path, tasks: Sequence[tuple[Task, Form]]) -> Watched:
    """A callback (module, step) → `task/solved` and `task/p` of every task: solved share and mean p(answer).

    Measured on the search prompts in the tokenizer that the training writes into `suite`. The module is copied first,
    since a model that is measured has its gradients off.
    """
    sets: dict[str, PromptSet] = {}

    def measure(module: Module, step: int) -> dict[str, float]:
        if not sets:
            known = tokenizer(suite)
            for task, form in tasks:
                sets[task.name] = prompts(task, known, "single" if form == "single" else "search")
        here = Checkpoint(RunId(suite.name, None), step, suite, suite, "in training")
        model = GPTNeoX(deepcopy(module), here)  # pyright: ignore[reportArgumentType]
        found = {name: evaluate(model, one) for name, one in sets.items()}
        solved = {f"{name}/solved": float(one.solved.mean()) for name, one in found.items()}
        return solved | {f"{name}/p": round(float(one.p.mean()), 4) for name, one in found.items()}

    return measure
