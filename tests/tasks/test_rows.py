import json
from pathlib import Path
from typing import Any

import pytest

from interp.tasks import TaskTokenizer, prompts, rows, task
from interp.values import InputError

ROWS: list[dict[str, Any]] = [
    {"prompt": f"When {a} and {b} went to the store, {b} gave a drink to", "answer": f" {a}", "foil": f" {b}"}
    for a, b in [("Mary", "John"), ("Tom", "Anna"), ("Lucy", "Mark"), ("Paul", "Sara"), ("Adam", "Kate")]
]


def jsonl(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")
    return path


def csv_file(path: Path, lines: list[dict[str, Any]]) -> Path:
    text = "prompt,answer,foil\n" + "".join(f'"{r["prompt"]}",{r["answer"]},{r["foil"]}\n' for r in lines)
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_alternate_between_search_and_effect(tmp_path: Path, either: TaskTokenizer):
    path = jsonl(tmp_path / "names.jsonl", ROWS)
    search, effect = rows(path, either), rows(path, either, "effect")
    assert [p.text for p in search.prompts] == [row["prompt"] for row in ROWS[0::2]]
    assert [p.text for p in effect.prompts] == [row["prompt"] for row in ROWS[1::2]]
    assert (search.task, search.version, search.role, search.threshold, search.ceiling) == (
        "names",
        1,
        "search",
        0.75,
        0.0,
    )
    first = search.prompts[0]
    assert [either.piece(token).strip() for token in (first.answer, first.foil or 0)] == ["Mary", "John"]
    assert len(rows(path, either, n=2)) == 2
    assert len({p.layout for p in search.prompts}) == 3  # nothing is known of them, so none counts as equal


def test_csv_and_json_lines_give_the_same(tmp_path: Path, either: TaskTokenizer):
    a, b = jsonl(tmp_path / "names.jsonl", ROWS), csv_file(tmp_path / "names.csv", ROWS)
    assert rows(a, either) == rows(b, either)


def test_cells_stay_text_and_a_missing_foil_is_none(tmp_path: Path, words_apart: TaskTokenizer):
    path = tmp_path / "n.csv"
    path.write_text("prompt,answer,foil,layout\n1 2 3, 4,,a\n3 4 5, 6, 7,a\n", encoding="utf-8")
    made = [rows(path, words_apart, role).prompts[0] for role in ("search", "effect")]
    assert [words_apart.piece(p.answer) for p in made] == ["4", "6"]
    assert [p.foil is None for p in made] == [True, False]
    assert [p.layout for p in made] == ["a", "a"]


def test_a_task_file_may_name_rows_beside_it(tmp_path: Path, words_apart: TaskTokenizer):
    (tmp_path / "data").mkdir()
    jsonl(tmp_path / "data" / "names.jsonl", ROWS)
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nversion = 3\ntitle = "Mine"\nceiling = 0.5\nshortcut = "either name"\n'
        'reference = "none"\n'
        '[family]\nkind = "rows"\npath = "data/names.jsonl"\n'
    )
    made = prompts(task(file), words_apart, "search")
    assert (made.task, made.version, made.ceiling, len(made)) == ("mine", 3, 0.5, 3)
    assert made.prompts == rows(tmp_path / "data" / "names.jsonl", words_apart).prompts


def test_a_dataset_of_the_hub_is_read_through_datasets(monkeypatch: pytest.MonkeyPatch, words_apart: TaskTokenizer):
    import datasets

    asked: list[tuple[Any, ...]] = []

    def load(name: str, split: str, revision: str | None):
        asked.append((name, split, revision))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.setattr(datasets, "load_dataset", load)
    from interp.tasks.families import Rows

    made = list(Rows(kind="rows", dataset="someone/names", split="train", revision="abc").drafts())
    assert asked == [("someone/names", "train", "abc")]
    assert [draft.text for draft in made] == [row["prompt"] for row in ROWS]
    assert made[0].foil == " John"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prompt": "1 2 3"}, "row 1 has None as its answer; a text is needed"),
        ({"prompt": "1 2 3", "answer": 4}, "row 1 has 4 as its answer; a text is needed"),
        ({"prompt": "1 2 3", "answer": " 4", "foil": 5}, "row 1 has 5 as its foil; a text is needed"),
        ({"prompt": "1 2 3 ", "answer": "4"}, "ends in a space"),
        ({"prompt": "Tom has", "answer": "salt"}, "needs its leading space"),
        ({"prompt": "Tom has", "answer": " zebra"}, "holds 'zebra', which this tokenizer lacks"),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, words_apart: TaskTokenizer, row: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        rows(jsonl(tmp_path / "r.jsonl", [row]), words_apart)


def test_a_prompt_may_be_given_once(tmp_path: Path, words_apart: TaskTokenizer):
    with pytest.raises(InputError, match="rows 1 and 6 have the same prompt"):
        rows(jsonl(tmp_path / "r.jsonl", [*ROWS, ROWS[0]]), words_apart)
    spaced = ROWS[0] | {"prompt": ROWS[0]["prompt"].replace(",", " ,")}  # other text, same tokens here
    with pytest.raises(InputError, match="are the same tokens"):
        rows(jsonl(tmp_path / "r.jsonl", [ROWS[0], spaced]), words_apart, "effect")


def test_files_that_cannot_be_read(tmp_path: Path, words_apart: TaskTokenizer):
    bad = tmp_path / "r.jsonl"
    for content, message in [
        (b"{", "line 1 is not JSON"),
        (b"[1]", "no JSON object"),
        (b"\xff", "UTF-8"),
        (b"", "holds no row"),
    ]:
        bad.write_bytes(content)
        with pytest.raises(InputError, match=message):
            rows(bad, words_apart)
    with pytest.raises(InputError, match="cannot be read"):
        rows(tmp_path / "none.csv", words_apart)
    (tmp_path / "r.txt").write_text("x")
    with pytest.raises(InputError, match=r"read from \.jsonl or \.csv files, this is '\.txt'"):
        rows(tmp_path / "r.txt", words_apart)
