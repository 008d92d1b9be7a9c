"""Recorded traffic: any format of the table, from a binary stream or a file to frames.

The format is recognised by what the first values are, never by a name. Values are read one after
another, so a recording may be longer than memory.
"""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, cast

from .._errors import InvalidValueError, RecordingError
from .detection import Recognised, patience, recognise
from .formats import FORMAT_NAMES, FORMATS, RAW
from .frames import Format, Frame, Tally
from .json_slices import trim
from .json_texts import read_block
from .other_protocols import other_protocol, possible_messages
from .streams import plain, put_back, reader
from .successors import without_wrapping

_LOOKED_AT: Final = 200
"""Messages that are looked at to refuse another protocol's."""


class Recording:
    """One pass over the frames of a recording; the counts grow as it is read."""

    def __init__(self, found: Recognised, frames: Iterator[Frame], tally: Tally) -> None:
        self._found = found
        self._frames = frames
        self._tally = tally

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    @property
    def format(self) -> str:
        """The name of the format."""
        return self._found.format.name

    @property
    def layout(self) -> str:
        """How the messages lie in the file: lines, one JSON document, blocks of Markdown."""
        return self._found.layout.name

    @property
    def reason(self) -> str:
        """Why it was taken for this format, as a sentence about the first value that fits."""
        return self._found.reason

    @property
    def passed_over(self) -> int:
        """How many headers and unknown values have been passed over so far."""
        return self._tally.passed_over

    @property
    def torn(self) -> bool:
        """Whether the recording ends in the middle.

        In a raw stream, a log and our own format the torn message is a frame too, the last; this
        is true by then.
        """
        return self._tally.torn


def read_recording(
    source: BinaryIO | str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that callers and the command line use
) -> Recording:
    """Read recorded traffic, plain or gzip, from the path of a file or from a binary stream.

    A file is opened here, and closed when the recording is dropped; a stream stays the caller's.
    `format` is a name of a format, for a recording that is not recognised. Raises `RecordingError`
    for a file that is not a recording (where a format was given, at its end), for traffic of
    another protocol, and for a file that cannot be opened; `InvalidValueError` for anything but a
    path or a binary stream.
    """
    rows = FORMATS if format is None else (_named(format),)
    if not isinstance(source, str | os.PathLike):
        return _recording(_binary(source), rows, is_forced=format is not None)
    file = _opened(source)
    try:
        recording = _recording(file, rows, is_forced=format is not None)
    except BaseException:
        file.close()
        raise
    weakref.finalize(recording._frames, file.close)  # an iterator may outlive its recording
    return recording


def _recording(source: BinaryIO, rows: Sequence[Format], *, is_forced: bool) -> Recording:
    tally = Tally()
    stream = plain(source, tally)
    head, found = _look(stream, rows)
    if not is_forced:
        _refuse_other_protocols(head, found)
    return _read(put_back(head, reader(stream)), found or Recognised(rows[0]), tally)


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return cast("BinaryIO", open(path, "rb", buffering=0))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordingError(f"cannot read {os.fspath(path)!r}: {reason}") from None


def _binary(source: object) -> BinaryIO:
    """Return a binary stream. Raises `InvalidValueError` for anything else."""
    if isinstance(source, bytes | bytearray | memoryview):
        raise InvalidValueError("expected a path or a binary stream: put bytes into io.BytesIO")
    if not hasattr(source, "read"):
        kind = type(source).__name__
        raise InvalidValueError(f"expected a path or a binary stream, not {kind}")
    if hasattr(source, "encoding"):
        raise InvalidValueError('the stream is in text mode: open the file with mode "rb"')
    return cast("BinaryIO", source)


def _found_any(frames: Iterator[Frame], tally: Tally, name: str) -> Iterator[Frame]:
    """Return frames. Raises `RecordingError` if there was nothing but values of other formats."""
    is_empty = True
    for frame in frames:
        is_empty = False
        yield frame
    if is_empty and tally.passed_over:
        raise RecordingError(f"not a recording of the format {name}: no message found in it")


def _read(source: BinaryIO, found: Recognised, tally: Tally) -> Recording:
    frames = without_wrapping(_frames(source, found, tally), tally)
    return Recording(found, _found_any(frames, tally, found.format.name), tally)


def _frames(source: BinaryIO, found: Recognised, tally: Tally) -> Iterator[Frame]:
    return found.format.reader.frames(found.layout.cut(source, found.is_known, tally), tally)


def _refuse_other_protocols(head: bytes, found: Recognised | None) -> None:
    """Raise `RecordingError` for traffic of another protocol, and for what was not recognised."""
    if found is None:
        messages = possible_messages(head)
    else:
        source = put_back(head, lambda _: b"")
        messages = (frame.data for frame in _frames(source, found, Tally()))
    if other := other_protocol(head, itertools.islice(messages, _LOOKED_AT)):
        raise RecordingError(f"not a recording of the Agent Client Protocol: this is {other}")
    if found is None:
        raise RecordingError("not a recording: no Agent Client Protocol message found in it")


def _named(name: str) -> Format:
    for row in FORMATS:
        if row.name == name:
            return row
    raise RecordingError(f"unknown format {name!r}: it must be one of {', '.join(FORMAT_NAMES)}")


def _look(source: BinaryIO, rows: Sequence[Format]) -> tuple[bytes, Recognised | None]:
    """Read until the format is clear; return what was read, and what it is."""
    read = reader(source)
    head, complete = b"", False
    while not complete and b"\0" not in head and len(head) < patience(head):
        block = read_block(read, len(head))
        head, complete = head + block, not block
        if found := recognise(head, complete, rows):
            return head, found
    return head, None if trim(head) else Recognised(RAW)
