"""View → page: which section stands where."""

from __future__ import annotations

from collections.abc import Sequence

from interp.cohorts import Cohorts
from interp.report import formats
from interp.report.blocks import Article, Page, Section
from interp.report.pair_sentences import answer_of
from interp.report.sections import (
    answer,
    curve,
    effects,
    emergence,
    heads,
    integrity,
    joint,
    made,
    patterns,
    recipients,
    seeds,
    survival,
    training,
)
from interp.report.sentences import most_causal
from interp.report.views import Pair, View

_OF_PAIR = (curve, effects, heads, joint, recipients, patterns, training)
_PATCHED = (heads, joint, recipients, patterns)


def page(
    view: View, cohorts: Cohorts | None, title: str | None, command: str | None, beside: Sequence[Section] = ()
) -> Page:
    """The report of one store; `cohorts`: its runs over seeds and sizes (`None`: no scan is stored).

    `beside` are sections about other results, shown after those about runs and tasks.
    """
    newest = max(made.made[1] for made in view.provenance)[:16].replace("T", " ")
    best = most_causal(view.pairs)
    runs, tasks = formats.counted(len(view.runs), "run"), formats.counted(len(view.tasks), "task")
    return Page(
        title=title or f"{formats.listed(view.suites)}: what emerged, when, and which heads",
        kicker="interp report",
        meta=f"{runs} · {tasks} · newest result {newest} UTC",
        before=(answer.section(view), emergence.section(view, () if cohorts is None else survival.blocks(cohorts))),
        articles=articles(view),
        after=tuple(filter(None, (seeds.section(view), *beside, integrity.section(view), made.section(view, command)))),
        opens=best[0].anchor if best else "",
    )


def articles(view: View) -> tuple[Article, ...]:
    """One article for each run and task; the first of a run and of a task can be reached by their names too."""
    seen: set[str] = set()
    found = []
    for pair in view.pairs:
        names = (f"run-{formats.run_slug(pair.run)}", f"task-{formats.slug(pair.task)}")
        targets = tuple(name for name in names if name not in seen)
        seen.update(names)
        found.append(Article(pair.anchor, str(pair.run), pair.task, answer_of(pair), _sections(pair), targets))
    return tuple(found)


def _sections(pair: Pair) -> tuple[Section, ...]:
    """Every section; what follows on effects is left out where there are none, since the grid's place says why."""
    return tuple(part.section(pair) for part in _OF_PAIR if part not in _PATCHED or pair.grids or pair.ranking)
