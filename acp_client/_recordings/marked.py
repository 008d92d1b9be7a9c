"""Formats whose values hold a direction, a message, and perhaps a time, each under a key.

Most recorders write something of this kind, so a format is little more than the names of three
keys. The words for the direction are told apart by one vocabulary for all of them. Whether "in"
and "received" mean the client's side or the agent's depends on where the recorder sat; the first
message whose method tells who wrote it settles that for the rest.
"""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import msgspec

from .directions import call_sent, word_sent
from .frames import Frame, Tally, Value
from .json_slices import (
    BLANKS,
    Members,
    NotJson,
    compact,
    is_json,
    members,
    members_if_any,
    string,
)
from .times import seconds

_NOTHING: Final = msgspec.Raw(b"null")


def written(found: Members, key: str) -> bytes:
    """Give a message that is there as JSON, or as a string of what went over the pipe."""
    text = bytes(found[key])
    return string(text).encode("utf-8", "surrogatepass") if text.startswith(b'"') else text


def enveloped(found: Members, key: str) -> bytes:
    """Give a message of our own format; what was no JSON is there as `rawBase64` and `raw`."""
    text = bytes(found[key])
    if text != b"null":
        return text
    if "rawBase64" in found:
        try:
            return base64.b64decode(string(bytes(found["rawBase64"])), validate=True)
        except (NotJson, binascii.Error):
            pass  # the readable form beside it loses only bytes that are no text
    return written(found, "raw") if "raw" in found else text


@attrs.frozen
class Marked:
    """A format, told by its keys.

    `unit` is how many of its time stamps make a second, None if that is to be seen from them.
    `certain` means that the words for the direction can only be the client's.
    """

    name: str
    direction: str
    message: str
    time: str
    unit: float | None = None
    take: Callable[[Members, str], bytes] = written
    certain: bool = False
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object with both keys and a word for a direction, but no JSON-RPC message."""
        if self.message not in found or self.direction not in found or "jsonrpc" in found:
            return False
        try:
            return word_sent(string(bytes(found[self.direction]))) is not None
        except NotJson:
            return False

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Unwrap the messages; pass over what has no direction."""
        sides = _Sides(self.certain)
        for number, data in values:
            try:
                found = members(data)
                message = self.take(found, self.message)
                sent = sides.sent(bytes(found[self.direction]), message)
            except (NotJson, KeyError):
                sent = None
            if sent is None:
                if self.certain and tally.torn:
                    yield Frame(number, False, data)  # the store tells that the input ends in it
                tally.pass_over()
                continue
            time = seconds(bytes(found.get(self.time, _NOTHING)), self.unit)
            if b"\n" not in message:
                yield Frame(number, sent, message, time)
            else:
                yield from (Frame(number, sent, part, time) for part in _parts(message))


class _Sides:
    """Turns words into sides; remembers the words, and whether they are the other side's."""

    def __init__(self, certain: bool) -> None:
        self._words: dict[bytes, bool] = {}
        self._turned: bool | None = False if certain else None

    def sent(self, word: bytes, message: bytes) -> bool | None:
        """Tell whether the client wrote a message that is marked with this word (a JSON text)."""
        side = self._words.get(word)
        if side is None:
            side = word_sent(string(word))
            if side is None:
                return None
            self._words[word] = side
        if self._turned is None and (by_method := call_sent(message)) is not None:
            self._turned = by_method != side
        return side != bool(self._turned)


def _parts(message: bytes) -> list[bytes]:
    """Split what a recorder took from the pipe at once, unless it is one message on many lines."""
    if is_json(message):
        return [compact(message.strip(BLANKS))]
    return [part for part in message.split(b"\n") if part.strip(BLANKS)]


_DIRECTIONS: Final = (
    "direction", "dir", "_direction", "side", "sender", "from", "source", "channel", "stream",
    "type", "kind", "event",
)  # fmt: skip  # a table of words
_MESSAGES: Final = (
    "message", "msg", "frame", "payload", "raw", "line", "json", "data", "body", "content",
    "packet", "rpc", "text",
)  # fmt: skip  # a table of words
_TIMES: Final = ("ts", "time", "timestamp", "t", "t_ms", "ts_ms", "at", "elapsed_ms")


@attrs.frozen
class AnyMarked:
    """Messages with a direction under other keys than those of a known recorder."""

    name: str
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an object where one key has a word for a direction and another a message."""
        return self._row(found) is not None

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Read on with the keys of the first value that is recognised."""
        before: list[Value] = []
        rest = iter(values)
        for value in rest:
            before.append(value)
            if row := self._row(members_if_any(value[1])):
                yield from row.frames(itertools.chain(before, rest), tally)
                return
        for _ in before:
            tally.pass_over()

    def _row(self, found: Members) -> Marked | None:
        time = next((key for key in _TIMES if key in found), "")
        directions = [key for key in _DIRECTIONS if key in found]
        messages = [key for key in _MESSAGES if key in found]
        for direction, message in itertools.product(directions, messages):
            row = Marked(self.name, direction, message, time)
            if row.recognises(b"", found) and _is_message(written(found, message)):
                return row
        return None


def _is_message(data: bytes) -> bool:
    found = members_if_any(data)
    return "jsonrpc" in found or "method" in found or {"id", "result"} <= found.keys()
