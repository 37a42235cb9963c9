"""`python -m tests.report.example FILE`: the example report, from two runs of the shipped suite and two tasks."""

import subprocess
import sys
import tempfile
from pathlib import Path

CHOSEN = ("--seeds", "1-2", "-t", "named_item", "-t", "string")
_RUN = "from interp.cli import app; app()"


def write(out: Path) -> Path:
    """Compute everything anew in a store of its own, and write the report."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "example"
        for command in (
            ("demo", *CHOSEN, "--store", store, "--out", store / "demo.html"),
            ("report", store, "--out", out.resolve(), "--title", "nano-3l: two seeds, two tasks"),
        ):
            # a process of its own: the type checks that are on in tests take longer than the work
            subprocess.run([sys.executable, "-c", _RUN, *map(str, command)], check=True, stdout=subprocess.DEVNULL)
    return out


if __name__ == "__main__":
    print(f"wrote {write(Path(sys.argv[1]))}")
