"""An append-only file of what both sides wrote, from which any earlier state can be had.

A journal is an enveloped recording, so everything that reads recordings reads it. From time to time
two lines more are written, which recordings pass over:

- a *state*: the frames of a compacted log that lead to the state so far;
- an *index*: where that state stands in the file, how many frames and what time it stands for, and
  where the index before it is.

The file is opened by its end: the last index and the frames after it. A crash leaves at most one
line without its end, which is cut off when the journal is opened again. A state at a line is had
from the nearest state before it; where the log of a version cannot be continued from a compacted
one (version 1 infers what an update means from all that came before), from the beginning.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import attrs
import msgspec

from .._errors import InvalidValueError, RecordingError
from .._recordings import Feeder, Frame, read_recording, write_envelope
from .._snapshot import Snapshot
from .._store import Store
from .._versions import Protocol
from .compact_v2 import CompactedV2

_LEAST: Final = 1024 * 1024
"""Bytes of frames between two indexes; states come farther apart as they grow."""

_BLOCK: Final = 64 * 1024
_MARK: Final = b'{"journal":"'
_FIRST: Final = b'{"dir":"'


@attrs.frozen
class _Index:
    """What an index line says; `offset` is its own place in the file."""

    offset: int
    frames: int
    time: float | None
    state: int | None
    previous: int | None

    def line(self) -> bytes:
        fields = attrs.asdict(self)
        return b'%sindex",%s\n' % (_MARK, json.dumps(fields)[1:].encode())


class Journal:
    """A journal at a path, which is made if it is not there; close it, or use it in a `with`.

    `protocol` is what the agent speaks, where the frames do not say. One process appends at a time.
    Raises `RecordingError` for a file that is something else, and `OSError`.
    """

    def __init__(self, path: str | os.PathLike[str], *, protocol: Protocol | None = None) -> None:
        self._path = Path(path)
        self._protocol: Protocol | None = protocol
        self._file: BinaryIO = open(self._path, "a+b")  # noqa: SIM115  # closed by `close`
        if not _is_journal(self._file):
            self._file.close()
            raise RecordingError("not a journal: it does not begin with a frame")
        self._end = _whole_lines(self._file)
        self._file.truncate(self._end)
        self._index = self._last_index()
        self._state: CompactedV2 | None = None
        self._since = 0
        self._frames = 0
        self._time: float | None = None
        self._read_tail()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def frames(self) -> int:
        """How many frames the journal holds."""
        return self._frames

    # --- Writing ---

    def append(self, data: bytes, *, sent: bool = False, time: float | None = None) -> None:
        """Append one line that the agent wrote, or that the client `sent`, at a time since 1970.

        It is in the file when this returns, and on the disk after `sync`.
        """
        self.append_frame(Frame(self._frames + 1, sent, data.rstrip(b"\r\n"), time))

    def append_frame(self, frame: Frame) -> None:
        """Append a frame of a recording."""
        if b"\n" in frame.data:
            raise InvalidValueError("a frame is one line")
        self._write(write_envelope(frame))
        self._count(frame)
        if self._since >= _LEAST:
            self._write_index()

    def sync(self) -> None:
        """Wait until what was appended is on the disk."""
        os.fsync(self._file.fileno())

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()
        self._end += len(line)
        self._since += len(line)

    def _count(self, frame: Frame) -> None:
        self._frames += 1
        self._time = self._time if frame.time is None else frame.time

    def _write_index(self) -> None:
        """Write an index, and the state before it if enough has come since the last one."""
        last = self._last_state(self._index)
        state: int | None = None
        if (
            last is None
            or last.state is None
            or self._end - last.offset >= 2 * (last.offset - last.state)
        ):
            state = self._write_state()
        previous = None if self._index is None else self._index.offset
        self._index = _Index(self._end, self._frames, self._time, state, previous)
        self._write(self._index.line())
        self._since = 0

    def _write_state(self) -> int | None:
        """Write the state so far, if the log can be continued from it; return its place."""
        store, compacted = self._reduced_tail()
        if store.protocol != "v2":
            return None
        place = self._end
        lines = [write_envelope(frame).decode() for frame in compacted.frames()]
        text = json.dumps({"frames": lines}, separators=(",", ":"))[1:]
        self._write(b'%sstate",%s\n' % (_MARK, text.encode()))
        return place

    def _reduced_tail(self) -> tuple[Store, CompactedV2]:
        """Reduce and compact what there is, from the last state on."""
        compacted, store = CompactedV2({}), Store(protocol=self._protocol)
        feeder = Feeder(store)
        for frame in self._from_state(self._index):
            compacted.taken([frame])
            feeder.take(frame)
        feeder.end()
        return store, compacted

    # --- Reading ---

    def read(self) -> Iterator[Frame]:
        """Return all frames, numbered as they were appended."""
        with open(self._path, "rb") as file:
            yield from _numbered(file, 0)

    def at(self, *, line: int | None = None, time: float | None = None) -> dict[str, Snapshot]:
        """Return the snapshots of all sessions as they were after a line, or at a time.

        Without either, that is now. Raises `InvalidValueError` if both are given.
        """
        if line is not None and time is not None:
            raise InvalidValueError("a state is that after a line, or that at a time")
        index = self._index
        while index is not None and not _is_before(index, line, time):
            index = self._index_at(index.previous)
        store = Store(protocol=self._protocol)
        feeder = Feeder(store)
        for frame in self._from_state(index):
            if line is not None and frame.line > line:
                break
            if time is not None and frame.time is not None and frame.time > time:
                break
            feeder.take(frame)
        feeder.end()
        return {session_id: store.snapshot(session_id) for session_id in store.sessions}

    def _from_state(self, index: _Index | None) -> Iterator[Frame]:
        """Return the frames of a state, and those after it; without a state, all of them."""
        index = self._last_state(index)
        with open(self._path, "rb") as file:
            if index is None or index.state is None:
                yield from _numbered(file, 0)
                return
            file.seek(index.state)
            lines = msgspec.json.decode(file.readline())["frames"]
            for envelope in lines:
                yield attrs.evolve(_frame(envelope.encode()), line=0, time=None)
            file.seek(index.offset)
            file.readline()
            yield from _numbered(file, index.frames)

    def _last_state(self, index: _Index | None) -> _Index | None:
        """Return the last index, up to one, that has a state."""
        while index is not None and index.state is None:
            index = self._index_at(index.previous)
        return index

    def _index_at(self, offset: int | None) -> _Index | None:
        if offset is None:
            return None
        with open(self._path, "rb") as file:
            file.seek(offset)
            return _index(file.readline())

    def _last_index(self) -> _Index | None:
        """Find the last index by reading backwards, block by block."""
        place, found = self._end, -1
        tail = b""
        while place > 0 and found < 0:
            start = max(0, place - _BLOCK)
            self._file.seek(start)
            block = self._file.read(place - start)
            tail, place = block + tail[: len(_MARK) + 16], start
            found = tail.rfind(_MARK + b"index")
        if found < 0:
            return None
        self._file.seek(place + found)
        return _index(self._file.readline())

    def _read_tail(self) -> None:
        """Count what came since the last index."""
        with open(self._path, "rb") as file:
            if self._index is not None:
                self._frames, self._time = self._index.frames, self._index.time
                file.seek(self._index.offset)
                file.readline()
                self._since = self._end - file.tell()
            else:
                self._since = self._end
            for frame in _numbered(file, self._frames):
                self._count(frame)


def _is_before(index: _Index, line: int | None, time: float | None) -> bool:
    if line is not None:
        return index.frames <= line
    return time is None or (index.time is not None and index.time <= time)


def _whole_lines(file: BinaryIO) -> int:
    """Return where the last line with an end ends."""
    place = file.seek(0, os.SEEK_END)
    while place > 0:
        start = max(0, place - _BLOCK)
        file.seek(start)
        found = file.read(place - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        place = start
    return 0


def _is_journal(file: BinaryIO) -> bool:
    """Return whether a file begins as a journal does, as far as it goes."""
    file.seek(0)
    first = file.read(len(_FIRST))
    return first == _FIRST[: len(first)]


def _index(line: bytes) -> _Index:
    fields: dict[str, Any] = json.loads(line)
    del fields["journal"]
    return _Index(**fields)


def _frame(envelope: bytes) -> Frame:
    from io import BytesIO  # one envelope at a time is read here alone

    return next(iter(read_recording(BytesIO(envelope), format="envelope")))


def _numbered(file: BinaryIO, before: int) -> Iterator[Frame]:
    """Return the frames of the rest of a file, numbered from those before."""
    if not file.read(1):
        return
    file.seek(-1, os.SEEK_CUR)
    for number, frame in enumerate(read_recording(file, format="envelope"), before + 1):
        yield attrs.evolve(frame, line=number)
