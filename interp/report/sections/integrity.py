"""Integrity findings: what makes claims doubtful, and what was looked at."""

from __future__ import annotations

from collections.abc import Iterator

from interp.report import formats
from interp.report.blocks import Block, Caption, Heading, Points, Section
from interp.report.made import Provenance
from interp.report.views import Pair, View

_LOOKED = (
    "Looked at: whether steps hold equal or missing weights, what is publicly known of a run, whether a bracket's "
    "ends are neighbours and what nobody evaluated, whether a task relapses, whether writing a checkpoint's own "
    "patterns changes exactly nothing, and whether results were made with the same settings. The command interp "
    "verify holds every checkpoint of a run against the others, which a report from stored results cannot."
)


def section(view: View) -> Section:
    """Findings first, then results that were not used."""
    findings = [*(f for made in view.provenance for f in of_run(made)), *(f for p in view.pairs for f in of_pair(p))]
    settings = {pair.settings for pair in view.pairs}
    if len(settings) > 1:
        words = formats.listed(
            f"{settings_} ({formats.counted(sum(p.settings == settings_ for p in view.pairs), 'pair')})"
            for settings_ in sorted(settings, key=str)
        )
        findings.insert(0, f"Results of {len(settings)} settings stand side by side: {words}.")
    blocks: list[Block] = [Points(tuple(findings) or ("Nothing was found.",)), Caption(_LOOKED)]
    if view.left_out:
        blocks += [Heading("Stored results not used"), Points(tuple(map(formats.sentence, view.left_out)))]
    return Section("integrity", "Integrity findings", tuple(blocks))


def of_run(made: Provenance) -> Iterator[str]:
    """What makes claims about a run doubtful."""
    for reason in made.suspect:
        yield formats.sentence(f"{made.run} is suspect: {reason}")
    for group in made.equal:
        steps = formats.listed(map(formats.step, group))
        yield f"{made.run}: steps {steps} hold the same weights and count as one point."
    if made.missing:
        missing = formats.listed(map(formats.step, made.missing))
        yield f"{made.run}: steps without weights: {missing}."


def of_pair(pair: Pair) -> Iterator[str]:
    """What makes claims about one task in one run doubtful."""
    outcome = pair.outcome
    if outcome is not None:
        if outcome.bracket is not None and not outcome.neighbours:
            yield f"{pair.name}: checkpoints lie between the bracket's ends; the search was told to stop there."
        if outcome.lost:
            yield f"{pair.name}: passed and fails at the last step; the bracket is of an emergence that did not last."
        elif not outcome.monotone:
            yield f"{pair.name}: an evaluated step fails after one that passes."
        if outcome.unprobed is not None:
            n, low, high = outcome.unprobed
            yield (
                f"{pair.name}: nobody evaluated {formats.counted(n, 'distinct checkpoint')} between steps "
                f"{formats.step(low)} and {formats.step(high)}, where a short emergence would be unseen."
            )
    if any(one.name == "own" and one.delta_p[0] != 0 for one in pair.joint):
        yield f"{pair.name}: writing a checkpoint's own patterns changed p, which must not be; trust no effect here."
