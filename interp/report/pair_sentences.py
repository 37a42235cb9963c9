"""One run and task → up to three sentences: when, which heads, how sure."""

from __future__ import annotations

from interp.report import formats
from interp.report.sentences import control, every, size
from interp.report.views import Outcome, Pair
from interp.values import Direction, Status


def answer_of(pair: Pair) -> tuple[str, ...]:
    """Up to three sentences about one task in one run."""
    return tuple(filter(None, (_when(pair), _which(pair), _sure(pair))))


def _when(pair: Pair) -> str:
    outcome, curve = pair.outcome, pair.curve
    if outcome is None or curve is None:
        beside = " made as the effects were" if pair.ends else ""
        return f"No scan of this run and task{beside} is stored, so when it emerged is not known."
    last = f"step {formats.step(curve.steps[-1])}"
    end = f"{formats.probability(curve.shares[-1])} of the prompts solved"
    lost = f" It fails again at {last} ({end}): it did not last." if outcome.lost else ""
    if outcome.status is Status.FROM_START:
        first = formats.step(curve.steps[0])
        return f"The task passes at the first checkpoint, step {first}: nothing emerges here." + lost
    if outcome.status is Status.CENSORED:
        return f"The task never passes by {last} ({end}, threshold {formats.probability(outcome.threshold)}): censored."
    if outcome.bracket is None:
        return f"The task is {outcome.status.value}; no bracket is stored."
    return _bracket(outcome) + (lost or _relapse(outcome))


def _bracket(outcome: Outcome) -> str:
    assert outcome.bracket is not None
    pre, post = formats.step(outcome.bracket.pre), formats.step(outcome.bracket.post)
    before, after = (formats.probability(value) for value in outcome.share)
    return (
        f"The task emerges between step {pre}, where {before} of the prompts are solved, and step {post}, "
        f"where {after} are."
    )


def _relapse(outcome: Outcome) -> str:
    if outcome.later is not None:
        pre, post = formats.step(outcome.later.pre), formats.step(outcome.later.post)
        return f" It relapses, and passes for good only from between steps {pre} and {post} on."
    return "" if outcome.monotone else " At a later evaluated step it fails once more."


def _which(pair: Pair) -> str:
    parts = []
    for direction, words in ((Direction.DENOISING, "brings most back"), (Direction.NOISING, "is missed most")):
        first = pair.first(direction)
        if first is None:
            continue
        small = pair.recovery.get(direction)
        if small is not None and small.verdict == "gap too small":
            parts.append(f"in {direction.value} no head can be called causal, since the gap itself is near zero")
            continue
        causal = pair.first_causal(direction)
        if causal is None:
            known = "no head is causal" if first.causal is not None else "no claim is stored"
            parts.append(f"{known} in {direction.value} (first: {first.head}, {size(first)})")
            continue
        label = pair.signatures[causal.head].label
        name = f"{causal.head} ({label})" if label else str(causal.head)
        done = words if causal.rank == 1 else f"is the first that is causal, at rank {causal.rank},"
        parts.append(f"{name} {done} in {direction.value}, {size(causal)}")
    return formats.sentence("; ".join(parts)) if parts else ""


def _sure(pair: Pair) -> str:
    found = pair.recovery.get(Direction.DENOISING)
    if found is None:
        return ""
    heads = formats.listed(found.heads)
    if found.verdict == "gap too small":
        return (
            f"The gap of {formats.signed(found.gap[0])} {formats.interval(*found.gap[1:])} is too near zero to divide "
            f"by: with {heads} together Δp is {formats.signed(found.delta_p)}, and no fraction is given."
        )
    share = f"{formats.probability(found.share)} {formats.interval(found.low, found.high)}"
    against = f"{control([found])} for random sets of equal size" + every([found])
    if found.verdict == "recovered":
        return f"{heads} together recover {share} of the gap, against {against}."
    return (
        f"The top heads are not shown to recover the task: {heads} together give {share} of the gap, against {against}."
    )
