"""A comparison → blocks: answer, emergence, one article for each run and task, and what was not compared."""

from __future__ import annotations

import math
from collections.abc import Iterator

from interp.report import formats
from interp.report.blocks import Article, Beside, Block, Caption, Figure, Heading, Missing, Points, Rows, Said, Section
from interp.report.comparing import words
from interp.report.comparing.matching import Comparison, Matched, difference, first_heads, grid_changes, shift, unlike
from interp.report.display import Table
from interp.report.figures import compared
from interp.report.pair_sentences import answer_of
from interp.report.sections.emergence import status_words
from interp.report.sections.made import settings
from interp.report.sentences import bounds
from interp.report.views import Pair
from interp.values import Direction, Head


def answer(of: Comparison) -> Section:
    """Three sentences."""
    return Section("answer", "The answer", (Said(words.answer(of), ("When", "Which heads", "How sure")),))


def emergence(of: Comparison) -> Section:
    """Brackets of both stores, and how far they lie apart."""
    drawn = compared.emergence(of.matched, of.names)
    blocks: tuple[Block, ...]
    if drawn is None:
        blocks = (Missing("No scan of one run and task is in both stores.", "interp scan SUITE", "makes them."),)
    else:
        reading = (
            f"Bars: brackets ({of.names[0]} above, {of.names[1]} below). A difference is {of.names[1]} minus "
            f"{of.names[0]}: negative is earlier. Since each step is known only up to its bracket, it is given as the "
            "range that both brackets allow; where one is censored the range is open. Times: the ratio of the first "
            "passing steps."
        )
        blocks = (
            Figure("overview", drawn, "Brackets in both stores, one row for each run and task", 520),
            Caption(reading),
            Rows("Emergence in both stores", _emergence(of)),
        )
    return Section("emergence", "Emergence, side by side", blocks)


def _emergence(of: Comparison) -> Table:
    columns = ("run", "task", *of.names, "difference in steps", "times")
    rows = tuple((one.run, one.task, _state(one.first), _state(one.second), *_shift(one)) for one in of.matched)
    return Table(columns, rows, words=4, links=tuple(one.anchor for one in of.matched))


def _state(pair: Pair) -> str:
    if pair.outcome is None or pair.curve is None:
        return "not scanned"
    said, bracket = status_words(pair.outcome, pair.curve), pair.outcome.bracket
    return said if bracket is None else f"{said}, {formats.step(bracket.pre)} – {formats.step(bracket.post)}"


def _shift(of: Matched) -> tuple[str, str]:
    found = shift(of)
    if found is None:
        return formats.NONE, formats.NONE
    low, high = (
        f"{value:+,.0f}".replace("-", "−") if math.isfinite(value) else "" for value in (found.low, found.high)
    )
    steps = f"{low} to {high}" if low and high else f"more than {low}" if low else f"less than {high}"
    return steps, formats.NONE if math.isnan(found.doublings) else formats.number(2**found.doublings)


def article(of: Matched, names: tuple[str, str]) -> Article:
    """One run and task in both stores."""
    said = tuple(f"{name}: {' '.join(answer_of(pair))}" for name, pair in _sides(of, names))
    parts = (_curve(of, names), _grids(of, names), _heads(of, names), _joint(of, names))
    return Article(of.anchor, of.run, of.task, said, parts)


def _sides(of: Matched, names: tuple[str, str]) -> Iterator[tuple[str, Pair]]:
    yield names[0], of.first
    yield names[1], of.second


def _curve(of: Matched, names: tuple[str, str]) -> Section:
    drawn = compared.curves(of, names)
    figure: Block = Missing("No curve is stored.") if drawn is None else Figure("curve", drawn, f"p by step, {of.name}")
    steps = sorted({step for pair in (of.first, of.second) if pair.curve for step in pair.curve.steps})
    seen = [
        dict(zip(pair.curve.steps, pair.curve.ps, strict=True)) if pair.curve else {} for _, pair in _sides(of, names)
    ]
    rows = tuple((formats.step(s), *(formats.probability(p.get(s, math.nan)) for p in seen)) for s in steps)
    table = Rows("Mean p by step", Table(("step", *names), rows, words=0), folded=True)
    return Section(f"{of.anchor}-curve", "p over steps", (figure, table))


def _grids(of: Matched, names: tuple[str, str]) -> Section:
    drawn = compared.grids(of, names, grid_changes(of))
    if not drawn:
        return Section(f"{of.anchor}-grid", "Δp by layer and head", (Missing("No effects are stored on either side."),))
    blocks: list[Block] = []
    for direction in Direction:
        group = [
            Figure(f"grid-{key}", plot, f"Δp, {key}, {of.name}")
            for key, plot in drawn.items()
            if key.startswith(direction)
        ]
        blocks.append(Beside(tuple(group)))
    return Section(f"{of.anchor}-grid", "Δp by layer and head", (*blocks, Caption(_grids_reading(of))))


def _grids_reading(of: Matched) -> str:
    change = (
        "the third picture is the change of Δp, whose numbers are in the table below."
        if of.same_heads
        else "these are other runs or shapes, so heads of one name are other heads and are not subtracted."
    )
    return f"One colour scale, centred at 0, for all of these pictures; {change}"


def _heads(of: Matched, names: tuple[str, str]) -> Section:
    blocks: list[Block] = []
    for direction in Direction:
        if direction in of.first.ranking and direction in of.second.ranking:
            table = _by_head(of, names, direction) if of.same_heads else _by_rank(of, names, direction)
            blocks += [Heading(direction.value), Rows(f"First heads, {direction}", table)]
    reading = (
        "Δp of either store with its simultaneous 95 % interval, and the difference with a pointwise one over prompts. "
        "Bold: the difference excludes 0; with this many heads looked at, one in twenty does so by chance."
        if of.same_heads
        else "The heads of each rank, with Δp and its simultaneous 95 % interval."
    )
    said: tuple[Block, ...] = (
        (*blocks, Caption(reading)) if blocks else (Missing("No ranking is stored on both sides."),)
    )
    return Section(f"{of.anchor}-heads", "First heads", said)


def _by_head(of: Matched, names: tuple[str, str], direction: Direction) -> Table:
    rows, marked, ids = [], set(), []
    for i, head in enumerate(first_heads(of, direction)):
        value = difference(of, direction, head)
        cells = [cell for _, pair in _sides(of, names) for cell in _effect(pair, direction, head)]
        rows.append((str(head), *cells, formats.measured(value)))
        ids.append(f"{of.anchor}-{head}-{direction}")
        if value[1] > 0 or value[2] < 0:
            marked.add(i)
    columns = ("head", *(f"{name} {what}" for name in names for what in ("rank", "Δp")), "difference")
    return Table(columns, tuple(rows), 1, ids=tuple(ids), marked=frozenset(marked))


def _effect(pair: Pair, direction: Direction, head: Head) -> tuple[str, str]:
    found = pair.of_head(direction, head)
    if found is None:
        return formats.NONE, formats.NONE
    return str(found.rank), formats.measured((found.delta_p, *bounds(found)))


def _by_rank(of: Matched, names: tuple[str, str], direction: Direction) -> Table:
    rows = []
    for effects in zip(of.first.ranking[direction][:6], of.second.ranking[direction][:6], strict=False):
        cells = []
        for effect, (_, pair) in zip(effects, _sides(of, names), strict=True):
            label = pair.signatures[effect.head].label or formats.NONE
            cells += [str(effect.head), label, formats.measured((effect.delta_p, *bounds(effect)))]
        rows.append((str(effects[0].rank), *cells))
    columns = ("rank", *(f"{name} {what}" for name in names for what in ("head", "label", "Δp")))
    return Table(columns, tuple(rows), words=1)


def _joint(of: Matched, names: tuple[str, str]) -> Section:
    drawn = {direction: compared.top_heads(of, names, direction) for direction in Direction}
    figures = tuple(
        Figure(f"joint-{direction}", plot, f"Recovered fraction, {direction}, {of.name}")
        for direction, plot in drawn.items()
        if plot is not None
    )
    rows = []
    for direction in Direction:
        top = [{one.k: one for one in pair.joint if one.name == "top" and one.direction is direction}
               for _, pair in _sides(of, names)]  # fmt: skip
        for k in sorted({*top[0], *top[1]}):
            cells = [formats.measured(one[k].recovered) if k in one else formats.NONE for one in top]
            rows.append((direction.value, str(k), *cells))
    table = Rows(
        "Recovered fraction of the top K heads", Table(("direction", "K", *names), tuple(rows), 1), folded=True
    )
    blocks: tuple[Block, ...] = (Beside(figures), table) if figures else (Missing("No joint patch can be compared."),)
    return Section(f"{of.anchor}-joint", "Top heads together", blocks)


def integrity(of: Comparison) -> Section:
    """What was done differently besides what is compared, and what stands alone."""
    found = [
        f"{one.name}: the two differ in {formats.listed(unlike(one))} too." for one in of.matched if [*unlike(one)]
    ]
    for name, pairs in zip(of.names, of.alone, strict=True):
        if pairs:
            found.append(f"Only in {name}: {formats.listed(pair.name for pair in pairs)}.")
    found += [f"{name}: {formats.sentence(said)}" for name, view in zip(of.names, of.views, strict=True)
              for said in view.left_out]  # fmt: skip
    return Section("integrity", "What was not, or not alone, compared", (Points(tuple(found) or ("Nothing.",)),))


def made(of: Comparison, command: str | None) -> Section:
    """Settings of both stores, and the command."""
    blocks: list[Block] = [Missing("Made with", command)] if command else []
    for name, view in zip(of.names, of.views, strict=True):
        blocks += [Heading(name), Rows(f"Settings of {name}", settings(view.provenance))]
    return Section("made", "How it was made", tuple(blocks))
