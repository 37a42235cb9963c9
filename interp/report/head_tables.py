"""View → tables of heads: Δp grids, ranks beside signatures, agreement, joint patch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from interp.report import formats
from interp.report.display import Table, change, ranged
from interp.report.views import KEY_SCORES, SCORE_NAMES, SCORES, Effect, JointSet, Pair, Signature
from interp.values import Direction, Head

HEADS_SHOWN = 20
_SETS = {"top": "top", "random": "random", "all": "all", "own": "own patterns"}


def grid(pair: Pair, direction: Direction) -> Table | None:
    """Mean Δp of every head, layers down and heads across."""
    if direction not in pair.grids:
        return None
    values = pair.grids[direction]
    columns = ("layer", *(f"H{head}" for head in range(values.shape[1])))
    rows = tuple((f"L{layer}", *(formats.signed(float(v)) for v in row)) for layer, row in enumerate(values))
    return Table(columns, rows, words=1)


def heads(pair: Pair) -> Table | None:
    """The first heads of either direction: rank, Δp and interval in both, label, and each score at both ends."""
    if not pair.ranking:
        return None
    by_head = {direction: {of.head: of for of in effects} for direction, effects in pair.ranking.items()}
    shown = [head for head, rank in _best_ranks(pair).items() if rank <= HEADS_SHOWN]
    effects = [f"{direction.value} {what}" for direction in Direction for what in ("rank", "Δp")]
    columns = ("head", "label", *effects, *(SCORE_NAMES.get(score, score) for score in SCORES))
    rows, marked = [], set()
    for i, head in enumerate(shown):
        sides = [by_head.get(direction, {}).get(head) for direction in Direction]
        cells = [cell for side in sides for cell in _effect(side)]
        rows.append((str(head), _became(pair.signatures[head]), *cells, *_scores(pair.signatures[head], SCORES)))
        if any(side is not None and side.clear for side in sides):
            marked.add(i)
    uniform = ("uniform attention", *[""] * 5, *_uniform(pair, SCORES)) if pair.uniform else ()
    ids = tuple(f"{pair.anchor}-{head}" for head in shown)
    drawn = {of.head for of in pair.patterns.heads} if pair.patterns else set()
    links = tuple(f"{name}-pattern" if head in drawn else "" for name, head in zip(ids, shown, strict=True))
    return Table(columns, tuple(rows), 2, uniform, ids, links, frozenset(marked))


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
    scores = KEY_SCORES[:4]
    rows = tuple(
        (
            str(of.head),
            pair.signatures[of.head].label or formats.NONE,
            "clear" if of.clear else "",
            formats.signed(of.delta_p),
            formats.interval(of.low, of.high),
            *_scores(pair.signatures[of.head], scores),
        )
        for of in effects
    )
    columns = ("head", "label", "effect", "Δp", "interval", *(SCORE_NAMES.get(score, score) for score in scores))
    return Table(columns, rows, 3, ("uniform", *[""] * 4, *_uniform(pair, scores)) if pair.uniform else ())


def _effect(effect: Effect | None) -> tuple[str, str]:
    if effect is None:
        return formats.NONE, formats.NONE
    return str(effect.rank), f"{formats.signed(effect.delta_p)} {formats.interval(effect.low, effect.high)}"


def _scores(signature: Signature, scores: Sequence[str]) -> tuple[str, ...]:
    return tuple(change(*signature.scores[score]) for score in scores)


def _uniform(pair: Pair, scores: Sequence[str]) -> tuple[str, ...]:
    return tuple(formats.probability(pair.uniform.get(score, math.nan)) for score in scores)


def _became(signature: Signature) -> str:
    """A label, and the earlier one where there was one."""
    before, after = signature.label_pre, signature.label or formats.NONE
    return after if not before else f"{after} (already before)" if before == after else f"{before} → {after}"


def agreement(pair: Pair) -> Table | None:
    """Rank correlation of |Δp| with the change of each score, by direction."""
    if not pair.agreement:
        return None
    found = {(of.score, of.direction): of for of in pair.agreement}
    rows = []
    for score in dict.fromkeys(of.score for of in pair.agreement):
        sides = [found.get((score, direction)) for direction in Direction]
        cells = [
            (formats.signed(of.rho), formats.probability(of.p_value)) if of else (formats.NONE,) * 2 for of in sides
        ]
        rows.append((SCORE_NAMES.get(score, score), *itertools.chain(*cells)))
    heading = tuple(f"{direction.value} {what}" for direction in Direction for what in ("ρ", "p-value"))
    return Table(("score", *heading), tuple(rows), words=1)


def joint(pair: Pair) -> Table | None:
    """Every set that was patched together; the random sets of one size in one row."""
    if not pair.joint:
        return None
    rows = []
    for direction, name in itertools.product(Direction, _SETS):
        of = [one for one in pair.joint if one.direction is direction and one.name == name]
        for k in sorted({one.k for one in of}):
            rows.append((direction.value, _SETS[name], *_set_row([one for one in of if one.k == k])))
    columns = ("direction", "set", "heads", "size", "Δp", "Δp interval", "recovered", "recovered interval", "gap")
    return Table(columns, tuple(rows), words=3)


def _set_row(draws: Sequence[JointSet]) -> tuple[str, ...]:
    one = draws[0]
    if one.name == "random":
        deltas = [draw.delta_p[0] for draw in draws]
        said = f"{formats.counted(len(draws), 'draw')}, smallest to largest"
        delta = (f"{formats.signed(min(deltas))} to {formats.signed(max(deltas))}", formats.NONE)
        share = (ranged([draw.recovered[0] for draw in draws]), formats.NONE)
    else:
        said = ", ".join(one.heads) if len(one.heads) <= 8 else f"{len(one.heads)} heads"
        delta = (formats.signed(one.delta_p[0]), formats.interval(*one.delta_p[1:]))
        share = (formats.probability(one.recovered[0]), formats.interval(*one.recovered[1:]))
    return said, str(one.k), *delta, *share, f"{formats.signed(one.gap[0])} {formats.interval(*one.gap[1:])}"
