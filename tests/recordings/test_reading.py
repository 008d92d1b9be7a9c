"""Recordings are read to their end, also where they are cut off or damaged."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import (
    CALL,
    EVERY,
    PASSED_OVER,
    TORN_FRAMES,
    UNUSUAL,
    UPDATE,
    fixture,
    read,
)

from acp_client._errors import RecordingError
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
