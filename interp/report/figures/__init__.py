"""View → plotly figures, one module per idea; colours are those of `style`, made for the light page.

`of_frames` draws the same figures from stored tables, for notebooks.
"""

from interp.report.figures.cohort import over_seeds
from interp.report.figures.curve import curve
from interp.report.figures.effects import grids
from interp.report.figures.emergence import overview
from interp.report.figures.heads import ranked
from interp.report.figures.joint import joint_patch
from interp.report.figures.patterns import pattern
from interp.report.figures.recipients import recipients
from interp.report.figures.training import training, training_scores

__all__ = [
    "curve",
    "grids",
    "joint_patch",
    "over_seeds",
    "overview",
    "pattern",
    "ranked",
    "recipients",
    "training",
    "training_scores",
]
