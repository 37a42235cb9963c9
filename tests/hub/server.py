"""A Hub on loopback, spoken to by the real huggingface_hub client: refs, revision info, resolve, a "CDN", and faults.

The CDN is the same server under another host name (`localhost` for `127.0.0.1`), so that the client treats it as a
foreign host, as it does the real one: it must not follow the redirect in its HEAD request, nor send its token there.
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

LFS_SUFFIXES = (".bin", ".safetensors")


@dataclass
class File:
    """A file of a repository: bytes in memory or on disk."""

    source: bytes | Path
    lfs: bool

    @property
    def content(self) -> bytes:
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()

    @cached_property
    def size(self) -> int:
        return len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def blob(self) -> str:
        """The git object id: of the content, or of the LFS pointer that stands in its place."""
        content = self.content
        if self.lfs:
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {self.size}\n"
            content = pointer.encode()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.lfs else self.blob


@dataclass
class Repository:
    """Branches, the commits they point at, and each commit's files."""

    name: str
    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, dict[str, File]] = field(default_factory=dict)
    private: bool = False
    gated: bool = False

    def commit(self, branch: str, files: Mapping[str, bytes | Path]) -> str:
        """Put a new commit with exactly these files on a branch; its id."""
        made = {name: File(source, name.endswith(LFS_SUFFIXES)) for name, source in files.items()}
        text = json.dumps([self.name, branch, len(self.commits), {name: file.blob for name, file in made.items()}])
        sha = hashlib.sha1(text.encode()).hexdigest()
        self.commits[sha] = made
        self.branches[branch] = sha
        return sha

    def commit_folder(self, branch: str, folder: Path, **more: bytes) -> str:
        """Put the files of a folder on a branch."""
        return self.commit(branch, {path.name: path for path in sorted(folder.iterdir())} | more)


@dataclass
class Fault:
    """What goes wrong with the requests whose `METHOD path` matches, the first `times` times.

    `kind`: a status (429, 503 …), `reset` (RST in mid-body), `close` (FIN in mid-body), `truncate` (a shorter body that
    says it is complete), `corrupt` (right length, wrong bytes), `hang`.
    """

    pattern: str
    kind: int | str
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    after: int = 100
    hit: int = 0

    def takes(self, request: str) -> bool:
        if self.hit >= self.times or re.search(self.pattern, request) is None:
            return False
        self.hit += 1
        return True


class HubServer:
    """A Hub with repositories; `endpoint` is what HF_ENDPOINT is to be. A context manager."""

    def __init__(self):
        self.repositories: dict[str, Repository] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.tokens: set[str] = set()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cdn(self) -> str:
        return f"http://localhost:{self.port}"

    def repository(self, name: str, **flags: bool) -> Repository:
        """The repository of this name, made if it is new."""
        return self.repositories.setdefault(name, Repository(name, **flags))

    def fail(self, pattern: str, kind: int | str, times: int = 1, after: int = 100, **headers: str) -> Fault:
        """Have the next matching requests go wrong; `Retry_After` in `headers` is Retry-After."""
        fault = Fault(pattern, kind, times, {name.replace("_", "-"): value for name, value in headers.items()}, after)
        self.faults.append(fault)
        return fault

    def count(self, pattern: str = "") -> int:
        """How many requests matched, as `METHOD path`."""
        return len([1 for method, path, _ in self.requests if re.search(pattern, f"{method} {path}")])

    def forget(self) -> None:
        """Start counting anew."""
        with self._lock:
            self.requests.clear()
            self.faults.clear()

    def note(self, method: str, path: str, headers: Mapping[str, str]) -> Fault | None:
        if path == "/api/agent-harnesses":  # the client's own, once a day; nothing of ours
            return None
        with self._lock:
            self.requests.append((method, path, {name.lower(): value for name, value in headers.items()}))
            return next((fault for fault in self.faults if fault.takes(f"{method} {path}")), None)

    def blob(self, sha256: str) -> File | None:
        files = (
            file for one in self.repositories.values() for commit in one.commits.values() for file in commit.values()
        )
        return next((file for file in files if file.lfs and file.sha256 == sha256), None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    hub: HubServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.hub = self.server.hub
        self.fault = self.hub.note(self.command, self.path, self.headers)  # pyright: ignore[reportArgumentType]
        if self.fault and isinstance(self.fault.kind, int):
            return self._error(self.fault.kind, "", "injected", **self.fault.headers)
        if self.fault and self.fault.kind == "hang":
            threading.Event().wait(5)
            self.close_connection = True
            return None
        path = unquote(urlsplit(self.path).path)
        for pattern, answer in _ROUTES:
            match = re.fullmatch(pattern, path)
            if match:
                return answer(self, **match.groupdict())
        return self._error(404, "", "no such page")

    def _repository(self, name: str) -> Repository | None:
        """The repository, or `None` after an answer as the Hub gives it."""
        repository = self.hub.repositories.get(name)
        given = self.headers.get("Authorization")
        if given is not None and given.removeprefix("Bearer ") not in self.hub.tokens:
            return self._error(401, "", "Invalid credentials in Authorization header")
        if repository is None or (repository.private and given is None):
            status = 401 if given is None else 404
            return self._error(status, "RepoNotFound", "Repository not found")
        if repository.gated and given is None:
            return self._error(401, "GatedRepo", f"Access to model {name} is restricted.")
        if repository.gated:
            return self._error(403, "GatedRepo", f"Access to model {name} is restricted.")
        return repository

    def _refs(self, name: str) -> None:
        repository = self._repository(name)
        if repository:
            branches = [
                {"name": branch, "ref": f"refs/heads/{branch}", "targetCommit": commit}
                for branch, commit in repository.branches.items()
            ]
            self._json({"tags": [], "branches": branches, "converts": []})

    def _info(self, name: str, revision: str) -> None:
        repository = self._repository(name)
        if repository is None:
            return None
        commit = repository.branches.get(revision, revision)
        if commit not in repository.commits:
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        siblings: list[dict[str, Any]] = []
        for file_name, file in repository.commits[commit].items():
            entry: dict[str, Any] = {"rfilename": file_name}
            if "blobs=" in self.path:
                entry |= {"size": file.size, "blobId": file.blob}
                if file.lfs:
                    entry["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": 134}
            siblings.append(entry)
        return self._json({"id": name, "sha": commit, "private": repository.private, "siblings": siblings})

    def _tree(self, name: str, revision: str) -> None:
        repository = self._repository(name)
        if repository is None:
            return None
        commit = repository.branches.get(revision, revision)
        if commit not in repository.commits:
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        entries: list[dict[str, Any]] = []
        for file_name, file in repository.commits[commit].items():
            entry: dict[str, Any] = {"type": "file", "path": file_name, "size": file.size, "oid": file.blob}
            if file.lfs:
                entry["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 134}
            entries.append(entry)
        return self._json(entries)

    def _resolve(self, name: str, revision: str, file_name: str) -> None:
        repository = self._repository(name)
        if repository is None:
            return None
        commit = repository.branches.get(revision, revision)
        if commit not in repository.commits:
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        file = repository.commits[commit].get(file_name)
        if file is None:
            return self._error(404, "EntryNotFound", "Entry not found", X_Repo_Commit=commit)
        if not file.lfs:
            return self._file(file, {"X-Repo-Commit": commit, "ETag": f'"{file.etag}"'})
        self.send_response(302)
        self.send_header("Location", f"{self.hub.cdn}/cdn/{file.sha256}?signature=abc")
        self.send_header("X-Repo-Commit", commit)
        self.send_header("X-Linked-Etag", f'"{file.etag}"')
        self.send_header("X-Linked-Size", str(file.size))
        self.send_header("Content-Length", "0")
        return self.end_headers()

    def _cdn(self, sha256: str) -> None:
        file = self.hub.blob(sha256)
        if file is None:
            return self._error(404, "", "no such blob")
        return self._file(file, {"ETag": f'"{file.etag}"'})

    def _file(self, file: File, headers: Mapping[str, str]) -> None:
        content, kind = file.content, self.fault.kind if self.fault else None
        if kind == "corrupt":
            middle = len(content) // 2
            content = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        if kind == "truncate":
            content = content[: self.fault.after]  # pyright: ignore[reportOptionalMemberAccess]
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        start = int(wanted[1]) if wanted else 0
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.command == "HEAD":
            return
        if kind in ("reset", "close"):
            self._break_off(content[start : start + self.fault.after], kind)  # pyright: ignore
            return
        self.wfile.write(content[start:])

    def _break_off(self, part: bytes, kind: str) -> None:
        self.wfile.write(part)
        self.wfile.flush()
        if kind == "reset":
            threading.Event().wait(0.1)  # let the client read the first part
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.shutdown(socket.SHUT_WR) if kind == "close" else self.connection.close()
        self.close_connection = True

    def _json(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _error(self, status: int, code: str, message: str, **headers: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", message)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        body = json.dumps({"error": message}).encode() if self.command != "HEAD" else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_NAME = r"(?P<name>[^/]+/[^/]+)"
_ROUTES = (
    (rf"/api/models/{_NAME}/refs", _Handler._refs),
    (rf"/api/models/{_NAME}/revision/(?P<revision>[^?]+)", _Handler._info),
    (rf"/api/models/{_NAME}/tree/(?P<revision>[^?]+)", _Handler._tree),
    (rf"/{_NAME}/resolve/(?P<revision>[^/]+)/(?P<file_name>.+)", _Handler._resolve),
    (r"/cdn/(?P<sha256>[0-9a-f]{64})", _Handler._cdn),
)
