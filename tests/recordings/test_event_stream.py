"""Server-sent events give the data of each event."""

from __future__ import annotations

import io

import pytest
from recorded_formats import CALL, UPDATE, read

from acp_client._recordings.event_stream import events


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: 1\n\ndata: 2\n\n", [(1, b"1"), (3, b"2")]),
        (b"id: 7\nevent: message\ndata:1\nretry: 5\n\n", [(3, b"1")]),
        (b": a comment\n\n\ndata: {\ndata: }\n\n", [(4, b"{}")]),
        (b"data: 1\r\n\r\ndata: 2", [(1, b"1"), (3, b"2")]),
        (b"event: end\n\n", []),
    ],
)
def test_events(stream: bytes, expected: list[tuple[int, bytes]]) -> None:
    """Lines of data are joined up to a blank line, all others say nothing."""
    assert list(events(io.BytesIO(stream))) == expected


def test_envelopes_in_events() -> None:
    """What the data is, is recognised as in lines."""
    recording, frames = read(b'data: {"dir":"send","message":%s}\n\n' % CALL)
    assert (recording.format, recording.layout) == ("envelope", "server-sent events")
    assert recording.reason == 'the data of line 1 is an object with "dir" and "message"'
    assert [(frame.line, frame.sent, frame.data) for frame in frames] == [(1, True, CALL)]


def test_a_stream_that_is_cut_off() -> None:
    """A torn last event is a frame, and the recording is torn."""
    recording, frames = read(b"data: " + CALL + b"\n\ndata: " + UPDATE[:-9])
    assert [frame.data for frame in frames] == [CALL, UPDATE[:-9]]
    assert recording.torn
