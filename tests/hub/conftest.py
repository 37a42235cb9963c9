"""A local Hub that the real client of this process speaks to; caches of its own; no token of the machine."""

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from interp.suites import connection
from tests.hub.server import HubServer


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with HubServer() as server:
        point_to(server.endpoint, tmp_path, monkeypatch)
        yield server
        huggingface_hub.close_session()


def point_to(endpoint: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the client of this process speak to `endpoint`, with its caches under a folder."""
    huggingface_hub.close_session()
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(folder / "token"))
    monkeypatch.setattr(constants, "AGENT_HARNESSES_PATH", str(folder / "harnesses.json"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("INTERP_CACHE", str(folder / "interp"))
    # six tries, as for users, but with short waits
    monkeypatch.setattr(connection, "PATIENCE", connection.Patience(tries=6, first=0.01, longest=0.05))
