"""The plain tables for a terminal."""

from pathlib import Path

from interp.report import text_tables
from interp.store import Store
from tests.report import synthetic


def test_the_tables_say_which_heads(nano: Store):
    lines = text_tables(nano).splitlines()
    at = lines.index("nano-3l/seed1 · string · denoising, steps 1,350 and 1,500")
    first = lines[at + 3].split()
    assert first[:5] == ["L2H1", "induction", "causal", "+.402", "[+.342,"]
    assert lines[at + 8].startswith("uniform")
    assert len([line for line in lines if " · noising" in line]) == 10
    assert any(line.startswith("Patched together, the top") for line in lines[-12:])  # the answer ends it


def test_columns_line_up(nano: Store):
    block = text_tables(nano).split("\n\n")[0].splitlines()[2:]
    assert len({len(line) for line in block}) == 1


def test_a_store_of_a_scan_alone_says_so(tmp_path: Path):
    store = synthetic.write(tmp_path, kinds=("emergence",))
    heads, when, *_ = text_tables(store).split("\n\n")
    assert heads == "Heads: no effects are stored."
    assert "emerged" in when
