"""Room for downloads: sizes in words, a budget for what interp downloads, and what may go to make room."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition

from interp.suites.connection import hub_cache
from interp.suites.ledger import Ledger, check_commit
from interp.values import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True)
class Kept:
    """One checkpoint's weight files on this disk: their bytes, and whether interp downloaded them."""

    repository: str
    commit: str
    names: tuple[str, ...]
    size: int
    ours: bool
    used: float


@dataclass
class Disk:
    """How many bytes of weights downloaded by interp may lie in the Hub cache; `None`: as many as fit.

    `pinned`: repository → commits (the ends of its brackets) that are never removed to make room.
    """

    budget: int | None = None
    pinned: dict[str, set[str]] = field(default_factory=dict)
    _coming: dict[str, int] = field(default_factory=dict, repr=False)
    _changed: Condition = field(default_factory=Condition, repr=False)

    def __reduce__(self) -> tuple[type[Disk], tuple[int | None, dict[str, set[str]]]]:
        return Disk, (self.budget, self.pinned)  # a lock is of one process

    @contextmanager
    def room(self, commit: str, size: int, evict: bool = True) -> Iterator[None]:
        """While it lasts, so many more bytes of this commit have their place; others do not get it.

        Our own unpinned checkpoints are removed for them, oldest use first; none is where `evict` is false.

        Raises:
            InputError: they do not fit even so, into the budget or onto the disk.
        """
        with self._changed:
            while size:
                problem = self._make_room(commit, size, evict)
                if problem is None:
                    break
                if not self._coming or not evict:
                    raise InputError(problem)
                self._changed.wait()  # what is coming now can be removed once it is there
            self._coming[commit] = size
        try:
            yield
        finally:
            with self._changed:
                del self._coming[commit]
                self._changed.notify_all()

    def _make_room(self, commit: str, size: int, evict: bool) -> str | None:
        """Why so many more bytes do not fit, or `None`."""
        size += sum(self._coming.values())
        free = free_space()
        if size > free:
            return (
                f"{in_words(size)} are to be downloaded to {hub_cache()}, and {in_words(free)} are free; make room "
                "(interp cache prune) or choose another folder in HF_HUB_CACHE"
            )
        if self.budget is None:
            return None
        ours = sorted((one for one in kept() if one.ours), key=lambda one: one.used)
        total = sum(one.size for one in ours) + size
        for one in ours:
            if total <= self.budget or not evict:
                break
            if one.commit not in {commit, *self._coming} and one.commit not in self.pinned.get(one.repository, ()):
                remove(one)
                total -= one.size
        if total <= self.budget:
            return None
        return (
            f"the disk budget of {in_words(self.budget)} is too small: the checkpoints that must stay and the "
            f"next one are {in_words(total)}"
        )


def kept() -> Iterator[Kept]:
    """Every checkpoint whose weights were found good on this disk by interp, and still lie there."""
    for ledger in Ledger.all():
        for commit in ledger.commits_held():
            yield from _kept(ledger, commit)


def _kept(ledger: Ledger, commit: str) -> Iterator[Kept]:
    folder = snapshot(ledger.repository, commit)
    weights = {
        name: file
        for name, file in ledger.held(commit).items()
        if name.endswith((".safetensors", ".bin")) and (folder / name).exists()
    }
    for ours in (True, False):
        chosen = {name: file for name, file in weights.items() if file.ours == ours}
        if chosen:
            size, used = sum(file.size for file in chosen.values()), max(file.used for file in chosen.values())
            yield Kept(ledger.repository, commit, tuple(chosen), size, ours, used)


def snapshot(repository: str, commit: str) -> Path:
    """The folder of a commit's files in the Hub cache."""
    return repository_folder(repository) / "snapshots" / check_commit(commit)


def repository_folder(repository: str) -> Path:
    """The folder of a repository in the Hub cache."""
    return hub_cache() / f"models--{repository.replace('/', '--')}"


def remove(one: Kept) -> int:
    """Remove a checkpoint's weight files from the Hub cache; the bytes that this freed.

    A blob that other commits point at stays.
    """
    folder, freed = snapshot(one.repository, one.commit), 0
    ledger = Ledger(one.repository)
    for name in one.names:
        pointer = folder / name
        blob = pointer.resolve() if pointer.is_symlink() else None
        pointer.unlink(missing_ok=True)
        if blob is None:
            freed += one.size
        elif blob.is_file() and not _pointed_at(repository_folder(one.repository), blob):
            freed += blob.stat().st_size
            blob.unlink()
    ledger.remember_held(one.commit, {n: file for n, file in ledger.held(one.commit).items() if n not in one.names})
    return freed


def _pointed_at(repository: Path, blob: Path) -> bool:
    pointers = (path for path in (repository / "snapshots").glob("*/*") if path.is_symlink())
    return any(path.resolve() == blob for path in pointers)


def free_space() -> int:
    """Bytes free where the Hub cache lies, or will lie."""
    folder = hub_cache().absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def parse_size(text: str) -> int:
    """The bytes that a text such as `20GB`, `500 MB` or `1.5T` means (powers of ten)."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text, re.IGNORECASE)
    if match is None:
        raise InputError(f"'{text}' is not a size; write it like 20GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def in_words(size: int) -> str:
    """A number of bytes as a person reads it."""
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def sizes(ours: bool) -> int:
    """Bytes of all checkpoints that interp downloaded, or of those it used and did not download."""
    return sum(one.size for one in kept() if one.ours == ours)
