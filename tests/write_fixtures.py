"""Write the fixtures: scenarios with the documents that they must lead to.

The expected documents are those of the second implementation in `naive`, so that the package does
not vouch for itself. The changes are those of the package; applied one by one, they lead to the
documents. Run it where a scenario was added: `python tests/write_fixtures.py`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import naive
from log_traffic import frames_of
from naive.stories import (
    CANCEL,
    ECHO,
    IDLE,
    PROMPT,
    RESUME,
    RUNNING,
    answered,
    call,
    called,
    permission,
    refused,
    replied,
    said,
    withdrawn,
)

import acp_client
from acp_client import Delivery, Store, change_to_document
from acp_client._recordings.playback import Feeder

FOLDER = Path(acp_client.__file__).parent / "testing" / "fixtures"
Frames = list[tuple[bool, bytes]]


def text(value: str) -> dict[str, Any]:
    """Write a text block."""
    return {"type": "text", "text": value}


def chunk(value: str, message_id: str = "m", kind: str = "agent_message", **more: Any) -> Any:
    """Write a chunk of a message."""
    return said(f"{kind}_chunk", messageId=message_id, content=text(value), **more)


def whole(*values: str, kind: str = "agent_message", **more: Any) -> Any:
    """Write a whole message."""
    return said(kind, messageId="m", content=[text(value) for value in values], **more)


def shown(value: str) -> dict[str, Any]:
    """Write an item of a tool call's content."""
    return {"type": "content", "content": text(value)}


def output(data: bytes) -> Any:
    """Write output of a terminal."""
    return said("terminal_output_chunk", terminalId="t", data=b64encode(data).decode())


def plan(plan_id: str, *contents: str) -> Any:
    """Write a plan."""
    entries = [{"content": one, "priority": "high", "status": "pending"} for one in contents]
    return said("plan_update", plan={"type": "items", "planId": plan_id, "entries": entries})


def option(value: str) -> dict[str, Any]:
    """Write a configuration option."""
    values = [{"value": one, "name": one} for one in ("a", "b")]
    return {
        "configId": "mode",
        "name": "Mode",
        "type": "select",
        "currentValue": value,
        "options": values,
    }


ACCEPTED = answered(1, result={"messageId": "m"})
NEW = called("session/new", 5, cwd="/w")
COMMAND = {"type": "command", "name": "test", "description": "Run the tests"}
SELECTED = {"outcome": {"outcome": "selected", "optionId": "o"}}

SCENARIOS: dict[str, dict[str, Frames]] = {
    "messages": {
        "A chunk begins a message": [chunk("a")],
        "Chunks append content blocks": [chunk("a"), chunk("b")],
        "Empty and blank chunks count": [chunk(""), chunk(" "), chunk("\n")],
        "Chunks of messages interleave": [chunk("a"), chunk("x", "n"), chunk("b"), chunk("y", "n")],
        "A message replaces the content so far": [chunk("a"), chunk("b"), whole("c")],
        "Chunks append to whole content": [whole("a"), chunk("b")],
        "Omitted content stays": [whole("a"), said("agent_message", messageId="m")],
        "Null clears the content": [whole("a"), said("agent_message", messageId="m", content=None)],
        "An empty list clears the content": [whole("a"), whole()],
        "Ids are unique per kind": [
            chunk("a", kind="user_message"),
            chunk("b"),
            chunk("c", kind="agent_thought"),
        ],
        "Entries stay in order of first appearance": [chunk("a"), chunk("x", "n"), whole("b")],
        "Sessions are apart": [chunk("a"), said("agent_message", "other", messageId="m")],
    },
    "meta": {
        "Meta is patched by key": [
            whole("a", _meta={"k": 1, "l": {"deep": 1}}),
            said("agent_message", messageId="m", _meta={"k": None, "l": {"other": 2}}),
        ],
        "Null clears meta": [
            whole("a", _meta={"k": 1}),
            said("agent_message", messageId="m", _meta=None),
        ],
        "Meta of a chunk stays beside its block": [chunk("a"), chunk("b", _meta={"k": 1})],
        "Meta of a chunk goes with the content": [chunk("a", _meta={"k": 1}), whole("b")],
    },
    "tools": {
        "An update creates a tool call": [call("c", title="Edit", kind="edit")],
        "Omitted fields stay": [
            call("c", title="Edit", status="in_progress"),
            call("c", kind="edit"),
        ],
        "Null resets fields": [
            call("c", title="T", kind="edit", status="failed"),
            call("c", title=None, kind=None, status=None),
        ],
        "Content chunks append": [
            call("c", content=[shown("a")]),
            said("tool_call_content_chunk", toolCallId="c", content=shown("b")),
        ],
        "Content replaces": [
            call("c", content=[shown("a"), shown("b")]),
            call("c", content=[shown("c")]),
        ],
        "A chunk creates a tool call": [
            said("tool_call_content_chunk", toolCallId="c", content=shown("a"))
        ],
        "Raw input and output are any JSON": [call("c", rawInput={"a": [1, None]}, rawOutput="x")],
        "Locations and capabilities": [
            call("c", locations=[{"path": "/a", "line": 3}], capabilities={"cancel": {}}),
            call("c", locations=[], capabilities={}),
        ],
    },
    "terminals": {
        "Output appends bytes": [output(b"a\xc3"), output(b"\xa9b")],
        "An update replaces the output": [
            output(b"a"),
            said("terminal_update", terminalId="t", output={"data": "Yg=="}),
        ],
        "Null clears the output": [
            output(b"a"),
            said("terminal_update", terminalId="t", output=None),
        ],
        "An exit status means exited": [
            said("terminal_update", terminalId="t", command="ls", cwd="/w"),
            said("terminal_update", terminalId="t", exitStatus={"exitCode": 0}),
        ],
    },
    "plans": {
        "A plan is replaced by its id": [plan("p", "a"), plan("q", "b"), plan("p", "c", "d")],
        "An unknown plan is kept": [
            said("plan_update", plan={"type": "_x", "planId": "p", "any": [1]})
        ],
    },
    "surroundings": {
        "States": [RUNNING, said("state_update", state="idle", stopReason="end_turn")],
        "An unknown state is kept": [said("state_update", state="_asleep", until=3)],
        "Usage keeps its cost": [
            said("usage_update", used=1, size=9, cost={"amount": 0.5, "currency": "USD"}),
            said("usage_update", used=2, size=9),
        ],
        "Session information": [
            said("session_info_update", title="A", updatedAt="2026-01-02T03:04:05Z"),
            said("session_info_update", title=None),
        ],
        "Notices are kept in order": [
            said("notice", severity="info", title=str(number)) for number in range(3)
        ],
        "Lists are replaced": [
            said("available_commands_update", availableCommands=[COMMAND]),
            said("config_option_update", configOptions=[option("a")]),
            said("config_option_update", configOptions=[option("b")]),
        ],
        "Results do not replace what was reported": [
            NEW,
            said("config_option_update", configOptions=[option("b")]),
            answered(5, result={"sessionId": "s", "configOptions": [option("a")]}),
        ],
        "An unknown update is an entry": [said("_vendor", any="thing"), chunk("a")],
        "A compaction": [
            said("compaction_update", compactionId="k", status="in_progress"),
            said("compaction_summary_chunk", compactionId="k", content=text("a")),
            said("compaction_update", compactionId="k", status="completed"),
        ],
    },
    "prompts": {
        "A prompt is pending": [PROMPT],
        "A prompt is accepted": [PROMPT, ACCEPTED],
        "The echo comes first": [PROMPT, ECHO, ACCEPTED],
        "The answer comes first": [PROMPT, ACCEPTED, ECHO],
        "A prompt is rejected": [PROMPT, refused(1)],
        "A prompt is withdrawn": [PROMPT, refused(1, -32800)],
        "An answer without an id": [PROMPT, answered(1, result={})],
        "Prompts cross": [
            PROMPT,
            called("session/prompt", 2, prompt=[text("two")]),
            answered(2, result={"messageId": "n"}),
            said("user_message", messageId="n"),
            ACCEPTED,
        ],
    },
    "permissions": {
        "A request is pending": [permission(9)],
        "An answer removes it": [permission(9), replied(9, result=SELECTED)],
        "The agent withdraws it": [permission(9), withdrawn(9)],
        "Its tool call is applied": [
            permission(
                9, subject={"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "T"}}
            )
        ],
        "Ids are of a connection": [permission(9), permission(9, "other")],
    },
    "cancelling": {
        "Unfinished tool calls are marked": [
            RUNNING,
            call("c", status="in_progress"),
            call("d", status="completed"),
            CANCEL,
        ],
        "A status of the agent replaces the mark": [
            RUNNING,
            call("c"),
            CANCEL,
            call("c", status="failed"),
            IDLE,
        ],
        "Permission requests go": [RUNNING, permission(9), CANCEL],
        "Nothing is marked while idle": [RUNNING, call("c"), IDLE, CANCEL],
    },
    "replays": {
        "A replay begins from empty": [whole("a"), RESUME, chunk("b")],
        "A result ends it": [whole("a"), RESUME, whole("a"), answered(2, result={})],
        "An error brings back what was there": [whole("a"), RESUME, chunk("b"), refused(2)],
    },
    "mistakes": {
        "A malformed optional field is absent": [call("c", title="T"), call("c", title=5)],
        "A malformed item is left out": [
            said("agent_message", messageId="m", content=[text("a"), 5, {"type": "text"}])
        ],
        "A malformed required field drops the update": [
            whole("a"),
            said("agent_message_chunk", messageId=5, content=text("b")),
        ],
        "What is not JSON is passed over": [whole("a"), (False, b"panic: oops"), chunk("b")],
        "A batch is taken apart": [(False, b"[" + chunk("a")[1] + b"," + chunk("b")[1] + b"]")],
        "Bad base64 is dropped": [said("terminal_output_chunk", terminalId="t", data="%%")],
    },
}
"""By group and description: the lines of both sides."""


def changes_of(frames: Frames) -> list[dict[str, Any]]:
    """Return what a subscriber of a store is called with after each line."""
    steps: list[dict[str, Any]] = []
    store = Store(protocol="v2", observer=True)
    line = 0

    def note(delivery: Delivery) -> None:
        changes = [change_to_document(change) for change in delivery.changes]
        steps.append({"line": line, "sessionId": delivery.session_id, "changes": changes})

    store.subscribe(note)
    feeder = Feeder(store)
    for frame in frames_of(*frames):
        line = frame.line
        feeder.take(frame)
        feeder.flush()
    feeder.end()
    return steps


def fixture(group: str, description: str, frames: Frames) -> dict[str, Any]:
    """Make a fixture of a scenario."""
    lines = [{"sent": sent, "data": data.decode()} for sent, data in frames]
    return {
        "format": "acp-client-fixture",
        "version": 1,
        "group": group,
        "description": description,
        "protocol": "v2",
        "lines": lines,
        "documents": naive.replay(frames)["sessions"],
        "changes": changes_of(frames),
    }


def written() -> dict[Path, str]:
    """Return the files of all fixtures."""
    files = {}
    for group, scenarios in SCENARIOS.items():
        for description, frames in scenarios.items():
            name = description.lower().replace(",", "").replace(" ", "-") + ".json"
            made = fixture(group, description, frames)
            files[FOLDER / group / name] = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    return files


if __name__ == "__main__":
    for path, content in written().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
