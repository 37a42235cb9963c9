"""The command line: `interp demo`, `suites`, `tasks`, `scan`, `patch`, `trace`, `cohort`, `report` and the rest."""

from __future__ import annotations

import typer

from interp.cli import cache, catalogue, cohort, demo, lab, report, trace, train, verify, work

app = typer.Typer(
    name="interp",
    help="When does a capability appear in training, and which attention heads bring it?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo")(demo.demo)
app.command("suites")(catalogue.suites)
app.command("tasks")(catalogue.tasks)
app.command("scan")(work.scan)
app.command("patch")(work.patch)
app.command("trace")(trace.trace)
app.command("cohort")(cohort.cohort)
app.command("report")(report.report)
app.command("train")(train.train)
app.command("verify")(verify.verify)
app.add_typer(cache.app, name="cache")
app.add_typer(lab.app, name="lab")
