from collections.abc import Callable
from pathlib import Path

import pytest

from interp.tasks import parse, prompts, task, task_names
from interp.tasks.tokens import tokenizer
from interp.tasks.words import Words, find_folder, word_list
from interp.values import InputError
from tests.tasks.tokenizers_for_tests import write_word_level

WriteTask = Callable[..., Path]


def fault(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        task(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert caught.value.__cause__ is not None
    return message.removeprefix(f"{path}: ")


def test_a_file_of_ones_own_is_read(task_file: WriteTask, words_apart):
    mine = task(task_file())
    assert (mine.name, mine.ceiling, mine.family.kind) == ("mine", 0.5, "repetition")
    assert task(str(task_file())) == mine
    assert len(prompts(mine, words_apart, "effect", 16)) == 16
    with pytest.raises(ValueError, match="frozen"):
        mine.name = "other"


def test_the_threshold_is_075_unless_said(task_file: WriteTask):
    assert task(task_file("threshold = 0.75\n", "")).threshold == 0.75


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lead =", "led =", "key 'family.led' is unknown: did you mean lead?"),
        ("title =", "titel =", "key 'title' is missing (and 1 more)"),
        (
            'title = "Mine"',
            'title = "Mine"\nauthor = "me"',
            "key 'author' is unknown: known: ceiling, family, name",
        ),
        ("version = 1", 'version = "1"', "key 'version' is '1', but it should be a valid integer"),
        ("version = 1", "version = 0", "key 'version' is 0, but it should be greater than or equal to 1"),
        (
            "version = 1",
            "version = 2024-01-01",
            "key 'version' is '2024-01-01', but it should be a valid integer",
        ),
        ("k = [5, 8]", "k = 5", "key 'family.k' is 5, but it should be a valid array"),
        ("k = [5, 8]", "k = [5, 1]", "key 'family.k.1' is 1, but it should be greater than or equal to 2"),
        ("k = [5, 8]", "k = []", "key 'family.k' is [], but tuple should have at least 1 item"),
        ("threshold = 0.75", "threshold = 0.5", "threshold 0.5 does not lie above the shortcut ceiling 0.5"),
        (
            "threshold = 0.75",
            "threshold = 1.5",
            "key 'threshold' is 1.5, but it should be less than or equal to 1",
        ),
        (
            '"repetition"',
            '"repetiton"',
            "'family.kind' is 'repetiton', which is no family: did you mean repetition?",
        ),
        ('kind = "repetition"\n', "", "key 'family.kind' is missing; known: binding, counting, cycle"),
        ("[family]", "[famly]", "key 'family' is missing"),
        ('lead = "fillers"', "", "a lead-in is needed before a string"),
        ("k = [5, 8]", "k = [40]", "these settings allow no prompt: no k in [40] fits lengths [30]"),
        ("k = [5, 8]", "k = [5, 8]\ncontext = 2", "context = 2 needs distinct = false"),
        ("k = [5, 8]", "k = [5, 8]\nbetween = 'newline'", "takes no lead-in"),
        (
            "",
            "\n[single]\nprompt = 'a'\nanswer = ' b'\nfoils = ' c'",
            "key 'single.foils' is unknown: did you mean foil?",
        ),
        ("", "\n[single]\nprompt = 'a'", "key 'single.answer' is missing"),
        ("[family]", "[family", "is not a TOML file"),
    ],
)
def test_faults_are_one_sentence_with_file_key_found_and_needed(task_file: WriteTask, old: str, new: str, message: str):
    assert message in fault(task_file(old, new))


def test_a_file_that_is_not_there(tmp_path: Path):
    assert "cannot be read" in fault(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (
            'kind = "binding"\nnames = "names"\nitems = "things"\nretold = [4]\nlength = 12\nlead = "a"',
            "is too short",
        ),
        (
            'kind = "cycle"\nsymbols = "things"\nperiods = [9]\nbeyond = 0\nlength = 12\nlead = "fillers"',
            "is too short",
        ),
        (
            'kind = "numbered_list"\nsymbols = "things"\nlines = [3]\nwords_per_line = [1]\n'
            "starts = [7]\nlengths = [12]",
            "numbers up to 9",
        ),
        (
            'kind = "counting"\nsteps = [0]\nterms = [4]\nearlier = [0]\nearlier_terms = [4]',
            "step 0 does not count",
        ),
        (
            'kind = "counting"\nsteps = [3]\nterms = [4]\nearlier = [0]\nearlier_terms = [4]',
            "step 3 leaves the digits",
        ),
        ("kind = 'rows'", "either 'path' (a file) or 'dataset'"),
        ("kind = 'rows'\npath = 'a.csv'\ndataset = 'b/c'", "either 'path' (a file) or 'dataset'"),
    ],
)
def test_settings_that_allow_nothing_are_refused(task_file: WriteTask, family: str, message: str):
    sound = task_file().read_text(encoding="utf-8")
    start = sound.index("kind =")
    assert message in fault(task_file(sound[start:], family + "\n"))


GOOD = "When {first} and {second} went to the {place}, {giver} gave a {object} to"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (GOOD.replace("{place}", "store"), "must name each of"),
        (GOOD.replace("{place}", "{place!r}"), "must name each of"),
        (GOOD.replace("{place}", "{place.__class__}"), "must name each of"),
        (GOOD.replace("{place}", "{giver}"), "must name each of"),
        (GOOD.replace("{place}", "{place"), "unbalanced braces"),
        (GOOD.removeprefix("When "), "must follow a space"),
        (GOOD + " ", "ends in a space; write '" + GOOD + "'"),
    ],
)
def test_templates_name_their_parts_and_nothing_else(task_file: WriteTask, template: str, message: str):
    sound = task_file().read_text(encoding="utf-8")
    head = 'kind = "indirect_object"\nnames = "names"\nplaces = "places"\nobjects = "objects"\n'
    assert message in fault(task_file(sound[sound.index("kind =") :], f'{head}templates = ["{template}"]\n'))


def test_an_unknown_task_gets_the_nearest_names():
    with pytest.raises(InputError, match=r"'strnig' is no task .*: did you mean string"):
        task("strnig")
    with pytest.raises(InputError, match=r"'strnig' is no task"):
        parse("strnig:single")


def test_a_command_line_names_a_task_and_its_form(task_file: WriteTask):
    assert parse("string") == (task("string"), "many")
    assert parse("string:single") == (task("string"), "single")
    assert parse(str(task_file())) == (task(task_file()), "many")
    with pytest.raises(InputError, match="'string:one' names no form of a task; write 'string' or 'string:single'"):
        parse("string:one")
    with pytest.raises(InputError, match="'pattern' has no single prompt; write 'pattern'"):
        parse("pattern:single")


def test_task_files_are_found_in_a_wheel_and_in_a_source_tree(tmp_path: Path):
    package = tmp_path / "somewhere" / "interp"
    package.mkdir(parents=True)
    with pytest.raises(InputError, match="no task files found"):
        find_folder(package)
    beside = package.parent / "tasks"
    (beside / "words").mkdir(parents=True)
    assert find_folder(package) == beside
    inside = package / "_tasks"
    (inside / "words").mkdir(parents=True)
    assert find_folder(package) == inside  # in site-packages, a folder `tasks` beside it is someone else's


def test_every_shipped_file_is_a_task():
    folder = Path(__file__).resolve().parents[2] / "tasks"
    assert {path.stem for path in folder.glob("*.toml")} == set(task_names())


def test_word_lists():
    assert word_list("digits") == tuple("0123456789")
    assert word_list("things")[:2] == ("salt", "bear")
    for name in ("things", "fillers", "names", "objects", "places"):
        assert len(set(word_list(name))) == len(word_list(name)) >= 20
    assert not set(word_list("things")) & set(word_list("fillers"))
    with pytest.raises(InputError, match=r"'thing' is no word list: did you mean things"):
        word_list("thing")


def test_words_are_filtered_by_the_tokenizer_and_refused_if_too_few_are_left(tmp_path: Path):
    few = tokenizer(write_word_level(tmp_path, leave_out=word_list("things")[10:]))
    words = Words(few)
    assert words.usable("things", 10) == word_list("things")[:10]
    with pytest.raises(InputError, match="'things': 10 of 80 words are one token after a space, 13 are needed"):
        words.usable("things", 13)
    with pytest.raises(InputError, match="task 'string': word list 'things': 10 of 80 words"):
        prompts(task("string"), few, "search")
    made = prompts(task("named_item"), few, "search", 8)  # three words are enough
    assert all(few.piece(prompt.answer) in word_list("things")[:10] for prompt in made.prompts)


def test_importing_tasks_loads_no_heavy_library():
    import subprocess
    import sys

    code = (
        "import sys, interp.tasks as t; t.task('string');"
        "print([m for m in ('torch', 'transformers', 'tokenizers', 'datasets') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
