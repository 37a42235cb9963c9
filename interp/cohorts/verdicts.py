"""Table `cohort_tests`: the tests that a cohort allows, those it is too small for, and the reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from interp.cohorts.comparing import LEVEL, Tested, holm, log_rank, log_rank_scores, trend
from interp.cohorts.memoryless import FEWEST, memoryless
from interp.cohorts.times import Part, Which, shared

_SIZES = 3


def table(parts: Sequence[Part], which: Which) -> pd.DataFrame:
    """One row for every test of these parts, made or refused; Holm's correction over those that were made.

    Only the seeds that stand together are tested; runs that are kept apart are not.
    """
    together = [part for part in parts if not part.apart]
    rows = [row for task in dict.fromkeys(part.task for part in together) for row in _of_task(task, together)]
    columns = ["task", "test", "suites", "runs", "shared_steps", "tested", "statistic", "p_value", "smallest_p", "said"]
    frame = pd.DataFrame(rows, columns=columns).astype({"tested": bool})
    frame.insert(1, "which", which)
    frame.insert(8, "p_holm", math.nan)
    made = frame["tested"].to_numpy()
    frame.loc[made, "p_holm"] = holm(frame.loc[made, "p_value"].tolist())
    return frame


def _of_task(task: str, together: Sequence[Part]) -> Iterator[dict[str, object]]:
    parts = [part for part in together if part.task == task]
    several = [part for part in parts if len(part.times) > 1]  # one run is no group that others can be held against
    if len(several) > 1:
        yield _row("log_rank", several, *_log_rank(several))
        if len({part.parameters for part in several} - {None}) >= _SIZES:
            yield _row("trend", several, *_trend(several))
    for part in parts:
        yield _row("memoryless", [part], *_memoryless(part))


def _row(test: str, parts: Sequence[Part], found: Tested | None, said: str) -> dict[str, object]:
    return {
        "task": parts[0].task, "test": test, "suites": [part.suite for part in parts],
        "runs": [len(part.times) for part in parts], "shared_steps": len(shared([part.grid for part in parts])),
        "tested": found is not None, "statistic": found.statistic if found else math.nan,
        "p_value": found.p_value if found else math.nan, "smallest_p": found.smallest_p if found else math.nan,
        "said": said,
    }  # fmt: skip


def _scores(parts: Sequence[Part]) -> tuple[list[np.ndarray], str]:
    """Log-rank scores of every part's runs on the steps that all were searched at; how, in words."""
    grid = shared([part.grid for part in parts])
    wide = [part.within(grid) for part in parts]
    scores = log_rank_scores(*(np.concatenate(ends) for ends in zip(*(part.bounds for part in wide), strict=True)))
    borders = np.cumsum([len(part.times) for part in parts])[:-1]
    differs = any(part.grid != grid for part in parts)
    said = f"brackets widened to the {len(grid)} steps that all runs share; " if differs else ""
    return np.split(scores, borders), said


def _incomparable(parts: Sequence[Part]) -> str:
    """Why parts cannot be held against each other; empty where they can."""
    for one, other in pairwise(parts):
        found = [f"{a} and {b}" for a, b in zip(one.conditions, other.conditions, strict=True) if a != b]
        if found:
            return f"not tested: {one.suite} and {other.suite} were measured differently ({found[0]})"
    if len(shared([part.grid for part in parts])) < 2:
        return "not tested: the runs share fewer than two steps"
    return ""


def _log_rank(parts: Sequence[Part]) -> tuple[Tested | None, str]:
    reason = _incomparable(parts)
    if reason:
        return None, reason
    groups, said = _scores(parts)
    return _judged(log_rank(groups), said)


def _trend(parts: Sequence[Part]) -> tuple[Tested | None, str]:
    reason = _incomparable(parts)
    if reason or any(part.parameters is None for part in parts):
        return None, reason or "not tested: the size of a suite is not known"
    groups, said = _scores(parts)
    sizes = np.concatenate([np.full(len(part.times), float(part.parameters or 1)) for part in parts])
    return _judged(trend(np.concatenate(groups), sizes), said)


def _judged(found: Tested, said: str) -> tuple[Tested | None, str]:
    if found.smallest_p > LEVEL:
        return None, (
            "not tested: no two runs are known to differ" if found.smallest_p == 1
            else f"not tested: too few runs, the least p-value that they can give is {found.smallest_p:.2f}"
        )  # fmt: skip
    return found, f"{said}permutation of the runs"


def _memoryless(part: Part) -> tuple[Tested | None, str]:
    n, emerged = len(part.times), sum(math.isfinite(time.high) for time in part.times)
    if n < FEWEST:
        return (
            None,
            f"not tested: {n} of the {FEWEST} runs that a test needs; its shape describes them and is no verdict",
        )
    if emerged < 3:
        return None, f"not tested: the task emerged in {emerged} of {n} runs, and a test needs three"
    return memoryless(*part.within(part.grid).bounds, part.grid), "drawn from the fitted exponential"
