"""The exceptions of the package, and `Problem`, the record of a peer's mistake.

Misuse by the caller raises one of these exceptions. A mistake of the peer becomes a `Problem` and
is never raised.
"""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, get_args

import attrs

from ._value import Value

ProblemKind = Literal[
    "not_json",
    "invalid_message",
    "too_long",
    "too_deep",
    "rejected",
    "defaulted",
    "skipped",
    "truncated",
]
"""What went wrong, in one word.

`not_json`: a line that is not JSON. `invalid_message`: JSON that is not a JSON-RPC 2.0 message.
`too_long`, `too_deep`: a line beyond a limit. `rejected`: a known message whose required parts are
malformed, dropped whole. `defaulted`: a malformed optional field, taken as absent. `skipped`: a
malformed list item, left out. `truncated`: an unterminated last line that is not JSON.
"""

PROBLEM_KINDS: tuple[ProblemKind, ...] = get_args(ProblemKind)


@attrs.frozen(repr=False, weakref_slot=False)
class Problem(Value):
    """Something wrong in what the peer sent.

    `line` counts the lines of the input from 1, `path` points into the message (`$.params.update`),
    `message` says what is wrong there in a few words.
    """

    line: int
    kind: ProblemKind
    path: str
    message: str


class AcpClientError(Exception):
    """The base of every exception that this package raises on purpose."""


class UnknownSessionError(AcpClientError, LookupError):
    """A session id that the store has not seen."""


class UnknownRequestError(AcpClientError, LookupError):
    """A request that is not open: it was answered, withdrawn or cancelled, or never sent."""


class UnknownPermissionError(UnknownRequestError):
    """An answer to a permission request that is not pending: answered, cancelled or never asked."""


class HandlerError(AcpClientError):
    """Raised by a handler of the agent's requests: the answer is this error."""

    def __init__(self, message: str, code: int = -32603, data: Any = None) -> None:
        """Take the fields of the JSON-RPC error object; the default code is "internal error"."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ReentryError(AcpClientError, RuntimeError):
    """A call of a store from within another call, by a signal handler or a finalizer."""


class InvalidValueError(AcpClientError, ValueError):
    """An argument that is not valid, such as an empty prompt."""


class StoredSnapshotError(AcpClientError, ValueError):
    """Bytes passed to `loads` that are not a stored snapshot, or one of a newer version."""


class RecordingError(AcpClientError):
    """A file that is not a recording, or not one of the requested format."""


def checked(value: Any, kinds: type | UnionType | tuple[type, ...], needed: str) -> Any:
    """Return a value of one of the kinds. Raises `InvalidValueError` for any other value."""
    if not isinstance(value, kinds):
        raise InvalidValueError(f"expected {needed}, not {type(value).__name__}")
    return value
