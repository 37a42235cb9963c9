"""Values of the stages as rows of the tables of docs/design.md §6."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from interp.comparison import Agreement, holm
from interp.emergence import Crossing, Emergence
from interp.ranking import HeadSet, Interval, Ranking
from interp.signatures import SCORES, Signatures, label
from interp.tasks import TaskTokenizer
from interp.values import Direction, Head, PromptSet

Grid = Float[np.ndarray, "layer head"]

_EMERGENCE = (
    dict.fromkeys(("pre", "post", "lasting_pre", "lasting_post", "unprobed_from", "unprobed_to"), "Int64")
    | dict.fromkeys(("neighbours", "lasting_neighbours"), "boolean")
    | dict.fromkeys(("share_pre", "share_post", "p_pre", "p_post"), "float64")
)


def prompt_rows(prompts: PromptSet, tokenizer: TaskTokenizer) -> pd.DataFrame:
    """Table `prompts`."""
    return pd.DataFrame(
        {
            "prompt": i,
            "text": prompt.text,
            "tokens": list(prompt.tokens),
            "pieces": tokenizer.pieces(prompt.tokens),
            "answer": prompt.answer,
            "answer_text": tokenizer.piece(prompt.answer),
            "foil": -1 if prompt.foil is None else prompt.foil,
            "foil_text": "" if prompt.foil is None else tokenizer.piece(prompt.foil),
            "layout": prompt.layout,
        }
        for i, prompt in enumerate(prompts.prompts)
    )


def emergence_rows(found: Mapping[str, Emergence], ps: Mapping[str, Mapping[int, float]]) -> pd.DataFrame:
    """Table `emergence`; `ps[task][step]` is the mean p(answer) on the search prompts."""
    rows = []
    for task, result in found.items():
        bracket, unprobed = result.first.bracket, result.unprobed
        share = dict(zip(result.steps, result.shares, strict=True))
        ends = {"pre": None, "post": None} if bracket is None else {"pre": bracket.pre, "post": bracket.post}
        rows.append(
            {"task": task}
            | _crossing_cells(result, result.first, "")
            | _crossing_cells(result, result.lasting, "lasting_")
            | {f"share_{end}": None if step is None else share[step] for end, step in ends.items()}
            | {f"p_{end}": None if step is None else ps[task][step] for end, step in ends.items()}
            | {
                "threshold": result.threshold,
                "monotone": result.monotone,
                "probes": len(result.probes),
                "unprobed": 0 if unprobed is None else unprobed.checkpoints,
                "unprobed_from": None if unprobed is None else unprobed.after,
                "unprobed_to": None if unprobed is None else unprobed.before,
                "steps": list(result.steps),
                "shares": list(result.shares),
                "ps": [ps[task][step] for step in result.steps],
            }
        )
    return pd.DataFrame(rows).astype(_EMERGENCE)


def _crossing_cells(result: Emergence, crossing: Crossing, prefix: str) -> dict[str, object]:
    bracket = crossing.bracket
    return {
        f"{prefix}status": str(crossing.status),
        f"{prefix}pre": None if bracket is None else bracket.pre,
        f"{prefix}post": None if bracket is None else bracket.post,
        f"{prefix}neighbours": None if bracket is None else result.neighbours(bracket),
    }


def effect_rows(
    direction: Direction,
    delta_p: Float[np.ndarray, "prompt layer head"],
    p_recipient: Float[np.ndarray, "prompt"],
    p_donor: Float[np.ndarray, "prompt"],
    more: Mapping[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Table `effects` for one direction; `more`: further measures [prompt, layer, head] under their column names."""
    prompt, layer, head = (axis.ravel() for axis in np.indices(delta_p.shape))
    return pd.DataFrame(
        {
            "direction": str(direction),
            "prompt": prompt,
            "layer": layer,
            "head": head,
            "delta_p": delta_p.ravel(),
            "p_recipient": p_recipient[prompt],
            "p_donor": p_donor[prompt],
        }
        | {name: values.ravel() for name, values in (more or {}).items()}
    )


def effects_from_rows(
    rows: pd.DataFrame, direction: Direction
) -> tuple[Float[np.ndarray, "prompt layer head"], Float[np.ndarray, "prompt"]]:
    """Δp of every prompt and head, and the gap p_donor − p_recipient of every prompt, back from table `effects`."""
    one = rows.loc[rows["direction"] == str(direction)].sort_values(by=["prompt", "layer", "head"])
    shape = tuple(int(one[axis].to_numpy().max()) + 1 for axis in ("prompt", "layer", "head"))
    gap = (one["p_donor"].to_numpy() - one["p_recipient"].to_numpy()).reshape(shape)[:, 0, 0]
    return one["delta_p"].to_numpy().reshape(shape), gap


def joint_row(
    direction: Direction,
    heads: HeadSet,
    effect: Interval,
    share: Interval,
    gap: Interval,
    folds: Sequence[Bool[np.ndarray, "layer head"]] = (),
) -> dict[str, object]:
    """One row of table `joint`; `folds`: the masks of the set in each fold, where they can differ."""
    members = _members(heads.mask)
    return {
        "direction": str(direction), "k": heads.k, "set": heads.name, "draw": heads.draw, "heads": members,
        "delta_p": effect.mean, "low": effect.low, "high": effect.high,
        "recovered": share.mean, "recovered_low": share.low, "recovered_high": share.high,
        "gap": gap.mean, "gap_low": gap.low, "gap_high": gap.high,
        "folds": [",".join(_members(fold)) for fold in folds],
    }  # fmt: skip


def _members(mask: np.ndarray) -> list[str]:
    return [str(Head(int(layer), int(head))) for layer, head in np.argwhere(mask)]


def control_rows(direction: Direction, permuted_95: Grid) -> pd.DataFrame:
    """Table `controls` for one direction."""
    layer, head = (axis.ravel() for axis in np.indices(permuted_95.shape))
    return pd.DataFrame({"direction": str(direction), "layer": layer, "head": head, "permuted_95": permuted_95.ravel()})


def controls_from_rows(rows: pd.DataFrame, direction: Direction) -> Grid:
    """The source-permuted control of every head, back from table `controls`."""
    one = rows.loc[rows["direction"] == str(direction)]
    return one.pivot(index="layer", columns="head", values="permuted_95").to_numpy()


def measure_from_rows(rows: pd.DataFrame, direction: Direction, measure: str) -> Grid:
    """The mean over prompts of a measure of every head, from table `effects`."""
    one = rows.loc[rows["direction"] == str(direction)]
    return one.pivot_table(index="layer", columns="head", values=measure, aggfunc="mean").to_numpy()


def signature_rows(found: Signatures) -> pd.DataFrame:
    """Table `signatures`."""
    names = list(found.value)
    grids = np.stack([found.value[name] for name in names])
    score, layer, head = (axis.ravel() for axis in np.indices(grids.shape))
    references = {
        column: np.array([known.get(name, np.nan) for name in names])[score]
        for column, known in (("uniform", found.uniform), ("random", found.random))
    }
    columns = {"layer": layer, "head": head, "score": np.array(names, dtype=object)[score], "value": grids.ravel()}
    return pd.DataFrame(columns | references)


def scores_from_rows(rows: pd.DataFrame) -> dict[str, Grid]:
    """Every score of every head, back from table `signatures`."""
    found = {}
    for score, part in rows.groupby("score"):
        found[str(score)] = part.pivot(index="layer", columns="head", values="value").to_numpy()
    return found


def head_rows(
    ranking: Ranking,
    pre: Mapping[str, Grid],
    post: Mapping[str, Grid],
    more: Mapping[str, np.ndarray] | None = None,
) -> pd.DataFrame:
    """Table `heads` for one direction, first-ranked first; `more`: further columns [layer, head]."""
    rows = []
    for layer, head in ranking.order():
        at = (layer, head)
        scores = {
            f"{s}_{end}": float(grid[s][at]) if s in grid else np.nan
            for s in SCORES
            for end, grid in (("pre", pre), ("post", post))
        }
        rows.append(
            {
                "direction": str(ranking.direction), "layer": layer, "head": head,
                "delta_p": float(ranking.mean[at]), "low": float(ranking.low[at]), "high": float(ranking.high[at]),
                "rank": int(ranking.rank[at]),
                "label": label({s: scores[f"{s}_post"] for s in SCORES}),
                "label_pre": label({s: scores[f"{s}_pre"] for s in SCORES}),
            }
            | {name: grid[at].item() for name, grid in (more or {}).items()}
            | scores
        )  # fmt: skip
    return pd.DataFrame(rows)


def agreement_rows(direction: Direction, found: Iterable[Agreement]) -> pd.DataFrame:
    """Table `agreement` for one direction; `p_holm` is corrected over its scores."""
    rows = pd.DataFrame([{"direction": str(direction)} | one._asdict() for one in found])
    return rows.assign(p_holm=holm(rows["p_layer"].to_numpy()))


def pattern_rows(end: str, heads: Sequence[Head], pattern: Float[np.ndarray, "layer head dest src"]) -> pd.DataFrame:
    """Table `patterns` for one end of the bracket: what lies on and below the diagonal."""
    dest, src = np.tril_indices(pattern.shape[-1])
    return pd.concat(
        pd.DataFrame(
            {
                "end": end, "layer": head.layer, "head": head.head, "dest": dest, "src": src,
                "weight": pattern[head.layer, head.head][dest, src].astype("float32"),
            }
        )
        for head in heads
    )  # fmt: skip
