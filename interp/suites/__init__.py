"""Where checkpoints come from: one name or folder leads to runs, steps and checkpoints."""

from interp.suites.catalogue import names, suite
from interp.suites.suite import Run, Suite

__all__ = ["Run", "Suite", "names", "suite"]
