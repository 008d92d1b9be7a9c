"""Recordings are read to their end, also where they are cut off or damaged."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import (
    CALL,
    CONVERSATION,
    EVERY,
    PASSED_OVER,
    TORN_FRAMES,
    UNUSUAL,
    UPDATE,
    fixture,
    read,
    said,
)

from acp_client._errors import InvalidValueError, RecordingError
from acp_client._recordings.formats import FORMAT_NAMES
from acp_client._recordings.json_slices import (
    is_json,
)
from acp_client._recordings.reading import read_recording


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("layout", ["envelope", "line", "array", "raw"])
def test_messages_come_out_as_recorded(name: str, layout: str) -> None:
    """Messages that strict parsers refuse are sliced out of their wrapping byte for byte."""
    message = UNUSUAL[name]
    envelope = b'{"dir":"recv","ts":1,"message":%s}'
    wrapping = {
        "envelope": envelope % CALL + b"\n" + envelope % message + b"\n",
        "line": b'{"ts":1,"direction":"meta","frame":1}\n{"ts":1,"direction":"received","frame":%s}'
        % message,
        "array": b"[" + CALL + b",\n" + message + b"]",
        "raw": CALL + b"\n" + message + b"\n",
    }
    recording, frames = read(wrapping[layout])
    assert frames[-1].data == message
    assert not recording.torn


@pytest.mark.parametrize("name", EVERY)
def test_torn_recordings(name: str) -> None:
    """Cut anywhere in its last value a recording gives all before it, and tells that it is torn."""
    data = fixture(name).rstrip().removesuffix(b"]").rstrip()
    whole = [frame.data for frame in read(fixture(name))[1]]
    for cut in (2, 5, 9):
        recording, frames = read(data[:-cut])
        kept = [frame.data for frame in frames]
        if name in TORN_FRAMES:
            assert not is_json(kept.pop())
        assert recording.torn
        assert kept == whole[: len(kept)]
        assert len(whole) - len(kept) <= 2
        assert recording.passed_over <= PASSED_OVER.get(name, 0)


def test_torn_line_of_a_raw_stream_is_told_before_it_is_given() -> None:
    """The last line of a raw stream is a frame, and by then the recording is known as torn."""
    recording = read_recording(io.BytesIO(CALL + b"\n" + UPDATE[:-5]))
    told = [(frame.data, recording.torn) for frame in recording]
    assert told == [(CALL, False), (UPDATE[:-5], True)]


def test_unterminated_line_that_is_whole() -> None:
    """A last line without line feed is not torn if it is a message."""
    recording, frames = read(CALL + b"\n" + UPDATE)
    assert len(frames) == 2
    assert not recording.torn


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No input makes anything but frames of one line each, or the one error."""
    try:
        recording, frames = read(data)
    except RecordingError:
        return
    assert recording.format in FORMAT_NAMES
    assert all(b"\n" not in frame.data for frame in frames)


@given(st.data(), st.sampled_from(EVERY))
def test_damaged_recordings_are_read(data: st.DataObject, name: str) -> None:
    """Bytes changed anywhere in a recording never make an exception, whatever it is read as."""
    damaged = bytearray(fixture(name))
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=4)):
        damaged[place] = data.draw(st.sampled_from(b'"\\{}[],:\n0a\xff'))
    for forced in (None, data.draw(st.sampled_from(FORMAT_NAMES))):
        try:
            frames = read(bytes(damaged), forced)[1]
        except RecordingError:
            continue
        assert all(b"\n" not in frame.data for frame in frames)


def test_a_path_is_read(tmp_path: Path) -> None:
    """A file is opened, read and closed, whether it is named by text or by a path object."""
    file = tmp_path / "traffic.ndjson"
    file.write_bytes(fixture("envelope.ndjson"))
    for path in (file, str(file)):
        frames = iter(read_recording(path))
        assert said(frames) == CONVERSATION
    assert next(iter(read_recording(file))).sent
    read_recording(file)


def test_a_path_that_cannot_be_read(tmp_path: Path) -> None:
    """What is not there, is a folder, or is no recording is one error with a reason."""
    (tmp_path / "prose.txt").write_bytes(b"prose")
    for name, reason in [("none", "No such file"), (".", "directory"), ("prose.txt", "not a rec")]:
        with pytest.raises(RecordingError, match=reason):
            read_recording(tmp_path / name)
    with pytest.raises(RecordingError, match="cannot read"):
        read_recording("a\0b")


@pytest.mark.parametrize(
    ("source", "way_out"),
    [
        (io.StringIO("text"), 'mode "rb"'),
        (b"{}", "io.BytesIO"),
        (5, "a path or a binary stream"),
        (None, "a path or a binary stream"),
        ([CALL], "a path or a binary stream"),
    ],
)
def test_what_is_no_source_is_refused(source: Any, way_out: str) -> None:
    """A stream of text, bytes or anything else is misuse, and the error says what to do."""
    with pytest.raises(InvalidValueError, match=way_out):
        read_recording(source)


def test_a_recording_says_why_it_is_one() -> None:
    """Format, layout and the first value that fits are there before a frame is read."""
    recording = read_recording(io.BytesIO(b"starting\n" + CALL + b"\n"))
    assert (recording.format, recording.layout) == ("ndjson", "lines")
    assert recording.reason == "line 2 is a JSON-RPC message"
    assert read_recording(io.BytesIO(b"")).reason == "nothing in it says otherwise"
