"""Streams of any blocks, packing and encoding give the same frames."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import tracemalloc
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import (
    CALL,
    CONVERSATION,
    EVERY,
    UPDATE,
    Trickle,
    fixture,
    read,
    said,
)

from acp_client._recordings.reading import read_recording


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("packed", [False, True])
def test_blocks_do_not_matter(name: str, packed: bool) -> None:
    """However few bytes a stream gives at a time, packed or not, the frames are the same."""
    data = gzip.compress(fixture(name)) if packed else fixture(name)
    for size in (1, 7, 1000):
        recording = read_recording(cast("BinaryIO", Trickle(data, size)))
        assert list(recording) == read(fixture(name))[1]


def test_frames_come_before_the_stream_ends() -> None:
    """A recording that is still being written is read as far as it is there."""
    asked = []

    class Growing(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            asked.append(size)
            return {1: CALL + b"\n", 2: UPDATE[:20], 3: UPDATE[20:] + b"\n"}.get(len(asked), b"")

    frames = iter(read_recording(cast("BinaryIO", Growing())))
    assert next(frames).data == CALL
    assert len(asked) == 1
    assert next(frames).data == UPDATE
    assert len(asked) == 3
    assert list(frames) == []


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"", b"\n\xef\xbb\xbf "])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \r\n"])
def test_marks_and_blanks_around_lines(mark: bytes, end: bytes) -> None:
    """A byte order mark, carriage returns and blanks around a message are trimmed."""
    data = end.join([mark + CALL, mark + UPDATE, b""])
    assert [frame.data for frame in read(data)[1]] == [CALL, UPDATE]


@pytest.mark.parametrize("name", ["ndjson.ndjson", "jetbrains.log", "zed.json"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(name: str, encoding: str) -> None:
    """A recording that a shell wrote as UTF-16 is read like any other."""
    mark = {"utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}.get(encoding, "")
    data = (mark + fixture(name).decode()).encode(encoding)
    assert said(read(data)[1]) == CONVERSATION


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.integers(1, 900),
    st.sampled_from(["utf-16-le", "utf-16-be"]),
)
def test_long_recordings_of_utf_16(text: str, count: int, encoding: str) -> None:
    """However long it is, and whatever its characters take in UTF-8, not one of them is lost."""
    lines = [CALL.decode()] + [
        json.dumps({"n": number, "text": 20 * text}, ensure_ascii=False) for number in range(count)
    ]
    data = ("\ufeff" + "\n".join(lines) + "\n").encode(encoding)
    assert [frame.data.decode() for frame in read(data)[1]] == lines


def test_members_of_a_packed_file() -> None:
    """A file of several packed parts is one stream."""
    data = fixture("envelope.ndjson")
    assert said(read(gzip.compress(data[:700]) + gzip.compress(data[700:]))[1]) == CONVERSATION


@pytest.mark.parametrize("name", ["envelope.ndjson", "ndjson.ndjson", "acp-devtools.json"])
def test_packed_file_that_is_cut_off(name: str) -> None:
    """Of a truncated or damaged packed file what can be read is read, and it is told."""
    packed = gzip.compress(fixture(name) * (1 if name.endswith(".json") else 40))
    for cut in (packed[:-9], packed[:-20] + b"\0" * 20, packed + b"trailing"):
        recording, frames = read(cut)
        assert said(frames[:12]) == CONVERSATION[:12]
        assert recording.torn


class Repeated(io.RawIOBase):
    """A stream of a body many times over, between a head and a tail."""

    def __init__(self, head: bytes, body: bytes, tail: bytes, count: int) -> None:
        self._parts = itertools.chain([head], itertools.repeat(body, count), [tail])

    def read(self, size: int = -1) -> bytes:
        """Return the next part, which is short."""
        return next(self._parts, b"")


LONG = {
    "agent-shell.traffic": (b"(", fixture("agent-shell.traffic").strip()[1:-1] + b"\n", b")"),
    "zed.json": (b"[", fixture("zed.json").strip()[1:-1] + b",", b"{}]"),
    **{
        name: (b"", fixture(name), b"")
        for name in ("envelope.ndjson", "events.txt", "log-labels.log", "markdown.md", "json.json")
    },
}
"""One fixture of each layout, as what can be repeated."""


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_a_recording_may_be_longer_than_memory(name: str) -> None:
    """Eight times as long a recording takes no more memory to read."""
    peaks = []
    for count in (40, 320):
        tracemalloc.start()
        frames = read_recording(cast("BinaryIO", Repeated(*LONG[name], count)))
        assert sum(1 for _ in frames) == 14 * count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 1.3 * peaks[0]
