"""Figures from stored tables, for notebooks."""

import plotly.graph_objects as go
import pytest

from interp.report.figures import of_frames
from interp.store import Result, Store
from interp.values import InputError


def stored(store: Store, kind: str) -> Result:
    return next(r for r in store.results(kind) if (r.facts["seed"], r.facts["task"]) == (1, "string"))


def test_the_grid_has_the_mean_of_every_head(nano: Store):
    for kind in ("effects", "heads"):
        figure = of_frames.delta_p(stored(nano, kind).frame)
        assert isinstance(figure, go.Figure)
        assert figure.data[0].z[2][1] == pytest.approx(0.402, abs=1e-5)
        assert figure.data[0].zmin == -figure.data[0].zmax


def test_the_curve_has_the_stored_fractions(nano: Store):
    figure = of_frames.top_k(stored(nano, "joint").frame, "noising")
    top = next(trace for trace in figure.data if trace.name == "top K heads")
    assert top.y[1] == pytest.approx(0.6 / 0.65, abs=1e-4)


def test_a_pattern_has_rows_that_sum_to_one(nano: Store):
    result = stored(nano, "patterns")
    figure = of_frames.pattern(result.frame, result.facts["pieces"], "L2H1")
    assert sum(cell for cell in figure.data[0].z[5] if cell is not None) == pytest.approx(1, abs=0.01)


def test_what_is_not_there_is_refused(nano: Store):
    result = stored(nano, "patterns")
    with pytest.raises(InputError, match="no pattern of L9H9 at 'post' is in this table; it has L"):
        of_frames.pattern(result.frame, result.facts["pieces"], "L9H9")
    with pytest.raises(InputError, match="'forward' is not a direction of this table; it has denoising and noising"):
        of_frames.delta_p(stored(nano, "effects").frame, "forward")
