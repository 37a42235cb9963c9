"""A store that looks like a real one: brackets, effects, signatures and patterns with the shapes of the nano suite."""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from interp.store import Store
from tests.report import rows

SCORES, UNIFORM, HOSTILE = rows.SCORES, rows.UNIFORM, rows.HOSTILE
STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128, *range(150, 3001, 150))
TOKENIZER = hashlib.sha256(b"tokenizer").hexdigest()


@dataclass(frozen=True)
class Plan:
    """What one task does in one run."""

    status: str
    post: int | None = None
    heads: tuple[str, ...] = ()
    effect: float = 0.0
    small_gap: bool = False


@dataclass(frozen=True)
class Suite:
    """A suite to write: its shape, and `plans[task][seed]`."""

    name: str
    layers: int
    heads: int
    plans: dict[str, dict[int | None, Plan]]
    steps: tuple[int, ...] = STEPS
    prompts: int = 12
    dtype: str = "float32"
    asked: str = "64 prompts"


NANO = Suite(
    "nano-3l",
    3,
    4,
    {
        "string": {
            0: Plan("emerged", 750, ("L2H1", "L2H2", "L1H2"), 0.38),
            1: Plan("emerged", 1500, ("L2H1", "L1H2", "L2H3"), 0.402),
            2: Plan("emerged", 1650, ("L2H0", "L1H3", "L2H2"), 0.51),
        },
        "ioi": {
            0: Plan("emerged", 900, ("L1H0", "L2H3"), 0.02),
            1: Plan("emerged", 1200, ("L2H0", "L1H1"), 0.015),
            2: Plan("lost", 900, ("L2H0", "L1H1"), 0.015),
        },
        "repeat": {
            0: Plan("from_start"),
            1: Plan("emerged", 450, ("L0H1",), 0.01, small_gap=True),
            2: Plan("emerged", 300, ("L0H0",), 0.01),
        },
        "ledger": {
            0: Plan("emerged", 1950, ("L2H2", "L1H2"), 0.54),
            1: Plan("censored"),
            2: Plan("emerged", 2250, ("L2H0", "L1H1"), 0.47),
        },
    },
)


def demo() -> Suite:
    """Six runs of the same four tasks, by repeating the three seeds."""
    plans = {task: {s: by_seed[s % 3] for s in range(6)} for task, by_seed in NANO.plans.items()}
    return Suite("nano-3l", 3, 4, plans, prompts=24)


def wide() -> Suite:
    """One run at 12 × 12 heads with four tasks."""
    plan = Plan("emerged", 1500, ("L5H3", "L6H1", "L4H11", "L7H0", "L5H5", "L6H9"), 0.31)
    steps = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *range(500, 20001, 500))
    return Suite("pythia-160m", 12, 12, {t: {None: plan} for t in NANO.plans}, steps, prompts=32)


def weights(suite: str, seed: int | None, step: int, branch: str = "") -> str:
    return hashlib.sha256(f"{suite}/{seed}/{step}{branch}".encode()).hexdigest()


def write(root: Path, suite: Suite = NANO, kinds: Sequence[str] = (), branch: str = "") -> Store:
    """The suite's results in a store; `kinds` names the kinds to write (all, if empty)."""
    store = Store(root)
    writer = _Writer(store, suite, tuple(kinds), branch)
    for task in suite.plans:
        writer.prompts(task)
    for seed in next(iter(suite.plans.values())):
        writer.emergence(seed)
        writer.training(seed)
        for task, plans in suite.plans.items():
            if plans[seed].post is not None:
                writer.pair(seed, task, plans[seed])
    return store


class _Writer:
    def __init__(self, store: Store, suite: Suite, kinds: tuple[str, ...], branch: str):
        self.store, self.suite, self.kinds, self.branch = store, suite, kinds, branch
        self.random = np.random.default_rng(7)
        self.grid = list(itertools.product(range(suite.layers), range(suite.heads)))

    def _put(self, kind: str, frame: pd.DataFrame, seed: int | None, steps: Sequence[int], **facts: object) -> None:
        if self.kinds and kind not in self.kinds:
            return
        hashes = [weights(self.suite.name, seed, step, self.branch) for step in steps]
        every = {
            "suite": self.suite.name,
            "seed": seed,
            "steps": list(steps),
            "weights": hashes,
            "tokenizer": TOKENIZER,
            "bos": True,
            "dtype": self.suite.dtype,
            "device": "cpu",
            "versions": {"interp": "0.1.0", "torch": "2.13.0", "transformers": "5.1.0"},
            **facts,
        }
        content = hashlib.sha256(frame.to_json().encode()).hexdigest()
        made_from = {"kind": kind, "content": content, **every}
        self.store.cached(kind, made_from, every, lambda: frame)

    def prompts(self, task: str) -> None:
        for role in ("search", "effect"):
            asked = [rows.prompt(task, i) for i in range(self.suite.prompts)]
            self._put("prompts", pd.DataFrame(asked), None, (), task=task, role=role, threshold=0.75,
                      ceiling=0.5 if task == "ioi" else 0.2, task_version=1)  # fmt: skip

    def emergence(self, seed: int | None) -> None:
        found = [rows.outcome(task, plans[seed], self.suite.steps) for task, plans in self.suite.plans.items()]
        whole = ("pre", "post", "lasting_pre", "lasting_post", "unprobed", "unprobed_from", "unprobed_to")
        frame = pd.DataFrame(found).astype(dict.fromkeys(whole, "Int64"))
        tasks = [
            {"task": task, "task_version": 1, "role": "search", "prompts": f"search {task} {self.suite.asked}"}
            for task in self.suite.plans
        ]
        commits = {str(step): f"c{step:039d}" for step in self.suite.steps}
        self._put("emergence", frame, seed, self.suite.steps, search="grid", equal=[[0, 1]], tasks=tasks,
                  commits=commits, identified=len(self.suite.steps), suspect=["its seed is said to be mislabelled"]
                  if seed == 2 else [])  # fmt: skip
        self._put("onsets", rows.onsets(found), seed, self.suite.steps)
        for row in found:
            self._put("curves", rows.curve(row), seed, row["steps"], task=row["task"])
            for step, p, share in zip(row["steps"], row["ps"], row["shares"], strict=True):
                if step in (0, row["pre"], row["post"]):
                    self._put("evaluations", rows.evaluation(p, share, self.suite.prompts), seed, (step,),
                              task=row["task"], role="search", step=step)  # fmt: skip

    def pair(self, seed: int | None, task: str, plan: Plan) -> None:
        assert plan.post is not None
        ends = (self.suite.steps[self.suite.steps.index(plan.post) - 1], plan.post)
        facts = {"task": task, "pre": ends[0], "post": ends[1], "task_version": 1, "role": "effect",
                 "prompts": f"effect {task} {self.suite.asked}",
                 "search_prompts": f"search {task} {self.suite.asked}"}  # fmt: skip
        mean = self._means(plan)
        self._put("effects", self._effects(mean), seed, ends, **facts)
        heads = self._heads(mean, plan)
        self._put("heads", heads, seed, ends, **facts)
        self._put("joint", self._joint(plan, mean), seed, ends, **facts)
        self._put("agreement", self._agreement(), seed, ends, **facts)
        self._put(
            "recipients", rows.recipients(list(plan.heads), plan.effect, self.suite.steps, ends), seed, ends, **facts
        )
        pieces = list(rows.prompt(task, 0)["pieces"])
        self._put("patterns", self._patterns(heads, len(pieces)), seed, ends, pieces=pieces,
                  prompt_text="".join(pieces), answer_text=" Mary", **facts)  # fmt: skip

    def _means(self, plan: Plan) -> dict[str, np.ndarray]:
        """Mean Δp of every head by direction: the planned heads first, falling by half; noising negative."""
        found = {}
        for direction, sign in (("denoising", 1.0), ("noising", -1.0)):
            values = self.random.normal(0, 0.004, len(self.grid)).round(6)
            order = plan.heads if sign > 0 else plan.heads[::-1]
            for rank, name in enumerate(order):
                layer, head = map(int, name[1:].split("H"))
                values[self.grid.index((layer, head))] = sign * plan.effect / 2**rank
            found[direction] = values
        return found

    def _effects(self, mean: dict[str, np.ndarray]) -> pd.DataFrame:
        frames = []
        n = self.suite.prompts
        for direction, values in mean.items():
            noise = self.random.normal(0, 0.02, (n, len(values)))
            delta = values + noise - noise.mean(0)
            low, high = np.full(n, 0.14), np.full(n, 0.79)
            recipient, donor = (low, high) if direction == "denoising" else (high, low)
            frames.append(pd.DataFrame({
                "direction": direction,
                "prompt": np.repeat(np.arange(n), len(values)),
                "layer": np.tile([c[0] for c in self.grid], n),
                "head": np.tile([c[1] for c in self.grid], n),
                "delta_p": delta.ravel(),
                "p_recipient": np.repeat(recipient, len(values)),
                "p_donor": np.repeat(donor, len(values)),
            }))  # fmt: skip
        return pd.concat(frames, ignore_index=True)

    def _heads(self, mean: dict[str, np.ndarray], plan: Plan) -> pd.DataFrame:
        signs = {str(h): self._signature(f"L{h[0]}H{h[1]}", h[0], plan) for h in self.grid}
        found = []
        for direction, values in mean.items():
            order = np.argsort(-values if direction == "denoising" else values)
            for rank, at in enumerate(order, 1):
                layer, head = self.grid[at]
                found.append({
                    "direction": direction, "layer": layer, "head": head, "delta_p": values[at],
                    "low": values[at] - 0.05, "high": values[at] + 0.05, "rank": rank, **signs[str((layer, head))],
                    **rows.claim(direction, values[at], plan.small_gap),
                })  # fmt: skip
        return pd.DataFrame(found)

    def _signature(self, name: str, layer: int, plan: Plan) -> dict[str, object]:
        noise = self.random.uniform(0, 0.03, 16).round(4)
        row: dict[str, object] = {"label": "none", "label_pre": "none"}
        for i, score in enumerate(SCORES):
            row[f"{score}_pre"] = UNIFORM[score] * 0.8 + noise[2 * i]
            row[f"{score}_post"] = UNIFORM[score] * 0.8 + noise[2 * i + 1]
        if name in plan.heads:
            kind = "previous_token" if layer == 1 else "induction"
            row |= {
                "label": kind.replace("_", "-"),
                f"{kind}_pre": 0.36,
                f"{kind}_post": 0.98,
                "a_1_post": 0.04,
                "a_G_post": 0.95,
            }
        return row

    def _joint(self, plan: Plan, mean: dict[str, np.ndarray]) -> pd.DataFrame:
        found = []
        for direction, sign in (("denoising", 1.0), ("noising", -1.0)):
            gap = sign * (0.02 if plan.small_gap else 0.65)
            base = {"direction": direction, "gap": gap, "gap_low": gap - 0.04, "gap_high": gap + 0.04}
            order = np.argsort(-sign * mean[direction])
            ordered = sign * mean[direction][order]
            names = ["L{}H{}".format(*self.grid[at]) for at in order]
            for k in (k for k in (1, 2, 4, 8, 16) if 2 * k <= len(names)):
                found.append(base | self._set("top", k, 0, names[:k], sign * min(ordered[:k].sum(), 0.6), gap, plan))
                for draw in range(8):
                    value = sign * self.random.normal(-0.004, 0.01)
                    found.append(base | self._set("random", k, draw, names[-k:], value, gap, plan))
            whole = sign * ordered.clip(0).sum() * 0.8 if plan.effect > 0.1 else -sign * 0.1
            found.append(base | self._set("all", len(names), 0, names, whole, gap, plan))
            found.append(base | self._set("own", len(names), 0, names, 0.0, gap, plan))
        return pd.DataFrame(found)

    @staticmethod
    def _set(name: str, k: int, draw: int, heads: list[str], value: float, gap: float, plan: Plan) -> dict[str, object]:
        width = 0.0 if name == "own" else 0.04
        share = (
            (np.nan,) * 3 if plan.small_gap else tuple(sorted(v / gap for v in (value - width, value, value + width)))
        )
        return {
            "k": k, "set": name, "draw": draw, "heads": heads, "delta_p": value, "low": value - width,
            "high": value + width, "recovered": share[1], "recovered_low": share[0], "recovered_high": share[2],
        }  # fmt: skip

    def _agreement(self) -> pd.DataFrame:
        found = [
            {"direction": d, "score": s, "rho": round(float(self.random.uniform(-0.2, 0.8)), 3), "rho_low": -0.3,
             "rho_high": 0.9, "p_value": 0.004, "p_layer": 0.03, "k": 2, "precision": 0.5, "precision_low": 0.0,
             "precision_high": 1.0, "precision_layer": 0.2, "p_precision": 0.2, "p_holm": 0.4}
            for d in ("denoising", "noising")
            for s in SCORES
        ]  # fmt: skip
        return pd.DataFrame(found)

    def training(self, seed: int | None) -> None:
        """Signatures at every step, and when they changed: those of the heads that the first task plans."""
        plan = next(iter(self.suite.plans.values()))[seed]
        for step in self.suite.steps:
            end = "post" if plan.post is not None and step >= plan.post else "pre"
            frame = rows.signatures(self.grid, plan.heads, end, step)
            self._put("signatures", frame, seed, (step,), prompts="random", step=step)
        task = next(iter(self.suite.plans))
        self._put("changes", rows.changes(plan.heads, task, plan.post), seed, self.suite.steps)

    def _patterns(self, heads: pd.DataFrame, n: int) -> pd.DataFrame:
        frames = []
        top = heads[(heads.direction == "denoising") & (heads["rank"] <= 6)]
        dest, src = np.tril_indices(n)
        for end in ("pre", "post"):
            for row in top.itertuples():
                sharp = 6.0 if end == "post" else 1.0
                score = self.random.normal(0, 1, len(dest)) + sharp * (src == np.maximum(dest - 1, 0))
                raw = np.exp(score)
                total = np.bincount(dest, raw)
                frames.append(pd.DataFrame({"end": end, "layer": row.layer, "head": row.head, "dest": dest, "src": src,
                                            "weight": raw / total[dest]}))  # fmt: skip
        return pd.concat(frames, ignore_index=True)
