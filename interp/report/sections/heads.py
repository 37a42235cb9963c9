"""Ranked heads beside their signatures, with intervals and controls."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from interp.report import figures, formats
from interp.report.blocks import Block, Caption, Figure, Missing, Rows, Section
from interp.report.commands import command
from interp.report.display import Table
from interp.report.formats import change
from interp.report.scores import score_name
from interp.report.sections import agreement
from interp.report.sentences import bounds
from interp.report.views import Effect, Pair, Signature
from interp.values import Direction, Head

HEADS_SHOWN = 20
_PROMPTS = {"random": " on random words told twice", "task": " on the task's prompts"}


def section(pair: Pair) -> Section:
    """Ranks and scores, then agreement."""
    anchor, title = f"{pair.anchor}-heads", "Heads and their signatures"
    drawn, table = figures.ranked(pair), heads(pair)
    blocks: list[Block] = []
    if drawn is None or table is None:
        blocks.append(Missing("No ranking is stored.", command("patch", pair), "ranks the heads."))
    else:
        blocks += [
            Figure("heads", drawn, f"Δp of the first heads beside their scores at both checkpoints, {pair.name}", 860),
            Caption(_reading(pair)),
            Rows("Heads and their signatures", table),
            Caption(_noted(pair)),
        ]
    return Section(anchor, title, (*blocks, *agreement.blocks(pair)))


def _reading(pair: Pair) -> str:
    return (
        "Left: Δp with its 95 % interval, simultaneous over the heads of this run and task (filled: causal), and a "
        "short upright line where the source-permuted control ends that a causal head must exceed. Right: what the "
        f"head's pattern looks like{_PROMPTS.get(pair.scored_on, '')} at the earlier checkpoint (open) and the later "
        "one (filled); the dotted line is the same score of uniform attention, and a score says something only by its "
        "distance from there. Δp comes from intervening, signatures from looking: a head can bear a signature and not "
        "matter, and matter without one."
    )


def _noted(pair: Pair) -> str:
    left = hidden(pair)
    return (
        "Scores are written earlier → later; control: the 95th percentile of Δp with source-permuted patterns, "
        "measured for candidates alone. Bold rows are causal in a direction"
        + (
            f"; {formats.counted(left, 'head')} ranked below {HEADS_SHOWN} in both directions left out."
            if left
            else "."
        )
    )


def heads(pair: Pair) -> Table | None:
    """The first heads of either direction: rank, Δp, interval and control in both, label, and scores at both ends."""
    if not pair.ranking:
        return None
    by_head = {direction: {of.head: of for of in effects} for direction, effects in pair.ranking.items()}
    shown = [head for head, rank in _best_ranks(pair).items() if rank <= HEADS_SHOWN]
    effects = [f"{direction.value} {what}" for direction in Direction for what in ("rank", "Δp", "control")]
    columns = ("head", "label", "causal in", *effects, *map(score_name, pair.scores))
    rows, marked = [], set()
    for i, head in enumerate(shown):
        sides = [by_head.get(direction, {}).get(head) for direction in Direction]
        cells = [cell for side in sides for cell in _effect(side)]
        causal = [d.value for d, side in zip(Direction, sides, strict=True) if side is not None and side.causal]
        said = " and ".join(causal) if causal else _unclaimed(sides)
        looks = pair.signatures[head]
        rows.append((str(head), _became(looks), said, *cells, *_scores(looks, pair.scores)))
        if causal:
            marked.add(i)
    uniform = ("uniform attention", *[""] * 8, *_uniform(pair, pair.scores)) if pair.uniform else ()
    ids = tuple(f"{pair.anchor}-{head}" for head in shown)
    drawn = {of.head for of in pair.patterns.heads} if pair.patterns else set()
    links = tuple(f"{name}-pattern" if head in drawn else "" for name, head in zip(ids, shown, strict=True))
    return Table(columns, tuple(rows), 3, uniform, ids, links, frozenset(marked))


def hidden(pair: Pair) -> int:
    """How many heads are ranked too low in both directions to be in the table."""
    return sum(rank > HEADS_SHOWN for rank in _best_ranks(pair).values())


def _best_ranks(pair: Pair) -> dict[Head, int]:
    """Each head's better rank, in the order of denoising and then of noising."""
    found: dict[Head, int] = {}
    for effect in itertools.chain(*(pair.ranking.get(direction, ()) for direction in Direction)):
        found[effect.head] = min(effect.rank, found.get(effect.head, effect.rank))
    return found


def first_heads(pair: Pair, direction: Direction, limit: int) -> Table | None:
    """The first heads of one direction with label and key scores, for the terminal."""
    effects = pair.ranking.get(direction, ())[:limit]
    if not effects:
        return None
    scores = pair.key_scores[:4]
    rows = tuple(
        (
            str(of.head),
            pair.signatures[of.head].label or formats.NONE,
            "causal" if of.causal else "",
            formats.signed(of.delta_p),
            formats.interval(*bounds(of)),
            *_scores(pair.signatures[of.head], scores),
        )
        for of in effects
    )
    columns = ("head", "label", "claim", "Δp", "for all heads", *map(score_name, scores))
    return Table(columns, rows, 3, ("uniform", *[""] * 4, *_uniform(pair, scores)) if pair.uniform else ())


def _effect(effect: Effect | None) -> tuple[str, str, str]:
    if effect is None:
        return formats.NONE, formats.NONE, formats.NONE
    return (
        str(effect.rank),
        formats.measured((effect.delta_p, *bounds(effect))),
        formats.signed(effect.control),
    )


def _unclaimed(sides: Sequence[Effect | None]) -> str:
    return "not stored" if all(side is None or side.causal is None for side in sides) else formats.NONE


def _scores(signature: Signature, scores: Sequence[str]) -> tuple[str, ...]:
    return tuple(change(*signature.scores[score]) for score in scores)


def _uniform(pair: Pair, scores: Sequence[str]) -> tuple[str, ...]:
    return tuple(formats.probability(pair.uniform.get(score, math.nan)) for score in scores)


def _became(signature: Signature) -> str:
    """A label, and the earlier one where there was one."""
    before, after = signature.label_pre, signature.label or formats.NONE
    return after if not before else f"{after} (already before)" if before == after else f"{before} → {after}"
