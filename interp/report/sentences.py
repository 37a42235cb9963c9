"""View → the answer in sentences: what emerged and when, which heads brought it, how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from interp.report import formats
from interp.report.formats import ranged
from interp.report.views import Effect, Pair, Recovery, View
from interp.values import Direction, Status


def answer(view: View) -> tuple[str, str, str]:
    """Three sentences about everything in the view."""
    return _when(view), _which(view.pairs), _how_sure(view.pairs)


def _when(view: View) -> str:
    judged = [pair for pair in view.pairs if pair.outcome is not None]
    if not judged:
        return "No scan is stored, so when each task emerged is not known."
    emerged = [pair for pair in judged if pair.emerges]
    clauses = [clause for task in view.tasks if (clause := _task_clause(task, view.of_task(task)))]
    groups = (
        ("passed at the first checkpoint", [p for p in judged if p.outcome and p.outcome.status is Status.FROM_START]),
        ("never passed by the last step", [p for p in judged if p.outcome and p.outcome.status is Status.CENSORED]),
        ("passed and failed again at the last step", [p for p in judged if p.outcome and p.outcome.lost]),
    )
    others = [f"{len(pairs)} {words} ({_names(pairs)})" for words, pairs in groups if pairs]
    text = (
        f"In {formats.counted(len(view.runs), 'run')} of {formats.listed(view.suites)}, {len(emerged)} of "
        f"{formats.counted(len(judged), 'run–task pair')} emerged"
    )
    text += f": {'; '.join(clauses)}" if clauses else ""
    return formats.sentence(text + (f"; {formats.listed(others)}" if others else ""))


def _task_clause(task: str, pairs: Sequence[Pair]) -> str:
    posts = [p.outcome.bracket.post for p in pairs if p.emerges and p.outcome and p.outcome.bracket]
    judged = sum(pair.outcome is not None for pair in pairs)
    if not posts:
        return ""
    later = [p.outcome.later.post for p in pairs if p.emerges and p.outcome and p.outcome.later]
    for_good = f"; {len(later)} relapsed and passed for good {_by(later)}" if later else ""
    return f"{task} in {len(posts)} of {judged} ({_by(posts)}{for_good})"


def _by(steps: Sequence[int]) -> str:
    return f"by step{'s' * (len(set(steps)) > 1)} {formats.span(steps)}"


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
    found = [(pair, effect) for pair in patched if (effect := pair.first_causal(Direction.DENOISING))]
    missed = [(pair, effect) for pair in patched if (effect := pair.first_causal(Direction.NOISING))]
    needed = f"{len(missed)} of {formats.counted(len(patched), 'patched pair')} have a head that is causal in noising"
    if not found:
        return f"No head is causal in denoising in any of {formats.counted(len(patched), 'patched pair')}; {needed}."
    pair, best = most_causal(pairs) or found[0]
    return (
        f"One head's later pattern, written into the earlier checkpoint, is causal in {len(found)} of "
        f"{formats.counted(len(patched), 'patched pair')}, most of all {best.head} on {_name(pair)}, {size(best)}; "
        f"the first causal heads are labelled {_labels(found)} in denoising"
        + (f" and {_labels(missed)} in noising" if missed else "")
        + "."
    )


def most_causal(pairs: Sequence[Pair]) -> tuple[Pair, Effect] | None:
    """The run and task in which one head's later pattern brings most, and that head; `None`: no head is causal."""
    found = [(pair, effect) for pair in pairs if (effect := pair.first_causal(Direction.DENOISING))]
    return max(found, key=lambda of: of[1].delta_p, default=None)


def _labels(firsts: Sequence[tuple[Pair, Effect]]) -> str:
    """`induction (5), none (1)`: the heads' later labels and how often each occurs."""
    labels = Counter(pair.signatures[effect.head].label or "none" for pair, effect in firsts)
    return ", ".join(f"{label} ({n})" for label, n in labels.most_common(3))


def size(effect: Effect) -> str:
    """`Δp +.141 [+.095, +.193]`, simultaneous where that interval is stored."""
    return f"Δp {formats.signed(effect.delta_p)} {formats.interval(*bounds(effect))}"


def bounds(effect: Effect) -> tuple[float, float]:
    """The simultaneous interval; where it is not stored, the pointwise one."""
    simultaneous = effect.simultaneous
    return simultaneous if simultaneous[0] == simultaneous[0] else (effect.low, effect.high)


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
        f"{names} (95 % intervals from {formats.probability(min(r.low for r in found))} up), against "
        f"{control(found)} for random sets of equal size"
    )


def _not_recovered(names: str, found: Sequence[Recovery]) -> str:
    shares = ranged([r.share for r in found])
    return f"the top {_sizes(found)} heads are not shown to recover {names}: {shares} of the gap" + every(found)


def _too_small(names: str, _: Sequence[Recovery]) -> str:
    return f"on {names} the gap is too near zero to divide by, so nothing is claimed"


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


def control(found: Sequence[Recovery]) -> str:
    """What random sets of equal size recover."""
    values = [value for r in found for value in r.random if value == value]
    return ranged(values) if values else "an unknown share"


def every(found: Sequence[Recovery]) -> str:
    """What all heads together recover, as an apposition; nothing where it is not known."""
    values = [r.every for r in found if r.every == r.every]
    return f", {ranged(values)} with all heads" if values else ""
