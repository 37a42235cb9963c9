"""Rows of the stored tables, with values that tests know."""

import itertools
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pandas as pd

SCORES = ("previous_token", "induction", "duplicate_token", "first_token", "a_1", "a_G", "sink", "coverage")
UNIFORM = {"previous_token": 0.094, "induction": 0.071, "duplicate_token": 0.071, "first_token": 0.118,
           "a_1": 1.0, "a_G": 0.0, "sink": 0.0, "coverage": 1.0}  # fmt: skip
HOSTILE = ("<script>alert(1)</script>", '"quoted\'', "</script><b>", "ab\u202ecd", " 🦊", "nul\x00", "%{z}", "$x^2$",
           "&lt;", "\n", "")  # fmt: skip


class Planned(Protocol):
    """What becomes of a task: see `synthetic.Plan`."""

    @property
    def status(self) -> str: ...
    @property
    def post(self) -> int | None: ...


def prompt(task: str, i: int) -> dict[str, object]:
    words = ["<|endoftext|>", "When", " Mary", " and", " John", " went", " to", " the", " store", ",", " John",
             " gave", " a", " drink", " to"]  # fmt: skip
    pieces = words if task != "string" else ["<|endoftext|>", *HOSTILE, " fox", " salt"]
    foil = 12 if task == "ioi" else -1
    return {
        "prompt": i, "text": "".join(pieces), "tokens": [0, *range(3 + i, 2 + i + len(pieces))], "pieces": pieces,
        "answer": 11, "answer_text": " Mary" if task != "string" else "</script>", "foil": foil,
        "foil_text": " John" if foil > 0 else "", "layout": f"n={len(pieces)}",
    }  # fmt: skip


def outcome(task: str, plan: Planned, steps: tuple[int, ...]) -> dict[str, object]:
    if plan.status == "from_start":
        shares = [0.9] * len(steps)
    elif plan.status == "censored":
        shares = [0.05 + 0.2 * i / len(steps) for i in range(len(steps))]
    else:
        assert plan.post is not None
        shares = [0.06 if step < plan.post else 0.92 for step in steps]
        shares[steps.index(plan.post) - 1] = 0.2
        if plan.status == "lost":
            shares[-2:] = [0.6, 0.5]
    ps = [round(0.9 * share + 0.01, 4) for share in shares]
    post = plan.post
    at = steps.index(post) if post is not None else None
    lost = plan.status == "lost"
    bracket = (
        {"lasting_pre": None, "lasting_post": None}
        if lost or not at
        else {"lasting_pre": steps[at - 1], "lasting_post": post}
    )
    return {
        "task": task, "status": "emerged" if lost else plan.status, "lasting_status": plan.status, **bracket, "pre": steps[at - 1] if at else None, "post": post,
        "share_pre": shares[at - 1] if at else np.nan, "share_post": shares[at] if at else np.nan,
        "p_pre": ps[at - 1] if at else np.nan, "p_post": ps[at] if at else np.nan, "threshold": 0.75,
        "monotone": not lost, "neighbours": True, "probes": 4, "unprobed": 3 if lost else 0,
        "unprobed_from": 900 if lost else None, "unprobed_to": 1500 if lost else None, "steps": list(steps), "shares": shares, "ps": ps,
    }  # fmt: skip


def evaluation(p: float, share: float, n: int) -> pd.DataFrame:
    solved = np.arange(n) < share * n
    return pd.DataFrame({
        "prompt": np.arange(n), "p": p, "log_p": np.log(p), "rank": np.where(solved, 0, 3), "margin": 0.5,
        "solved": solved, "tie": False, "top": 11, "foil_margin": np.nan,
    })  # fmt: skip


def claim(direction: str, delta_p: float, small_gap: bool) -> dict[str, object]:
    """The four conditions as they are stored: intervals of ± .06, a control of .02, the gap of .65."""
    sign = 1 if direction == "denoising" else -1
    candidate = sign * delta_p - 0.06 > 0 and not small_gap
    return {
        "sim_low": delta_p - 0.06, "sim_high": delta_p + 0.06, "permuted_95": sign * 0.02 if candidate else np.nan,
        "causal": candidate, "delta_log_p": 3 * delta_p, "delta_margin": 5 * delta_p, "solved": 0.5,
    }  # fmt: skip


def curve(outcome: dict[str, object]) -> pd.DataFrame:
    """Table `curves`: intervals of ± .04 about what the scan saw."""
    share, p = (np.array(outcome[name], dtype=float) for name in ("shares", "ps"))
    bounds = {
        f"{name}_{end}": np.clip(of + sign * 0.04, 0, 1)
        for name, of in (("share", share), ("p", p))
        for end, sign in (("low", -1), ("high", 1))
    }
    more = {"margin": 8 * p - 4, "margin_low": 8 * p - 4.5, "margin_high": 8 * p - 3.5, "log_p": np.log(p)}
    return pd.DataFrame({"step": outcome["steps"], "share": share, "p": p, **bounds, **more})


def onsets(outcomes: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Table `onsets` of the tasks that emerged."""
    return pd.DataFrame([
        {
            "task": of["task"], "measure": measure, "verdict": "measured", "first": 0.02, "final": 0.9,
            "low_step": of["pre"], "mid_step": of["post"], "high_step": 3000, "doublings": 1.5, "doublings_low": 1.2,
            "doublings_high": 1.9, "at_least": 1.0, "at_most": np.nan, "jump": 0.7, "jump_from": of["pre"],
            "jump_to": of["post"], "excess": 0.4, "excess_low": 0.1, "excess_high": 0.7, "artefact": measure == "share",
        }
        for of in outcomes
        for measure in ("p", "margin", "share")
        if of["post"] is not None
    ])  # fmt: skip


def recipients(heads: list[str], effect: float, steps: Sequence[int], ends: tuple[int, int]) -> pd.DataFrame:
    """Table `recipients`: nothing before half of the later step, the planned effect from there on."""
    return pd.DataFrame([
        {
            "step": step, "head": head, "delta_p": value, "low": value - 0.03, "high": value + 0.03,
            "p_recipient": 0.14,
        }
        for head, part in [*((head, 1 / 2**i) for i, head in enumerate(heads)), ("joint", 1.6)]
        for step in steps
        if step <= ends[1] and (value := effect * part * (2 * step >= ends[1])) is not None
    ])  # fmt: skip


def signatures(grid: Sequence[tuple[int, int]], heads: Sequence[str], end: str, step: int) -> pd.DataFrame:
    """Table `signatures`: the planned heads are induction heads from the later end on."""
    found = []
    for (layer, head), score in itertools.product(grid, SCORES):
        value = UNIFORM[score] * 0.8 + 0.02 * np.sin(step + layer + head)
        if score == "induction" and f"L{layer}H{head}" in heads:
            value = 0.98 if end == "post" else 0.05
        found.append({"layer": layer, "head": head, "score": score, "value": value, "uniform": UNIFORM[score]})
    return pd.DataFrame(found)


def changes(heads: Sequence[str], task: str, post: int | None) -> pd.DataFrame:
    """Table `changes` of the planned heads."""
    found = [
        {
            "layer": int(head[1:].split("H")[0]), "head": int(head[1:].split("H")[1]), "score": "induction",
            "prompts": "random", "before": 0.05, "after": 0.98, "lowest": 0.05, "highest": 0.98, "jump": 1.0,
            "from_step": post, "to_step": post, "verdict": "abrupt", "task": task, "relation": "in",
        }
        for head in heads
    ]  # fmt: skip
    columns = ["layer", "head", "score", "before", "after", "from_step", "to_step", "verdict", "task", "relation"]
    return pd.DataFrame(found) if found else pd.DataFrame(columns=columns)
