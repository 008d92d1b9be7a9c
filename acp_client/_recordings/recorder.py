"""Writing recordings: frames in our own format, and a recorder of one's own traffic.

A line is `{"dir": "send" or "recv", "ts": milliseconds, "message": …}`; what was not JSON has
`"message": null` with `raw`, to read, and `rawBase64`, to be exact.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from .._errors import InvalidValueError, checked
from .._framing import TOO_LONG, Framer
from .._limits import DEFAULT_LIMITS
from .frames import Frame
from .json_slices import is_json, trim


class Recorder:
    """Writes the traffic of a connection to a file, in the format that `acp-client convert` writes.

    Pass on what was written to the agent and what was read from it, in pieces of any size:

        with open("traffic.ndjson", "wb") as file:
            recorder = acp_client.Recorder(file)
            recorder.sent(data)  # beside writing it
            recorder.received(data)  # beside store.receive(data)
            recorder.end()

    `file` is a binary file, and stays the caller's: it is written a line at a time, never flushed
    and never closed. `redact` is called with each `Frame` before it is written, and returns the
    frame to write, or None to leave it out; what it raises reaches the caller, and nothing is
    written. `clock` returns seconds since 1970. A message that is longer than the limit of a store
    by default is not recorded, but counted in `too_long`. All methods may be called from any
    thread. Raises `InvalidValueError` for a file in text mode, or an object that is not a file.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        redact: Callable[[Frame], Frame | None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not hasattr(file, "write") or hasattr(file, "encoding"):
            raise InvalidValueError('expected a binary file: open it with mode "wb"')
        self._file = file
        self._redact = redact
        self._clock = clock
        self._lock = threading.Lock()
        self._framers = {sent: Framer(DEFAULT_LIMITS.line_length) for sent in (True, False)}
        self._lines = 0
        self._too_long = 0

    @property
    def too_long(self) -> int:
        """How many messages were too long to be recorded."""
        return self._too_long

    def sent(self, data: bytes) -> None:
        """Record bytes that were written to the agent."""
        self._record(data, sent=True)

    def received(self, data: bytes) -> None:
        """Record bytes that the agent wrote."""
        self._record(data, sent=False)

    def end(self) -> None:
        """Record what is there of lines that have no end yet."""
        with self._lock:
            for sent, framer in self._framers.items():
                if rest := framer.end():
                    self._write(rest, sent)

    def _record(self, data: bytes, *, sent: bool) -> None:
        checked(data, bytes | bytearray | memoryview, "bytes")
        with self._lock:
            for line in self._framers[sent].feed(bytes(data)):
                self._write(line, sent)

    def _write(self, line: bytes, sent: bool) -> None:
        if line == TOO_LONG:
            self._too_long += 1
            return
        message = trim(line)
        if not message:
            return
        self._lines += 1
        frame: Frame | None = Frame(self._lines, sent, message, self._clock())
        if self._redact is not None and frame is not None:
            frame = self._redact(frame)
        if frame is not None:
            self._file.write(write_envelope(frame))


def write_envelope(frame: Frame) -> bytes:
    """Return a frame as one line of the `envelope` format; `read_recording` reads it back.

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
