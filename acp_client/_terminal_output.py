"""The output of a terminal: the bytes as they came in pieces, and what a terminal would show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from ._errors import InvalidValueError, checked
from ._items import Items, accumulated_text


class _TranscriptAccumulator:
    """What a terminal would show of the pieces so far."""

    __slots__ = ("_shown", "_tail")

    def __init__(self) -> None:
        # Only who shows terminals needs it: importing the package does not wait for it.
        from ._terminal_text import TranscriptTail

        self._shown = ""
        self._tail = TranscriptTail()

    def feed(self, items: list[bytes]) -> None:
        line = self._tail.line
        self._tail, settled = self._tail.fed(b"".join(items))
        more = settled + self._tail.line
        shown, self._shown = self._shown, ""
        if more.startswith(line):
            more = more[len(line) :]
        elif line:  # what was the last line is another one now
            shown = shown[: -len(line)]
        shown += more  # extended in place: `shown` is the only reference to the string
        self._shown = shown

    def text(self) -> str:
        return self._shown


class OutputBytes(Items[bytes]):
    """The output of a terminal as the pieces it came in."""

    _size: int = 0

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> OutputBytes:
        """Make an output of pieces. Raises `InvalidValueError` for a piece that is not bytes."""
        given = checked(pieces, Iterable, "a sequence of bytes")
        return cls._made([checked(piece, bytes, "bytes") for piece in given])

    @property
    def data(self) -> bytes:
        """All bytes, exactly as they came."""
        return b"".join(self._stored())

    @classmethod
    def _made(cls, items: Sequence[bytes], metas: Sequence[Any] | None = None) -> Self:
        """Make an output of pieces."""
        version = super()._made(items)
        version._size = sum(map(len, items))
        return version

    def _appended(self, items: Sequence[bytes], metas: Sequence[Any] | None = None) -> Self:
        """Return the version with more pieces at the end."""
        version = super()._appended(items)
        version._size = self._size + sum(map(len, items))
        return version

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self._size

    def data_from(self, offset: int) -> bytes:
        """Return the bytes from an offset on, at the cost of what came since then.

        Raises `InvalidValueError` for an offset that is not in the output.
        """
        missing = self._size - offset
        if not 0 <= missing <= self._size:
            raise InvalidValueError(f"{offset} is not an offset in {self._size} bytes of output")
        pieces: list[bytes] = []
        for piece in reversed(self):
            if missing <= 0:
                break
            pieces.append(piece[-missing:])
            missing -= len(piece)
        return b"".join(reversed(pieces))

    def _equals(self, other: Items[Any]) -> bool:
        """Compare the bytes: how they were cut is no difference."""
        if self._lineage is other._lineage:
            shorter, longer = sorted((self, other), key=len)
            return not any(longer._stored(len(shorter)))
        return b"".join(self._stored()) == b"".join(other._stored())

    def _limited(self, most: int) -> tuple[OutputBytes, int]:
        """Return the last `most` bytes, and how many were dropped before them."""
        surplus = self._size - most
        if surplus <= 0:
            return self, 0
        kept = self.data[surplus:]
        return OutputBytes._made([kept] if kept else []), surplus

    @property
    def text(self) -> str:
        """What a terminal would show of the bytes, as plain text without control characters."""
        return accumulated_text(self, _TranscriptAccumulator)
