"""Formats that took messages apart: their JSON-RPC form is put together again.

Each text of a message is passed on as it was recorded; only the frame around it is ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import msgspec

from .directions import Directions, call_sent, method_of, method_sent, word_sent
from .frames import Frame, Tally, Value
from .json_slices import Members, NotJson, members, members_if_any, string
from .times import SECONDS, date_and_time, seconds

SESSION: Final = b'"recording"'
"""The session id, as JSON, of recordings that do not name their session."""

_NULL: Final = msgspec.Raw(b"null")


def message(**parts: bytes | None) -> bytes:
    """Put a JSON-RPC message together from the texts of its members; None leaves one out."""
    inner = (b',"%s":%s' % (key.encode(), text) for key, text in parts.items() if text is not None)
    return b'{"jsonrpc":"2.0"' + b"".join(inner) + b"}"


def update_notification(session: bytes, text: bytes) -> bytes:
    """Make the notification of one session update."""
    params = b'{"sessionId":%s,"update":%s}' % (session, text)
    return message(method=b'"session/update"', params=params)


def text_of(found: Members, key: str) -> bytes | None:
    """Give the text of a member, None if it is absent or null."""
    text = bytes(found[key]) if key in found else None
    return None if text == b"null" else text


@attrs.frozen
class CopiedLog:
    """Zed's log as its copy button gives it: one array, results and errors under `params`."""

    name: str
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object with both of the log's own keys."""
        return {"_direction", "_type"} <= found.keys()

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Put each message together again; pass over other kinds, such as the agent's stderr."""
        for number, data in values:
            try:
                found = members(data)
                sent = word_sent(string(bytes(found["_direction"])))
                made = self._message(found)
            except (NotJson, KeyError):
                sent = made = None
            if sent is None or made is None:
                tally.pass_over()
            else:
                yield Frame(number, sent, made)

    def _message(self, found: Members) -> bytes | None:
        kind = string(bytes(found["_type"]))
        params = text_of(found, "params")
        if kind == "notification":
            return message(method=bytes(found["method"]), params=params)
        if kind == "request":
            return message(id=bytes(found["id"]), method=bytes(found["method"]), params=params)
        if kind != "response":
            return None
        if params is not None and _is_error(params):
            return message(id=bytes(found["id"]), error=params)
        return message(id=bytes(found["id"]), result=params or b"null")


def _is_error(text: bytes) -> bool:
    """Tell an error from a result by its keys; no result of the protocol has both of these."""
    found = members_if_any(text)
    return {"code", "message"} <= found.keys() <= {"code", "message", "data"}


@attrs.frozen
class HopTrace:
    """The trace of the Rust conductor: every hop of a chain of client, proxies and agent.

    Each message is there once a hop; the client's own hop is the conversation that it had.
    """

    name: str
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an event with its ends and what it needs to be a message."""
        return {"type", "from", "to"} <= found.keys() and (
            "method" in found or {"is_error", "payload"} <= found.keys()
        )

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Give what the client wrote or was sent; pass over the other hops, and what is not ACP."""
        client: str | None = None
        for number, data in values:
            try:
                found = members(data)
                ends = string(bytes(found["from"])), string(bytes(found["to"]))
                made = self._message(found)
            except (NotJson, KeyError):
                ends, made = ("", ""), None
            if client is None and made is not None and call_sent(made):
                client = ends[0]
            if made is None or (client or "client") not in ends:
                tally.pass_over()
            else:
                time = seconds(bytes(found.get("ts", msgspec.Raw(b"null"))), SECONDS)
                yield Frame(number, ends[0] == (client or "client"), made, time)

    def _message(self, found: Members) -> bytes | None:
        kind = string(bytes(found["type"]))
        if kind == "response":
            key = "error" if bytes(found["is_error"]) == b"true" else "result"
            return message(id=bytes(found["id"]), **{key: bytes(found["payload"])})
        if kind not in ("request", "notification") or text_of(found, "protocol") == b'"mcp"':
            return None
        request = bytes(found["id"]) if kind == "request" else None
        return message(id=request, method=bytes(found["method"]), params=text_of(found, "params"))


def _is_stamped(found: Members) -> bool:
    return {"timestamp", "method", "params"} <= found.keys() and "jsonrpc" not in found


def _is_bare(found: Members) -> bool:
    """Tell an update, the parameters of one, or a notification without version."""
    if "jsonrpc" in found or "id" in found:
        return False
    if "update" in found:
        return "sessionUpdate" in members_if_any(bytes(found["update"]))
    return "sessionUpdate" in found or {"method", "params"} <= found.keys()


def is_message(found: Members) -> bool:
    """Tell a JSON-RPC message, also one of the protocol that does not say that it is one."""
    if "jsonrpc" in found:
        return True
    method = method_of(found)
    if method is not None:
        return method_sent(method) is not None
    return "id" in found and found.keys() <= {"id", "result", "error"}


@attrs.frozen
class Unframed:
    """Messages and updates of which some lack their JSON-RPC frame, wholly or in part."""

    name: str
    known_by: Callable[[Members], bool]
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object with the keys that this row is known by."""
        return self.known_by(found)

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Put each into its frame; messages that have one are passed on."""
        inferred = Directions().sent
        for number, data in values:
            found = members_if_any(data)
            made = _framed(found, data)
            if made is None:
                tally.pass_over()
            else:
                time = seconds(bytes(found.get("timestamp", _NULL)), None)
                yield Frame(number, inferred(made), made, time)


def _framed(found: Members, data: bytes) -> bytes | None:
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


KNOWN_BY: Final = {"notifications": _is_stamped, "updates": _is_bare, "json": is_message}
"""The names of the rows of `Unframed`, and what each is known by."""

_LOGGED: Final = re.compile(rb"([^{]*?)\b(IN|OUT):[ \t]?(.*)", re.DOTALL)
_STAMP: Final = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?")


@attrs.frozen
class TransportLog:
    """The log of JetBrains' `AcpTransport`: text lines that end with what was written or read."""

    name: str
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take a line with a message behind the word for its direction."""
        logged = _LOGGED.fullmatch(data)
        return logged is not None and is_message(members_if_any(logged[3]))

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Cut the messages out; pass over lines of other loggers."""
        for number, data in values:
            found = _LOGGED.fullmatch(data)
            if found is None or not (b"AcpTransport" in found[1] or found[3][:1] in (b"{", b"[")):
                tally.pass_over()
            else:
                stamp = _STAMP.match(found[1])
                time = date_and_time(stamp[0].decode()) if stamp else None
                yield Frame(number, found[2] == b"OUT", found[3], time)
