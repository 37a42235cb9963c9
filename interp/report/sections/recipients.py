"""From which step of the recipient on writing the later patterns begins to work."""

from __future__ import annotations

from interp.report import figures, formats
from interp.report.blocks import Caption, Figure, Missing, Rows, Section
from interp.report.commands import command
from interp.report.display import Table
from interp.report.views import Pair

_READING = (
    "The later checkpoint's patterns of single heads, and of all of these heads jointly, written into checkpoints of "
    "ever later steps. Where Δp is about 0 before the rise, the pattern is not all that is missing: values and later "
    "layers that can use it come first. Near the later end Δp falls again, since there is less left to bring. Bars: "
    "pointwise 95 % intervals over prompts."
)


def section(pair: Pair) -> Section:
    """Δp by the recipient's step, or the command that measures it."""
    drawn = figures.recipients(pair)
    if drawn is None:
        said = Missing(
            "Which checkpoints can use the patterns was not measured.",
            command("patch", pair) + " --recipients all",
            "measures it.",
        )
        return Section(f"{pair.anchor}-recipients", "By the recipient’s step", (said,))
    figure = Figure("recipients", drawn, f"Δp by the step of the recipient, {pair.name}")
    table = Rows("Δp by the recipient’s step", by_step(pair), folded=True)
    return Section(f"{pair.anchor}-recipients", "By the recipient’s step", (figure, Caption(_READING), table))


def by_step(pair: Pair) -> Table:
    """Steps down, heads across."""
    steps = sorted({step for of in pair.recipients for step in of.steps})
    found = {(of.head, step): delta for of in pair.recipients for step, delta in zip(of.steps, of.delta_p, strict=True)}
    alone = {step: p for of in pair.recipients for step, p in zip(of.steps, of.p_recipient, strict=True)}
    rows = tuple(
        (
            formats.step(step),
            formats.probability(alone[step]),
            *(formats.measured(found.get((of.head, step))) for of in pair.recipients),
        )
        for step in steps
    )
    columns = ("recipient’s step", "p without a patch", *(of.head for of in pair.recipients))
    return Table(columns, rows, words=0)
