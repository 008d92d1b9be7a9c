"""Messages come out of their envelopes, on the side that wrote them."""

from __future__ import annotations

import json

import pytest
from recorded_formats import (
    CALL,
    CONVERSATION,
    UPDATE,
    fixture,
    read,
    said,
)


def test_recorder_beside_the_agent_is_turned_round() -> None:
    """Where a client's request is marked as received, all marks are the agent's."""
    text = fixture("direction-frame.jsonl").replace(b'"sent"', b'"x"')
    text = text.replace(b'"received"', b'"sent"').replace(b'"x"', b'"received"')
    assert said(read(text)[1]) == CONVERSATION


def test_what_is_no_json_does_not_settle_the_sides() -> None:
    """Noise before the first call is kept, and says nothing about where the recorder sat."""
    noise = b'{"dir":"received","t":1,"raw":"listening"}\n'
    _, frames = read(noise + fixture("dir-raw.jsonl"))
    assert (frames[0].data, frames[0].sent) == (b"listening", False)
    assert said(frames[1:]) == CONVERSATION


def test_own_format_is_never_turned_round() -> None:
    """An agent that sends a client's request is believed to have sent it."""
    _, frames = read(b'{"dir":"recv","message":%s}\n' % CALL)
    assert [frame.sent for frame in frames] == [False]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (CALL + b"\n" + UPDATE + b"\n", [CALL, UPDATE]),
        (json.dumps(json.loads(CALL), indent=2).encode(), [CALL]),
        (b" not json", [b" not json"]),
        (b"first\n\nsecond\r\n", [b"first", b"second\r"]),
    ],
)
def test_string_of_several_lines(raw: bytes, expected: list[bytes]) -> None:
    """What a recorder read at once is split into lines, unless it is one message."""
    known = json.dumps({"dir": "sent", "t": 1, "raw": CALL.decode()}).encode()
    line = json.dumps({"dir": "received", "t": 2, "raw": raw.decode()}).encode()
    _, frames = read(known + b"\n" + line)
    assert [frame.data for frame in frames[1:]] == expected
    assert not any(frame.sent for frame in frames[1:])


@pytest.mark.parametrize(
    "line",
    [b"not json", b"[]", b'{"dir":"send"}', b'{"message":{}}', b'{"dir":5,"message":{}}',
     b'{"dir":"meta","message":{}}'],
)  # fmt: skip  # a table
def test_unknown_lines_between(line: bytes) -> None:
    """A line that is none of its format is passed over and counted; what follows is read."""
    known = b'{"dir":"send","message":%s}' % CALL
    recording, frames = read(known + b"\n" + line + b"\n" + known + b"\n")
    assert [frame.data for frame in frames] == [CALL, CALL]
    assert recording.passed_over == 1
    assert not recording.torn


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"dir":"recv","message":null,"raw":"oops","rawBase64":"b29wcw=="}', b"oops"),
        (b'{"dir":"recv","message":null,"raw":"?","rawBase64":"//8="}', b"\xff\xff"),
        (b'{"dir":"recv","message":null,"raw":"text","rawBase64":"*"}', b"text"),
        (b'{"dir":"recv","message":null,"raw":"text","rawBase64":5}', b"text"),
        (b'{"dir":"recv","message":null}', b"null"),
        (b'{"dir":"recv","message":"text"}', b'"text"'),
        (b'{"dir":"recv","message":[ 1,2 ]}', b"[ 1,2 ]"),
    ],
)
def test_envelope_of_what_is_no_message(line: bytes, expected: bytes) -> None:
    """What was no JSON comes back as its bytes, other JSON as it is."""
    _, frames = read(line + b"\n")
    assert [frame.data for frame in frames] == [expected]
