"""What a session says of the files and terminals that its tool calls touched."""

from __future__ import annotations

from typing import Any

import pytest
from traffic import event, line

import acp_client
from acp_client import FileTouched, Snapshot, apply_all

DIFF = {
    "type": "diff",
    "changes": [
        {"operation": "modify", "path": "/a"},
        {"operation": "move", "oldPath": "/a", "path": "/b"},
        {"operation": "_swap", "path": "/x"},
    ],
}


def after(*calls: dict[str, Any]) -> Snapshot:
    """Apply tool calls to an empty session."""
    return apply_all(Snapshot("s"), [event("tool_call_update", **call) for call in calls])


def test_files_by_path() -> None:
    """Each path has its kinds of change and its calls, in order of appearance."""
    snapshot = after(
        {"toolCallId": "1", "locations": [{"path": "/read"}, {"path": "/a", "line": 2}]},
        {"toolCallId": "2", "content": [DIFF]},
        {"toolCallId": "3", "locations": [{"path": "/a"}]},
    )
    assert acp_client.files_touched(snapshot) == {
        "/read": FileTouched("/read", (), ("1",)),
        "/a": FileTouched("/a", ("modify", "move"), ("1", "2", "3")),
        "/b": FileTouched("/b", ("move",), ("2",)),
    }


def test_a_diff_of_version_1_changes_its_file() -> None:
    """A diff with an old and a new text is a change, and one without an old text adds the file."""
    old = {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}
    store = acp_client.Store(protocol="v1")
    update = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "t"}
    for number, item in enumerate((old, {**old, "path": "/n", "oldText": None})):
        call = {**update, "toolCallId": str(number), "content": [item]}
        params = {"sessionId": "s", "update": call}
        store.receive(line(method="session/update", params=params))
    found = acp_client.files_touched(store.snapshot("s"))
    assert {path: one.changes for path, one in found.items()} == {"/a": ("modify",), "/n": ("add",)}


def test_calls_and_terminals() -> None:
    """A session knows the calls that go on, those that show a terminal, and their terminals."""
    shown = [{"type": "terminal", "terminalId": "t"}, {"type": "terminal", "terminalId": "gone"}]
    snapshot = apply_all(
        after({"toolCallId": "1", "content": shown}, {"toolCallId": "2", "status": "completed"}),
        [event("terminal_update", terminalId="t")],
    )
    assert [call.tool_call_id for call in snapshot.unfinished_tool_calls] == ["1"]
    assert [call.tool_call_id for call in snapshot.tool_calls_showing("t")] == ["1"]
    assert snapshot.tool_calls_showing("other") == ()
    assert [terminal.terminal_id for terminal in snapshot.terminals_of("1")] == ["t"]
    assert snapshot.terminals_of("2") == snapshot.terminals_of("unknown") == ()


def test_something_else_has_no_files() -> None:
    """Only a snapshot can be asked."""
    wrong: Any = 5
    with pytest.raises(acp_client.InvalidValueError):
        acp_client.files_touched(wrong)
