"""Cut a stream of bytes, split anywhere, into whole lines.

A line ends at LF alone, and keeps its LF. An unfinished line is kept in one buffer until its end
comes, so a line that arrives byte by byte costs time linear in its length. A line over the limit is
skipped to its end: `TOO_LONG` takes its place, and no more than the limit is kept, whatever the
size of the reads.
"""

from __future__ import annotations

from io import BytesIO
from typing import Final

TOO_LONG: Final = b""
"""Stands for a line that was longer than the limit; a real line has at least its LF."""


class Framer:
    """Cuts a stream of bytes into lines."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._held = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes; return the lines that they complete."""
        if len(data) <= self._limit:
            return self._cut(data)
        parts = range(0, len(data), self._limit)
        return [line for place in parts for line in self._cut(data[place : place + self._limit])]

    def _cut(self, data: bytes) -> list[bytes]:
        """Take at most as many bytes as a line may have; return the completed lines."""
        lines = list(BytesIO(data))  # faster than `data.split` (benchmark "decoders")
        last = b"" if data.endswith(b"\n") or not lines else lines.pop()
        if lines and self._held:
            self._hold(lines[0][:-1])
            lines[0] = self._release(b"\n")
        self._hold(last)
        return lines

    def end(self) -> bytes | None:
        """Return and drop the unfinished line; `None` if every line is complete."""
        return self._release(b"") if self._held else None

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._limit:
            self._skipping = True
            self._begun = bytearray()
        else:
            self._begun += piece

    def _release(self, end: bytes) -> bytes:
        line = TOO_LONG if self._skipping else bytes(self._begun) + end
        self._begun = bytearray()
        self._held = 0
        self._skipping = False
        return line


def is_blank(line: bytes) -> bool:
    """Return whether a line has nothing but JSON whitespace."""
    return line.isspace() and not line.strip(b" \t\r\n")
