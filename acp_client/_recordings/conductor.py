"""The trace of the Rust conductor: every hop of a chain of client, proxies and agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs
import msgspec

from .._json import NotJson
from .directions import call_sent
from .frames import Frame, Tally, Value
from .json_slices import Members, members, string
from .messages import message, text_of
from .times import SECONDS, seconds


@attrs.frozen
class HopTrace:
    """Each message is there once a hop; the client's own hop is the conversation that it had."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an event with its ends and what it needs to be a message."""
        return {"type", "from", "to"} <= found.keys() and (
            "method" in found or {"is_error", "payload"} <= found.keys()
        )

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Return what the client wrote or was sent; pass over other hops and protocols."""
        client: str | None = None
        for number, data in values:
            try:
                found = members(data)
                ends = string(bytes(found["from"])), string(bytes(found["to"]))
                made = self._message(found)
            except (NotJson, KeyError):
                found, ends, made = {}, ("", ""), None
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
