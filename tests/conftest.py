"""Fixtures shared by all tests. Shape and type checks of interp's own functions are switched on here, in tests only."""

import atexit
import os
import shutil
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
# models this small only lose time to a second thread, most of all on a busy machine
os.environ.setdefault("OMP_NUM_THREADS", "1")
# what interp remembers on this machine is not for tests to read or to change; every test process has its own
os.environ["INTERP_CACHE"] = tempfile.mkdtemp(prefix="interp-tests-")

import pytest
from jaxtyping import install_import_hook

_CHECKS = install_import_hook("interp", "beartype.beartype")

from tests.planted import PlantedRun, plant  # noqa: E402 - after the hook, so that interp is checked

atexit.register(shutil.rmtree, os.environ["INTERP_CACHE"], ignore_errors=True)


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> PlantedRun:
    return plant(tmp_path_factory.mktemp("planted"))
