"""Cutting JSON texts out of a stream where they are not one a line.

Three nestings: texts one after another (pretty-printed, perhaps with words between), the elements
of one array, and the elements of a list that one object holds under a key. The stream is scanned
for brackets only, block by block, so that a document may be longer than memory; whether a text is
JSON is for its reader to find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from .frames import Tally, Value
from .json_slices import BLANKS, compact

BLOCK: Final = 64 * 1024
"""How much is read at once."""

BRACKETS_ALONE: Final = re.compile(rb"(?:[\[{]\s*){8}")
"""How no message begins, nor a document of messages."""

_OPENING = re.compile(rb"[{\[]")
_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
_INSIDE = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+(?:([{\[]++)|([}\]]++))', re.DOTALL)
"""The next run of brackets in a text, which may be many."""

_BETWEEN = BLANKS + b",\x1e\xef\xbb\xbf"


@attrs.frozen
class Nesting:
    """Where the texts are: `depth` is how many brackets are open around each.

    At depth 2 they are in the list under `key` of the outermost object, and the text under `head`
    is given first.
    """

    depth: int
    key: str = ""
    head: str | None = None


TEXTS: Final = Nesting(0)
ARRAY: Final = Nesting(1)


def texts(read: Callable[[int], bytes], nesting: Nesting, tally: Tally) -> Iterator[Value]:
    """Return the texts of a stream, numbered from 1, without line feeds; the head is number 0."""
    scanner = _Scanner(read, nesting, tally)
    number = 0
    for is_head, text in scanner.scan():
        number += not is_head
        yield (0 if is_head else number), compact(text)


class _Scanner:
    """Follows the brackets; the buffer holds what is not done with."""

    def __init__(self, read: Callable[[int], bytes], nesting: Nesting, tally: Tally) -> None:
        self._read = read
        self._nesting = nesting
        self._tally = tally
        self._buffer = b""
        self._position = 0
        self._gap = (0, 0)  # from the bracket before to the last one
        self._depth = 0
        self._start: int | None = None  # of the text that is open
        self._in_list = nesting.depth < 2  # whether texts at the depth are the ones wanted
        self._in_head = False

    def scan(self) -> Iterator[tuple[bool, bytes]]:
        """Return each text that is wanted, with whether it is the head."""
        while True:
            found = self._next_bracket() if self._start is None else self._last_bracket()
            if found is None:
                if not self._read_more():
                    break
            elif found in b"{[":
                self._open(found)
            elif text := self._close():
                yield self._in_head, text
                self._in_head = False
        self._tally.torn |= self._depth > 0

    def _next_bracket(self) -> bytes | None:
        """Move behind the next bracket and return it; None if there is none yet."""
        if self._depth == 0:
            return self._next_opening()
        found = _BRACKET.match(self._buffer, self._position)
        if found is None:
            return None
        self._gap = (self._position, found.start(1))
        self._position = found.end()
        return found[1]

    def _last_bracket(self) -> bytes | None:
        """Move behind the bracket that ends the open text and return it; None if it has no end."""
        end = 1 if self._in_head else self._nesting.depth
        while run := _INSIDE.match(self._buffer, self._position):
            opened, closed = run.span(1), run.span(2)
            if closed[1] - closed[0] >= self._depth - end:
                self._position = closed[0] + self._depth - end
                self._depth = end + 1
                return self._buffer[self._position - 1 : self._position]
            self._depth += opened[1] - opened[0] - (closed[1] - closed[0])
            self._position = run.end()
        return None

    def _next_opening(self) -> bytes | None:
        """Outside of all texts nothing is JSON, so quotes mean nothing."""
        found = _OPENING.search(self._buffer, self._position)
        end = len(self._buffer) if found is None else found.start()
        if self._buffer[self._position : end].strip(_BETWEEN):
            self._tally.pass_over()
        self._position = end if found is None else found.end()
        return None if found is None else found[0]

    def _open(self, bracket: bytes) -> None:
        nesting = self._nesting
        if self._depth == nesting.depth and self._in_list:
            self._start = self._position - 1
        elif self._depth == 1 and nesting.depth == 2:
            key = self._key()
            self._in_list = key == nesting.key and bracket == b"["
            if key == nesting.head:
                self._start, self._in_head = self._position - 1, True
        self._depth += 1

    def _close(self) -> bytes:
        """Leave a bracket; return the text that ends with it, if one does."""
        self._depth -= 1
        nesting = self._nesting
        if self._start is not None and self._depth == (1 if self._in_head else nesting.depth):
            text = self._buffer[self._start : self._position]
            self._start = None
            return text
        if self._depth == 1 and nesting.depth == 2:
            self._in_list = False
        return b""

    def _key(self) -> str:
        """Return the key of the member whose value begins here."""
        start, end = self._gap
        before = self._buffer[start:end].rstrip(BLANKS).removesuffix(b":").rstrip(BLANKS)
        return before[before.rfind(b'"', 0, -1) + 1 : -1].decode("utf-8", "replace")

    def _read_more(self) -> bool:
        """Append to the buffer, as much as is pending so that long texts cost no more each."""
        done = self._position if self._start is None else self._start
        pending = self._buffer[done:]
        more = read_block(self._read, len(pending))
        self._buffer = pending + more
        self._position -= done
        if self._start is not None:
            self._start = 0
        return bool(more)


def read_block(read: Callable[[int], bytes], size: int) -> bytes:
    """Read what is there, but at least `size` bytes if the stream has so many."""
    blocks = [read(BLOCK)]
    length = len(blocks[0])
    while blocks[-1] and length < size:
        blocks.append(read(BLOCK))
        length += len(blocks[-1])
    return b"".join(blocks)
