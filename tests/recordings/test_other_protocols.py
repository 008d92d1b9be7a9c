"""Traffic of other protocols is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_formats import CALL, UPDATE, read

from acp_client import RecordingError


def lines(*values: Any) -> bytes:
    """Write values as lines."""
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def rpc(method: str, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}
HOVER = json.dumps(rpc("textDocument/hover"))

LSP = "Language Server Protocol"

OTHERS = {
    "a language server": (lines(rpc("initialize", processId=1, capabilities={})), LSP),
    "its answers first": (lines(ANSWER, rpc("textDocument/hover")), LSP),
    "with headers": (f"Content-Length: {len(HOVER)}\r\n\r\n{HOVER}".encode() * 2, LSP),
    "headers alone": (b'Content-Length: 14\r\n\r\n{"jsonrpc": 1}', "Content-Length headers"),
    "in a log": (f"[client] {HOVER}\n".encode(), LSP),
    "in envelopes": (lines({"dir": "send", "message": rpc("window/logMessage")}), LSP),
    "tools": (lines(rpc("initialize", protocolVersion="2025-06-18")), "Model Context Protocol"),
    "more tools": (lines(rpc("tools/call", name="x")), "Model Context Protocol"),
    "Codex": (lines({"id": 0, "method": "initialize", "params": {"clientInfo": {}}},
                    {"id": 0, "result": {}}), "Codex app server"),
    "Codex's turns": (lines({"id": 0, "result": {}}, {"method": "turn/started", "params": {}}),
                      "Codex app server"),
    "Codex, indented": (json.dumps([{"id": 0, "method": "thread/start"}], indent=1).encode(),
                        "Codex app server"),
    "agents among each other": (lines(rpc("message/send")), "Agent2Agent"),
    "a debugger": (lines({"seq": 1, "type": "request", "command": "launch"}), "Debug Adapter"),
    "Codex's sessions": (lines({"timestamp": "x", "type": "session_meta", "payload": {}}), "Codex"),
    "Claude Code": (lines({"type": "user", "message": {"role": "user"}}), "Claude Code"),
}  # fmt: skip  # a table


@pytest.mark.parametrize("name", OTHERS)
def test_another_protocol_is_refused_by_name(name: str) -> None:
    """The one line of the error says what the file is instead."""
    data, word = OTHERS[name]
    with pytest.raises(RecordingError, match=word) as caught:
        read(data)
    assert str(caught.value).startswith("not a recording")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["its answers first", "tools", "Codex's turns"])
def test_one_message_of_ours_makes_a_recording(name: str) -> None:
    """Where the protocol's own messages are among the others, the file is read."""
    recording, frames = read(OTHERS[name][0] + CALL + b"\n" + UPDATE + b"\n")
    assert recording.format in ("ndjson", "updates")
    assert frames[-1].data == UPDATE


def test_a_given_format_is_not_refused() -> None:
    """Whoever names the format knows better."""
    assert len(read(OTHERS["more tools"][0], "ndjson")[1]) == 1
