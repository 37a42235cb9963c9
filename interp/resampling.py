"""Means over prompts drawn with replacement; NumPy only."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float


def resampled_means(
    values: Float[np.ndarray, "prompt *rest"], resamples: int = 2000, seed: int = 0
) -> Float[np.ndarray, "resample *rest"]:
    """Means over prompts drawn with replacement; equal seeds draw equal prompts, so that ratios can be paired."""
    n = len(values)
    return (shares(n, resamples, seed) @ values.reshape(n, -1)).reshape(resamples, *values.shape[1:])


@lru_cache(maxsize=8)
def shares(n: int, resamples: int, seed: int) -> Float[np.ndarray, "resample prompt"]:
    """How often each of n prompts is drawn in each resample, divided by n."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples) / n


def ends(means: Float[np.ndarray, "resample *rest"]) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the 95 % percentile interval, elementwise over the other axes."""
    both = np.quantile(means, (0.025, 0.975), axis=0)
    return both[0, ...], both[1, ...]  # with the dots an end of one mean is an array too
