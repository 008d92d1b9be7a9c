"""Streams as they come: packed or not, of any encoding of Unicode, perhaps cut off.

What is read to find out is put back, and nothing waits for more than is there, so that a pipe
that is still being written can be read as it grows.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable
from typing import BinaryIO, Final, cast

from .frames import Tally
from .json_texts import BLOCK

Read = Callable[[int], bytes]

_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def reader(stream: BinaryIO) -> Read:
    """Return a function that reads what is there, without waiting for a whole block."""
    return cast("Read", getattr(stream, "read1", stream.read))


def plain(stream: BinaryIO, tally: Tally) -> BinaryIO:
    """Return the stream as it is, unpacked if it is gzip, as UTF-8 if it is UTF-16."""
    read = reader(stream)
    head = b""
    while len(head) < len(_GZIP) and (more := read(BLOCK)):
        head += more
    source = put_back(head, read)
    if head.startswith(_GZIP):
        unpacked = gzip.GzipFile(fileobj=cast("BinaryIO", _Eager(reader(source))))
        return put_back(b"", _until_torn(reader(cast("BinaryIO", unpacked)), tally))
    if head.startswith(_UTF_16):
        return put_back(b"", _as_utf_8(reader(source)))
    return source


def put_back(head: bytes, read: Read) -> BinaryIO:
    """Return a stream that begins with bytes that were read before."""
    return io.BufferedReader(_Source(head, read), BLOCK)


def _until_torn(read: Read, tally: Tally) -> Read:
    """Take the place where a packed stream is cut off or damaged for its end."""

    def read_on(size: int) -> bytes:
        try:
            return read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            tally.torn = True
            return b""

    return read_on


def _as_utf_8(read: Read) -> Read:
    """Read UTF-16 as UTF-8, of which there may be more."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read_on(size: int) -> bytes:
        text = ""
        while not text and (data := read(size)):
            text = decoder.decode(data)
        return (text or decoder.decode(b"", final=True)).encode()

    return read_on


class _Eager:
    """What a packed stream is read from: what is there, for a file that grows has no end."""

    def __init__(self, read: Read) -> None:
        self.read = read


class _Source(io.RawIOBase):
    """The raw stream below a buffered one: some bytes, then what a function reads."""

    def __init__(self, head: bytes, read: Read) -> None:
        self._head = head
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # Buffer is of 3.12
        size = len(buffer)
        data = self._head or self._read(size)
        part, self._head = data[:size], data[size:]
        buffer[: len(part)] = part
        return len(part)
