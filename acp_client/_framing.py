"""Bytes in any split to whole lines.

A line ends at LF and at nothing else, and keeps its LF. Pieces of an unfinished line are kept apart
until its end comes, so that a line which arrives byte by byte costs what it is long. A line over
the limit is skipped to its end: `TOO_LONG` takes its place, and no more than the limit is kept.
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
        self._pieces: list[bytes] = []
        self._held = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes; return the lines that they finish."""
        lines = list(BytesIO(data))  # takes a quarter of the time of `data.split`
        last = b"" if data.endswith(b"\n") or not lines else lines.pop()
        if lines and self._held:
            self._hold(lines[0][:-1])
            lines[0] = self._release(b"\n")
        if len(data) > self._limit:
            lines = [TOO_LONG if len(line) > self._limit + 1 else line for line in lines]
        self._hold(last)
        return lines

    def end(self) -> bytes | None:
        """Return the unfinished line, or `None` if there is none, and forget it."""
        return self._release(b"") if self._held else None

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._limit:
            self._skipping = True
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _release(self, end: bytes) -> bytes:
        line = TOO_LONG if self._skipping else b"".join([*self._pieces, end])
        self._pieces.clear()
        self._held = 0
        self._skipping = False
        return line
