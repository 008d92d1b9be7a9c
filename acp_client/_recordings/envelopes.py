"""Formats whose values hold a message, and perhaps a direction and a time, each under a key.

Most recorders write something of this kind, so a format is little more than the names of a few
keys. One vocabulary has the words for the direction; where a value has no such word, the direction
is inferred from the messages, as in a raw stream.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import msgspec

from .._json import NotJson
from .directions import Directions, Sides, word_sent
from .frames import Frame, Tally, Value
from .json_slices import BLANKS, Members, compact, is_json, members, members_if_any, string
from .messages import is_message
from .times import seconds

_NOTHING: Final = msgspec.Raw(b"null")


def written(found: Members, key: str) -> bytes:
    """Return a message that is there as JSON, or as a string of what went over the pipe."""
    text = bytes(found[key])
    return string(text).encode("utf-8", "surrogatepass") if text.startswith(b'"') else text


def with_raw(found: Members, key: str) -> bytes:
    """Return a message of our own format; what was not JSON is there as `rawBase64` and `raw`."""
    text = bytes(found[key])
    if text != b"null":
        return text
    if "rawBase64" in found:
        try:
            return base64.b64decode(string(bytes(found["rawBase64"])), validate=True)
        except ValueError:
            pass  # the readable form beside it loses only bytes that are not text
    return written(found, "raw") if "raw" in found else text


@attrs.frozen
class Envelope:
    """A format that is known by its keys.

    `inside` is the key of an object that holds the message, where that is not the value itself; a
    direction and a time may stand in either. `kind` is the word that it has under "type". `unit` is
    how many of its time stamps make a second, None if that is to be seen from them. `certain` means
    that the words for the direction can only be the client's. Without a `direction` it is inferred.
    """

    direction: str
    message: str
    time: str
    inside: str = ""
    kind: str = ""
    unit: float | None = None
    take: Callable[[Members, str], bytes] = written
    certain: bool = False

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object with these keys and a word for a direction, but no JSON-RPC message."""
        if "jsonrpc" in found:
            return False
        try:
            opened = self._opened(found)
            message = self.take(opened, self.message)
            if self.kind and string(bytes(opened["type"])) != self.kind:
                return False
            if self.direction:
                return self._side(opened) is not None
        except (NotJson, KeyError):
            return False
        return is_message(members_if_any(message))

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Unwrap the messages; pass over what has no direction."""
        sent_by = self._directions()
        for number, data in values:
            try:
                found = self._opened(members(data))
                message = self.take(found, self.message)
                sent = sent_by(found, message)
            except (NotJson, KeyError):
                found, message, sent = {}, data, None
            if sent is not None:
                time = seconds(bytes(found.get(self.time, _NOTHING)), self.unit)
                yield from (Frame(number, sent, part, time) for part in _parts(message))
                continue
            if self.certain and tally.torn:
                yield Frame(number, False, data)  # the store reports that the input ends in it
            tally.pass_over()

    def _opened(self, found: Members) -> Members:
        """Return the members of a value, and those of the object inside."""
        return found | members(bytes(found[self.inside])) if self.inside else found

    def _side(self, found: Members) -> bool | None:
        return word_sent(string(bytes(found[self.direction])))

    def _directions(self) -> Callable[[Members, bytes], bool | None]:
        """Return what says who wrote a message; it remembers the words that it has read."""
        if not self.direction:
            return _inferred(Directions().sent)
        sides, words = Sides(self.certain), dict[bytes, bool | None]()

        def sent(found: Members, message: bytes) -> bool | None:
            word = bytes(found[self.direction])
            if word not in words:
                words[word] = self._side(found)
            side = words[word]
            return None if side is None else sides.sent(side, message)

        return sent


def _inferred(sent: Callable[[bytes], bool]) -> Callable[[Members, bytes], bool | None]:
    """Return what says who wrote a message by the message alone, and None for no message."""
    return lambda _, message: sent(message) if is_message(members_if_any(message)) else None


def _parts(message: bytes) -> list[bytes]:
    """Split what a recorder took from the pipe at once, unless it is one message on many lines."""
    if b"\n" not in message:
        return [message]
    if is_json(message):
        return [compact(message.strip(BLANKS))]
    return [part for part in message.split(b"\n") if part.strip(BLANKS)]


_DIRECTIONS: Final = (
    "direction", "dir", "_direction", "side", "sender", "from", "source", "channel", "stream",
    "type", "kind", "event",
)  # fmt: skip  # a table of words
_MESSAGES: Final = (
    "message", "msg", "frame", "payload", "raw", "line", "json", "data", "body", "content",
    "packet", "rpc", "jsonrpc_message", "acp_payload", "envelope", "object", "text",
)  # fmt: skip  # a table of words
_TIMES: Final = (
    "ts", "time", "timestamp", "t", "t_ms", "ts_ms", "timestamp_ms", "at", "elapsed_ms",
)  # fmt: skip  # a table of words


@attrs.frozen
class AnyEnvelope:
    """Messages with or without a direction under other keys than those of a known recorder."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object where one key has a message, and perhaps another a direction."""
        return self._keys(found) is not None

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Read on with the keys of the first value that is recognised."""
        before: list[Value] = []
        rest = iter(values)
        for value in rest:
            before.append(value)
            if envelope := self._keys(members_if_any(value[1])):
                yield from envelope.frames(itertools.chain(before, rest), tally)
                return
        for _ in before:
            tally.pass_over()

    def _keys(self, found: Members) -> Envelope | None:
        if "jsonrpc" in found:
            return None
        for inside in ("", *(key for key in _MESSAGES if key in found)):
            opened = found | members_if_any(bytes(found[inside])) if inside else found
            if envelope := self._keys_inside(found, opened, inside):
                return envelope
        return None

    def _keys_inside(self, found: Members, opened: Members, inside: str) -> Envelope | None:
        """Find the key of a message among members, and of a direction, which may be missing."""
        time = next((key for key in _TIMES if key in opened), "")
        directions = [*(key for key in _DIRECTIONS if key in opened), ""]
        messages = [key for key in _MESSAGES if key in opened and key != inside]
        for direction, message in itertools.product(directions, messages):
            envelope = Envelope(direction, message, time, inside)
            if envelope.recognises(b"", found) and _is_message(written(opened, message)):
                return envelope
        return None


def _is_message(data: bytes) -> bool:
    found = members_if_any(data)
    return "jsonrpc" in found or "method" in found or {"id", "result"} <= found.keys()
