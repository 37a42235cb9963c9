"""The trainer: a model, rows and settings become a run of checkpoints, in one go or with breaks alike."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from interp.progress import tqdm
from interp.training import log
from interp.training.checkpoints import (
    State,
    drop_state,
    read_state,
    rounded,
    save_checkpoint,
    unfit_state,
    write_state,
)
from interp.training.environment import environment
from interp.training.lock import alone
from interp.training.manifest import Finished, is_finished, mark_finished
from interp.training.schedule import Schedule
from interp.values import InputError

Loss = Callable[[nn.Module, Tensor], Tensor]
Evaluate = Callable[[nn.Module, int], Mapping[str, float]]


@dataclass(frozen=True)
class Optimisation:
    """How weights are updated: by AdamW, with decay on matrices only and gradients clipped in norm.

    `updates` is the length of the run, `batch` the rows of an update, `threads` what torch computes with.
    """

    updates: int
    batch: int
    schedule: Schedule
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    clip: float = 1.0
    threads: int = 1


@dataclass(frozen=True)
class Plan:
    """What decides a run, given model and rows: the optimisation, the seed, and the steps to save.

    `seed` fixes the initial weights and the order of the rows. A run goes on after its last saved step.
    """

    optimisation: Optimisation
    seed: int
    saved: tuple[int, ...]


@dataclass(frozen=True)
class Watch:
    """What is looked at while a run trains; nothing here changes a weight.

    `evaluate(model, step)` is called at step 0, every `every` steps and at the end, under no_grad.
    """

    every: int = 50
    evaluate: Evaluate | None = None
    progress: bool = True
    title: str = ""


def next_token_loss(model: nn.Module, rows: Int[Tensor, "row pos"]) -> Float[Tensor, ""]:
    """Mean negative log-likelihood of every token after the first, in nats."""
    logits = model(input_ids=rows).logits[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def train_run(
    build: Callable[[], PreTrainedModel],
    rows: Tensor,
    plan: Plan,
    folder: Path,
    watch: Watch,
    loss: Loss = next_token_loss,
) -> None:
    """Train one run into `folder`, or go on with it from its last state; a finished run is left alone.

    Another process that trains it at the same time is refused (`InputError`), and so are files it cannot go on from.
    The global generator is seeded before `build` and put back at the end. `loss(model, rows[batch])` is a
    scalar; the first axis of `rows` numbers them, the other axes are the loss's business.
    """
    if len(rows) < plan.optimisation.batch:
        raise InputError(f"{len(rows)} rows are fewer than one batch of {plan.optimisation.batch}")
    if is_finished(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        if not is_finished(folder):  # by a training that ended just now
            _train(build, rows, plan, folder, watch, loss)


def _train(
    build: Callable[[], PreTrainedModel], rows: Tensor, plan: Plan, folder: Path, watch: Watch, loss: Loss
) -> None:
    optimisation = plan.optimisation
    with threads(optimisation.threads), torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        run = _Run(build().train(), plan, folder, watch)
        start = run.resume()
        if start == 0:
            run.observe(0, None)
        steps = range(start + 1, optimisation.updates + 1)
        for step in tqdm(steps, watch.title, optimisation.updates, initial=start, disable=not watch.progress):
            batch = batch_rows(step, len(rows), optimisation.batch, plan.seed)
            run.observe(step, run.update(step, loss, rows[batch].long()))
            if step in plan.saved:
                run.keep_state(step)
    mark_finished(folder, Finished(plan.saved, environment(optimisation.threads)))
    drop_state(folder)


def batch_rows(step: int, rows: int, batch: int, seed: int) -> Int[Tensor, "batch"]:
    """The rows of an update: every pass over the data is one permutation, less what fills no batch.

    A function of its arguments alone, so that a run can go on anywhere.
    """
    which_pass, place = divmod(step - 1, rows // batch)
    return _permutation(rows, seed, which_pass)[place * batch : (place + 1) * batch]


@lru_cache(maxsize=2)
def _permutation(rows: int, seed: int, which_pass: int) -> Tensor:
    # Words, not a sum, make the seed: no two pairs of (seed, pass) share an order.
    digest = hashlib.sha256(f"rows of seed {seed}, pass {which_pass}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little", signed=True))
    return torch.randperm(rows, generator=generator)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Torch computes with this many threads inside, with as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Run:
    """A run under way: its model and optimiser, and the folder that it writes to."""

    def __init__(self, model: PreTrainedModel, plan: Plan, folder: Path, watch: Watch):
        self.model, self.plan, self.folder, self.watch = model, plan, folder, watch
        self.settings = plan.optimisation
        self.environment = environment(self.settings.threads)
        self.optimiser = _optimiser(model, self.settings)

    def update(self, step: int, loss: Loss, batch: Tensor) -> float:
        """One update; the loss on its batch, before it."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.schedule.at(step, self.settings.updates)
        self.optimiser.zero_grad(set_to_none=True)
        value = loss(self.model, batch)
        value.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip, error_if_nonfinite=True)
        self.optimiser.step()
        return value.item()

    def observe(self, step: int, loss: float | None) -> None:
        """Save and log what is due at this step."""
        if step in self.plan.saved:
            save_checkpoint(self.model, self.folder, step)
        if step % self.watch.every == 0 or step == self.settings.updates:
            rate = self.settings.schedule.at(step, self.settings.updates)
            log.append(self.folder, log.LogRow(step, loss, rate, self._evaluation(step)))

    def _evaluation(self, step: int) -> Mapping[str, float]:
        if self.watch.evaluate is None:
            return {}
        # The callback may draw random numbers; the run's own must not notice.
        with torch.no_grad(), torch.random.fork_rng(devices=[]), _as_saved(self.model):
            values = self.watch.evaluate(self.model, step)
        return {name: float(value) for name, value in values.items()}

    def keep_state(self, step: int) -> None:
        """Write what it takes to go on after this step."""
        weights, moments = self.model.state_dict(), self.optimiser.state_dict()
        write_state(self.folder, State(step, self.environment, weights, moments, torch.get_rng_state()))

    def resume(self) -> int:
        """The step of the last state, loaded into model and optimiser; 0 where the run has to begin."""
        state = read_state(self.folder)
        done = 0 if state is None else state.step
        if state is not None:
            self._load(state)
        # What was logged after the state is done again.
        log.write(self.folder, (row for row in log.read(self.folder) if 0 < done >= row.step))
        return done

    def _load(self, state: State) -> None:
        if state.environment != self.environment:
            raise InputError(
                f"{self.folder} was begun with {dict(state.environment)} and would go on with "
                f"{self.environment}, which gives other weights: finish it where it was begun, or delete it"
            )
        try:
            self.model.load_state_dict(dict(state.model))
            self.optimiser.load_state_dict(dict(state.optimiser))
            torch.set_rng_state(state.generator)
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise unfit_state(self.folder, error) from error


@contextmanager
def _as_saved(model: nn.Module) -> Iterator[None]:
    """Inside, the model is in evaluation mode and has the rounded weights of a checkpoint file.

    So the log says what a scan of the files finds, also where a task stands at its threshold.
    """
    exact = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.load_state_dict({name: rounded(tensor) for name, tensor in exact.items()})
    model.eval()
    try:
        yield
    finally:
        model.load_state_dict(exact)
        model.train()


def _optimiser(model: nn.Module, settings: Optimisation) -> torch.optim.AdamW:
    matrices = [parameter for parameter in model.parameters() if parameter.ndim >= 2]
    others = [parameter for parameter in model.parameters() if parameter.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    betas = (settings.beta1, settings.beta2)
    return torch.optim.AdamW(groups, lr=settings.schedule.peak, betas=betas, eps=settings.epsilon, fused=True)
