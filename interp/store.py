"""Results as immutable Parquet files under a content key, with the facts of the run inside them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from interp.values import InputError

_FACTS = b"interp.facts"
# the facts that tell stored tables of one kind apart
_APART = ("suite", "seed", "task", "role", "step", "pre", "post", "prompts")


def content_key(made_from: Mapping[str, Any]) -> str:
    """Sha256 (24 hex digits) of what a result is made from, independent of the order of the names."""
    plain = json.loads(json.dumps(made_from, allow_nan=False))  # as it is read back: numbers that are names are texts
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Result:
    """A stored table, the values it is keyed by, and the facts that stand beside it."""

    kind: str
    key: str
    made_from: Mapping[str, Any]
    facts: Mapping[str, Any]
    frame: pd.DataFrame


class Store:
    """A folder `<kind>/<key>.parquet`; a file that is there is complete, and is never written again."""

    def __init__(self, root: str | Path):
        if not str(root):
            raise InputError("the store's path is empty; needed: a folder (. is the working folder)")
        self.root = Path(root)

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def path(self, kind: str, made_from: Mapping[str, Any]) -> Path:
        """Where the table of this kind made from these values lies, or would lie."""
        return self.root / kind / f"{content_key(made_from)}.parquet"

    def cached(
        self,
        kind: str,
        made_from: Mapping[str, Any],
        facts: Mapping[str, Any],
        compute: Callable[[], pd.DataFrame],
    ) -> pd.DataFrame:
        """The stored table, or the computed one after it is stored."""
        path = self.path(kind, made_from)
        if not path.exists():
            self._write(path, kind, made_from, facts, compute())
        return _read(path).frame

    def results(self, kind: str) -> Iterator[Result]:
        """Every stored table of a kind, oldest first."""
        paths = sorted((self.root / kind).glob("*.parquet"))
        yield from sorted(map(_read, paths), key=lambda result: (result.facts["made"], result.key))

    def check_readable(self) -> None:
        """Raise `InputError` unless something was stored here."""
        if not any(self.root.glob("*/*.parquet")):
            found = "there is no such folder" if not self.root.is_dir() else "it holds no results"
            raise InputError(f"{self.root} is not a store: {found}; needed: a folder that scan or patch wrote to")

    def table(self, kind: str) -> pd.DataFrame:
        """Every stored table of a kind as one frame; what tells them apart (suite, seed, task, step …) stands in front.

        `key` names the stored file, `made` says when: where settings changed in between, a run can be there more than
        once. Empty where nothing of the kind is stored.
        """
        found = []
        for result in self.results(kind):
            known = {name: result.facts[name] for name in _APART if name in result.facts and name not in result.frame}
            known |= {"made": result.facts["made"], "key": result.key}
            found.append(pd.DataFrame(known, index=result.frame.index).join(result.frame))
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame()

    def check_writable(self) -> None:
        """Raise `InputError` unless files can be written here."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root):
                return
        except OSError as error:
            raise InputError(f"the store {self.root} cannot be written: {error.strerror}") from error

    def _write(
        self,
        path: Path,
        kind: str,
        made_from: Mapping[str, Any],
        facts: Mapping[str, Any],
        frame: pd.DataFrame,
    ) -> None:
        made = datetime.now(UTC).isoformat(timespec="microseconds")
        table = pa.Table.from_pandas(frame, preserve_index=False)
        facts = {**facts, "made": made}
        record = {"kind": kind, "made_from": dict(made_from), "facts": facts, "columns": table.column_names}
        encoded = json.dumps(record, ensure_ascii=False).encode()
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _FACTS: encoded})
        self.check_writable()
        path.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(handle)
        try:
            pq.write_table(table, name, compression="zstd")
            os.replace(name, path)
        except OSError as error:
            raise InputError(
                f"the store {self.root} cannot be written: {error}; what was stored before is whole"
            ) from error
        finally:
            Path(name).unlink(missing_ok=True)


def _read(path: Path) -> Result:
    try:
        table = pq.read_table(path)
        record = json.loads((table.schema.metadata or {})[_FACTS])
        _check(record, path, table)
        frame = table.to_pandas()
    except Exception as error:  # bytes that are no table can raise anything
        raise InputError(
            f"{path} is not a result of interp's store ({error}); delete it to have it computed again"
        ) from error
    return Result(record["kind"], path.stem, record["made_from"], record["facts"], frame)


def _check(record: Any, path: Path, table: pa.Table) -> None:
    """Raise `ValueError` unless a file's metadata are those of the result that its name and its table say it is."""
    if not isinstance(record, dict) or not all(isinstance(record.get(name), dict) for name in ("made_from", "facts")):
        raise ValueError("its metadata are not those of a result")
    if record.get("kind") != path.parent.name or content_key(record["made_from"]) != path.stem:
        raise ValueError("its name is not that of the result in it")
    if not isinstance(record["facts"].get("made"), str):
        raise ValueError("it does not say when it was made")
    # files of the first version do not name their columns
    if record.get("columns", table.column_names) != table.column_names:
        raise ValueError("its columns are not those that were stored")
