"""Traffic of ACP v1 for tests: messages as deployed agents and their clients write them.

A frame is who wrote a line, true for the client, and the line. `play` feeds frames to a store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import acp_client
from acp_client import Compaction, Message, Snapshot, Store, ToolCall, to_document
from acp_client._recordings.playback import Feeder

Frame = tuple[bool, bytes]
Json = dict[str, Any]

SESSION = "s"


def agent(**members: Any) -> Frame:
    """Write a message of the agent."""
    return False, json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def client(**members: Any) -> Frame:
    """Write a message of the client."""
    return True, json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def said(name: Any, /, **fields: Any) -> Frame:
    """Write an update."""
    params = {"sessionId": SESSION, "update": {"sessionUpdate": name, **fields}}
    return agent(method="session/update", params=params)


def text(value: str) -> Json:
    """Write a text block."""
    return {"type": "text", "text": value}


def link(name: str) -> Json:
    """Write a link to a resource."""
    return {"type": "resource_link", "name": name, "uri": f"file:///{name}"}


def chunk(value: str, **fields: Any) -> Frame:
    """Write a chunk of an agent message."""
    return said("agent_message_chunk", content=text(value), **fields)


def thought(value: str, **fields: Any) -> Frame:
    """Write a chunk of a thought."""
    return said("agent_thought_chunk", content=text(value), **fields)


def echo(block: Any, **fields: Any) -> Frame:
    """Write a chunk of a user message; a string is a text block."""
    content = text(block) if isinstance(block, str) else block
    return said("user_message_chunk", content=content, **fields)


def call(call_id: str = "c", title: str = "Do", **fields: Any) -> Frame:
    """Write a new tool call."""
    return said("tool_call", toolCallId=call_id, title=title, **fields)


def patch(call_id: str = "c", **fields: Any) -> Frame:
    """Write an update of a tool call."""
    return said("tool_call_update", toolCallId=call_id, **fields)


def asks(request_id: Any, method: str, **params: Any) -> Frame:
    """Write a request of the client about the session."""
    return client(id=request_id, method=method, params={"sessionId": SESSION, **params})


def agent_asks(request_id: Any, method: str, **params: Any) -> Frame:
    """Write a request of the agent about the session."""
    return agent(id=request_id, method=method, params={"sessionId": SESSION, **params})


def prompt(request_id: Any, *blocks: Any, **params: Any) -> Frame:
    """Write a prompt; a string is a text block."""
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    return asks(request_id, "session/prompt", prompt=content, **params)


def ended(request_id: Any, reason: str = "end_turn") -> Frame:
    """Write the answer to a prompt."""
    return agent(id=request_id, result={"stopReason": reason})


def permission(request_id: Any, tool_call: Json, **params: Any) -> Frame:
    """Write a permission request."""
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    params = {"toolCall": tool_call, "options": [option], **params}
    return agent_asks(request_id, "session/request_permission", **params)


# --- Traffic that several tests need ---

CANCEL: Frame = client(method="session/cancel", params={"sessionId": SESSION})
OLD_DIFF: Json = {"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}

LIVE = [prompt(1, "hello"), chunk("Hi"), call(status="completed"), chunk("Bye"), ended(1)]
HISTORY = [echo("hello"), chunk("Hi"), call(status="completed"), chunk("Bye")]
LOAD = asks(2, "session/load", cwd="/", mcpServers=[])

MODES = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask", "description": "Ask first"},
        {"id": "code", "name": "Code"},
        "junk",
    ],
}
MODELS = {"currentModelId": "s", "availableModels": [{"modelId": "s", "name": "Small"}]}
CHOICES = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
MODE_OPTION = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": CHOICES,
}


def opened(**result: Any) -> tuple[Frame, Frame]:
    """Write a new session."""
    asked = client(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    return asked, agent(id=1, result={"sessionId": SESSION, **result})


# --- What becomes of it ---


def play(
    frames: Iterable[Frame], protocol: Literal["v1", "v2"] | None = "v1", size: int = 0
) -> Store:
    """Feed frames to a store, line by line, or in pieces of some size."""
    store = Store(protocol=protocol, observer=True)
    for sent, data in joined(frames) if size else frames:
        for piece in cut(data, size):
            (store.sent if sent else store.receive)(piece)
    store.end()
    return store


def fed(frames: Iterable[Frame], store: Store | None = None) -> Store:
    """Feed frames to a store as a recording, whose version is detected."""
    store = store or Store()
    feeder = Feeder(store)
    for number, (sent, data) in enumerate(frames, 1):
        feeder.take(acp_client.Frame(number, sent, data.rstrip(b"\n")))
    feeder.end()
    return store


def joined(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Join what one side wrote without the other in between."""
    run: Frame | None = None
    for sent, data in frames:
        if run is not None and run[0] == sent:
            run = (sent, run[1] + data)
            continue
        if run is not None:
            yield run
        run = (sent, data)
    if run is not None:
        yield run


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut bytes into pieces, or leave them whole."""
    step = size or len(data)
    return [data[at : at + step] for at in range(0, len(data), step)]


def told(*frames: Frame) -> Snapshot:
    """Feed frames that tell no problem; return the one session they make."""
    store = play(frames)
    assert store.problems == ()
    assert store.sessions == (SESSION,)
    return store.snapshot(SESSION)


def document(snapshot: Snapshot) -> Json:
    """Return the snapshot document as plain values."""
    plain: Json = json.loads(json.dumps(to_document(snapshot)))
    return plain


def conversation(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the entries in order, each as its type and what it says."""
    return [(entry.type, _words(entry)) for entry in snapshot.entries]


def _words(entry: Any) -> str:
    match entry:
        case Message() | Compaction():
            return entry.text
        case ToolCall():
            return str(entry.title)
    return str(entry.update.value)


def only_call(snapshot: Snapshot, call_id: str = "c") -> ToolCall:
    """Return a tool call that is there."""
    found = snapshot.entries.tool_call(call_id)
    assert found is not None
    return found


def options(snapshot: Snapshot) -> list[tuple[str, Any]]:
    """Return the options and what is chosen."""
    found = document(snapshot)["configOptions"]
    return [(option["configId"], option["currentValue"]) for option in found]
