"""Stores that are written once and only read."""

from pathlib import Path

import pytest

from interp import report
from interp.store import Store
from tests.report import synthetic


@pytest.fixture(scope="session")
def nano(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return synthetic.write(tmp_path_factory.mktemp("nano"))


@pytest.fixture(scope="session")
def nano_page(nano: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "report.html"
    return report.write(nano, out, command="interp demo --seeds 0-2")
