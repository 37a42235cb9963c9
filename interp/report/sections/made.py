"""How it was made: the command, settings, versions, commits and hashes, and the prompts as token ids."""

from __future__ import annotations

from collections.abc import Iterator

from interp.report import formats
from interp.report.blocks import Block, Caption, Heading, Missing, OfTask, Points, Rows, Section, Tokens
from interp.report.display import Table
from interp.report.made import PromptTable, Provenance
from interp.report.views import View

_PROMPTS = (
    "Each box is one token with its id, exactly as the model was given it; ␣ is a space, ⏎ a line end, and a character "
    "that cannot be seen is written as its code point. The bracket is chosen on the search prompts; gaps and effects "
    "are measured on the effect prompts, which are others (a single prompt serves as both)."
)


def section(view: View, command: str | None) -> Section:
    """Settings by run, weights by step, prompts by task."""
    blocks: list[Block] = [Missing("Made with", command)] if command else []
    blocks.append(Rows("Settings by run", settings(view.provenance)))
    blocks.append(Points(tuple(_versions(view.provenance))))
    blocks += [Heading("Weights and commits"), *map(_weights, view.provenance), Heading("The prompts")]
    if not view.prompts:
        said = "No prompts are stored."
        blocks.append(Missing(said, "interp patch SUITE", "stores those that effects are measured on."))
    else:
        blocks += [*map(_prompts, view.prompts), Caption(_PROMPTS)]
    return Section("made", "How it was made", tuple(blocks))


def settings(provenance: tuple[Provenance, ...]) -> Table:
    """One row for each run and settings."""
    rows = tuple(
        (
            str(made.run),
            of.dtype,
            of.device,
            "yes" if of.bos else "no",
            of.tokenizer[:12],
            ", ".join(made.search) or formats.NONE,
            formats.NONE if made.identified is None else formats.counted(made.identified, "checkpoint"),
            made.made[1][:16].replace("T", " "),
        )
        for made in provenance
        for of in made.settings
    )
    columns = ("run", "dtype", "device", "BOS", "tokenizer", "search", "weights identified", "newest result (UTC)")
    return Table(columns, rows, words=len(columns))


def _versions(provenance: tuple[Provenance, ...]) -> Iterator[str]:
    """Each set of versions, and the runs that it made where there are several."""
    every = list(dict.fromkeys(versions for made in provenance for versions in made.versions))
    for versions in every:
        runs = formats.listed(str(made.run) for made in provenance if versions in made.versions)
        yield versions + (f" ({runs})" if len(every) > 1 else "")


def _weights(made: Provenance) -> Rows:
    commits = bool(made.commits)
    columns = ("step", "sha256 of the weights", *(("commit",) if commits else ()))
    rows = tuple(
        (formats.step(step), digest, *((made.commits.get(step, formats.NONE),) if commits else ()))
        for step, digest in made.hashes.items()
    )
    what = "sha256 and commits" if commits else "sha256 of their weights"
    name = f"{made.run}: {formats.counted(len(rows), 'checkpoint')}, {what}"
    return Rows(name, Table(columns, rows, words=len(columns)), folded=True)


def _prompts(of: PromptTable) -> OfTask:
    shown = f", the first {len(of.shown)} shown" if len(of.shown) < of.total else ""
    said = (
        f"{formats.counted(of.total, 'prompt')}{shown}; threshold {formats.probability(of.threshold)}, above the "
        f"shortcut ceiling of {formats.probability(of.ceiling)}; task version {of.version}; tokenizer "
        f"{formats.short(of.tokenizer)}."
    )
    lines = (Tokens(tuple(zip(row.pieces, row.tokens, strict=True)), row.answer, row.foil) for row in of.shown)
    return OfTask(of.task, (Heading(f"{of.task}, {of.role} prompts"), Caption(said), *lines))
