"""Streams that real agents and clients wrote, against a tally that knows nothing of the package.

The tally goes through the messages once, by the words of v1 alone: what the user sent, what was
said, and the last value of each field of each tool call.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from v1_traffic import (
    Frame,
    Json,
    document,
    fed,
    play,
)

import acp_client
from acp_client._recordings.reading import read_recording

FOLDER = Path(__file__).parents[2].parent / "shared" / "recordings" / "v1"
PATHS = sorted(path for path in FOLDER.glob("*") if path.suffix in {".json", ".jsonl", ".log"})
MESSAGES = {
    "user_message_chunk": "user_message",
    "agent_message_chunk": "agent_message",
    "agent_thought_chunk": "agent_thought",
}
FIELDS = ("title", "kind", "status", "content", "rawInput", "rawOutput", "locations")

recorded = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
pytestmark = pytest.mark.shared


def frames(path: Path) -> list[Frame]:
    """Read a recording."""
    with path.open("rb") as stream:
        return [(frame.sent, frame.data + b"\n") for frame in read_recording(stream)]


class Tally:
    """What each session says, told by the messages in order."""

    def __init__(self) -> None:
        self.sessions: dict[str, list[Json]] = {}
        self.states: dict[str, str] = {}
        self.usage: dict[str, Json] = {}
        self.terminals: dict[str, str] = {}
        self._prompts: dict[Any, str] = {}

    def take(self, sent: bool, message: Json) -> None:
        """Take one message."""
        params = message.get("params", {})
        if sent and message.get("method") == "session/prompt":
            self._prompts[message["id"]] = params["sessionId"]
            said = "".join(block.get("text", "") for block in params["prompt"])
            self._add(params["sessionId"], {"type": "user_message", "text": said})
        elif message.get("method") == "session/update":
            self._update(params["sessionId"], params["update"])
        elif not sent and "result" in message:
            self._result(message)

    def _result(self, message: Json) -> None:
        if message["id"] in self._prompts:
            self.states[self._prompts[message["id"]]] = message["result"]["stopReason"]
        elif "sessionId" in message["result"]:
            self.sessions.setdefault(message["result"]["sessionId"], [])

    def _add(self, session: str, entry: Json) -> None:
        self.sessions.setdefault(session, []).append(entry)

    def _update(self, session: str, update: Json) -> None:
        kind = update["sessionUpdate"]
        if kind in MESSAGES:
            self._chunk(session, MESSAGES[kind], update)
        elif kind in ("tool_call", "tool_call_update"):
            self._call(session, update)
        elif kind == "usage_update":
            self.usage[session] = {key: update[key] for key in ("used", "size")}

    def _chunk(self, session: str, type_: str, update: Json) -> None:
        entries, said = self.sessions.setdefault(session, []), update["content"]["text"]
        last = entries[-1] if entries else {}
        if last.get("type") != type_ or last.get("id") != update.get("messageId"):
            self._add(session, {"type": type_, "text": "", "id": update.get("messageId")})
        entries[-1]["text"] += said

    def _call(self, session: str, update: Json) -> None:
        calls = [one for one in self.sessions.setdefault(session, []) if "call" in one]
        known = next((one for one in calls if one["call"] == update["toolCallId"]), None)
        if known is None:
            known = {"type": "tool_call", "call": update["toolCallId"]}
            self._add(session, known)
        known |= {key: update[key] for key in FIELDS if update.get(key) is not None}
        for key, value in (update.get("_meta") or {}).items():
            if key.startswith("terminal_output"):
                name = value["terminal_id"]
                self.terminals[name] = self.terminals.get(name, "") + value["data"]


def shown(snapshot: acp_client.Snapshot) -> list[Json]:
    """Return the entries of a snapshot in the words of the tally."""
    entries = document(snapshot)["entries"]
    texts = [
        entry.text for entry in snapshot.entries if not isinstance(entry, acp_client.UnknownEntry)
    ]
    return [
        {"type": "tool_call", "call": entry["toolCallId"]}
        | {key: entry[key] for key in FIELDS if key in entry}
        if entry["type"] == "tool_call"
        else {"type": entry["type"], "text": said}
        for entry, said in zip(entries, texts, strict=True)
    ]


def expected(entries: list[Json]) -> list[Json]:
    """Return what the tally has, with what v2 shows of a call that says nothing."""
    defaults = {"kind": "other", "status": "pending", "content": []}
    return [
        {**defaults, **entry} if "call" in entry else {"type": entry["type"], "text": entry["text"]}
        for entry in entries
    ]


@recorded
def test_everything_is_there_once_and_in_order(path: Path) -> None:
    """Every text is exact and in its place, every tool call has its last state, and no more."""
    tally = Tally()
    for sent, data in frames(path):
        tally.take(sent, json.loads(data))
    store = fed(frames(path))
    assert (store.protocol, store.problems) == ("v1", ())
    assert sorted(store.sessions) == sorted(tally.sessions)
    for session_id, entries in tally.sessions.items():
        snapshot = store.snapshot(session_id)
        assert shown(snapshot) == expected(entries)
        state = document(snapshot)["state"]
        assert state.get("stopReason") == tally.states.get(session_id)
        assert state["state"] == "idle"
        usage = document(snapshot).get("usage", {})
        assert {key: usage[key] for key in usage if key != "cost"} == tally.usage.get(
            session_id, {}
        )
        found = {one.terminal_id: one.output.decode() for one in snapshot.terminals}
        assert found == tally.terminals


@recorded
@pytest.mark.parametrize("size", [1_000, 65_536])
def test_delivery_does_not_matter(path: Path, size: int) -> None:
    """Cut anywhere, with the version given or learned, the snapshots are the same, and storable."""
    whole, split = fed(frames(path)), play(frames(path), "v1", size=size)
    assert split.sessions == whole.sessions
    for session_id in whole.sessions:
        snapshot = whole.snapshot(session_id)
        assert split.snapshot(session_id) == snapshot
        assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot


@recorded
def test_a_recording_without_its_beginning_is_known(path: Path) -> None:
    """The version is seen from the messages where nothing was agreed on, also of one side alone."""
    rest = [(sent, data) for sent, data in frames(path) if b"protocolVersion" not in data]
    assert fed(rest).protocol == "v1"
    received = [(sent, data) for sent, data in rest if not sent]
    store = fed(received)
    assert store.protocol == "v1"
    both = fed(frames(path))
    for session_id in store.sessions:
        heard, known = (
            [said for said in shown(one.snapshot(session_id)) if said["type"] != "user_message"]
            for one in (store, both)
        )
        assert heard == known
