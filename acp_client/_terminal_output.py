"""The output of a terminal: its bytes in pieces, and the text that a terminal would show.

Versions of an output that grew from one another share its pieces, and the transcript of the newest
version whose text was read. Under a limit the oldest bytes are dropped: whole pieces are skipped,
and the first kept piece has an offset. Skipped pieces are released once they hold as many bytes as
are kept, so an update costs only its own size, whatever the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, overload

from msgspec import Struct, field

from ._errors import InvalidValueError, checked
from ._items import Items
from ._persistent import Version, checked_place

if TYPE_CHECKING:
    from ._terminal_text import GrowingTranscript, TranscriptTail

_SHOWN_EXACTLY: Final = 4096
"""The size, in bytes, up to which the text of a limited output begins with its first byte."""


def bytes_left_out(dropped: int, kept: int) -> int:
    """Return how many of the kept bytes are left out at the beginning of the text.

    If a limit drops bytes with every update, the text would begin elsewhere each time and would
    have to be computed and drawn again. So it begins at a multiple of a block size, counted from
    the first byte of the terminal; a block is a small part of the kept bytes.
    """
    step = 1 << (kept.bit_length() - 6) if kept > _SHOWN_EXACTLY else 1
    return -dropped % step


def _without(pieces: list[bytes], offset: int) -> list[bytes]:
    """Leave out what was dropped of the first piece."""
    return [pieces[0][offset:], *pieces[1:]] if offset else pieces


class _Pieces(Items[bytes]):
    """The pieces of an output."""


class _Stream(Struct, gc=False, eq=False):
    """The part that versions share that grew from one another: the newest one's transcript.

    A thread that works with the transcript takes it out first.
    """

    transcripts: list[GrowingTranscript] = field(default_factory=list)


class OutputBytes(Version[bytes]):
    """The output of a terminal as the pieces it came in, without the dropped bytes."""

    _stream: _Stream
    _pieces: _Pieces
    _held: int  # bytes of pieces that were dropped, and are still there
    _begin: int  # offsets in the stream
    _end: int
    _first: int = 0  # place of the first piece that is kept, and what was dropped of it
    _offset: int = 0
    _measure: Any = None  # see `_continuation`

    if TYPE_CHECKING:

        def __init__(
            self,
            _stream: _Stream,
            _pieces: _Pieces,
            _held: int,
            _begin: int,
            _end: int,
            _first: int = 0,
            _offset: int = 0,
        ) -> None: ...

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> OutputBytes:
        """Make an output of pieces. Raises `InvalidValueError` for a piece that is not bytes."""
        given = checked(pieces, Iterable, "a sequence of bytes")
        return cls._made([checked(piece, bytes, "bytes") for piece in given])

    @classmethod
    def _made(cls, items: Sequence[bytes], metas: Sequence[Any] | None = None) -> Self:
        """Make an output of pieces."""
        return cls(_Stream(), _Pieces._made(items), 0, 0, sum(map(len, items)))

    @classmethod
    def _replacing(cls, before: Self, items: Sequence[bytes], metas: Sequence[Any] | None) -> Self:
        """Return an output of pieces, or `before` if it is equal."""
        after = cls._made(items)
        return before if after == before else after

    def _appended(self, items: Sequence[bytes], metas: Sequence[Any] | None = None) -> Self:
        """Return a version with more pieces at the end."""
        pieces = self._pieces._appended(items)
        stream = self._stream if pieces._grew_from(self._pieces) else _Stream()
        end = self._end + sum(map(len, items))
        return type(self)(stream, pieces, self._held, self._begin, end, self._first, self._offset)

    def _limited(self, most: int) -> tuple[OutputBytes, int]:
        """Return the last `most` bytes, and how many were dropped before them."""
        surplus = self.size - most
        if surplus <= 0:
            return self, 0
        first, offset = self._first, self._offset + surplus
        while offset and offset >= len(self._pieces._at(first)):
            offset -= len(self._pieces._at(first))
            first += 1
        held, begin = self._held + surplus, self._begin + surplus
        if held <= most:
            return OutputBytes(
                self._stream, self._pieces, held, begin, self._end, first, offset
            ), surplus
        kept = _without(self._pieces._stored(first), offset)
        return OutputBytes(self._stream, _Pieces._made(kept), 0, begin, self._end), surplus

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._end - self._begin

    @property
    def data(self) -> bytes:
        """All bytes, exactly as they came."""
        return b"".join(self._pieces._stored(self._first))[self._offset :]

    def data_from(self, offset: int) -> bytes:
        """Return the bytes from an offset on, at the cost of those bytes alone.

        Raises `InvalidValueError` for an offset that is not in the output.
        """
        missing = self.size - offset
        if not 0 <= missing <= self.size:
            raise InvalidValueError(f"{offset} is not an offset in {self.size} bytes of output")
        if missing > offset:
            return self.data[offset:]
        pieces: list[bytes] = []
        for place in range(len(self._pieces) - 1, -1, -1):
            if missing <= 0:
                break
            pieces.append(self._pieces._at(place)[-missing:])
            missing -= len(pieces[-1])
        return b"".join(reversed(pieces))

    def _dropped_since(self, older: OutputBytes) -> int | None:
        """Count how many bytes of `older` were dropped, if this grew from it, without comparing."""
        if self._stream is not older._stream or self._end < older._end:
            return None
        return self._begin - older._begin

    # --- Text ---

    @property
    def text(self) -> str:
        """The bytes as a terminal would show them, as plain text without control characters."""
        return self._shown(0)[0]

    def _shown(self, left_out: int) -> tuple[str, TranscriptTail]:
        """Return the text of all but the first bytes, and the tail of its transcript.

        The stream keeps the transcript of its newest version, so reading the text after each update
        costs only the update. For an older version, or while another thread uses the transcript, a
        new one is made from all bytes.
        """
        transcripts = self._stream.transcripts
        try:
            known = transcripts.pop()
        except IndexError:
            known = None
        start = self._begin + left_out
        if known is not None and (known.end > self._end or known.start > start):
            transcripts.append(known)
            older = self._transcript(start, None)
            return older.text, older.tail
        transcript = self._transcript(start, known)
        shown = transcript.text, transcript.tail
        transcripts.append(transcript)
        return shown

    def _transcript(self, start: int, known: GrowingTranscript | None) -> GrowingTranscript:
        """Return the transcript of the bytes from a place in the stream, which go on from known."""
        # Imported late: only programs that show terminals need it.
        from ._terminal_text import GrowingTranscript

        if known is None or known.end < start:
            known = GrowingTranscript(start)
        elif known.start < start:
            data = self.data_from(start - self._begin)
            known = known.from_later(start, data[: known.end - start])
        known.feed(self.data_from(known.end - self._begin))
        return known

    # --- As a sequence of pieces ---

    def _kept(self) -> list[bytes]:
        return _without(self._pieces._stored(self._first), self._offset)

    def __len__(self) -> int:
        return len(self._pieces) - self._first

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...
    def __getitem__(self, index: int | slice) -> bytes | tuple[bytes, ...]:
        pieces = self._kept()
        if isinstance(index, slice):
            return tuple(pieces[index])
        return pieces[checked_place(index, len(pieces))]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._kept())

    def __eq__(self, other: object) -> bool:
        """Compare the bytes, however they were cut."""
        if not isinstance(other, OutputBytes):
            return NotImplemented
        if self.size != other.size:
            return False
        if self._stream is other._stream and self._end == other._end:
            return True
        return self.data == other.data

    __hash__ = None  # type: ignore[assignment]  # as for all versions

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._made, (self._kept(),)  # without what other versions have


Sequence.register(OutputBytes)  # pyright: ignore[reportAttributeAccessIssue]  # typeshed hides that it is an ABC
