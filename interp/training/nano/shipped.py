"""Which part of the trained nano suites comes with the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from interp.training.thin import Thinning, thin

GRID = (0, 128, 300, 600, 1000, 1500, 2000, 3000)
TASKS = ("string", "named_item", "ioi", "digit_string", "pattern", "counting", "numbered_list")


@dataclass(frozen=True)
class Share:
    """The seeds that ship and the rule that chooses their steps."""

    seeds: tuple[int, ...]
    rule: Thinning


SHIPPED: Mapping[str, Share] = {
    "nano-3l": Share((0, 1, 2, 3, 4), Thinning(GRID, 18, TASKS, spacing=100)),
    "nano-2l": Share((0, 1, 2, 3), Thinning(GRID, 16, TASKS, spacing=100)),
}
"""Together below 39 MB, which is what sets the counts."""


def ship(trained: Path, target: Path) -> None:
    """Copy what ships out of `trained` into `target`; both hold a folder for each size, the latter new ones."""
    for name, share in SHIPPED.items():
        thin(trained / name, target / name, share.seeds, share.rule)
