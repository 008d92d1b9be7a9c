"""Messages that stand alone: raw ones, and those that lost their JSON-RPC frame.

Each text of a message is passed on as it was recorded; only the frame around it is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import msgspec

from .._json import NotJson
from .directions import Directions, method_of, method_sent
from .frames import Frame, Tally, Value
from .json_slices import Members, elements, members_if_any
from .times import seconds

SESSION: Final = b'"recording"'
"""The session id, as JSON, of recordings that do not name their session."""

_NULL: Final = msgspec.Raw(b"null")
_UPDATE: Final = b'{"jsonrpc":"2.0","method":"session/update"'


def message(**parts: bytes | None) -> bytes:
    """Put a JSON-RPC message together from the texts of its members; None leaves one out."""
    inner = (b',"%s":%s' % (key.encode(), text) for key, text in parts.items() if text is not None)
    return b'{"jsonrpc":"2.0"' + b"".join(inner) + b"}"


def update_notification(session: bytes, text: bytes) -> bytes:
    """Make the notification of one session update."""
    params = b'{"sessionId":%s,"update":%s}' % (session, text)
    return message(method=b'"session/update"', params=params)


def text_of(found: Members, key: str) -> bytes | None:
    """Return the text of a member, None if it is absent or null."""
    text = bytes(found[key]) if key in found else None
    return None if text == b"null" else text


def is_message(found: Members) -> bool:
    """Return whether this is a JSON-RPC message, or one of the protocol that lacks its version."""
    if "jsonrpc" in found:
        return True
    method = method_of(found)
    if method is not None:
        return method_sent(method) is not None
    return "id" in found and found.keys() <= {"id", "result", "error"}


def is_stamped(found: Members) -> bool:
    """Return whether this is a notification with a time instead of a version."""
    return {"timestamp", "method", "params"} <= found.keys() and "jsonrpc" not in found


def is_bare(found: Members) -> bool:
    """Return whether this is an update, the parameters of one, or a call without version."""
    if "jsonrpc" in found or "id" in found:
        return False
    if "update" in found:
        return "sessionUpdate" in members_if_any(bytes(found["update"]))
    return "sessionUpdate" in found or {"method", "params"} <= found.keys()


@attrs.frozen
class RawMessages:
    """JSON-RPC messages as they went over the pipe; who wrote each is inferred."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take a message, or a batch that begins with one."""
        return is_message(found if found else _first_of_batch(data))

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Pass every value on, also what is not JSON."""
        sent = Directions().sent
        for number, data in values:
            yield Frame(number, not data.startswith(_UPDATE) and sent(data), data)


def _first_of_batch(data: bytes) -> Members:
    try:
        batch = elements(data)
    except NotJson:
        return {}
    return members_if_any(bytes(batch[0])) if batch else {}


@attrs.frozen
class Unframed:
    """Messages and updates of which some lack their JSON-RPC frame, wholly or in part."""

    known_by: Callable[[Members], bool]

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object with the keys that this row is known by."""
        return self.known_by(found)

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Put each into its frame; messages that have one are passed on."""
        inferred = Directions().sent
        for number, data in values:
            found = members_if_any(data)
            made = framed(found, data)
            if made is None:
                tally.pass_over()
            else:
                time = seconds(bytes(found.get("timestamp", _NULL)), None)
                yield Frame(number, inferred(made), made, time)


def framed(found: Members, data: bytes) -> bytes | None:
    """Return a message in its JSON-RPC frame; None for anything else."""
    if "jsonrpc" in found or data.startswith(b"["):
        return data
    if "method" in found or is_message(found):
        keys = ("id", "method", "params", "result", "error")
        return message(**{key: bytes(found[key]) for key in keys if key in found})
    if "sessionUpdate" in found:
        return update_notification(SESSION, data)
    if "update" not in found:
        return None
    if "sessionId" not in found:
        return update_notification(text_of(found, "session_id") or SESSION, bytes(found["update"]))
    return message(method=b'"session/update"', params=data)
