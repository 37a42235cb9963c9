"""How values show themselves in notebooks: quickly, escaped, without a network; and errors in one line."""

import socket
import time
from html import escape
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import interp
from interp import markup
from interp.emergence import Emergence
from interp.values import Checkpoint, InputError, Prompt, PromptSet, RunId

HOSTILE = "<script>alert('x')</script>"


def shown(value: Any) -> str:
    before = time.process_time()
    html = value._repr_html_()
    assert time.process_time() - before <= 0.2
    return html


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_a_suite_and_a_run_show_their_steps(offline: None) -> None:
    suite = interp.suite("nano-3l")
    assert all(str(run.id) in shown(suite) for run in suite.runs)
    run = suite.run(1)
    assert ", ".join(f"{step:,}" for step in run.steps) in shown(run)
    assert run.at(3000).weights[:16] in shown(run.at(3000))


def test_a_run_on_the_hub_is_shown_without_asking_it(offline: None) -> None:
    suite = interp.suite("pythia-70m")
    assert "pythia-70m/seed3" in shown(suite)
    assert "not asked for yet" in shown(suite.run(3))


def test_a_checkpoint_on_the_hub_shows_its_commit() -> None:
    one = Checkpoint(
        RunId("pythia-70m", 3), 512, Path("a"), Path("a"), "f" * 64, "EleutherAI/pythia-70m-seed3", "c" * 40
    )
    assert "EleutherAI/pythia-70m-seed3" in shown(one)
    assert "c" * 40 in shown(one)


def test_every_shipped_task_shows_its_threshold_and_shortcut() -> None:
    for name in ("ioi", "string", "counting"):
        task = interp.task(name)
        html = shown(task)
        assert f"{task.threshold:.3f}" in html
        assert escape(task.shortcut) in html


def test_prompts_show_text_ids_and_answer_escaped() -> None:
    one = Prompt(HOSTILE, (0, 17, 5), 42, 0, "single")
    html = shown(PromptSet("rows", 1, "search", 0.75, 0.0, (one,) * 1000, "f" * 64, True))
    assert HOSTILE not in html
    assert escape(HOSTILE) in html
    assert "0 17 5" in html
    assert ">42<" in html
    assert ">0<" in html  # the foil's id, which is no missing one
    assert "976 more" in html  # 1000 prompts, 24 of them shown


def test_an_emergence_shows_its_bracket_and_shares() -> None:
    html = shown(Emergence("ioi", 0.75, (0, 64, 1024), (0, 64, 1024), (0.0, 0.5, 1.0)))
    assert "ioi: first emerged between 64 and 1,024; lasting emerged between 64 and 1,024" in html
    assert [html.count(word) for word in (">no<", ">yes<", "0.500")] == [2, 1, 1]


def test_effects_show_the_first_heads() -> None:
    run = interp.suite("nano-3l").run(4)
    effects = interp.patch_heads(run.at(2300), run.at(2400), "named_item", n=8)
    html = shown(effects)
    first = effects.top(1).iloc[0]
    assert html.index(first["head"]) == min(html.index(head) for head in effects.top(8)["head"])
    assert f"{first['delta_p']:+.3f}" in html


def test_a_table_without_rows_is_one_still() -> None:
    assert markup.table("nothing", ["a"], []).count("<tr>") == 1


def test_a_users_error_is_one_line_in_a_notebook() -> None:
    shell = InteractiveShell.instance()
    with capture_output() as said:
        shell.run_cell("import interp; interp.suite('nano-4l')")
    InteractiveShell.clear_instance()
    text = said.stdout + said.stderr
    assert "InputError: there is no suite or folder called 'nano-4l'; did you mean nano-3l" in text
    assert "Traceback" not in text
    assert len(text.strip().splitlines()) == 1


def test_another_error_keeps_its_frames() -> None:
    assert not hasattr(ValueError(), "_render_traceback_")
    assert InputError("x")._render_traceback_() == ["InputError: x"]
