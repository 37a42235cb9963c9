"""The prompt families, one per file; a task file names one by its `kind`."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from interp.tasks.families.binding import Binding
from interp.tasks.families.counting import Counting
from interp.tasks.families.cycle import Cycle
from interp.tasks.families.family import Settings
from interp.tasks.families.indirect_object import IndirectObject
from interp.tasks.families.numbered_list import NumberedList
from interp.tasks.families.repetition import Repetition
from interp.tasks.families.rows import Rows

AnyFamily = Annotated[
    Repetition | Binding | Cycle | NumberedList | Counting | IndirectObject | Rows,
    Field(discriminator="kind"),
]


def family_kinds() -> dict[str, type[Settings]]:
    """Each family's `kind`, as task files write it, with its settings."""
    families = get_args(get_args(AnyFamily)[0])
    return {get_args(family.model_fields["kind"].annotation)[0]: family for family in families}
