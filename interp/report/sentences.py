"""View → the answer in sentences: what emerged and when, which heads brought it, how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from interp.report import formats
from interp.report.display import ranged
from interp.report.views import Effect, Outcome, Pair, Recovery, View
from interp.values import Direction, Status


def answer(view: View) -> tuple[str, str, str]:
    """Three sentences about everything in the view."""
    return _when(view), _which(view.pairs), _how_sure(view.pairs)


def answer_of(pair: Pair) -> tuple[str, ...]:
    """Up to three sentences about one task in one run."""
    return tuple(filter(None, (_pair_when(pair), _pair_which(pair), _pair_sure(pair))))


def _when(view: View) -> str:
    judged = [pair for pair in view.pairs if pair.outcome is not None]
    if not judged:
        return "No scan is stored, so when each task emerged is not known."
    emerged = [pair for pair in judged if pair.emerges]
    suites = formats.listed(dict.fromkeys(run.suite for run in view.runs))
    clauses = [clause for task in view.tasks if (clause := _task_clause(task, view.of_task(task)))]
    others = [
        f"{len(pairs)} {words} ({_names(pairs)})"
        for status, words in (
            (Status.FROM_START, "passed from the first checkpoint"),
            (Status.CENSORED, "never passed by the last step"),
            (Status.LOST, "passed and failed again at the last step"),
        )
        if (pairs := [pair for pair in judged if pair.outcome and pair.outcome.status is status])
    ]
    text = (
        f"In {formats.counted(len(view.runs), 'run')} of {suites}, {len(emerged)} of "
        f"{formats.counted(len(judged), 'run–task pair')} emerged"
    )
    text += f": {'; '.join(clauses)}" if clauses else ""
    return formats.sentence(text + (f"; {formats.listed(others)}" if others else ""))


def _task_clause(task: str, pairs: Sequence[Pair]) -> str:
    posts = [p.outcome.bracket.post for p in pairs if p.emerges and p.outcome and p.outcome.bracket]
    judged = sum(pair.outcome is not None for pair in pairs)
    if not posts:
        return ""
    noun = "step" if len(set(posts)) == 1 else "steps"
    return f"{task} in {len(posts)} of {judged} ({noun} {formats.span(posts)})"


def _names(pairs: Sequence[Pair], most: int = 4) -> str:
    names = [_name(pair) for pair in pairs[:most]]
    rest = len(pairs) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _name(pair: Pair) -> str:
    return f"{pair.task} in {pair.run}"


def _which(pairs: Sequence[Pair]) -> str:
    patched = [pair for pair in pairs if pair.ranking]
    if not patched:
        return "No effects are stored, so which heads brought it is not known."
    clear = [(pair, effect) for pair in patched if (effect := pair.first_clear(Direction.DENOISING))]
    if not clear:
        return f"None of {formats.counted(len(patched), 'patched pair')} has a head with a clear effect in denoising."
    missed = [(pair, effect) for pair in patched if (effect := pair.first_clear(Direction.NOISING))]
    pair, best = max(clear, key=lambda of: of[1].delta_p)
    return (
        f"Writing one head's later pattern into the earlier checkpoint has a clear effect in {len(clear)} of "
        f"{formats.counted(len(patched), 'patched pair')}; the largest is {best.head} on {_name(pair)}, "
        f"{_size(best)}; the first such heads are labelled {_labels(clear)}"
        + (f" by denoising and {_labels(missed)} by noising" if missed else "")
        + "."
    )


def _labels(firsts: Sequence[tuple[Pair, Effect]]) -> str:
    """`induction (5), none (1)`: the heads' later labels and how often each occurs."""
    labels = Counter(pair.signatures[effect.head].label or "none" for pair, effect in firsts)
    return ", ".join(f"{label} ({n})" for label, n in labels.most_common(3))


def _size(effect: Effect) -> str:
    return f"Δp {formats.signed(effect.delta_p)} {formats.interval(effect.low, effect.high)}"


def _how_sure(pairs: Sequence[Pair]) -> str:
    found = [(pair, r) for pair in pairs if (r := pair.recovery.get(Direction.DENOISING)) is not None]
    if not found:
        return "No joint patch is stored, so how much of the gap the top heads recover is not known."
    parts = (
        _group(found, "recovered", _recovered),
        _group(found, "not recovered", _not_recovered),
        _group(found, "gap too small", _too_small),
    )
    return formats.sentence("; ".join(filter(None, parts)))


def _recovered(names: str, found: Sequence[Recovery]) -> str:
    return (
        f"patched together, the top {_sizes(found)} heads recover {ranged([r.share for r in found])} of the gap on "
        f"{names}, against {_control(found)} for random sets of equal size"
    )


def _not_recovered(names: str, found: Sequence[Recovery]) -> str:
    shares = ranged([r.share for r in found])
    return f"the top heads are not shown to recover {names}: {shares} of the gap" + _every(found)


def _too_small(names: str, _: Sequence[Recovery]) -> str:
    return f"on {names} the gap is too small or too uncertain to divide by, so no fraction is given"


def _group(found: Sequence[tuple[Pair, Recovery]], verdict: str, said: Callable[[str, Sequence[Recovery]], str]) -> str:
    of = [(pair, r) for pair, r in found if r.verdict == verdict]
    if not of:
        return ""
    total = Counter(pair.task for pair, _ in found)
    counts = Counter(pair.task for pair, _ in of)
    names = formats.listed(task if n == total[task] else f"{task} ({n} of {total[task]})" for task, n in counts.items())
    return said(names, [r for _, r in of])


def _sizes(found: Sequence[Recovery]) -> str:
    sizes = sorted({r.k for r in found})
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def _control(found: Sequence[Recovery]) -> str:
    values = [value for r in found for value in r.random if value == value]
    return ranged(values) if values else "an unknown share"


def _every(found: Sequence[Recovery]) -> str:
    values = [r.every for r in found if r.every == r.every]
    return f", {ranged(values)} with all heads" if values else ""


def _pair_when(pair: Pair) -> str:
    outcome, curve = pair.outcome, pair.curve
    if outcome is None or curve is None:
        return "No scan of this run and task is stored, so when it emerged is not known."
    last = f"step {formats.step(curve.steps[-1])}"
    end = f"{formats.probability(curve.shares[-1])} of the prompts solved"
    if outcome.status is Status.FROM_START:
        return f"The task passes at the first checkpoint, step {formats.step(curve.steps[0])}: nothing emerges here."
    if outcome.status is Status.CENSORED:
        return f"The task never passes by {last} ({end}, threshold {formats.probability(outcome.threshold)}): censored."
    if outcome.bracket is None:
        return f"The task is {outcome.status.value}; no bracket is stored."
    return _bracket_words(outcome, last, end)


def _bracket_words(outcome: Outcome, last: str, end: str) -> str:
    assert outcome.bracket is not None
    pre, post = formats.step(outcome.bracket.pre), formats.step(outcome.bracket.post)
    before, after = (formats.probability(value) for value in outcome.share)
    if outcome.status is Status.LOST:
        return f"The task first passes at step {post} and fails again at {last} ({end}): lost, so not an emergence."
    relapse = "" if outcome.monotone else " At a later evaluated step it fails once more."
    return (
        f"The task emerges between step {pre}, where {before} of the prompts are solved, and step {post}, "
        f"where {after} are." + relapse
    )


def _pair_which(pair: Pair) -> str:
    parts = []
    for direction, words in ((Direction.DENOISING, "brings most back"), (Direction.NOISING, "is missed most")):
        first = pair.first(direction)
        if first is None:
            continue
        clear = pair.first_clear(direction)
        if clear is None:
            parts.append(f"no head has a clear effect in {direction.value} (first: {first.head}, {_size(first)})")
            continue
        label = pair.signatures[clear.head].label
        name = f"{clear.head} ({label})" if label else str(clear.head)
        done = words if clear.rank == 1 else f"is the first with a clear effect, at rank {clear.rank},"
        parts.append(f"{name} {done} in {direction.value}, {_size(clear)}")
    return formats.sentence("; ".join(parts)) if parts else ""


def _pair_sure(pair: Pair) -> str:
    found = pair.recovery.get(Direction.DENOISING)
    if found is None:
        return ""
    heads = formats.listed(found.heads)
    if found.verdict == "gap too small":
        return (
            f"The gap of {formats.signed(found.gap[0])} {formats.interval(*found.gap[1:])} is too small or too "
            f"uncertain to divide by: with {heads} together Δp is "
            f"{formats.signed(found.delta_p)}, and no fraction is given."
        )
    share = f"{formats.probability(found.share)} {formats.interval(found.low, found.high)}"
    control = f"{_control([found])} for random sets of equal size" + _every([found])
    if found.verdict == "recovered":
        return f"{heads} together recover {share} of the gap, against {control}."
    return (
        f"The top heads are not shown to recover the task: {heads} together give {share} of the gap, against {control}."
    )
