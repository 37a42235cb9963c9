"""Effects of every head in one call, for notebooks: from two checkpoints (or models) and a task or token ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp import evaluation, frames, markup, patching, ranking
from interp.models.loading import load
from interp.models.model import Model
from interp.tasks import Task, parse, prompts, tokenizer
from interp.values import Checkpoint, Direction, Head, InputError, Prompt, PromptSet

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
else:  # imported late; annotations that are looked up at run time find something
    Figure = Any


@dataclass(frozen=True)
class HeadEffects:
    """Effects of writing a donor's pattern into each head of a recipient alone, per prompt.

    `direction` is denoising where the donor is better at the task (mean p(answer)), else noising: it says which sign is
    wanted, and so which head is first.
    """

    effects: patching.Effects
    p_donor: Float[np.ndarray, "prompt"]
    recipient: str
    donor: str

    @property
    def delta_p(self) -> Float[np.ndarray, "prompt layer head"]:
        """p(answer) with the donor's pattern − p(answer) without; positive = the patch helps."""
        return self.effects.delta_p

    @property
    def direction(self) -> Direction:
        """Whether the donor is the better or the worse of the two."""
        better = self.p_donor.mean() >= self.effects.p_recipient.mean()
        return Direction.DENOISING if better else Direction.NOISING

    @property
    def frame(self) -> pd.DataFrame:
        """One row per prompt, layer and head: Δp, Δ log p, Δ margin, solved or not, and p of both ends."""
        one = self.effects
        more = {"delta_log_p": one.delta_log_p, "delta_margin": one.delta_margin, "solved": one.solved}
        return frames.effect_rows(self.direction, one.delta_p, one.p_recipient, self.p_donor, more)

    def top(self, k: int = 16) -> pd.DataFrame:
        """The first k heads by mean Δp in the direction's sign, with 95 % intervals, pointwise and simultaneous."""
        order = ranking.rank_heads(self.delta_p, self.direction)
        sim_low, sim_high = ranking.simultaneous(self.delta_p)
        return pd.DataFrame(
            {
                "rank": rank, "head": str(Head(*at)), "layer": at[0], "index": at[1], "delta_p": order.mean[at],
                "low": order.low[at], "high": order.high[at], "sim_low": sim_low[at], "sim_high": sim_high[at],
            }
            for rank, at in enumerate(order.order()[:k], 1)
        )  # fmt: skip

    def grid(self) -> pd.DataFrame:
        """Mean Δp: one row per layer, one column per head."""
        mean = self.delta_p.mean(0)
        rows = pd.RangeIndex(mean.shape[0], name="layer")
        return pd.DataFrame(mean, index=rows, columns=pd.RangeIndex(mean.shape[1], name="head"))

    def figure(self) -> Figure:
        """Mean Δp as a heat map, layers downwards; red helps, blue harms."""
        import plotly.graph_objects as go

        mean = self.delta_p.mean(0)
        bound = float(np.abs(mean).max()) or 1.0
        names = [[str(Head(layer, head)) for head in range(mean.shape[1])] for layer in range(mean.shape[0])]
        cells = go.Heatmap(
            z=mean, zmin=-bound, zmax=bound, colorscale="RdBu_r", text=names, colorbar={"title": "Δp"},
            hovertemplate="%{text}: Δp = %{z:.4f}<extra></extra>",
        )  # fmt: skip
        title = f"Δp of each head: patterns of {self.donor} in {self.recipient} ({self.direction})"
        return go.Figure(cells).update_layout(
            title=title, xaxis={"title": "head", "dtick": 1},
            yaxis={"title": "layer", "dtick": 1, "autorange": "reversed"},
        )  # fmt: skip

    def _repr_html_(self) -> str:
        top = self.top(8)
        title = f"Patterns of {self.donor} in {self.recipient}: {len(self.p_donor)} prompts, {self.direction}"
        rows = [
            (row["head"], f"{row['delta_p']:+.3f}", f"[{row['sim_low']:+.3f}, {row['sim_high']:+.3f}]")
            for row in top.to_dict("records")
        ]
        p = f"p(answer) {self.effects.p_recipient.mean():.3f} in the recipient, {self.p_donor.mean():.3f} in the donor"
        return markup.table(f"{title}; {p}", ("head", "Δp", "simultaneous 95 %"), rows)

    def __repr__(self) -> str:
        first = self.top(3)
        heads = ", ".join(f"{head} {value:+.3f}" for head, value in zip(first["head"], first["delta_p"], strict=True))
        return f"HeadEffects({self.donor} → {self.recipient}, {len(self.p_donor)} prompts, {self.direction}: {heads})"


def patch_heads(
    recipient: Checkpoint | Model,
    donor: Checkpoint | Model,
    task: str | Task | None = None,
    *,
    tokens: Any = None,
    answers: Any = None,
    n: int = 64,
    bos: bool = True,
    dtype: str = "float32",
    device: str = "cpu",
    memory: int = patching.MEMORY,
) -> HeadEffects:
    """Δp of writing the donor's pattern into each head of the recipient alone.

    Args:
        recipient: the checkpoint (or loaded model) that patterns are written into.
        donor: the checkpoint (or loaded model) that they come from: same shape, any step, run or seed.
        task: a task, its name (`ioi`, `ioi:single`) or its file: `n` effect prompts of it, with BOS unless `bos=False`.
        tokens: in place of a task, ids [prompt, pos]; prompts may differ in length.
        answers: the answers' ids [prompt], with `tokens`.
        n: prompts of the task.
        bos: whether a task's prompts begin with the BOS token.
        dtype: what checkpoints are computed in; models come as they are.
        device: where checkpoints are computed.
        memory: a bound in bytes on what a pass holds; changes no result.

    Raises:
        InputError: neither or both of a task and tokens, prompts that the model cannot take, donors of another shape.
    """
    if (task is None) == (tokens is None) or (tokens is None) != (answers is None):
        raise InputError("give either task=, or both tokens= (ids, [prompt, pos]) and answers= (ids, [prompt])")
    to, source = (one if isinstance(one, Model) else load(one, dtype, device) for one in (recipient, donor))
    asked = _rows(tokens, answers) if task is None else _prompts(task, to.checkpoint, n, bos)
    given = patching.patterns(source, asked)
    effects = patching.single(to, asked, given, memory=memory)
    return HeadEffects(effects, evaluation.evaluate(source, asked).p, str(to.checkpoint), str(source.checkpoint))


def _prompts(task: str | Task, checkpoint: Checkpoint, n: int, bos: bool) -> PromptSet:
    one, form = parse(task) if isinstance(task, str) else (task, "many")
    return prompts(one, tokenizer(checkpoint.tokenizer), "effect" if form == "many" else "single", n, bos)


def _rows(tokens: Any, answers: Any) -> PromptSet:
    rows: Sequence[Sequence[int]] = [list(map(int, row)) for row in tokens]
    right = [int(answer) for answer in answers]
    if not rows or len(rows) != len(right) or not all(rows):
        raise InputError(
            f"tokens are {len(rows)} prompts and answers {len(right)}; needed: one answer for each prompt, none empty"
        )
    made = tuple(Prompt("", tuple(row), answer, None, "tokens") for row, answer in zip(rows, right, strict=True))
    return PromptSet("tokens", 1, "effect", 0.5, 0.0, made, "none", False)
