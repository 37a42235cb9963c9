"""Questions to the Hub: asked again with growing waits where that may help, answered with a value or one sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from interp.values import InputError

# what passes: the client timed out, too many requests, and a server that is down for the moment
_PASSING = {408, 429, 500, 502, 503, 504}
_TIMEOUT = 10.0

Answer = TypeVar("Answer")


class UnreachableError(InputError):
    """The Hub gives no answer: no network, offline by the user's wish, or it goes on failing."""


@dataclass(frozen=True)
class Patience:
    """How often a question is asked, and how long the waits are, in seconds; a server's Retry-After is kept to."""

    tries: int = 6
    first: float = 1.0
    longest: float = 60.0

    def wait(self, asked: int, wished: float | None) -> float:
        """Seconds to wait after the question was asked so many times."""
        return min(self.first * 2 ** (asked - 1) if wished is None else wished, self.longest)


PATIENCE = Patience()
# endpoint → until when it is taken to be out of reach, so that not every file waits for its own time-out
_NO_NETWORK: dict[str, float] = {}
_NO_NETWORK_FOR = 30.0


def hub_cache() -> Path:
    """The folder of the shared Hub cache (HF_HUB_CACHE)."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def offline() -> bool:
    """Whether requests are forbidden (HF_HUB_OFFLINE), or one has just found no network."""
    from huggingface_hub import constants

    return constants.is_offline_mode() or time.monotonic() < _NO_NETWORK.get(constants.ENDPOINT, 0.0)


def ask(path: str, repository: str) -> Any:
    """The JSON that the Hub answers at an API path of a repository.

    Raises:
        UnreachableError: no network, offline mode, or the Hub goes on failing.
        InputError: the repository is absent, private or gated.
    """
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    def once() -> Any:
        url = f"{constants.ENDPOINT}/api/models/{repository}{path}"
        response = get_session().get(url, headers=build_hf_headers(library_name="interp"), timeout=_TIMEOUT)
        hf_raise_for_status(response)
        return response.json()

    return patiently(once, repository)


def patiently(question: Callable[[], Answer], repository: str) -> Answer:
    """The answer to a question, asked again while what is wrong may pass.

    Raises:
        UnreachableError: no network, offline mode, or the Hub goes on failing.
        InputError: the repository is absent, private or gated.
    """
    for asked in range(1, PATIENCE.tries + 1):
        try:
            return question()
        except (OSError, ValueError, _http_error()) as error:
            if _no_network(error):
                _note_no_network()
                raise UnreachableError(f"the Hub cannot be reached for {repository}: {_reason(error)}") from error
            if not _may_pass(error):
                raise InputError(_sentence(error, repository)) from error
            if asked == PATIENCE.tries:
                raise UnreachableError(
                    f"the Hub failed {asked} times in a row for {repository}, last with: {_reason(error)}; try later"
                ) from error
            time.sleep(PATIENCE.wait(asked, _retry_after(error)))
    raise AssertionError("unreachable")


def _note_no_network() -> None:
    from huggingface_hub import constants

    _NO_NETWORK[constants.ENDPOINT] = time.monotonic() + _NO_NETWORK_FOR


def _http_error() -> type[Exception]:
    """The base class of the client's transport errors, whichever HTTP library it is built on."""
    from huggingface_hub import errors

    return errors.HTTPError  # pyright: ignore[reportPrivateImportUsage]


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    return None if response is None else response.status_code


def _may_pass(error: Exception) -> bool:
    from huggingface_hub.errors import LocalEntryNotFoundError

    if isinstance(error, LocalEntryNotFoundError):
        return False  # the client has asked several times itself
    if _status(error) is not None:
        return _status(error) in _PASSING
    # a transport error, a reset connection, a body that ends early
    return isinstance(error, (_http_error(), ConnectionError)) or "Consistency check failed" in str(error)


def _no_network(error: BaseException) -> bool:
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    if isinstance(error, LocalEntryNotFoundError):
        cause = error.__cause__
        return not isinstance(cause, Exception) or _status(cause) is None
    return isinstance(error, OfflineModeIsEnabled) or type(error).__name__ in ("ConnectError", "ConnectTimeout")


def _retry_after(error: Exception) -> float | None:
    response = getattr(error, "response", None)
    wished = "" if response is None else response.headers.get("Retry-After", "")
    return float(wished) if wished.strip().isdigit() else None


def _sentence(error: Exception, repository: str) -> str:
    from huggingface_hub.errors import DisabledRepoError, GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    token = "a token that may read it (HF_TOKEN, or `hf auth login`)"
    if isinstance(error, GatedRepoError):
        return f"{repository} is gated on the Hub; needed: its terms accepted there, and {token}"
    if isinstance(error, RepositoryNotFoundError):
        return f"the Hub has no repository {repository}, or it is private; needed: the right name, or {token}"
    if isinstance(error, RevisionNotFoundError):
        return f"{repository} no longer holds a commit that its branches named; {_reason(error)}"
    if isinstance(error, DisabledRepoError):
        return f"{repository} is disabled on the Hub"
    cause = error if _status(error) else (error.__cause__ or error)
    status = _status(cause) if isinstance(cause, Exception) else None
    if status in (401, 403):
        return f"the Hub refuses access to {repository} ({status}); needed: {token}"
    return f"{repository} cannot be read from the Hub: {_reason(cause)}"


def _reason(error: BaseException) -> str:
    text = str(error.__cause__ or error).strip() or type(error).__name__
    return text.splitlines()[0]
