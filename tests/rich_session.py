"""A session that has some of everything: the one that `stored/version-1.json` was written from.

What a client stored is read for ever, and this says what it must be read as. So nothing here is to
be changed; what a later version adds to sessions belongs into a session and a file of its own.
"""

from __future__ import annotations

import base64
from typing import Any

import strategies

import acp_client
from acp_client import Event, Snapshot, wire

TEXT = {"type": "text", "text": "Hello, \u00fc \U0001f680"}
META = {"example.com/k": {"nested": [1, 1.0, None, "x"]}, "l": 2**70}
ANNOTATED = {
    "annotations": {
        "audience": ["user", "_robot"],
        "lastModified": "2026-03-01T09:00:00Z",
        "priority": 0.5,
        "_meta": {"a": 1},
    },
    "_meta": {"b": 2},
}
BLOCKS = [
    {"type": "text", "text": "annotated", **ANNOTATED},
    {"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": "file:///a", **ANNOTATED},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav", **ANNOTATED},
    {
        "type": "resource_link",
        "name": "a",
        "uri": "not a uri",
        "title": "A",
        "description": "d",
        "icons": [{"src": "i", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
        "mimeType": "text/plain",
        "size": 2**64,
        **ANNOTATED,
    },
    {"type": "resource", "resource": {"text": "t", "uri": "u", "mimeType": "m"}, **ANNOTATED},
    {"type": "resource", "resource": {"blob": "aGk=", "uri": "u", "_meta": {"c": 3}}},
    {"type": "_smell", "note": None, "strength": 0.5, "z": {"b": 1, "a": 2}},
]
DIFF = {
    "type": "diff",
    "changes": [
        {"operation": "add", "path": "/a", "fileType": "text", "mimeType": "text/plain"},
        {"operation": "delete", "path": "/b"},
        {"operation": "modify", "path": "/c", "_meta": {"d": 4}},
        {"operation": "move", "oldPath": "/d", "path": "/e"},
        {"operation": "copy", "oldPath": "/f", "path": "/g"},
        {"operation": "_swap", "path": None},
    ],
    "patch": {"format": "git_patch", "text": "--- a\n+++ b\n"},
    "_meta": {"e": 5},
}
ITEMS = [
    {"type": "content", "content": BLOCKS[1], "_meta": {"f": 6}},
    DIFF,
    {"type": "terminal", "terminalId": "t1", "_meta": {"g": 7}},
    {"type": "_chart", "bars": [1, None]},
]
CALL = {
    "name": "edit_file",
    "title": "Edit \x1b[31mred",
    "kind": "edit",
    "status": "in_progress",
    "content": ITEMS,
    "locations": [{"path": "/a", "line": 3, "_meta": {"h": 8}}, {"path": "relative"}],
    "rawInput": {"a": None, "b": [True, 1.5, "\ud83d"], "": {}},
    "rawOutput": 0,
    "capabilities": {"cancel": {"_meta": {"i": 9}}, "_meta": {"j": 10}},
    "_meta": META,
}
OUTPUT = base64.b64encode(b"10%\r20%\r\n\x1b[32mgreen\x1b[0m\xf0\x9f").decode()
COMMANDS = [
    {"type": "command", "name": "test", "description": "d", "input": {"type": "text", "hint": "h"}},
    {
        "type": "command",
        "name": "pick",
        "description": "d",
        "input": {"type": "_picker", "k": None},
    },
    {"type": "_macro", "name": "m", "description": "d", "keys": ["a"]},
]
CHOICES = [{"value": "v", "name": "V", "description": "d", "_meta": {"k": 11}}]
OPTIONS = [
    {"type": "select", "configId": "s", "name": "S", "currentValue": "v", "options": CHOICES},
    {
        "type": "select",
        "configId": "g",
        "name": "G",
        "description": "d",
        "category": "mode",
        "currentValue": "v",
        "options": [{"groupId": "g1", "name": "G1", "options": CHOICES}],
        "_meta": {"l": 12},
    },
    {"type": "boolean", "configId": "b", "name": "B", "currentValue": False},
    {"type": "_slider", "configId": "x", "name": "X", "value": None},
]
PLANS = [
    {
        "type": "items",
        "planId": "p1",
        "entries": [{"content": "x", "priority": "high", "status": "_blocked", "_meta": {"m": 13}}],
    },
    {"type": "_gantt", "planId": "p2", "bars": None},
]
BACKGROUND = [
    {"type": "tool_call", "toolCallId": "c9"},
    {"type": "terminal", "terminalId": "t1", "_meta": {"n": 14}},
    {"type": "_daemon", "pid": 1},
]
ERROR = wire.Error(-32603, "no", wire.Json({"reason": None}))


def _update(variant: str, **fields: Any) -> Event:
    line = strategies.encode(strategies.notification({"sessionUpdate": variant, **fields}))
    message, problems = acp_client.decode(line)
    assert problems == ()
    assert isinstance(message, wire.Notification)
    assert isinstance(message.params, wire.UpdateSessionNotification)
    return message.params.update


def _chunks(variant: str, **fields: Any) -> list[Event]:
    return [_update(variant, content=block, **fields) for block in (TEXT, *BLOCKS)]


def _permission(request_id: wire.RequestId, subject: Any) -> Event:
    params = {
        "sessionId": "rich",
        "title": "May I?",
        "description": "d",
        "options": [{"optionId": "o", "name": "O", "kind": "allow_once", "_meta": {"o": 15}}],
        "subject": subject,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params}
    decoded, problems = acp_client.decode(strategies.encode(message))
    assert problems == ()
    assert isinstance(decoded, wire.Request)
    assert isinstance(decoded.params, wire.RequestPermissionRequest)
    return acp_client.PermissionAsked(request_id, decoded.params)


def _conversation() -> list[Event]:
    return [
        _update("state_update", state="running", background=BACKGROUND),
        _update("user_message", messageId="u1", content=[TEXT, *BLOCKS], _meta=META),
        *_chunks("agent_thought_chunk", messageId="a1", _meta={"p": 16}),
        *_chunks("agent_message_chunk", messageId="a1"),
        _update("agent_message", messageId="empty", content=None, _meta=META),
        _update(
            "agent_message_chunk", messageId="half", content={"type": "text", "text": "\ud83d"}
        ),
        _update("tool_call_update", toolCallId="c1", **CALL),
        _update("tool_call_content_chunk", toolCallId="c1", content=ITEMS[1], _meta={"q": 17}),
        _update("tool_call_update", toolCallId="c2"),
        _update("tool_call_update", toolCallId="c9", status="paused", capabilities={}),
        _update(
            "terminal_update", terminalId="t1", command="ls", cwd="/", size={"cols": 1, "rows": 2}
        ),
        _update("terminal_update", terminalId="t1", output={"data": OUTPUT, "_meta": {"r": 18}}),
        _update("terminal_output_chunk", terminalId="t1", data="moA="),
        _update("terminal_update", terminalId="t2", exitStatus={}, capabilities={"cancel": {}}),
        _update("terminal_update", terminalId="t1", exitStatus={"exitCode": 2**64, "signal": "S"}),
        _update("_vendor", messageId="u1", deep=[[[{"a": None}]]]),
        *_chunks("compaction_summary_chunk", compactionId="k1"),
        _update("compaction_update", compactionId="k2", status="failed", error="e", _meta=META),
    ]


def _session_fields() -> list[Event]:
    return [
        *(_update("plan_update", plan=plan) for plan in PLANS),
        _update("usage_update", used=2**63, size=1, cost={"amount": 0.1, "currency": "USD"}),
        _update("session_info_update", title="", updatedAt="2026-03-01T09:00:00Z", _meta=META),
        _update("available_commands_update", availableCommands=COMMANDS),
        _update("config_option_update", configOptions=OPTIONS),
        _update("notice", severity="info", title="n", description="d", _meta={"s": 19}),
        _update("notice", severity="_loud", title="n"),
    ]


def _client() -> list[Event]:
    content = (wire.TextContent("hi"), wire.Unknown({"type": "_smell"}))
    sent = [acp_client.PromptSent(request_id, content) for request_id in (0, 1, "1", 2, "x", 3)]
    return [
        *sent,
        acp_client.PromptAccepted(0, "u1"),
        acp_client.PromptAccepted(1, "later"),
        acp_client.PromptRejected("1", ERROR),
        acp_client.PromptUncertain(2),
        acp_client.PromptUncertain("x", ERROR),
        acp_client.CancelSent(),
        _permission(5, {"type": "tool_call", "toolCall": {"toolCallId": "c1", **CALL}}),
        _permission("5", {"type": "command", "command": "ls", "cwd": "/", "terminalId": "t1"}),
        _permission(6, {"type": "_other", "k": None}),
        _permission(7, None),
    ]


def rich_events() -> list[Event]:
    """Give the events of the session: a finished part, then a replay that still goes on."""
    first = [*_conversation(), *_session_fields(), *_client()]
    marked = [
        _update("tool_call_update", toolCallId="c3", status="in_progress"),
        acp_client.CancelSent(),
        _permission(8, {"type": "command", "command": "ls", "cwd": "/", "toolCallId": "c1"}),
    ]
    stopped = _update("state_update", state="idle", stopReason="_nap", extra=None)
    return [
        *first,
        *marked,
        stopped,
        acp_client.ReplayBegun(),
        *_conversation(),
        *_session_fields(),
    ]


def rich_snapshot() -> Snapshot:
    """Give the snapshot of the session."""
    return acp_client.apply_all(Snapshot("rich"), rich_events())


USED = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def richer_snapshot() -> Snapshot:
    """Give the session of `stored/version-2.json`: it has what version 1 did not know."""
    tool, terminal = wire.ToolCallUpdate("asked"), wire.TerminalUpdate("asked")
    form = wire.ElicitationFormMode(
        message="Name?",
        session_id="rich",
        tool_call_id="asked",
        requested_schema=wire.RequestedSchema(FORM),
    )
    url = wire.ElicitationUrlMode(
        message="Log in", session_id="rich", elicitation_id="e", url="https://example.com"
    )
    unknown = wire.ElicitationUnknownMode(
        {"mode": "_voice", "message": "Say", "sessionId": "rich", "status": 5, "null": None}
    )
    error = wire.Error(-32800, "cancelled")
    events: list[Event] = [
        acp_client.ReplayEnded(),
        acp_client.ConnectionLost(wire.Error(-1, "gone")),
        wire.UsageUpdate(1, 2, wire.Cost(0.5, "EUR")),
        wire.StateUpdate("running"),
        wire.UsageUpdate(1, 2, wire.Cost(0.75, "EUR")),
        wire.StateUpdate("idle", stop_reason="error", error=error, usage=wire.Usage(3, 2, 1)),
        wire.StateUpdate("running"),
        wire.UnknownStateUpdate({"state": "idle", "stopReason": "_tired", "usage": USED}),
        wire.StateUpdate("requires_action"),
        tool,
        acp_client.ToolCallCancelSent("asked"),
        terminal,
        acp_client.TerminalCancelSent("asked"),
        acp_client.PromptSent("withdrawn", (wire.TextContent("never mind"),)),
        acp_client.PromptRejected("withdrawn", error),
        acp_client.ElicitationAsked(70, form),
        acp_client.ElicitationAsked(71, url),
        acp_client.ElicitationAnswered(71, "accept"),
        acp_client.ElicitationAsked("72", url),
        acp_client.ElicitationCompleted("f"),
        acp_client.ElicitationAsked(73, unknown),
        acp_client.OptionWanted(74, "s", wire.Json("other")),
        acp_client.OptionWanted(75, "b", wire.Json(True)),
        acp_client.CancelSent(),
    ]
    return acp_client.apply_all(rich_snapshot(), events)
