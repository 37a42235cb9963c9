"""The lab's experiments by name, in the order of the page."""

from __future__ import annotations

from interp.labs.copy_head.bridge import BRIDGE
from interp.labs.copy_head.claims import CLAIMS
from interp.labs.copy_head.diagram import PHASE_DIAGRAM
from interp.labs.copy_head.experiment import Experiment
from interp.labs.copy_head.hysteresis import HYSTERESIS
from interp.labs.copy_head.landscape import LANDSCAPE
from interp.labs.copy_head.precursors import PRECURSOR
from interp.labs.copy_head.scaling import END_POINT, SCALING
from interp.labs.copy_head.traps import TRAPS
from interp.values import InputError

EXPERIMENTS: tuple[Experiment, ...] = (
    CLAIMS,
    PHASE_DIAGRAM,
    HYSTERESIS,
    PRECURSOR,
    LANDSCAPE,
    SCALING,
    END_POINT,
    TRAPS,
    BRIDGE,
)


def named(name: str) -> tuple[Experiment, ...]:
    """The experiment of this name; all of them for `all`."""
    if name == "all":
        return EXPERIMENTS
    found = tuple(one for one in EXPERIMENTS if one.name == name)
    if not found:
        raise InputError(
            f"'{name}' is no experiment of the copy-head lab; known: {', '.join(e.name for e in EXPERIMENTS)}, all"
        )
    return found
