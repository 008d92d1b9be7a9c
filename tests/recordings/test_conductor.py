"""The trace of a chain of proxies gives the hop of the client."""

from __future__ import annotations

import json

from recorded_formats import (
    read,
)


def test_trace_without_client() -> None:
    """In a trace where the client has another name it is who sends the first request of one."""
    lines = [
        {"type": "notification", "from": "agent", "to": "ide", "method": "_x", "params": {}},
        {"type": "request", "from": "ide", "to": "agent", "id": 1, "method": "session/prompt"},
        {"type": "response", "from": "agent", "to": "ide", "id": 1, "is_error": False,
         "payload": {}},
        {"type": "response", "from": "agent", "to": "ide"},
    ]  # fmt: skip  # a table
    recording, frames = read("\n".join(map(json.dumps, lines)).encode())
    assert recording.format == "conductor"
    assert [frame.sent for frame in frames] == [True, False]
    assert recording.passed_over == 2
