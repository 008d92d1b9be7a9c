"""Recorded traffic: any format of the table, from a binary stream to frames.

The format is recognised by what the first values are, never by a name. Values are lines wherever
they can be; lines, and the texts of a document, are read one after another, so a recording may be
longer than memory.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Final

import msgspec

from .._errors import RecordingError
from .detection import Recognised, patience, recognise
from .formats import FORMATS, RAW
from .frames import Format, Frame, Tally, Value
from .json_slices import is_json, trim
from .json_texts import read_block, texts
from .streams import plain, put_back, reader

__all__ = ["FORMAT_NAMES", "Frame", "Recording", "read_recording", "write_envelope"]

FORMAT_NAMES: Final = tuple(row.name for row in FORMATS)
"""The names that `read_recording` takes for `format`."""


class Recording:
    """One pass over the frames of a recording; the counts grow as it is read."""

    def __init__(self, name: str, frames: Iterator[Frame], tally: Tally) -> None:
        self._name = name
        self._frames = frames
        self._tally = tally

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    @property
    def format(self) -> str:
        """The name of the format."""
        return self._name

    @property
    def passed_over(self) -> int:
        """How many headers and unknown values have been passed over so far."""
        return self._tally.passed_over

    @property
    def torn(self) -> bool:
        """Whether the recording ends in the middle.

        In a raw stream and in our own format the torn line is a frame too, the last; this is true
        by then.
        """
        return self._tally.torn


def read_recording(
    stream: BinaryIO,
    *,
    format: str | None = None,  # noqa: A002  # the word that callers and the command line use
) -> Recording:
    """Read recorded traffic from a binary stream, plain or gzip.

    `format` is a name of `FORMAT_NAMES`, for a recording that is not recognised. Raises
    `RecordingError` for what is no recording; where a format was given, at its end.
    """
    rows = FORMATS if format is None else (_named(format),)
    tally = Tally()
    source = plain(stream, tally)
    head, found = _look(source, rows)
    if found is None and format is None:
        raise RecordingError("not a recording: no Agent Client Protocol message found in it")
    return _read(put_back(head, reader(source)), found or Recognised(rows[0]), tally)


def _found_any(frames: Iterator[Frame], tally: Tally, name: str) -> Iterator[Frame]:
    """Give frames. Raises `RecordingError` if there was nothing but what is of no such format."""
    is_empty = True
    for frame in frames:
        is_empty = False
        yield frame
    if is_empty and tally.passed_over:
        raise RecordingError(f"not a recording of the format {name}: no message found in it")


def _read(source: BinaryIO, found: Recognised, tally: Tally) -> Recording:
    values = (
        _lines(source, tally)
        if found.layout is None
        else texts(reader(source), found.layout, tally)
    )
    name = found.format.name
    return Recording(name, _found_any(found.format.frames(values, tally), tally, name), tally)


def _named(name: str) -> Format:
    for row in FORMATS:
        if row.name == name:
            return row
    raise RecordingError(f"unknown format {name!r}: it must be one of {', '.join(FORMAT_NAMES)}")


def _look(source: BinaryIO, rows: Sequence[Format]) -> tuple[bytes, Recognised | None]:
    """Read until the format is clear; give what was read, and what it is."""
    read = reader(source)
    head, complete = b"", False
    while not complete and b"\0" not in head and len(head) < patience(head):
        block = read_block(read, len(head))
        head, complete = head + block, not block
        if found := recognise(head, complete, rows):
            return head, found
    return head, None if trim(head) else Recognised(RAW)


def _lines(source: Iterable[bytes], tally: Tally) -> Iterator[Value]:
    """Give the lines that are not blank; note a last one that is cut off."""
    for number, line in enumerate(source, 1):
        if data := trim(line):
            if line[-1] != 10:
                tally.torn |= not is_json(data)
            yield number, data


def write_envelope(frame: Frame) -> bytes:
    """Write a frame as one line of the `envelope` format; `read_recording` gives it back.

    Times are kept to the millisecond, and the line becomes that of the new file.
    """
    start = b'{"dir":"send"' if frame.sent else b'{"dir":"recv"'
    if frame.time is not None:
        start += b',"ts":%d' % round(frame.time * 1000)
    return b'%s,"message":%s}\n' % (start, _embedded(frame.data))


def _embedded(data: bytes) -> bytes:
    if data[:1] in (b"{", b"[") and is_json(data) and _is_unicode(data):
        return data
    text = msgspec.json.encode(data.decode("utf-8", "replace"))
    return b'null,"raw":%s,"rawBase64":"%s"' % (text, base64.b64encode(data))


def _is_unicode(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
