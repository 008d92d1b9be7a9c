"""Recorded files as the second implementation reads them."""

from __future__ import annotations

from pathlib import Path

from .recordings import read_recording
from .replay import replay
from .stories import kinds


def test_last_line_without_end_is_truncated(tmp_path: Path) -> None:
    """A last line that is cut is told as such, and the envelope gives the line that was no JSON."""
    path = tmp_path / "cut.ndjson"
    path.write_bytes(
        b'{"dir":"recv","ts":1,"message":null,"raw":"log","rawBase64":"bG9n"}\n'
        b'\n{"dir":"recv","ts":2,"message":{"jsonrpc'
    )
    assert kinds(replay(read_recording(path))) == [(1, "not_json"), (3, "truncated")]


def test_envelope_keeps_the_message_as_written(tmp_path: Path) -> None:
    """Huge numbers, duplicate keys and lone surrogates pass through an envelope."""
    message = b'{"jsonrpc":"2.0","a":1e400,"a":[1,{"b":"\\ud800,}"}]}'
    path = tmp_path / "odd.ndjson"
    path.write_bytes(b'{"dir": "send", "ts": 1, "message": ' + message + b"}\r\n")
    (frame,) = read_recording(path)
    assert frame[:2] == (True, message)
