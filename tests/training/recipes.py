"""A recipe small enough to train in a second."""

from dataclasses import replace

from interp.training.nano.recipe import NANO_2L, Recipe
from interp.training.schedule import Schedule
from interp.training.trainer import Optimisation

TINY: Recipe = replace(
    NANO_2L,
    name="tiny",
    layers=1,
    width=16,
    heads=2,
    inner=16,
    tokens=64 * 40,
    optimisation=Optimisation(updates=30, batch=8, schedule=Schedule(peak=8e-3, warmup=5, decay=0.25, floor=0.05)),
    saved=(0, 1, 8, 10, 20, 30),
)
