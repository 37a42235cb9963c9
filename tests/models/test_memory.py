"""Anonymous resident memory (faults 24 and 25), at Pythia-14m's exact shapes; benchmarks measure 70m and 160m too."""

import sys

import pytest

from tests.benchmarks.loading import measured, write

# least: about the weights themselves; a measure below it has not seen them
BOUNDS = {"one": (0.95, 1.3), "pair": (1.95, 2.3), "growth": (0.9, 1.03)}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="anonymous resident memory is read from Linux's /proc"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    folder = tmp_path_factory.mktemp("memory")
    write(folder, "14m")
    return measured(folder / "14m", tuple(BOUNDS))


@pytest.mark.parametrize("kind", BOUNDS)
def test_memory_stays_within_its_bounds(found: dict[str, float], kind: str) -> None:
    least, most = BOUNDS[kind]
    assert least <= found[kind] <= most
