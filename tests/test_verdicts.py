"""Verdicts worked by hand: probability, rank and margin of the answer, and what a dead heat counts as."""

import numpy as np
import pytest
import torch

from interp.evaluation import judge, noise

NONE = torch.tensor([-1])


def test_probability_rank_and_margins_are_those_of_the_logits() -> None:
    logits = torch.log(torch.tensor([[1.0, 2.0, 5.0, 2.0]]))
    found = judge(logits, torch.tensor([1]), torch.tensor([0]))
    assert found.p == pytest.approx([0.2])
    assert (found.rank.tolist(), found.top.tolist(), found.solved.tolist()) == ([1], [2], [False])
    assert found.margin == pytest.approx([np.log(2 / 5)])
    assert found.foil_margin == pytest.approx([np.log(2)])


@pytest.mark.parametrize(
    ("above", "dtype", "tie", "solved"),
    [
        (0.0, torch.float32, True, False),
        (1e-6, torch.float32, True, True),  # within rounding of 3
        (1e-6, torch.float64, False, True),
        (0.5, torch.float32, False, True),
    ],
)
def test_a_dead_heat_is_marked_and_is_no_success(above: float, dtype: torch.dtype, tie: bool, solved: bool) -> None:
    found = judge(torch.tensor([[1.0, 3.0 + above, 3.0, 0.0]], dtype=dtype), torch.tensor([1]), NONE)
    assert (found.tie.tolist(), found.solved.tolist()) == ([tie], [solved])


@pytest.mark.parametrize(
    ("dtype", "eps"), [(torch.float64, 2.0**-52), (torch.float32, 2.0**-23), (torch.bfloat16, 2.0**-7)]
)
def test_noise_is_a_hundred_units_of_rounding_at_the_largest_logit(dtype: torch.dtype, eps: float) -> None:
    logits = torch.tensor([[0.5, -8.0], [0.25, 0.5]], dtype=dtype)
    assert noise(logits).tolist() == pytest.approx([800 * eps, 100 * eps])
