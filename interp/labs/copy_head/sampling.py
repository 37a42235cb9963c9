"""Samples of a posterior: Hamiltonian Monte Carlo, and Langevin dynamics with and without momentum.

All three are one kernel: refresh the momentum, leapfrog, and (HMC only) a Metropolis test. Own code, since gradients by
hand from second moments cost 0.2 ms: BlackJAX and NumPyro would bring JAX (six packages, a compiler), Pyro draws
through its own tensors in Python. Effective sample size and R̂ are ArviZ's (`arviz-stats`: NumPy and SciPy only).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from interp.labs.copy_head.order import Order, copying_rows, order, upright
from interp.labs.copy_head.posteriors import Evaluation, Parameters, Posterior
from interp.labs.copy_head.training import copying_lead


@dataclass(frozen=True)
class Sampler:
    """A kernel and how long it runs.

    `leapfrogs` steps between draws of momentum. `friction` γ keeps e^{−γε} of the momentum at each refresh; infinite =
    none. Without the test the samples carry the discretisation's error, so `accept` is higher. `accept` is what
    adaptation of the step ε aims at in the warm-up: the share that a Metropolis test accepts, or would accept.
    """

    leapfrogs: int = 10
    friction: float = math.inf
    tested: bool = True
    accept: float = 0.8
    warmup: int = 150
    draws: int = 300
    chains: int = 2
    seed: int = 0


HMC = Sampler()
UNDERDAMPED = Sampler(leapfrogs=1, friction=1.0, tested=False, accept=0.98, warmup=500, draws=3000)
"""Underdamped Langevin dynamics; stochastic-gradient (SGLD) where the posterior draws batches."""
PLAIN = Sampler(leapfrogs=1, tested=False, accept=0.95, warmup=500, draws=6000)
"""Langevin dynamics without momentum: Euler-Maruyama steps of ε²/2."""


class Samples(NamedTuple):
    """Draws of chains from one start: a_1, a_G, loss, coverage by chain and draw; order of their averaged patterns.

    `copying` is the share of rows whose attention to the previous position is above .3.
    `accepted` is the mean share that the Metropolis test accepted (or would have), after warm-up; `step` is ε.
    """

    start: str
    a_1: Float[np.ndarray, "chain draw"]
    a_g: Float[np.ndarray, "chain draw"]
    loss: Float[np.ndarray, "chain draw"]
    coverage: Float[np.ndarray, "chain draw"]
    centred: Float[np.ndarray, "chain draw"]
    copying: Float[np.ndarray, "chain draw"]
    averaged: Order
    accepted: float
    step: float


class Mixing(NamedTuple):
    """Effective sample size and split R̂ of a quantity over chains (Vehtari et al. 2021, rank-normalised)."""

    ess: float
    r_hat: float


def sample(posterior: Posterior, sampler: Sampler, warm: Posterior | None = None) -> list[Samples]:
    """Draws from chains that start at the prior, and from others that start at a copying pattern, in this order.

    `warm` is what the step is adapted on, where the posterior's own energy is noisy (batches).
    """
    rng = np.random.default_rng(sampler.seed)
    lead = copying_lead(posterior.setting, posterior.attention)
    starts = [posterior.start(h, 1.0, sampler.chains, rng) for h in (0.0, lead)]
    at, step = _adapt(warm or posterior, sampler, np.concatenate(starts), rng)
    found, accepted = _run(posterior, sampler, at, step, rng)
    halves = {"prior": slice(0, sampler.chains), "copying": slice(sampler.chains, None)}
    return [_samples(name, found, chains, accepted, step) for name, chains in halves.items()]


def mixing(draws: Float[np.ndarray, "chain draw"]) -> Mixing:
    """Effective sample size of the mean, and split R̂ (1 = chains agree, above 1.01 they do not yet)."""
    from arviz_stats.base.array import array_stats

    ess: Any = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="bulk")
    r_hat: Any = array_stats.rhat(draws, chain_axis=0, draw_axis=1)
    return Mixing(float(ess), float(r_hat))


class _Draws(NamedTuple):
    orders: list[Order]
    losses: list[np.ndarray]
    copying: list[np.ndarray]
    mean_pattern: np.ndarray


def _adapt(
    posterior: Posterior, sampler: Sampler, at: Parameters, rng: np.random.Generator
) -> tuple[Parameters, float]:
    """Warm-up by dual averaging of log ε (Hoffman & Gelman 2014, §3.2, their constants).

    It always tests, so that a first step that is too long cannot throw a chain out.
    """
    sampler = replace(sampler, tested=True)
    log_step, log_mean, error, origin = math.log(0.1), 0.0, 0.0, math.log(1.0)
    momentum, here = rng.standard_normal(at.shape), posterior(at)
    for n in range(1, sampler.warmup + 1):
        at, here, momentum, chance = _move(posterior, sampler, at, here, momentum, math.exp(log_step), rng)
        error += (sampler.accept - float(chance.mean()) - error) / (n + 10)
        log_step = origin - math.sqrt(n) / 0.05 * error
        weight = n**-0.75
        log_mean = weight * log_step + (1 - weight) * log_mean
    return at, math.exp(log_mean)


def _run(
    posterior: Posterior, sampler: Sampler, at: Parameters, step: float, rng: np.random.Generator
) -> tuple[_Draws, float]:
    momentum, here = rng.standard_normal(at.shape), posterior(at)
    found, chances = _Draws([], [], [], np.zeros_like(posterior.pattern(at))), []
    for _ in range(sampler.draws):
        # a step that varies cannot resonate with a mode's period
        jittered = step * rng.uniform(0.8, 1.2) if sampler.tested else step
        at, here, momentum, chance = _move(posterior, sampler, at, here, momentum, jittered, rng)
        pattern = upright(posterior.attention, posterior.pattern(at))
        found.orders.append(order(pattern))
        found.losses.append(here.loss)
        found.copying.append(copying_rows(pattern))
        found.mean_pattern[:] += pattern / sampler.draws
        chances.append(float(chance.mean()))
    return found, float(np.mean(chances))


def _move(
    posterior: Posterior,
    sampler: Sampler,
    at: Parameters,
    here: Evaluation,
    momentum: Parameters,
    step: float,
    rng: np.random.Generator,
) -> tuple[Parameters, Evaluation, Parameters, Float[np.ndarray, " chain"]]:
    """One draw: where it went, and the chance that a Metropolis test gives it."""
    kept = math.exp(-sampler.friction * step)
    momentum = kept * momentum + math.sqrt(1 - kept**2) * rng.standard_normal(at.shape)
    before = here.energy + np.square(momentum).sum(1) / 2
    new, there, moved = at, here, momentum
    for _ in range(sampler.leapfrogs):
        moved = moved - step / 2 * there.gradient
        new = new + step * moved
        there = posterior(new)
        moved = moved - step / 2 * there.gradient
    after = there.energy + np.square(moved).sum(1) / 2
    chance = np.exp(np.minimum(0.0, np.nan_to_num(before - after, nan=-np.inf)))
    if not sampler.tested:
        return new, there, moved, chance
    taken = rng.uniform(size=len(at)) < chance
    column = taken[:, None]
    state = Evaluation(
        np.where(taken, there.energy, here.energy),
        np.where(column, there.gradient, here.gradient),
        np.where(taken, there.loss, here.loss),
    )
    return np.where(column, new, at), state, np.where(column, moved, -momentum), chance


def _samples(name: str, found: _Draws, chains: slice, accepted: float, step: float) -> Samples:
    a_1, a_g, coverage, centred = (np.stack(of, 1)[chains] for of in zip(*found.orders, strict=True))
    loss, copying = (np.stack(of, 1)[chains] for of in (found.losses, found.copying))
    return Samples(name, a_1, a_g, loss, coverage, centred, copying, order(found.mean_pattern[chains]), accepted, step)
