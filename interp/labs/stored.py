"""Sections of a report about stored results of labs; a lab is imported only where a store holds something of it."""

from __future__ import annotations

from collections.abc import Sequence

from interp.report.blocks import Section
from interp.store import Store


def sections(stores: Sequence[Store]) -> tuple[Section, ...]:
    """One section for each lab that these stores hold tables of."""
    if not any(True for store in stores for _ in store.root.glob("copy_head_*/*.parquet")):
        return ()
    from interp.labs.copy_head import section

    found = section.stored(stores)
    return () if found is None else (found,)
