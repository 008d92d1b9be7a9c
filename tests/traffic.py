"""Traffic for tests: messages as peers write them, what they tell, and ways to deliver them.

Lines are written here by the words of the protocol, not of the package. `told` turns frames into
events by the package's own correlation, so that laws of the reducer are tried on what a whole
connection tells; `events` adds facts of the client that a well-kept connection rarely has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import strategies
from hypothesis import strategies as st

import acp_client
from acp_client import Event, Problem, wire
from acp_client._conversation import Conversation
from acp_client._decode import decode_line
from acp_client._requests import AgentRequests, ClientRequests
from acp_client._versions import Protocol

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
BUNDLED = ROOT / "examples" / "recordings"

Told = tuple[str, Event]


# --- Lines ---


def line(**members: Any) -> bytes:
    """Write one message as a line."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def update_line(variant: str, session: str = "s1", /, **fields: Any) -> bytes:
    """Write an update of the agent as a line."""
    params = {"sessionId": session, "update": {"sessionUpdate": variant, **fields}}
    return line(method="session/update", params=params)


def chunk_line(text: str, message_id: str = "m", session: str = "s1") -> bytes:
    """Write a chunk of an agent message as a line."""
    content = {"type": "text", "text": text}
    return update_line("agent_message_chunk", session, messageId=message_id, content=content)


def open_session(store: acp_client.Store, session: str = "s1") -> acp_client.Store:
    """Let a store know a session, by an update that says nothing."""
    store.receive(update_line("session_info_update", session))
    return store


def permission_line(request_id: Any, session: str = "s1", **more: Any) -> bytes:
    """Write a permission request of the agent as a line."""
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    params = {"sessionId": session, "title": "May I?", "options": options, **more}
    return line(id=request_id, method="session/request_permission", params=params)


def text(value: str) -> wire.TextContent:
    """Make a plain text block."""
    return wire.TextContent(value)


# --- Events ---


def event(variant: str, /, **fields: Any) -> wire.SessionUpdate:
    """Decode an update that is written in the words of the protocol."""
    message, problems = acp_client.decode(update_line(variant, **fields))
    assert problems == ()
    assert isinstance(message, wire.Notification)
    assert isinstance(message.params, wire.UpdateSessionNotification)
    return message.params.update


def chunk(text: str, message_id: str = "m", **fields: Any) -> wire.SessionUpdate:
    """Make a chunk of an agent message."""
    content = {"type": "text", "text": text}
    return event("agent_message_chunk", messageId=message_id, content=content, **fields)


def ignore(problem: Problem) -> None:
    """Leave a problem alone."""


def told(frames: Iterable[strategies.Frame]) -> list[Told]:
    """Give the events that frames tell, with the session of each."""
    correlation = Conversation(ClientRequests(), AgentRequests(1000))
    events: list[Told] = []
    for frame in frames:
        message = decode_line(frame.data, 1, ignore, sent=frame.sent)
        if frame.sent:
            found = correlation.sent(message)
        else:
            found = correlation.received(message, 1, ignore)
        events += [(session, event) for session, event in found if session is not None]
    return events


_ids = st.sampled_from([0, 1, 2, "1"])
_message_ids = st.sampled_from(["a", "b", "c"])
_errors = st.sampled_from([None, wire.Error(-32603, "gone", wire.Json({"k": [1]}))])
_facts: st.SearchStrategy[Event] = st.one_of(
    st.builds(acp_client.PromptSent, _ids, st.just((wire.TextContent("hi"),))),
    st.builds(acp_client.PromptAccepted, _ids, _message_ids),
    st.builds(acp_client.PromptRejected, _ids, st.just(wire.Error(1, "no"))),
    st.builds(acp_client.PromptUncertain, _ids, _errors),
    st.builds(acp_client.PermissionClosed, _ids),
    st.builds(acp_client.ConnectionLost, _errors),
    st.builds(
        acp_client.SessionOpened, st.sampled_from([wire.UNSET, (), (wire.Command("x", "y"),)])
    ),
    st.sampled_from(
        [
            acp_client.CancelSent(),
            acp_client.ReplayBegun(),
            acp_client.ReplayEnded(),
            acp_client.ReplayFailed(),
            acp_client.ConfigOptionsSet(()),
        ]
    ),
)
_placed_facts = st.lists(st.tuples(st.integers(0, 40), _facts), max_size=8)


def _with_facts(frames: list[strategies.Frame], placed: list[tuple[int, Event]]) -> list[Event]:
    events = [event for _, event in told(frames)]
    for place, fact in placed:
        events.insert(place, fact)
    return events


def events(max_frames: int = 30) -> st.SearchStrategy[list[Event]]:
    """Generate events as if all were of one session, facts in the wrong place among them."""
    frames = strategies.sessions(well_formed=False, max_frames=max_frames, hostile_client=True)
    return st.builds(_with_facts, frames, _placed_facts)


# --- Deliveries ---


def deliveries(
    frames: Iterable[strategies.Frame], pieces: Iterable[bytes]
) -> Iterator[tuple[bool, bytes]]:
    """Give what is sent and received, in order, with the agent's bytes cut as in `pieces`."""
    frames = list(frames)
    cuts = set(accumulate(map(len, pieces)))
    held, place = b"", 0
    for frame in frames:
        if frame.sent:
            yield False, held
            yield True, frame.data + b"\n"
            held = b""
            continue
        for byte in frame.data + b"\n":
            held += bytes((byte,))
            place += 1
            if place in cuts:
                yield False, held
                held = b""
    yield False, held


def deliver(store: acp_client.Store, parts: Iterable[tuple[bool, bytes]]) -> acp_client.Store:
    """Give a store what was sent and received."""
    for sent, data in parts:
        if sent:
            store.sent(data)
        else:
            store.receive(data)
    return store


def replayed(frames: Iterable[Any], protocol: Protocol | None = None) -> acp_client.Store:
    """Give a store frames line by line, each with its place as the line number."""
    store = acp_client.Store(protocol=protocol, observer=True)
    for number, frame in enumerate(frames, 1):
        if frame.sent:
            store.sent(frame.data + b"\n")
        else:
            store.receive(frame.data + b"\n", line=number)
    return store


def snapshots(store: acp_client.Store) -> list[acp_client.Snapshot]:
    """Give the snapshots of a store."""
    return [store.snapshot(session_id) for session_id in store.sessions]


def document(snapshot: acp_client.Snapshot) -> Any:
    """Give the snapshot document as plain JSON values."""
    return acp_client.to_document(snapshot)


def documents(store: acp_client.Store) -> list[Any]:
    """Give the documents of all sessions of a store."""
    return [document(snapshot) for snapshot in snapshots(store)]
