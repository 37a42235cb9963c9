"""View → plotly figures, one module per idea; colours are those of `style`, made for the light page."""

from interp.report.figures.cohort import over_seeds
from interp.report.figures.effects import grids
from interp.report.figures.emergence import curve, overview
from interp.report.figures.heads import ranked
from interp.report.figures.joint import joint_patch
from interp.report.figures.patterns import pattern

__all__ = ["curve", "grids", "joint_patch", "over_seeds", "overview", "pattern", "ranked"]
