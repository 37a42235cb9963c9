"""Results on disk: found again, whole or not there, and refused where they are broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.store import Store, content_key
from interp.values import InputError

# on a busy machine a test that is slow has not failed
any_speed = settings(deadline=None)

MADE_FROM = {"stage": ["evaluation", 1], "suite": "planted", "seed": None, "steps": [0, 1], "dtype": "float32"}
FRAME = pd.DataFrame(
    {
        "status": ["emerged", "Δp → 1"],
        "pre": pd.array([32, None], dtype="Int64"),
        "p": [0.1 + 0.2, np.nan],
        "solved": [True, False],
        "steps": [[0, 1, 2], []],
        "heads": [["L5H3"], ["L0H0", "L1H1"]],
    }
)


def forbidden() -> pd.DataFrame:
    raise AssertionError("computed again")


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_table_comes_back_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for compute in (lambda: FRAME, forbidden):
        found = store.cached("emergence", MADE_FROM, {}, compute)
        lists = ["steps", "heads"]
        pd.testing.assert_frame_equal(found.drop(columns=lists), FRAME.drop(columns=lists))
        assert [list(row) for row in found["steps"]] == [[0, 1, 2], []]
        assert [list(row) for row in found["heads"]] == [["L5H3"], ["L0H0", "L1H1"]]


def test_facts_come_back_beside_the_table(tmp_path: Path) -> None:
    facts = {"equal": [[0, 1]], "title": "größer → Δp", "seed": None, "threshold": 0.75, "versions": {"numpy": "2"}}
    Store(tmp_path).cached("emergence", MADE_FROM, facts, lambda: FRAME)
    (result,) = Store(tmp_path).results("emergence")
    assert result.made_from == MADE_FROM
    assert {name: value for name, value in result.facts.items() if name != "made"} == facts
    assert (result.kind, result.key) == ("emergence", content_key(MADE_FROM))
    assert pd.Timestamp(result.facts["made"]).tz is not None


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    first = Store(tmp_path).cached("a", MADE_FROM, {}, lambda: FRAME)
    bytes_before = (tmp_path / files(tmp_path)[0]).read_bytes()
    second = Store(tmp_path).cached("a", MADE_FROM, {"other": 1}, forbidden)
    assert first["p"].equals(second["p"])
    assert (tmp_path / files(tmp_path)[0]).read_bytes() == bytes_before


def test_kinds_and_origins_do_not_meet(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for kind in ("a", "b"):
        for step in (0, 1):
            made = store.cached(kind, {"step": step}, {}, lambda k=kind, s=step: pd.DataFrame({"x": [f"{k}{s}"]}))
            assert made["x"].tolist() == [f"{kind}{step}"]
    assert [result.frame["x"][0] for result in store.results("b")] == ["b0", "b1"]
    assert list(store.results("c")) == []


def test_results_are_told_oldest_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for step in range(12):
        store.cached("a", {"step": step}, {}, lambda: FRAME)
    assert [result.made_from["step"] for result in store.results("a")] == list(range(12))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_computation_that_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def fails() -> pd.DataFrame:
        raise error

    store = Store(tmp_path)
    with pytest.raises(error):
        store.cached("a", MADE_FROM, {}, fails)
    assert files(tmp_path) == []
    assert len(store.cached("a", MADE_FROM, {}, lambda: FRAME)) == 2


@pytest.mark.parametrize(
    ("error", "raised", "said"),
    [
        (OSError(28, "No space left on device"), InputError, "cannot be written: .*No space left on device"),
        (KeyboardInterrupt("ctrl-c"), KeyboardInterrupt, "ctrl-c"),
    ],
)
def test_a_write_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, raised: type[BaseException], said: str
) -> None:
    store, whole = Store(tmp_path), pq.write_table

    def half(table: object, where: str, **options: object) -> None:
        # until the file is whole, nobody who looks sees a result
        Path(where).write_bytes(b"PAR1 half a file")
        assert not store.path("a", MADE_FROM).exists()
        assert list(store.results("a")) == []
        raise error

    monkeypatch.setattr(pq, "write_table", half)
    with pytest.raises(raised, match=said):
        store.cached("a", MADE_FROM, {}, lambda: FRAME)
    assert files(tmp_path) == []
    monkeypatch.setattr(pq, "write_table", whole)
    assert len(store.cached("a", MADE_FROM, {}, lambda: FRAME)) == 2


@pytest.mark.parametrize("cut", ["empty", "half", "text", "foreign"])
def test_a_broken_file_is_refused_by_name(tmp_path: Path, cut: str) -> None:
    store = Store(tmp_path)
    store.cached("a", MADE_FROM, {}, lambda: FRAME)
    path = store.path("a", MADE_FROM)
    if cut == "foreign":
        FRAME[["p"]].to_parquet(path)  # Parquet, and none of ours: no facts inside
    else:
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "half": whole[: len(whole) // 2], "text": b"hello"}[cut])
    for read in (lambda: store.cached("a", MADE_FROM, {}, forbidden), lambda: list(store.results("a"))):
        with pytest.raises(InputError, match=f"{path}.*delete it") as caught:
            read()
        assert "\n" not in str(caught.value)


def altered(path: Path, change: Callable[[Any], Any]) -> None:
    """Rewrite the record inside a stored file, its table untouched."""
    table = pq.read_table(path)
    metadata = table.schema.metadata
    record = change(json.loads(metadata[b"interp.facts"]))
    pq.write_table(table.replace_schema_metadata({**metadata, b"interp.facts": json.dumps(record).encode()}), path)


WRONG: dict[str, Callable[[Any], Any]] = {
    "a list": lambda _: [],
    "nothing": lambda _: {},
    "no kind": lambda record: {name: value for name, value in record.items() if name != "kind"},
    "another kind": lambda record: record | {"kind": "b"},
    "made from a text": lambda record: record | {"made_from": "weights"},
    "made from other weights": lambda record: record | {"made_from": {"weights": "0"}},
    "no facts": lambda record: record | {"facts": None},
    "made at no time": lambda record: record | {"facts": {}},
    "made at a number": lambda record: record | {"facts": {"made": 5}},
    "other columns": lambda record: record | {"columns": ["x"]},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_with_our_metadata_and_wrong_content_is_refused_by_name(tmp_path: Path, what: str) -> None:
    store = Store(tmp_path)
    store.cached("a", MADE_FROM, {}, lambda: FRAME)
    path = store.path("a", MADE_FROM)
    altered(path, WRONG[what])
    for read in (lambda: store.cached("a", MADE_FROM, {}, forbidden), lambda: list(store.results("a"))):
        with pytest.raises(InputError, match=f"{path} is not a result of interp's store"):
            read()


def test_a_table_under_anothers_metadata_is_refused_by_name(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.cached("a", MADE_FROM, {}, lambda: FRAME)
    path = store.path("a", MADE_FROM)
    metadata = pq.read_table(path).schema.metadata
    other = pa.Table.from_pandas(FRAME[["p"]], preserve_index=False)
    pq.write_table(other.replace_schema_metadata({b"interp.facts": metadata[b"interp.facts"]}), path)
    with pytest.raises(InputError, match="its columns are not those that were stored"):
        store.cached("a", MADE_FROM, {}, forbidden)


def test_a_copy_under_another_name_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.cached("a", MADE_FROM, {}, lambda: FRAME)
    other = store.path("a", {"weights": "other"})
    other.write_bytes(store.path("a", MADE_FROM).read_bytes())
    with pytest.raises(InputError, match="its name is not that of the result in it"):
        store.cached("a", {"weights": "other"}, {}, forbidden)


def test_a_result_without_named_columns_is_read_as_before(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.cached("a", MADE_FROM, {}, lambda: FRAME)
    altered(store.path("a", MADE_FROM), lambda record: {k: v for k, v in record.items() if k != "columns"})
    assert len(store.cached("a", MADE_FROM, {}, forbidden)) == 2


def test_numbers_that_are_names_are_found_again(tmp_path: Path) -> None:
    made_from = {"steps": {10: "a", 9: "b", 100: "c"}}
    store = Store(tmp_path)
    store.cached("a", made_from, {}, lambda: FRAME)
    assert len(store.cached("a", made_from, {}, forbidden)) == 2


def test_a_place_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    # under a regular file nothing can be made, not even by root
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "store")
    with pytest.raises(InputError, match=r"file/store cannot be written: Not a directory"):
        store.check_writable()
    with pytest.raises(InputError, match="cannot be written"):
        store.cached("a", MADE_FROM, {}, lambda: FRAME)
    assert list(store.results("a")) == []


def test_looking_for_a_place_to_write_leaves_no_file(tmp_path: Path) -> None:
    Store(tmp_path / "new" / "store").check_writable()
    assert (tmp_path / "new" / "store").is_dir()
    assert files(tmp_path) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ORIGINS = st.dictionaries(st.text(min_size=1, max_size=4), VALUES, min_size=1, max_size=5)


@any_speed
@given(ORIGINS, st.randoms(use_true_random=False))
def test_a_key_does_not_depend_on_the_order_of_names(origin: dict, random) -> None:
    names = list(origin)
    random.shuffle(names)
    assert content_key({name: origin[name] for name in names}) == content_key(origin)


@any_speed
@given(ORIGINS, ORIGINS)
def test_two_origins_share_a_key_only_if_they_are_equal(one: dict, other: dict) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (content_key(one) == content_key(other)) == same


@pytest.mark.parametrize(
    "changed",
    [{"seed": 0}, {"steps": [1, 0]}, {"steps": [0, 1, 2]}, {"stage": ["evaluation", 2]}, {"dtype": "f"}, {"x": 1}],
)
def test_a_key_changes_with_any_value(changed: dict) -> None:
    assert content_key(MADE_FROM | changed) != content_key(MADE_FROM)


def test_a_key_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_key({"threshold": float("nan")})
