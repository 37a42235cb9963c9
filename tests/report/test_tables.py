"""The view and its sentences on stores whose numbers are known."""

import math
from pathlib import Path

import pytest

from interp.report import sentences
from interp.report.pair_sentences import answer_of
from interp.report.sections.emergence import outcomes
from interp.report.sections.heads import HEADS_SHOWN, heads, hidden
from interp.report.tables import read
from interp.report.views import Pair, View
from interp.store import Store
from interp.values import Bracket, Direction, Head, InputError, RunId, Status
from tests.report import synthetic
from tests.report.synthetic import Plan, Suite

DEN, NOI = Direction.DENOISING, Direction.NOISING


@pytest.fixture(scope="module")
def view(nano: Store) -> View:
    return read([nano])


def pair(view: View, seed: int | None, task: str) -> Pair:
    return next(of for of in view.pairs if of.run.seed == seed and of.task == task)


def small(task: str = "string", effect: float = 0.4) -> Suite:
    return Suite("tiny", 2, 2, {task: {0: Plan("emerged", 600, ("L1H0", "L0H1"), effect)}}, prompts=4)


def test_every_run_and_task_is_there_in_the_scans_order(view: View):
    assert view.tasks == ("string", "ioi", "repeat", "ledger")
    assert view.runs == tuple(RunId("nano-3l", seed) for seed in (0, 1, 2))
    assert len(view.pairs) == 12
    assert view.left_out == ()


def test_a_bracket_is_read_and_only_an_emergence_emerges(view: View):
    string = pair(view, 1, "string")
    assert string.outcome is not None
    assert string.outcome.bracket == Bracket(1350, 1500)
    assert string.emerges
    found = {status: sum(p.outcome is not None and p.outcome.status is status for p in view.pairs) for status in Status}
    assert found == {Status.EMERGED: 10, Status.FROM_START: 1, Status.CENSORED: 1, Status.LOST: 0}
    assert [p.anchor for p in view.pairs if p.outcome and p.outcome.lost] == ["run-nano-3l-seed2-ioi"]


def test_heads_are_ordered_by_rank_and_causal_where_the_claims_say_so(view: View):
    string = pair(view, 1, "string")
    # the store says that effects of .402, .201 and .1005 are causal, and noise is not; their intervals are ± .06
    assert [of.head for of in string.ranking[DEN][:3]] == [Head(2, 1), Head(1, 2), Head(2, 3)]
    assert [of.causal for of in string.ranking[DEN][:4]] == [True, True, True, False]
    assert [of.head for of in string.ranking[NOI][:3]] == [Head(2, 3), Head(1, 2), Head(2, 1)]
    assert string.ranking[NOI][0].delta_p == pytest.approx(-0.402)
    assert pair(view, 1, "ioi").first_causal(DEN) is None
    assert string.ranking[DEN][0].simultaneous == pytest.approx((0.342, 0.462))
    assert string.ranking[DEN][0].control == pytest.approx(0.02)
    assert string.ranking[NOI][0].control == pytest.approx(-0.02)


def test_the_grid_is_the_mean_over_prompts(view: View):
    grid = pair(view, 1, "string").grids[DEN]
    assert grid.shape == (3, 4)
    assert grid[2, 1] == pytest.approx(0.402, abs=1e-9)  # the noise of the fixture has mean 0 over prompts


def test_signatures_stand_beside_uniform_attention(view: View):
    string = pair(view, 1, "string")
    assert string.uniform == pytest.approx(synthetic.UNIFORM)
    assert string.signatures[Head(1, 2)].label == "previous-token"
    assert string.signatures[Head(1, 2)].scores["previous_token"] == (0.36, 0.98)


def test_recovery_is_that_of_two_heads_in_both_directions(view: View):
    found = pair(view, 1, "string").recovery
    # .402 + .201 is capped at .6 in the fixture; the gap is .65 on the way there, −.65 on the way back
    assert found[DEN].k == 2
    assert found[DEN].share == pytest.approx(0.6 / 0.65)
    assert found[NOI].share == pytest.approx(0.6 / 0.65)
    assert found[NOI].gap[0] == pytest.approx(-0.65)
    assert found[NOI].low < found[NOI].share < found[NOI].high
    assert found[DEN].verdict == found[NOI].verdict == "recovered"


def test_what_is_not_recovered_is_said(view: View):
    assert pair(view, 0, "ioi").recovery[DEN].verdict == "not recovered"
    assert pair(view, 1, "repeat").recovery[DEN].verdict == "gap too small"
    assert math.isnan(pair(view, 1, "repeat").recovery[DEN].share)


def test_the_answer_names_what_emerged_and_what_did_not(view: View):
    when, which, sure = sentences.answer(view)
    assert when.startswith(
        "In 3 runs of nano-3l, 10 of 12 run–task pairs emerged: string in 3 of 3 (by steps 750 to 1,650)"
    )
    assert "1 never passed by the last step (ledger in nano-3l/seed1)" in when
    assert "1 passed at the first checkpoint (repeat in nano-3l/seed0)" in when
    assert "1 passed and failed again at the last step (ioi in nano-3l/seed2)" in when
    assert (
        "is causal in 5 of 10 patched pairs, most of all L2H2 on ledger in nano-3l/seed0, Δp +.540 [+.480, +.600]"
        in which
    )
    assert "the top 2 heads recover .877 to .923 of the gap on string and ledger" in sure
    assert "the top 2 heads are not shown to recover ioi and repeat (1 of 2)" in sure
    assert "on repeat (1 of 2) the gap is too near zero" in sure


def test_a_censored_task_is_not_given_a_step(view: View):
    ledger = pair(view, 1, "ledger")
    assert answer_of(ledger) == (
        "The task never passes by step 3,000 (.243 of the prompts solved, threshold .750): censored.",
    )
    row = next(row for row in outcomes(view.pairs).rows if row[:2] == ("nano-3l/seed1", "ledger"))
    assert row[2:5] == ("censored: never passes by 3,000", "–", "–")


def test_a_lost_task_is_said_not_to_have_lasted(view: View):
    said = answer_of(pair(view, 2, "ioi"))[0]
    assert said.startswith("The task emerges between step 750")
    assert "It fails again at step 3,000 (.500 of the prompts solved): it did not last." in said


def test_the_newest_result_wins(tmp_path: Path):
    synthetic.write(tmp_path / "old", small(effect=0.2))
    synthetic.write(tmp_path / "new", small(effect=0.4))
    found = read([Store(tmp_path / "new"), Store(tmp_path / "old")])
    assert found.pairs[0].ranking[DEN][0].delta_p == pytest.approx(0.4)
    assert len(found.pairs) == 1


def test_results_of_replaced_weights_are_left_out(tmp_path: Path):
    old = synthetic.write(tmp_path / "old", small(effect=0.2))
    new = synthetic.write(tmp_path / "new", small(effect=0.4), kinds=("effects", "heads"), branch="again")
    found = read([old, new])
    only = found.pairs[0]
    assert only.ranking[DEN][0].delta_p == pytest.approx(0.4)
    assert only.outcome is None  # the scan saw the replaced weights
    assert only.joint == ()
    assert {reason.split(" of ")[0] for reason in found.left_out} >= {"emergence", "joint", "patterns"}


def test_results_between_other_checkpoints_are_not_mixed_in(tmp_path: Path):
    store = synthetic.write(tmp_path, small())
    later = Suite("tiny", 2, 2, {"string": {0: Plan("emerged", 900, ("L1H0",), 0.3)}}, prompts=4)
    synthetic.write(tmp_path, later, kinds=("effects", "heads"))
    only = read([store]).pairs[0]
    assert only.ends is not None
    assert (only.ends.pre, only.ends.post) == (750, 900)
    assert only.joint == ()
    assert only.patterns is None


def test_evaluations_alone_give_a_curve(tmp_path: Path):
    only = read([synthetic.write(tmp_path, small(), kinds=("evaluations",))]).pairs[0]
    assert only.outcome is None
    assert only.curve is not None
    assert only.curve.steps == (0, 450, 600)
    assert answer_of(only) == ("No scan of this run and task is stored, so when it emerged is not known.",)


def test_runs_whose_names_look_alike_get_anchors_of_their_own(tmp_path: Path):
    first, second = small(task="a b"), small(task="a-b")
    both = Suite("tiny", 2, 2, first.plans | second.plans, prompts=4)
    anchors = [of.anchor for of in read([synthetic.write(tmp_path, both)]).pairs]
    assert anchors == ["run-tiny-seed0-a-b", "run-tiny-seed0-a-b-2"]


def test_few_heads_of_many_are_in_the_table(tmp_path: Path):
    plan = Plan("emerged", 600, ("L5H3",), 0.4)
    wide = Suite("tiny", 12, 12, {"string": {None: plan}}, prompts=2)
    only = read([synthetic.write(tmp_path, wide, kinds=("heads", "signatures"))]).pairs[0]
    table = heads(only)
    assert table is not None
    assert HEADS_SHOWN <= len(table.rows) <= 2 * HEADS_SHOWN
    assert len(table.rows) + hidden(only) == 144
    assert table.rows[0][0] == "L5H3"


@pytest.mark.parametrize("kinds", [("prompts",), ("signatures",)])
def test_a_store_without_results_is_refused_with_what_it_holds(tmp_path: Path, kinds: tuple[str, ...]):
    store = synthetic.write(tmp_path, small(), kinds=kinds)
    with pytest.raises(InputError, match=rf"nothing to report: .* holds \d+ {kinds[0]} tables?; needed"):
        read([store])


def test_an_empty_store_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="holds no results"):
        read([Store(tmp_path)])
