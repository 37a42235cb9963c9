"""Names of branches and folders that stand for training steps."""

from __future__ import annotations

import re
from collections.abc import Iterable

from interp.values import InputError

# step3000 · step_3000 · global_step3000 · checkpoint-3000 · iter_3000 · step1000-tokens4B
STEP = r"(?:global_step|step|checkpoint|iter)[-_]?(\d+)(?:-tokens\d+B)?"
# what every table can hold
MOST = 2**63 - 1
SEED = r"(?:seed|run)[-_]?(\d+)"


def numbered(names: Iterable[str], pattern: str, where: str, what: str = "branches") -> dict[int, str]:
    """The names that are a number of this pattern as a whole, by that number, ascending; others are passed over.

    Raises:
        InputError: two names stand for one number, or a number is larger than any table can hold.
    """
    found: dict[int, str] = {}
    for name in sorted(names):
        match = re.fullmatch(pattern, name, re.IGNORECASE)
        if match is None:
            continue
        number = int(match[1])
        if number > MOST:
            raise InputError(f"{where} holds {name}: {what} are numbered up to {MOST}")
        if number in found:
            raise InputError(f"{where} holds both {found[number]} and {name}: two {what} for {number}")
        found[number] = name
    return dict(sorted(found.items()))
