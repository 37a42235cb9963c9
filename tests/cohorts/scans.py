"""Stores that hold nothing but tables `emergence`, with planted times."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from interp.store import Store

GRID = (0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
PLANTED = {
    "small": {0: 400, 1: 500, 2: 700, 3: 800, 4: math.inf},
    "large": {0: 100, 1: 100, 2: 200, 3: 300, 4: 300},
}


def scan(
    root: Path,
    suite: str,
    seed: int | None,
    posts: Mapping[str, float],
    grid: Sequence[int] = GRID,
    lasting: Mapping[str, float] | None = None,
    **facts: object,
) -> Store:
    """One run in which each task emerges at a step of the grid, its first step (from the start) or never (∞)."""
    store = Store(root)
    rows = [_row(task, post, (lasting or posts)[task], grid) for task, post in posts.items()]
    integers = [f"{prefix}{end}" for prefix in ("", "lasting_") for end in ("pre", "post")]
    frame = pd.DataFrame(rows).astype(dict.fromkeys(integers, "Int64"))
    weights = [hashlib.sha256(f"{suite}{seed}{step}".encode()).hexdigest() for step in grid]
    every = {
        "suite": suite, "seed": seed, "steps": list(grid), "weights": weights, "searched": list(grid), "bos": True,
        "tokenizer": "t" * 64, "dtype": "float32", "search": "grid", "suspect": [], "config": suite, "parameters": None,
        "tasks": [{"task": task, "task_version": 1, "prompts": "p" * 64, "threshold": 0.75} for task in posts],
        **facts,
    }  # fmt: skip
    store.cached("emergence", every | {"rows": [str(posts), str(lasting)]}, every, lambda: frame)
    return store


def planted(root: Path, **facts: object) -> Store:
    """Two suites of five seeds; in the larger one the task comes earlier, in one seed of the smaller never."""
    for (suite, posts), size in zip(PLANTED.items(), (1000, 8000), strict=True):
        for seed, post in posts.items():
            scan(root, suite, seed, {"string": post}, parameters=size, **facts)
    return Store(root)


def _row(task: str, post: float, lasting: float, grid: Sequence[int]) -> dict[str, object]:
    shares = [0.9 if step >= post else 0.1 for step in grid]
    first, last = _status(post, grid), _status(lasting, grid)
    if last[0] == "censored" and first[0] != "censored":
        last = ("lost", None, None)
        shares[-1] = 0.1
    return {
        "task": task, "status": first[0], "pre": first[1], "post": first[2], "lasting_status": last[0],
        "lasting_pre": last[1], "lasting_post": last[2], "threshold": 0.75, "steps": list(grid), "shares": shares,
        "ps": shares,
    }  # fmt: skip


def _status(post: float, grid: Sequence[int]) -> tuple[str, int | None, int | None]:
    if math.isinf(post):
        return "censored", None, None
    if post == grid[0]:
        return "from_start", None, None
    return "emerged", grid[grid.index(int(post)) - 1], int(post)
