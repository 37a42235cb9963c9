"""A run whose checkpoints are the step branches of a repository on the Hub."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from interp.suites.branches import STEP, numbered
from interp.suites.connection import UnreachableError, ask
from interp.suites.disk import Disk, repository_folder, snapshot
from interp.suites.download import TOKENIZER, bring, fetch, files_of, needed, to_download
from interp.suites.folder import cached_branches
from interp.suites.integrity import combined, weight_names
from interp.suites.ledger import Ledger, RemoteFile
from interp.suites.suite import Run
from interp.values import Checkpoint, InputError, RunId

_MOST_PREFETCHED = 2
_TOKENIZERS_TRIED = 5


@dataclass(frozen=True)
class HubRun(Run):
    """A run on the Hub: branches → commits by one request, a commit's files by one more when it is first visited.

    `pattern` says which branches are steps (the first group is the number). Nothing is asked for before it is needed.
    """

    id: RunId
    repository: str
    pattern: str = STEP
    disk: Disk = field(default_factory=Disk, compare=False)
    said: tuple[str, ...] = ()
    _files: dict[str, dict[str, RemoteFile]] = field(default_factory=dict, compare=False, repr=False)
    _prefetching: dict[str, threading.Thread] = field(default_factory=dict, compare=False, repr=False)
    place = "branch"

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_prefetching": {}}  # threads are of one process

    @cached_property
    def commits(self) -> dict[int, str]:
        """Step → commit, as the Hub says now, or as it last said where it cannot be reached."""
        ledger = Ledger(self.repository)
        try:
            answer = ask("/refs", self.repository)
        except UnreachableError as error:
            return self._remembered(ledger, error)
        branches = {branch["name"]: branch["targetCommit"] for branch in answer["branches"]}
        ledger.remember_branches(branches)
        return self._steps(branches)

    def _remembered(self, ledger: Ledger, error: UnreachableError) -> dict[int, str]:
        branches = ledger.branches()
        if branches is not None:
            return self._steps(branches)
        steps = cached_branches(repository_folder(self.repository))
        if not steps:
            raise InputError(f"{error}; the steps of {self.repository} were never listed on this machine")
        return steps

    def _steps(self, branches: Mapping[str, str]) -> dict[int, str]:
        steps = numbered(branches, self.pattern, self.repository)
        if not steps:
            found = ", ".join(sorted(branches)[:8]) or "none"
            raise InputError(
                f"{self.repository} has no branches that name steps; found: {found}; needed: step<N>, checkpoint-<N> "
                "or step<N>-tokens<M>B"
            )
        return {step: branches[name] for step, name in steps.items()}

    @property
    def steps(self) -> tuple[int, ...]:
        """See `Run.steps`."""
        holes = set(self.missing)
        return tuple(step for step in self.commits if step not in holes)

    @property
    def missing(self) -> tuple[int, ...]:
        """See `Run.missing`: the holes among the steps visited so far, by anyone on this machine."""
        return tuple(step for step in self._visited() if self._weights(step) is None)

    @property
    def known(self) -> Mapping[int, str]:
        """See `Run.known`: the steps visited so far, by anyone on this machine."""
        weights = {step: self._weights(step) for step in self._visited()}
        return {step: found for step, found in weights.items() if found is not None}

    @property
    def notes(self) -> tuple[str, ...]:
        """See `Run.notes`."""
        return self.said

    def _visited(self) -> list[int]:
        if not self._files:
            ledger = Ledger(self.repository)
            remembered = {commit: ledger.files(commit) for commit in self.commits.values()}
            self._files.update({commit: files for commit, files in remembered.items() if files is not None})
        return [step for step, commit in self.commits.items() if commit in self._files]

    def files(self, step: int) -> dict[str, RemoteFile]:
        """The files at a step, as the Hub describes them: one request, once."""
        commit = self.commits[step]
        if commit not in self._files:
            self._visited()
            self._files[commit] = files_of(self.repository, commit)
        return self._files[commit]

    def _weights(self, step: int) -> str | None:
        files = self.files(step)
        names = weight_names(files)
        return combined([files[name].identity for name in names]) if names and "config.json" in files else None

    def at(self, step: int) -> Checkpoint:
        """See `Run.at`; one request where the step was never visited, and no file is brought."""
        if step not in self.commits:
            raise self.no_step(step)
        weights = self._weights(step)
        if weights is None:
            raise self.no_step(step)
        commit = self.commits[step]
        folder = snapshot(self.repository, commit)
        tokenizer = folder if "tokenizer.json" in self.files(step) else self.tokenizer
        return Checkpoint(self.id, step, folder, tokenizer, weights, self.repository, commit)

    @cached_property
    def tokenizer(self) -> Path:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See `Run.tokenizer`: that of the last step that has one; its files are brought."""
        commit = self.commits[self._tokenizer_step]
        return self._bring_tokenizer(commit)

    @cached_property
    def _tokenizer_step(self) -> int:
        for step in list(reversed(self.commits))[:_TOKENIZERS_TRIED]:
            if "tokenizer.json" in self.files(step):
                return step
        raise InputError(f"{self.repository} has no tokenizer.json at its last {_TOKENIZERS_TRIED} steps")

    def _bring_tokenizer(self, commit: str) -> Path:
        names = tuple(name for name in TOKENIZER if name in files_of(self.repository, commit))
        bring(self.repository, commit, names, self.disk)
        return snapshot(self.repository, commit)

    def _check_tokenizer(self, step: int) -> None:
        """A step's own tokenizer must give the ids of the run's: the prompts are made with that one."""
        own, run = self.files(step).get("tokenizer.json"), self.files(self._tokenizer_step)["tokenizer.json"]
        if own is None or own.identity == run.identity:
            return
        folders = self._bring_tokenizer(self.commits[step]), self.tokenizer
        one, other = (json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")) for folder in folders)
        if any(one.get(part) != other.get(part) for part in ("model", "added_tokens", "normalizer", "pre_tokenizer")):
            raise InputError(f"{self.id}: the tokenizer at step {step} is not that of step {self._tokenizer_step}")

    def fetch(self, checkpoint: Checkpoint) -> None:
        """See `Run.fetch`."""
        self._check_tokenizer(checkpoint.step)
        fetch(checkpoint, self.disk)

    def pin(self, steps: Iterable[int]) -> None:
        """See `Run.pin`."""
        self.disk.pinned[self.repository] = {self.commits[step] for step in steps}

    def prefetch(self, steps: Iterable[int]) -> None:
        """See `Run.prefetch`: at most two at a time, and nothing is removed to make room for a guess."""
        for step in steps:
            alive = [thread for thread in self._prefetching.values() if thread.is_alive()]
            commit = self.commits[step]
            if commit in self._prefetching or len(alive) >= _MOST_PREFETCHED:
                continue
            # a daemon: an interrupted command does not wait for a guess
            thread = threading.Thread(target=self._prefetch, args=(step,), daemon=True)
            self._prefetching[commit] = thread
            thread.start()

    def _prefetch(self, step: int) -> None:
        try:
            names = needed(self.files(step))
            if self._weights(step) is not None:
                bring(self.repository, self.commits[step], names, self.disk, evict=False)
        except InputError:
            return  # it is met again, and told, if the step is visited

    def to_download(self, step: int) -> int:
        """Bytes that visiting a step would download; 0 for a hole."""
        if self._weights(step) is None:
            return 0
        return to_download(self.repository, self.commits[step], needed(self.files(step)))

    @property
    def size(self) -> int:
        """Bytes of the weights at the last step that has any: an estimate for every step."""
        for step in reversed(self.steps):
            if self._weights(step) is not None:
                files = self.files(step)
                return sum(files[name].size for name in weight_names(files))
        return 0

    def estimate(self, visits: int) -> int:
        """The most bytes that so many visits download, given what is on disk."""
        here = sum(self.to_download(step) == 0 for step in self.known)
        return max(0, min(visits, len(self.steps)) - here) * self.size

    def __repr__(self) -> str:
        return f"HubRun({self.id}, {self.repository})"
