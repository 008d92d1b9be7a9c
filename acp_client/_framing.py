"""Bytes in any split to whole lines.

A line ends at LF and at nothing else. Pieces of an unfinished line are kept apart until its end
comes, so that a line which arrives byte by byte costs what it is long. A line over the limit is
skipped to its end: its place is taken by `TOO_LONG`, and no more than the limit is ever kept.
"""

from __future__ import annotations

from typing import Final

TOO_LONG: Final = b"\n"
"""Stands in for a line that was longer than the limit; no line holds a line feed."""


class Framer:
    """Cuts a stream of bytes into lines."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._held = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes; return the lines that they finish."""
        lines: list[bytes] = data.split(b"\n")
        last = lines.pop()
        if lines and self._held:
            self._hold(lines[0])
            lines[0] = self._release()
        if len(data) > self._limit:
            lines = [TOO_LONG if len(line) > self._limit else line for line in lines]
        self._hold(last)
        return lines

    def end(self) -> bytes:
        """Return the unfinished line, which is empty if there is none, and forget it."""
        return self._release()

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._limit:
            self._skipping = True
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _release(self) -> bytes:
        line = TOO_LONG if self._skipping else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        self._skipping = False
        return line
