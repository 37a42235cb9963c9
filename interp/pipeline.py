"""The method section: suite → brackets → effects → ranking → signatures → comparison, each stage's result stored.

This is the only module that knows the order of the stages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from interp import emergence, evaluation, frames, interventions
from interp.bench import Bench, Ends, bench, keep_prompts
from interp.execution import Engine, InProcess
from interp.models.loading import parameters
from interp.observing import observe
from interp.provenance import Options, facts, of_prompts, of_run
from interp.searching import search_run
from interp.store import Store
from interp.suites import Run, Suite
from interp.suites.integrity import distinct_steps, equal_steps
from interp.suites.ladder import suspicions
from interp.tasks import Form, Task
from interp.tracing import Trace, agreement_over_seeds
from interp.values import Bracket, Head, InputError

# heads whose patterns are kept for the report, of each direction
_SHOWN = 2
# columns of table `emergence` that hold a bracket
_BRACKETS = {"first": ("pre", "post"), "lasting": ("lasting_pre", "lasting_post")}
# heads followed over the steps of the recipient
_FOLLOWED = 4


def scan(
    suite: Suite,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    seeds: Sequence[int] | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    engine: Engine = InProcess(),  # noqa: B008 - stateless
) -> pd.DataFrame:
    """When each task emerges in each run: table `emergence` with columns `suite, seed` in front."""
    store.check_writable()
    work = partial(_scan_unit, tasks=tasks, store=store, options=options)
    found = engine.map(work, suite.select(seeds), title=f"scan {suite.name}", unit="run")
    return pd.concat(found, ignore_index=True)


def _scan_unit(run: Run, tasks: Sequence[tuple[Task, Form]], store: Store, options: Options) -> pd.DataFrame:
    return scan_run(bench(run, tasks, store, options))


def scan_run(bench: Bench) -> pd.DataFrame:
    """Emergence of every task of one run; all tasks share every checkpoint visited.

    Column `prompts` is the number of search prompts; `suspect` says what makes claims about the run doubtful (empty:
    nothing known).
    """
    thresholds = {task: asked.search.threshold for task, asked in bench.asked.items()}
    found = search_run(bench, thresholds)
    run, known, plan = bench.run, bench.run.known, bench.options.plan
    visited = {step: known[step] for step in sorted(found.seen)}
    made_from = {
        "stage": ["emergence", emergence.VERSION, evaluation.VERSION],
        **of_run(run.id), **bench.forward, "weights": list(visited.values()), "steps": list(visited),
        "tasks": [of_prompts(asked.search) | {"threshold": asked.search.threshold} for asked in bench.asked.values()],
        "search": plan.how, "resolution": plan.resolution, "max_probes": plan.probes,
        "tokenizer": bench.known.sha256, "searched": list(found.steps),
    }  # fmt: skip
    more = {
        "equal": equal_steps(known), "missing": run.missing, "identified": len(known), "suspect": suspicions(run),
        "commits": {str(step): run.at(step).commit for step in visited},
        "parameters": parameters(run.at(max(visited))),
    }  # fmt: skip
    ps = {task: {step: found.p(step, task) for step in visited} for task in bench.asked}
    rows = bench.store.cached(
        "emergence", made_from, facts(made_from, **more), lambda: frames.emergence_rows(found.tasks, ps)
    )
    for asked in bench.asked.values():
        keep_prompts(bench, asked.search)
    prompts = [len(bench.asked[task].search) for task in rows["task"]]
    return _of_run(run, rows).assign(prompts=prompts, suspect="; ".join(suspicions(run)))


def patch(
    suite: Suite,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    seeds: Sequence[int] | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    pre: int | None = None,
    post: int | None = None,
    engine: Engine = InProcess(),  # noqa: B008 - stateless
) -> pd.DataFrame:
    """Heads ranked by Δp in both directions between the ends of each task's bracket: table `heads` of every run.

    `pre` and `post`, given together, take the place of the bracket. Where a task has no bracket in a run there is
    nothing to patch, and the run has no rows of it.
    """
    if (pre is None) != (post is None):
        raise InputError("--pre and --post choose the two ends together; one was given")
    store.check_writable()
    work = partial(_patch_unit, tasks=tasks, store=store, options=options, pre=pre, post=post)
    return _together(engine.map(work, suite.select(seeds), title=f"patch {suite.name}", unit="run"))


def _patch_unit(
    run: Run, tasks: Sequence[tuple[Task, Form]], store: Store, options: Options, pre: int | None, post: int | None
) -> pd.DataFrame:
    one = bench(run, tasks, store, options)
    found = []
    for task, ends in _brackets(one, pre, post):
        run.pin((ends.pre, ends.post))
        found.append(_of_run(run, patch_task(one, task, ends)).assign(task=task, pre=ends.pre, post=ends.post))
    run.pin(())
    return _together(found)


def _together(found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    some = [one for one in found if len(one)]
    return pd.concat(some, ignore_index=True) if some else pd.DataFrame(columns=["suite", "seed", "task"])


def _brackets(bench: Bench, pre: int | None, post: int | None) -> list[tuple[str, Bracket]]:
    if pre is not None and post is not None:
        if pre >= post:
            raise InputError(f"--pre {pre} is not before --post {post}; the earlier step comes first")
        if bench.run.at(pre).weights == bench.run.at(post).weights:
            raise InputError(f"{bench.run.id}: steps {pre} and {post} have equal weights; there is nothing to patch")
        return [(task, Bracket(pre, post)) for task in bench.asked]
    return _emerged(scan_run(bench), bench.options)


def _emerged(scanned: pd.DataFrame, options: Options) -> list[tuple[str, Bracket]]:
    before, after = _BRACKETS[options.bracket]
    rows = scanned.dropna(subset=[before]).to_dict("records")
    return [(str(row["task"]), Bracket(int(row[before]), int(row[after]))) for row in rows]


def patch_task(bench: Bench, task: str, bracket: Bracket) -> pd.DataFrame:
    """Effects, joint effects, signatures and their comparison for one task of one run: table `heads`."""
    work = Ends(bench, task, bracket)
    effects = work.cached("effects", {}, work.effects)
    keep_prompts(bench, work.asked)
    drawn = _drawn(bench.options)
    work.cached("joint", drawn, lambda: interventions.joint(work, effects))
    controlled = work.cached("controls", drawn, lambda: interventions.controls(work, effects))
    for checkpoint in work.at.values():
        observe(bench, checkpoint, task)
    pre, post = (frames.scores_from_rows(observe(bench, work.at[end], None)) for end in ("pre", "post"))
    heads = work.cached("heads", drawn, lambda: interventions.heads(work, effects, controlled, pre, post))
    work.cached("agreement", drawn, lambda: work.agreement(effects, heads, pre, post))
    shown = _top_heads(heads)
    work.cached("patterns", {"heads": [str(head) for head in shown]}, lambda: work.patterns(shown))
    return heads


def _drawn(options: Options) -> dict[str, int]:
    return {"resamples": options.resamples, "draws": options.draws}


class Traced(NamedTuple):
    """What `trace` found, of every run: tables of docs/design.md §6, columns `suite, seed` in front.

    `agreement` and `agreement_seeds` hold what `patch` has measured; they are empty before.
    """

    emergence: pd.DataFrame
    curves: pd.DataFrame
    onsets: pd.DataFrame
    changes: pd.DataFrame
    agreement: pd.DataFrame
    agreement_seeds: pd.DataFrame


def trace(
    suite: Suite,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    steps: Sequence[int] | None = (),
    seeds: Sequence[int] | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    engine: Engine = InProcess(),  # noqa: B008 - stateless
) -> Traced:
    """Curves of every task, their sharpness, and the scores of every head, over the steps that a scan evaluates.

    `steps` are evaluated beside them (`None`: all of a run's distinct checkpoints). Whether effects go with signatures
    is said of the brackets that have been patched with the same options.
    """
    store.check_writable()
    runs = suite.select(seeds)
    work = partial(_trace_unit, tasks=tasks, store=store, steps=steps, options=options)
    found = engine.map(work, runs, title=f"trace {suite.name}", unit="run")
    of_runs = {name: _together([tables[name] for tables, _ in found]) for name in Traced._fields[:-1]}
    by_task: dict[str, list[tuple[Bench, Bracket, pd.DataFrame]]] = {}
    for run, (_, patched) in zip(runs, found, strict=True):
        if patched:
            one = bench(run, tasks, store, options)
            for task, (bracket, heads) in patched.items():
                by_task.setdefault(task, []).append((one, bracket, heads))
    over_seeds = []
    for task, several in by_task.items():
        alike = [several[place] for place in of_one_shape([heads for _, _, heads in several])]
        if len(alike) > 1:
            over_seeds.append(agreement_over_seeds(task, alike))
    return Traced(**of_runs, agreement_seeds=_together(over_seeds))


# of a task whose bracket was patched: the bracket, and table `heads`
_Patched = dict[str, tuple[Bracket, pd.DataFrame]]


def of_one_shape(heads: Sequence[pd.DataFrame]) -> list[int]:
    """Places of the tables `heads` whose heads form the commonest grid: those of others have no layers in common."""
    grids = [(rows["layer"].nunique(), rows["head"].nunique()) for rows in heads]
    commonest = max(grids, key=grids.count)
    return [place for place, grid in enumerate(grids) if grid == commonest]


def _trace_unit(
    run: Run, tasks: Sequence[tuple[Task, Form]], store: Store, steps: Sequence[int] | None, options: Options
) -> tuple[dict[str, pd.DataFrame], _Patched]:
    one = bench(run, tasks, store, options)
    scanned = scan_run(one)
    visited = {int(step) for of_task in scanned["steps"] for step in of_task}
    more = _up_to(run, max(run.steps)) if steps is None else steps
    brackets = dict(_emerged(scanned, options))
    work = Trace(one, tuple(sorted(visited | set(more))), {task: brackets.get(task) for task in one.asked})
    patched, agreement = _patched(one, brackets)
    tables = {
        "emergence": scanned,
        "curves": _together([_of_run(run, work.curve(task)).assign(task=task) for task in one.asked]),
        "onsets": _of_run(run, work.onsets()),
        "changes": _of_run(run, work.changes()),
        "agreement": _together([_of_run(run, rows).assign(task=task) for task, rows in agreement.items()]),
    }
    return tables, patched


def _patched(bench: Bench, brackets: Mapping[str, Bracket]) -> tuple[_Patched, dict[str, pd.DataFrame]]:
    """The tasks of a run whose brackets were patched with the same options, and table `agreement` of each."""
    found, agreement, drawn = {}, {}, _drawn(bench.options)
    for task, bracket in brackets.items():
        ends = Ends(bench, task, bracket)
        if ends.has("heads", drawn) and ends.has("agreement", drawn):
            found[task] = (bracket, ends.cached("heads", drawn, pd.DataFrame))
            agreement[task] = ends.cached("agreement", drawn, pd.DataFrame)
    return found, agreement


def recipients(
    suite: Suite,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    steps: Sequence[int] | None = None,
    seeds: Sequence[int] | None = None,
    options: Options = Options(),  # noqa: B008 - frozen
    pre: int | None = None,
    post: int | None = None,
    engine: Engine = InProcess(),  # noqa: B008 - stateless
) -> pd.DataFrame:
    """Δp of the top heads as a function of the recipient's step, the donor fixed: where does patching begin to work?

    The steps are all of a run's distinct checkpoints up to the donor's where none are given. Heads are those that
    denoising ranks first between the ends of the bracket (or of `pre` and `post`). Table `recipients` of every run.
    """
    store.check_writable()
    work = partial(_recipients_unit, tasks=tasks, store=store, steps=steps, options=options, pre=pre, post=post)
    return _together(engine.map(work, suite.select(seeds), title=f"recipients {suite.name}", unit="run"))


def _recipients_unit(
    run: Run,
    tasks: Sequence[tuple[Task, Form]],
    store: Store,
    steps: Sequence[int] | None,
    options: Options,
    pre: int | None,
    post: int | None,
) -> pd.DataFrame:
    found = []
    one = bench(run, tasks, store, options)
    for task, ends in _brackets(one, pre, post):
        heads = patch_task(one, task, ends)
        order = heads.loc[heads["direction"] == "denoising"].sort_values(by="rank")
        top = [Head(int(row.layer), int(row.head)) for row in order.head(_FOLLOWED).itertuples()]  # pyright: ignore
        visited = _up_to(run, ends.post) if steps is None else list(steps)
        work = Ends(one, task, ends)
        at = {"recipients": [run.at(step).weights for step in visited], "steps_visited": visited}
        settings = at | {"heads": [str(head) for head in top], "resamples": options.resamples}
        rows = work.cached(
            "recipients", settings, lambda work=work, top=top, to=visited: interventions.recipients(work, top, to)
        )
        found.append(_of_run(run, rows).assign(task=task, pre=ends.pre, post=ends.post))
    return _together(found)


def _up_to(run: Run, step: int) -> list[int]:
    return list(distinct_steps({known: run.at(known).weights for known in run.steps if known <= step}))


def _top_heads(heads: pd.DataFrame) -> list[Head]:
    top = heads.loc[heads["rank"] <= _SHOWN].sort_values(by=["rank", "direction"])
    return list(dict.fromkeys(Head(int(row.layer), int(row.head)) for row in top.itertuples()))  # pyright: ignore


def _of_run(run: Run, rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.copy()
    rows.insert(0, "suite", run.id.suite)
    rows.insert(1, "seed", pd.array([run.seed] * len(rows), dtype="Int64"))
    return rows
