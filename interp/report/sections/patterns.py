"""Patterns of the top heads at both ends, on one named prompt."""

from __future__ import annotations

from interp.report import figures, formats
from interp.report.blocks import Caption, Choice, Figure, Missing, Option, Section, Tokens
from interp.report.commands import command
from interp.report.views import HeadPattern, Pair, Patterns

_READING = (
    "Attention after the softmax: each row is a position that attends, and sums to 1 over the positions up to itself. "
    "This is the first effect prompt only, an illustration of what was exchanged and no evidence by itself; the scores "
    "above are averages over many. These pictures alone have no table."
)


def section(pair: Pair) -> Section:
    """The prompt as tokens, and one head at a time."""
    anchor, title = f"{pair.anchor}-patterns", "Attention patterns on one prompt"
    if pair.patterns is None:
        said = Missing("No patterns are stored.", command("patch", pair), "stores those of the top heads.")
        return Section(anchor, title, (said,))
    known = pair.patterns
    prompt = Tokens(tuple((piece, i) for i, piece in enumerate(known.pieces)), (known.answer, "answer"))
    options = tuple(
        Option(str(of.head), f"{pair.anchor}-{of.head}-pattern", _ends(pair, known, of)) for of in known.heads
    )
    return Section(anchor, title, (prompt, Choice("Head", options), Caption(_READING)))


def _ends(pair: Pair, known: Patterns, of: HeadPattern) -> tuple[Figure, ...]:
    return tuple(
        Figure(
            f"pattern-{of.head}-{end}",
            figures.pattern(weights, known.pieces, f"{of.head}, {_end(pair, end)}"),
            f"Attention of {of.head}, {_end(pair, end)}, {pair.name}",
        )
        for end, weights in (("pre", of.pre), ("post", of.post))
        if weights is not None
    )


def _end(pair: Pair, end: str) -> str:
    if pair.ends is None:
        return end
    step = pair.ends.pre if end == "pre" else pair.ends.post
    return f"{'earlier' if end == 'pre' else 'later'}: step {formats.step(step)}"
