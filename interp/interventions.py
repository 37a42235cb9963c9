"""What follows on the effects of single heads: controls, joint patches, claims, and recipients of other steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from interp import claims, frames, patching, ranking
from interp.bench import DIRECTIONS, Ends
from interp.values import Direction, Head, PromptSet

# controls of the top K beside random heads: donor patterns that should bring nothing
_CONTROLS = ("mismatched", "permuted")


def evidence(ends: Ends, effects: pd.DataFrame, direction: Direction) -> claims.Evidence:
    """What claims in a direction rest on: mean Δp of every head, simultaneous intervals, and the gap."""
    delta_p, gap = frames.effects_from_rows(effects, direction)
    resamples = ends.bench.options.resamples
    low, high = ranking.simultaneous(delta_p, resamples)
    real = ranking.gap_is_real(gap, resamples)
    return claims.Evidence(direction, delta_p.mean(0), low, high, float(gap.mean()) if real else np.nan)


def controls(ends: Ends, effects: pd.DataFrame) -> pd.DataFrame:
    """Table `controls`: the source-permuted control of the heads that could be called causal, both directions."""
    found = []
    for direction, recipient, donor in DIRECTIONS:
        known = evidence(ends, effects, direction)
        candidates, others = claims.controlled(known)
        if direction is Direction.DENOISING:
            others = []
        heads = [*candidates, *others] if candidates else []
        chosen = [Head(*pair) for pair in heads]
        draws: list[Float[np.ndarray, "_head"]] = []
        for draw in range(ends.bench.options.draws if heads else 0):
            given = patching.permuted(ends.read(donor), draw, chosen)
            model = ends.bench.loader(ends.at[recipient])
            one = patching.of_heads(model, ends.asked, given, chosen, memory=ends.bench.options.memory)
            draws.append(one.delta_p.mean(0))
        by_head = {pair: np.array([draw[i] for draw in draws]) for i, pair in enumerate(heads)}
        own, rest = ({pair: by_head[pair] for pair in some} for some in (candidates, others if heads else []))
        found.append(frames.control_rows(direction, claims.permuted_95(direction, known.mean.shape, own, rest)))
    return pd.concat(found, ignore_index=True)


def heads(
    ends: Ends,
    effects: pd.DataFrame,
    controlled: pd.DataFrame,
    pre: dict[str, frames.Grid],
    post: dict[str, frames.Grid],
) -> pd.DataFrame:
    """Table `heads`, both directions."""
    found = []
    for direction, _, _ in DIRECTIONS:
        delta_p, _ = frames.effects_from_rows(effects, direction)
        known = evidence(ends, effects, direction)
        permuted = frames.controls_from_rows(controlled, direction)
        order = ranking.rank_heads(delta_p, direction, ends.bench.options.resamples)
        more = {
            "causal": known.causal(permuted), "sim_low": known.low, "sim_high": known.high, "permuted_95": permuted,
            **{
                name: frames.measure_from_rows(effects, direction, name)
                for name in ("delta_log_p", "delta_margin", "solved")
            },
        }  # fmt: skip
        found.append(frames.head_rows(order, pre, post, more))
    return pd.concat(found, ignore_index=True)


def joint(ends: Ends, effects: pd.DataFrame) -> pd.DataFrame:
    """Table `joint`: two-fold cross-fitted, so that no set is measured on the prompts that chose it.

    Heads are ranked on the even prompts and their sets measured on the odd ones, and the other way round; effects are
    of all prompts. A single prompt serves for both.
    """
    rows, resamples = [], ends.bench.options.resamples
    for direction, recipient, donor in DIRECTIONS:
        delta_p, gap = frames.effects_from_rows(effects, direction)
        folds = _folds(len(gap))
        sets = [_sets(ends, delta_p[choose], direction) for choose, _ in folds]
        values = [
            _measured(ends, recipient, donor, one, measure) for one, (_, measure) in zip(sets, folds, strict=True)
        ]
        places = np.concatenate([measure for _, measure in folds])
        named = _sets(ends, delta_p, direction)
        for i, whole in enumerate(named):
            effect = np.concatenate([fold[i] for fold in values])
            kept = np.isfinite(effect)  # a prompt without a partner of another layout has no mismatched pattern
            if not kept.any():
                continue
            size = ranking.interval(gap[places][kept], resamples)
            share = ranking.recovered(effect[kept], gap[places][kept], resamples)
            masks = [fold[i].mask for fold in sets]
            rows.append(
                frames.joint_row(direction, whole, ranking.interval(effect[kept], resamples), share, size, masks)
            )
    return pd.DataFrame(rows)


def _folds(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    even, odd = np.arange(0, n, 2), np.arange(1, n, 2)
    return [(even, odd), (odd, even)] if n > 1 else [(even, even)]


def _sets(ends: Ends, delta_p: Float[np.ndarray, "prompt layer head"], direction: Direction) -> list[ranking.HeadSet]:
    """Top K, random draws and all heads of a ranking; the top K again for the controls; all heads for `own`."""
    order = ranking.rank_heads(delta_p, direction, resamples=1)
    found = [*ranking.head_sets(order, ends.bench.options.draws)]
    top = [one for one in found if one.name == "top"]
    found += [one._replace(name=name) for name in _CONTROLS for one in top]
    return [*found, found[[one.name for one in found].index("all")]._replace(name="own")]


def _measured(
    ends: Ends, recipient: str, donor: str, sets: list[ranking.HeadSet], places: np.ndarray
) -> list[Float[np.ndarray, "_prompt"]]:
    """Δp of each set on some prompts, each set with the patterns that its name says; NaN where there are none."""
    asked = ends.asked.some(places.tolist())
    given, own = (_of_prompts(ends.asked, ends.read(end), places) for end in (donor, recipient))
    paired, other = patching.mismatched(asked, given)
    masks = [one.mask for one in sets if one.name == "permuted"]
    top = sorted({Head(int(layer), int(head)) for mask in masks for layer, head in np.argwhere(mask)})
    permuted = patching.permuted(given, heads=top)
    sources = {"mismatched": (paired, other), "permuted": (asked, permuted), "own": (asked, own)}
    found: dict[int, Float[np.ndarray, "_prompt"]] = {}
    for kind in ("donor", *sources):
        chosen = [i for i, one in enumerate(sets) if (one.name if one.name in sources else "donor") == kind]
        prompts, patterns = sources.get(kind, (asked, given))
        values = np.full((len(chosen), len(asked)), np.nan)
        if len(prompts):
            values[:, _places(asked, prompts)] = patching.joint(
                ends.bench.loader(ends.at[recipient]), prompts, patterns, np.stack([sets[i].mask for i in chosen]),
                memory=ends.bench.options.memory,
            )  # fmt: skip
        found |= dict(zip(chosen, values, strict=True))
    return [found[i] for i in range(len(sets))]


def _of_prompts(whole: PromptSet, given: patching.Patterns, places: np.ndarray) -> patching.Patterns:
    """The patterns of some of the prompts."""
    kept = set(places.tolist())
    groups = [[i for i, place in enumerate(group) if place in kept] for group in whole.by_length()]
    return tuple(one[:, chosen] for one, chosen in zip(given, groups, strict=True) if chosen)


def _places(whole: PromptSet, some: PromptSet) -> list[int]:
    places = {prompt: i for i, prompt in enumerate(whole.prompts)}
    return [places[prompt] for prompt in some.prompts]


def recipients(ends: Ends, chosen: Sequence[Head], steps: Sequence[int]) -> pd.DataFrame:
    """Table `recipients`: Δp of single heads, and of all of them jointly, by the step of the recipient.

    The donor is the later end of the bracket throughout: where does writing its patterns begin to work?
    """
    rows, options = [], ends.bench.options
    given = ends.read("post")
    masks = np.zeros((1 + len(chosen), *given[0].shape[0:3:2]), dtype=bool)
    for i, head in enumerate(chosen):
        masks[i, head.layer, head.head] = masks[-1, head.layer, head.head] = True
    for step in steps:
        model = ends.bench.loader(ends.bench.run.at(step))
        found = patching.written(model, ends.asked, given, masks, memory=options.memory)
        for name, values in zip([*map(str, chosen), "joint"], found.delta_p.T, strict=True):
            one = ranking.interval(values, options.resamples)
            rows.append(
                {
                    "step": step, "head": name, "delta_p": one.mean, "low": one.low, "high": one.high,
                    "p_recipient": float(found.p_recipient.mean()),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)
