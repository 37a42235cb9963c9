"""Where checkpoints come from: one name or folder leads to runs, steps and checkpoints."""

from interp.suites.catalogue import names, suite
from interp.suites.download import fetch
from interp.suites.suite import MissingError, Run, Suite

__all__ = ["MissingError", "Run", "Suite", "fetch", "names", "suite"]
