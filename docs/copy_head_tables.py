"""`python docs/copy_head_tables.py`: the tables of the copy-head page, computed by the lab in its figure setting.

What is stored already is not computed again (`--store`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from interp.execution import cores, engine
from interp.labs.copy_head import bridge
from interp.labs.copy_head.bridge import BRIDGE
from interp.labs.copy_head.claims import CLAIMS
from interp.labs.copy_head.experiment import FULL, Lab
from interp.labs.copy_head.trajectories import Verdict
from interp.store import Store

FOLDER = Path(__file__).parent
CLAIMED, RATES, RISES = (FOLDER / f"copy_head_{name}.md" for name in ("claims", "rates", "rises"))
WIDTHS = (0, 1, 2, 4, 8)


def claims(frame: pd.DataFrame) -> list[str]:
    """A line for each claim."""
    rows = [[row["claim"], row["ours"], row["agrees"], row["by"]] for row in frame.to_dict("records")]
    return table(("claim", "ours", "agrees", "by"), rows)


def rates(frame: pd.DataFrame) -> list[str]:
    """A line for each suite and true width: the shares of verdicts on simulated rises."""
    found = bridge.rates(frame)
    rows = [
        [row["suite"], f"{row['width']:g}", *(f"{row[str(verdict)]:.2f}" for verdict in Verdict)]
        for row in found.loc[found["width"].isin(WIDTHS)].to_dict("records")
    ]
    return table(("suite", "true 10–90 % width, in mean intervals", *map(str, Verdict)), rows)


def rises(frame: pd.DataFrame) -> list[str]:
    """A line for each head that becomes a previous-token head; suites without any are named below."""
    found = bridge.rises(frame)
    rows = [
        [
            f"{row['suite']}/seed{row['seed']} {row['head']}", row["verdict"], f"{row['largest']:.0%}",
            str(row["middle"]), f"({row['from_step']:,}, {row['to_step']:,}]", f"{row['a_1_before']:.2f}",
            f"{row['coverage_before']:.2f}", f"{row['off_line']:.2f}",
        ]
        for row in found.to_dict("records")
    ]  # fmt: skip
    columns = (
        "head", "path", "largest interval's share", "checkpoints in the middle", "largest interval", "a_1 before it",
        "coverage before it", "largest distance from a_1 + a_G = 1",
    )  # fmt: skip
    return [*table(columns, rows), "", *_counts(frame, found)]


def _counts(frame: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    said = []
    for name, heads in frame.groupby("suite"):
        runs, rising = heads["seed"].nunique(), found.loc[found["suite"] == name]
        last = heads.loc[heads["step"] == heads.groupby("seed")["step"].transform("max")]
        said.append(
            f"- {name}: {len(rising)} heads in {rising['seed'].nunique()} of {runs} runs; "
            f"largest a_G of any head at any checkpoint {heads['a_G'].max():.2f}, at the last {last['a_G'].max():.2f}."
        )
    return said


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *rows)]


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path(".interp/copy-head"))
    store = Store(parser.parse_args().store)
    with engine(cores(), preload="interp.labs.copy_head.catalogue") as workers:
        lab = Lab(FULL, workers, store)
        claimed, heads = CLAIMS.table(lab), BRIDGE.table(lab)
    for path, lines in ((CLAIMED, claims(claimed)), (RATES, rates(heads)), (RISES, rises(heads))):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
