"""Zed's log of the protocol, as its copy button returns it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from .._json import NotJson
from .directions import word_sent
from .frames import Frame, Tally, Value
from .json_slices import Members, members, members_if_any, string
from .messages import message, text_of


@attrs.frozen
class CopiedLog:
    """Zed's log as its copy button writes it: one array, results and errors under `params`."""

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
    """Return whether this is an error, by its keys; no result of the protocol has both of these."""
    found = members_if_any(text)
    return {"code", "message"} <= found.keys() <= {"code", "message", "data"}
