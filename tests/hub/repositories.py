"""Small repositories for the tests: the planted run, step by step, and steps whose weights are only bytes."""

import json
from pathlib import Path

from tests.hub.server import HubServer, Repository

CONFIG = json.dumps({"model_type": "gpt_neox", "num_hidden_layers": 1}).encode()


def planted_repository(hub: HubServer, folder: Path, name: str = "lab/planted") -> Repository:
    """The planted run as a repository: `step<N>` branches, and a `main` that holds no weights."""
    repository = hub.repository(name)
    tokenizer = {file: (folder / file).read_bytes() for file in ("tokenizer.json", "tokenizer_config.json")}
    repository.commit("main", {"README.md": b"nothing here"})
    for step in sorted((folder / "seed0").iterdir(), key=lambda path: int(path.name.removeprefix("step"))):
        repository.commit_folder(step.name, step, **tokenizer)
    return repository


def byte_repository(hub: HubServer, weights: dict[int, bytes | None], name: str = "lab/bytes") -> Repository:
    """A repository whose weights are these bytes; `None` is a branch without weights."""
    repository = hub.repository(name)
    for step, content in weights.items():
        files = {"config.json": CONFIG, "tokenizer.json": b"{}"}
        repository.commit(f"step{step}", files | ({} if content is None else {"model.safetensors": content}))
    return repository
