"""What is taken for which format, and what for none."""

from __future__ import annotations

import io
import json
from typing import BinaryIO, cast

import pytest
from recorded_formats import (
    CALL,
    UPDATE,
    fixture,
    read,
)

from acp_client._errors import RecordingError
from acp_client._recordings.frames import Frame
from acp_client._recordings.reading import read_recording


@pytest.mark.parametrize("blank", [b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf"])
def test_nothing_is_an_empty_recording(blank: bytes) -> None:
    """Empty and blank input is a raw stream of no frames."""
    recording, frames = read(blank)
    assert (recording.format, frames, recording.torn) == ("ndjson", [], False)


PROSE = b"The client sends a message, and the agent answers it.\n"


NO_RECORDINGS = {
    "image": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8,
    "prose": PROSE * 100,
    "prose with a message": PROSE * 30 + UPDATE + b"\n",
    "source": b"import json\n\nmessage = {\n    'jsonrpc': '2.0',\n}\n",
    "settings": json.dumps({"name": "x", "scripts": {"test": "vitest"}}, indent=2).encode(),
    "other lines": b'{"level":"info","msg":"started"}\n' * 50,
    "other array": b'[{"a":1},\n{"a":2}]',
    "numbers": b"1\n2\n3\n",
    "zeros": bytes(5000),
    "broken": b'{"a": [1, 2',
    "other calls": b'{"id": 7, "method": "GET", "url": "/"}\n',
    "deep": b'{"dir":' + b"[" * 200000,
    "odd direction": b'{"dir":5,"message":{}}',
    "odd method": b'{"id":1,"method":{},"params":{}}',
}


@pytest.mark.parametrize("name", NO_RECORDINGS)
def test_what_is_no_recording_is_refused(name: str) -> None:
    """Files of other kinds are refused with one clear line."""
    with pytest.raises(RecordingError) as caught:
        read(NO_RECORDINGS[name])
    assert str(caught.value).startswith("not a recording")
    assert "\n" not in str(caught.value)


def test_search_for_a_format_ends() -> None:
    """A long file that is no recording is not read to its end."""
    read_bytes = 0

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            nonlocal read_bytes
            read_bytes += 60000
            return b'{"level":"info","text":"%s"}\n' % (b"x" * 59972)

    with pytest.raises(RecordingError):
        read_recording(cast("BinaryIO", Endless()))
    assert read_bytes < 4_000_000


def test_unknown_format_name() -> None:
    """The name of no format is an error that tells the names."""
    with pytest.raises(RecordingError, match=r"unknown format 'csv': it must be one of envelope,"):
        read(b"", "csv")


def test_forced_format_is_not_second_guessed() -> None:
    """What is read as a format that it is not gives no frames, and its end tells so."""
    for data, name in ((fixture("ndjson.ndjson"), "crucible"), (PROSE, "marked")):
        with pytest.raises(RecordingError, match=name):
            read(data, name)
    assert read(PROSE, "ndjson")[1] == [Frame(1, False, PROSE.strip())]


@pytest.mark.parametrize(
    ("line", "format_name"),
    [
        (b'{"jsonrpc":"2.0","method":"x","params":{"dir":"send","message":{}}}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x","dir":"send","message":{"jsonrpc":"2.0"}}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x","timestamp":1,"params":{}}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x","params":{"messages":[{"jsonrpc":"2.0"}]}}', "ndjson"),
        (b'{"id":1,"result":{}}', "ndjson"),
        (b'{"jsonrpc":"1.0"}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x"', "ndjson"),
        (b'{"dir":"recv","message":{"dir":"send","line":"x"}}', "envelope"),
        (b'{"type":"recv","data":"{\\"id\\":1,\\"result\\":{}}"}', "marked"),
        (b'{"update":{"sessionUpdate":"plan"},"session_id":"s"}', "updates"),
        (b'{"method":"session/update","params":{}}', "ndjson"),
        (b'[{"method":"session/update","params":{}}]', "updates"),
        (b'{"timestamp":1,"method":"m","params":{}}', "notifications"),
    ],
)
def test_the_specific_goes_before_the_general(line: bytes, format_name: str) -> None:
    """Keys of a wrapping count only where there is a wrapping, at the top."""
    assert read(line)[0].format == format_name


def test_words_before_the_first_message() -> None:
    """What an agent says while it starts is part of its output."""
    recording, frames = read(b"starting\nready: {\n" + UPDATE + b"\n")
    assert recording.format == "ndjson"
    assert [frame.data for frame in frames] == [b"starting", b"ready: {", UPDATE]


def test_words_between_pretty_printed_messages() -> None:
    """Labels between texts are passed over, one at a time; batches stay together."""
    pretty = json.dumps(json.loads(CALL), indent=2).encode()
    batch = b"[\n" + UPDATE + b"\n]"
    recording, frames = read(pretty + b"\nagent says:\n" + batch + b'\n{\n"a": 1\n}\nend')
    assert recording.format == "json"
    assert [frame.data for frame in frames] == [CALL, b"[" + UPDATE + b"]"]
    assert recording.passed_over == 3


@pytest.mark.parametrize("rest", [b"\n" + UPDATE + b"\n", b"\n" + UPDATE])
def test_batch_on_the_first_line(rest: bytes) -> None:
    """A batch that other lines follow is one line of a raw stream."""
    batch = b"[" + CALL + b"," + UPDATE + b"]"
    recording, frames = read(batch + rest)
    assert recording.format == "ndjson"
    assert [(frame.sent, frame.data) for frame in frames] == [(True, batch), (False, UPDATE)]


@pytest.mark.parametrize(
    "broken",
    [
        b'{"jsonrpc":"2.0","method":nul}',
        b'{"jsonrpc":[]],"params":{"sessionId":"q","update":{"sessionUpdate":"plan"}}}',
        b'{"jsonrpc":"2.0","method":"session/up',
        UPDATE + UPDATE,
        b"[}",
    ],
)
def test_a_broken_first_line_is_a_line(broken: bytes) -> None:
    """A message that is broken before its end begins no text over many lines."""
    recording = read_recording(io.BytesIO(broken + b"\n" + UPDATE + b"\n"))
    frames = [(frame.line, frame.data) for frame in recording]
    assert recording.format == "ndjson"
    assert frames == [(1, broken), (2, UPDATE)]
