"""Logs: entries with any prefix, a mark for the direction in it, and a message.

`<<< {…}`, `2026-01-02T10:00:00Z -> {…}`, `[agent] {…}` and `acp: received message {…}` are entries.
The mark is the last word or arrow before the message that the vocabulary of `directions` knows; an
entry without one has to begin with a time, and its direction is inferred. The message is JSON, or a
Python literal where a program printed what it had parsed.

An entry may go over several lines: a label that stands alone (`Sent:`) and the message below it, or
a message that is printed over many lines. `entries` joins them. A new entry ends one that is not
complete, so that a message which is cut off spoils no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from .._json import NotJson
from .directions import Directions, Sides, word_sent
from .frames import Frame, Tally, Value
from .json_slices import Members, compact, is_json, members_if_any
from .messages import framed, is_message
from .python_literals import json_of
from .times import begins_with_stamp, stamp_in, without_stamps

_ESCAPES: Final = re.compile(rb"\x1b\[[0-9;]*m")
_PAYLOAD: Final = re.compile(rb"(?:\[\s*)?\{\s*(?:[\"'}]|$)")
"""Where a message begins: an object, or a batch of them."""

_PYTHON: Final = re.compile(rb"(?:\[\s*)?\{\s*'")
_IN_JSON: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|([{\[]+)|([}\]]+)', re.DOTALL)
_IN_PYTHON: Final = re.compile(
    rb"""'(?:[^'\\]++|\\.)*+'?|"(?:[^"\\]++|\\.)*+"?|([{\[(]+)|([}\])]+)""", re.DOTALL
)
"""Strings, with or without an end, and runs of brackets."""


_MARKS: Final = re.compile(r"[a-z]+\d?[a-z]*|<+|>+|[→⇒➡▶⟶←⇐⬅◀⟵]+")
_LONGEST_MARK: Final = 3
"""Words of a mark, such as "from the agent"."""

_LONGEST_LABEL: Final = 200
"""Bytes before a message in which its mark is."""


@attrs.frozen
class Entry:
    """An entry of a log, taken apart; `side` is true for the client's, None without a mark."""

    prefix: bytes
    side: bool | None
    payload: bytes


def entry_of(data: bytes) -> Entry:
    """Take an entry apart; without a message it is all prefix."""
    data = _ESCAPES.sub(b"", data) if b"\x1b" in data else data
    payload = _PAYLOAD.search(data)
    if payload is None:
        return Entry(data, None, b"")
    prefix = data[: payload.start()]
    return Entry(prefix, _side(_words(prefix[-_LONGEST_LABEL:])), data[payload.start() :])


def is_entry(data: bytes) -> bool:
    """Return whether this is an entry with a whole message."""
    return _as_json(entry_of(data).payload) is not None


def _words(prefix: bytes) -> list[str]:
    return _MARKS.findall(prefix.decode("utf-8", "replace").lower())


def _side(words: list[str]) -> bool | None:
    """Return what the last mark says."""
    for end in range(len(words), 0, -1):
        for start in range(max(0, end - _LONGEST_MARK), end):
            side = word_sent("".join(words[start:end]))
            if side is not None:
                return side
    return None


def is_label(line: bytes) -> bool:
    """Return whether a line is a mark that stands alone, perhaps behind a time, or before a colon.

    `Sent:` is one, and `### Agent → Client`, and `10:00:01 acp.lua received:`.
    """
    if len(line) > _LONGEST_LABEL or _PAYLOAD.search(line):
        return False
    words = _words(without_stamps(line))
    if line.rstrip(b"*_` ").endswith(b":"):
        ends = [words[-length:] for length in range(1, _LONGEST_MARK + 1)]
    else:
        ends = [words]
    return any(word_sent("".join(end)) is not None for end in ends)


# --- Joining lines ---


def entries(lines: Iterable[Value]) -> Iterator[Value]:
    """Join the lines of each entry; lines of no entry come as they are."""
    pending = _Pending()
    for number, line in lines:
        yield from pending.take(number, line)
    yield from pending.end()


class _Pending:
    """An entry of which not all lines have come."""

    def __init__(self) -> None:
        self._number = 0
        self._lines: list[bytes] = []
        self._brackets = _IN_JSON
        self._depth = 0  # how many brackets of its message are open

    def take(self, number: int, line: bytes) -> Iterator[Value]:
        """Take a line; return the entries that are complete then."""
        if self._depth > 0 and not (_has_mark(line) or _is_message_alone(line)):
            self._lines.append(line)
            self._depth += self._balance(line)
        else:
            yield from self._begin(number, line)
        if self._depth <= 0 and not self._waits_for_message():
            yield from self.end()

    def end(self) -> Iterator[Value]:
        """Return what is there of an entry."""
        lines, self._lines, self._depth = self._lines, [], 0
        if lines:
            yield self._number, b"\n".join(lines)

    def _begin(self, number: int, line: bytes) -> Iterator[Value]:
        """Begin an entry with a line, or go on behind a label."""
        if self._depth > 0 or _has_mark(line):
            yield from self.end()
        self._number = number
        self._lines.append(line)
        entry = entry_of(line)
        may_go_on = len(self._lines) > 1 or not entry.prefix or entry.side is not None
        if entry.payload and may_go_on and not is_json(entry.payload):
            self._brackets = _IN_PYTHON if _PYTHON.match(entry.payload) else _IN_JSON
            self._depth = self._balance(entry.payload)

    def _balance(self, text: bytes) -> int:
        """Return how many brackets a text leaves open; what follows the last one does not count."""
        depth = 0
        for opened, closed in self._brackets.findall(text):
            depth += len(opened) - len(closed)
        return depth

    def _waits_for_message(self) -> bool:
        return len(self._lines) == 1 and is_label(self._lines[0])


def _has_mark(line: bytes) -> bool:
    """Return whether a line has a mark, and so begins an entry whatever was before.

    A line that begins with a quote is a member of an object that is printed over several lines.
    """
    if line.startswith((b'"', b"'", b"{")):
        return False
    return is_label(line) or entry_of(line).side is not None


def _is_message_alone(line: bytes) -> bool:
    return line.startswith(b"{") and b'"jsonrpc"' in line and is_json(line)


# --- The format ---


@attrs.frozen
class LogLines:
    """Entries of a log."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take a message behind a mark, or behind a time."""
        if found:
            return False
        entry = entry_of(data)
        if entry.side is None and not begins_with_stamp(entry.prefix):
            return False
        return is_message(members_if_any(_as_json(entry.payload) or b""))

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Cut the messages out; pass over entries that have none, and no mark where others do."""
        sides, inferred, is_marked = Sides(), Directions().sent, False
        for number, data in values:
            entry = entry_of(data)
            is_marked |= entry.side is not None and bool(entry.payload)
            message = _message(entry.payload)
            if message is None or (is_marked and entry.side is None):
                tally.pass_over()
                continue
            sent = inferred(message) if entry.side is None else sides.sent(entry.side, message)
            yield Frame(number, sent, message, stamp_in(entry.prefix))


def _message(payload: bytes) -> bytes | None:
    """Return the message of an entry: as it is where it is broken, None for other JSON."""
    if not payload:
        return None
    text = _as_json(payload)
    if text is None:
        return payload.replace(b"\n", b" ")
    return framed(members_if_any(text), compact(text))


def _as_json(payload: bytes) -> bytes | None:
    """Return the JSON text that a payload begins with."""
    if is_json(payload):
        return payload
    try:
        if _PYTHON.match(payload):
            return json_of(payload)
    except NotJson:
        return None
    text = payload[: _end(payload)]
    return text if is_json(text) else None


def _end(payload: bytes) -> int:
    """Return where the first bracket of a text is closed."""
    depth = 0
    for token in _IN_JSON.finditer(payload):
        depth += len(token[1] or b"") - len(token[2] or b"")
        if depth <= 0:
            return token.end()
    return len(payload)
