import pytest

from interp.training.schedule import Schedule

NANO = Schedule(peak=8e-3, warmup=100, decay=0.25, floor=0.05)


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (0, 0.0),
        (1, 8e-5),
        (50, 4e-3),
        (100, 8e-3),
        (101, 8e-3),
        (2250, 8e-3),  # the last 750 of 3,000 decay
        (2625, 8e-3 * 0.525),  # half way between 1 and .05
        (3000, 4e-4),
    ],
)
def test_rate_in_closed_form(update: int, expected: float):
    assert NANO.at(update, 3000) == pytest.approx(expected, rel=1e-12)


def test_without_decay_it_stays_at_the_peak():
    assert Schedule(peak=1.0, warmup=0, decay=0.0, floor=0.0).at(10, 10) == 1.0
