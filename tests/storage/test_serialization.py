"""The snapshot document, and storing snapshots: laws are in `test_laws`, cases are here."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from msgspec.structs import replace
from rich_session import rich_snapshot, richer_snapshot
from traffic import chunk, chunk_line, document, event, text, update_line

import acp_client
from acp_client import (
    Snapshot,
    StoredSnapshotError,
    apply_all,
    dumps,
    loads,
    to_document,
    wire,
)
from acp_client._json import MAX_DEPTH, parse
from acp_client._storage import serialization

STORED = Path(__file__).parent / "stored"
EMPTY = Snapshot("s1")
OPTION = {"optionId": "o", "name": "O", "kind": "allow_once"}


def stored_value(snapshot: Snapshot) -> Any:
    """Give what is stored of a snapshot, as plain values."""
    return parse(dumps(snapshot), deepest=None)


# --- The document ---


def test_an_empty_session_has_what_is_always_there() -> None:
    """The document of a session of which nothing is known has its fixed keys, and no others."""
    assert document(EMPTY) == {
        "sessionId": "s1",
        "entries": [],
        "terminals": [],
        "plans": [],
        "state": {"state": "idle"},
        "info": {},
        "availableCommands": [],
        "configOptions": [],
        "notices": [],
        "prompts": [],
        "permissions": [],
    }


def test_the_document_has_the_keys_of_the_design() -> None:
    """A session with everything is told in the words of the design, unset parts left out."""
    events = [
        event("user_message", messageId="m1", content=[{"type": "text", "text": "hi"}]),
        event("agent_thought", messageId="m2", _meta={"k": 2}),
        event("tool_call_update", toolCallId="c1", title="Edit", status="in_progress"),
        event("compaction_update", compactionId="k1", status="completed", error="no"),
        event("_vendor", any="thing"),
        event("terminal_update", terminalId="t1", exitStatus={"exitCode": 0}),
        event("usage_update", used=1, size=2),
        acp_client.PromptSent(2, (text("hi"),)),
        acp_client.PromptSent(3, (text("again"),)),
        acp_client.PromptAccepted(2, "m1"),
        acp_client.PromptRejected(3, wire.Error(1, "no")),
        acp_client.CancelSent(),
    ]
    assert document(apply_all(EMPTY, events)) == {
        "sessionId": "s1",
        "entries": [
            {
                "type": "user_message",
                "messageId": "m1",
                "content": [{"type": "text", "text": "hi"}],
            },
            {"type": "agent_thought", "messageId": "m2", "content": [], "_meta": {"k": 2}},
            {
                "type": "tool_call",
                "toolCallId": "c1",
                "title": "Edit",
                "kind": "other",
                "status": "cancelled",
                "reportedStatus": "in_progress",
                "content": [],
            },
            {
                "type": "compaction",
                "compactionId": "k1",
                "status": "completed",
                "summary": [],
                "error": "no",
            },
            {"type": "unknown", "update": {"sessionUpdate": "_vendor", "any": "thing"}},
        ],
        "terminals": [{"terminalId": "t1", "output": "", "exitStatus": {"exitCode": 0}}],
        "plans": [],
        "state": {"state": "idle"},
        "usage": {"used": 1, "size": 2},
        "info": {},
        "availableCommands": [],
        "configOptions": [],
        "notices": [],
        "prompts": [
            {"requestId": 2, "status": "accepted", "messageId": "m1", "echoed": True},
            {
                "requestId": 3,
                "status": "rejected",
                "echoed": False,
                "content": [{"type": "text", "text": "again"}],
                "error": {"code": 1, "message": "no"},
            },
        ],
        "permissions": [],
    }


def test_documents_are_plain() -> None:
    """`json.dumps` writes a document, and text that is no Unicode as escapes."""
    one = to_document(apply_all(EMPTY, [chunk("\ud83d é"), event("_x", deep={"a": [1.5, None]})]))
    again = json.loads(json.dumps({"sessions": [one]}))["sessions"][0]
    assert again == one
    assert one["entries"][0]["content"][0]["text"] == "\ud83d é"
    assert one["entries"][1]["update"]["deep"] == {"a": [1.5, None]}


def test_the_document_of_a_snapshot_is_the_callers_own() -> None:
    """Whoever changes a document changes no snapshot, and no other document."""
    snapshot = rich_snapshot()
    before = dumps(snapshot)
    one = to_document(snapshot)
    one["entries"].clear()
    one["state"]["state"] = "changed"
    for option in one["configOptions"]:
        if isinstance(option, dict):
            option.clear()
    assert dumps(snapshot) == before


# --- Storing ---


def test_a_rich_session_is_restored_whole() -> None:
    """Everything that a session may have is restored, the snapshot from before a replay too."""
    snapshot = rich_snapshot()
    restored = loads(dumps(snapshot))
    assert restored == snapshot
    assert restored.before_replay == snapshot.before_replay
    assert restored.before_replay is not None
    assert dumps(restored) == dumps(snapshot)
    assert document(restored) == document(snapshot)


@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview, lambda data: data.decode()])
def test_stored_text_of_any_kind_is_read(convert: Callable[[bytes], Any]) -> None:
    """Bytes in any form, and a string, are read alike."""
    assert loads(convert(dumps(rich_snapshot()))) == rich_snapshot()


@pytest.mark.parametrize(
    "later",
    [
        [acp_client.CancelSent()],
        [acp_client.SessionOpened((), ())],
        [event("state_update", state="running"), acp_client.CancelSent()],
        [acp_client.ReplayFailed(), acp_client.CancelSent()],
        [event("tool_call_update", toolCallId="c3", title="x")],
        [acp_client.PromptAccepted(3, "u1")],
        [event("user_message", messageId="later")],
    ],
)
def test_a_restored_session_goes_on_as_before(later: list[acp_client.Event]) -> None:
    """What the reducer keeps for itself is stored too: foreground work, blocked lists, marks."""
    snapshot = rich_snapshot()
    assert apply_all(loads(dumps(snapshot)), later) == apply_all(snapshot, later)


def deep(fields: str, around: int) -> bytes:
    """Write an update that nests as deep as a message may; `around` levels are not in the value."""
    value = "[" * (MAX_DEPTH - around) + "]" * (MAX_DEPTH - around)
    return update_line("U").replace(b'"U"', fields.replace("DEEP", value).encode())


DEEPEST = [
    deep('"tool_call_update","toolCallId":"c","rawInput":DEEP', 3),
    deep('"tool_call_update","toolCallId":"c","_meta":{"k":DEEP}', 4),
    deep('"tool_call_update","toolCallId":"c","_meta":{"more":1}', 4),
    deep('"tool_call_update","toolCallId":"c","content":[{"type":"_x","k":DEEP}]', 5),
    deep('"_vendor","k":DEEP', 3),
    deep('"state_update","state":"_x","k":DEEP', 3),
]


def test_whatever_can_be_read_can_be_stored() -> None:
    """The deepest message that is read can be patched, stored, loaded, pickled and copied."""
    store = acp_client.Store(protocol="v2")
    store.receive(b"".join(DEEPEST))
    snapshot = store.snapshot("s1")
    replaying = acp_client.apply(snapshot, acp_client.ReplayBegun())
    assert not store.problems
    for one in (snapshot, replaying):
        assert loads(dumps(one)) == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    store.receive(DEEPEST[0].replace(b"[]", b"[[]]"))
    (problem,) = store.problems
    assert problem.kind == "too_deep"


def test_what_no_message_could_hold_is_not_loaded() -> None:
    """A stored value that is deeper than any message is damage."""
    raw = wire.Json.from_text(b"[" * 1_100 + b"]" * 1_100)
    snapshot = acp_client.apply(EMPTY, wire.ToolCallUpdate("c", raw_input=raw))
    with pytest.raises(StoredSnapshotError, match="deeper"):
        loads(dumps(snapshot))


def as_version_1(snapshot: Snapshot) -> Snapshot:
    """Leave out what is reduced otherwise since version 1: turns, and requests while cancelling."""
    before = snapshot.before_replay
    older = None if before is None else as_version_1(before)
    fields = attrs.evolve(snapshot._fields, turns=(), permissions=(), before_replay=older)
    return replace(snapshot, _fields=fields)


@pytest.mark.parametrize("path", sorted(STORED.glob("version-*.json")), ids=lambda path: path.stem)
def test_what_was_stored_once_is_read_for_ever(path: Path) -> None:
    """The stored session of each version is read as what it was written from."""
    restored = loads(path.read_bytes())
    if path.stem == "version-1":
        assert len(restored.permissions) == 1
        assert as_version_1(restored) == as_version_1(rich_snapshot())
    else:
        assert restored == richer_snapshot()


def test_every_version_has_a_stored_session() -> None:
    """No version of the format may come without a file that is read for ever."""
    versions = [f"version-{number}.json" for number in range(1, serialization.VERSION + 1)]
    assert sorted(path.name for path in STORED.iterdir()) == versions


def test_the_format_does_not_change_unnoticed() -> None:
    """What is written today is what the file of this version holds: else it is a new version."""
    path = STORED / f"version-{serialization.VERSION}.json"
    assert stored_value(richer_snapshot()) == parse(path.read_bytes())


def test_older_versions_are_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of an older version goes through the upgrade of each version after it."""

    def upgrade(number: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda document: {**document, "sessionId": f"{document['sessionId']} {number}"}

    data = dumps(EMPTY).replace(b'"version":2', b'"version":1')
    monkeypatch.setattr(serialization, "VERSION", 3)
    monkeypatch.setattr(serialization, "_UPGRADES", {1: upgrade(1), 2: upgrade(2)})
    assert loads(data).session_id == "s1 1 2"


# --- What is no stored snapshot ---


def enveloped(**members: Any) -> bytes:
    """Write an envelope with some members changed, or left out where they are `None`."""
    whole = {**stored_value(EMPTY), **members}
    return json.dumps({key: value for key, value in whole.items() if value is not None}).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a stored snapshot"),
        (b"junk", "not a stored snapshot"),
        (b"\xff", "not a stored snapshot"),
        (b"[]", "the format is not"),
        (b"{}", "the format is not"),
        (b"[" * 100_000, "nests deeper"),
        (enveloped(format="other"), "the format is not"),
        (enveloped(version=None), "no version that exists: None"),
        (enveloped(version=0), "no version that exists: 0"),
        (enveloped(version="1"), "no version that exists: '1'"),
        (enveloped(version=True), "no version that exists: True"),
        (enveloped(version=3), "has version 3; this package reads up to 2"),
        (enveloped(snapshot=None), "is damaged"),
        (enveloped(snapshot=5), "is damaged"),
        (enveloped(snapshot={}), "is damaged"),
    ],
)
def test_what_is_no_stored_snapshot_is_refused(data: bytes, said: str) -> None:
    """Anything else than what `dumps` wrote raises an exception of ours that says why."""
    with pytest.raises(StoredSnapshotError, match=said):
        loads(data)


def damages(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to every node of a document."""
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield (*path, key)
        yield from damages(child, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Copy a document with one node replaced or removed."""
    if not path:
        return new
    copy = value.copy()
    if new is REMOVED and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


REMOVED = object()
WRONG = (None, 5, "x", [5], {"k": 5}, REMOVED)


@pytest.mark.parametrize("first", range(len(WRONG)))
def test_damage_is_refused_or_harmless(first: int) -> None:
    """A document with a node damaged is refused, or gives a snapshot that can be stored."""
    whole = stored_value(rich_snapshot())
    wrong, refused = WRONG[first], 0
    for path in list(damages(whole))[first :: 3 * len(WRONG)]:
        data = json.dumps(replaced(whole, path, wrong)).encode()
        try:
            restored = loads(data)
        except StoredSnapshotError:
            refused += 1
        else:
            assert loads(dumps(restored)) == restored
    assert refused > 10


CALL: dict[str, Any] = {"type": "tool_call", "toolCallId": "c", "kind": "other", "content": []}
TEXT = {"type": "text", "text": "t"}
MESSAGE: dict[str, Any] = {
    "type": "agent_message",
    "messageId": "m",
    "content": [TEXT, TEXT],
}
BOOKKEEPING = json.loads(dumps(EMPTY))["snapshot"]["bookkeeping"]
ODD_METAS: tuple[Any, ...] = (3, None, {}, [])
NO_IDS: tuple[Any, ...] = (None, True, 1.5, {}, [])
DAMAGED: list[tuple[str, Any]] = [
    (
        "entries",
        [{"type": "compaction", "compactionId": "c", "status": "completed", "summary": []}] * 2,
    ),
    ("terminals", [{"terminalId": "t", "output": ""}] * 2),
    ("plans", [{"type": "items", "planId": "p", "entries": []}] * 2),
    *[
        ("permissions", [{"requestId": request_id, "title": "t", "options": []}])
        for request_id in NO_IDS
    ],
    ("permissions", [{"requestId": 1, "title": "t", "options": []}] * 2),
    *[
        ("prompts", [{"requestId": request_id, "status": "pending", "echoed": True}])
        for request_id in NO_IDS
    ],
    ("usage", {"used": -1, "size": 5}),
    ("usage", {"used": 1.0, "size": 5}),
    ("terminals", [{"terminalId": "t", "output": "", "droppedBytes": -1}]),
    *[
        ("entries", [MESSAGE | {"chunkMeta": {key: {"k": 1} for key in keys}}])
        for keys in (["-1"], ["2"], ["01"], ["1", "0"], ["x"], ["0", "9"], [" 1"])
    ],
    *[("entries", [MESSAGE | {"chunkMeta": {"0": meta}}]) for meta in ODD_METAS],
    *[
        ("entries", [CALL | {"status": status, "reportedStatus": reported}])
        for status, reported in [
            ("completed", "pending"),
            ("pending", "pending"),
            ("cancelled", "completed"),
            ("cancelled", "cancelled"),
        ]
    ],
    ("entries", [MESSAGE | {"content": [None, TEXT]}]),
    ("availableCommands", [None]),
    ("configOptions", [None]),
    ("notices", [None]),
    ("prompts", [{"requestId": 1, "status": "pending", "echoed": False, "content": [None]}]),
    ("permissions", [{"requestId": 1, "title": "t", "options": [None]}]),
    ("bookkeeping", BOOKKEEPING | {"foregroundStart": 1}),
    ("bookkeeping", BOOKKEEPING | {"foregroundStart": -1}),
    ("notices", {"severity": "info", "title": "t"}),
    ("permissions", {"requestId": 1}),
    ("prompts", "text"),
    ("entries", {"0": {}}),
]


@pytest.mark.parametrize(("key", "value"), DAMAGED)
def test_what_no_session_could_hold_is_refused(key: str, value: Any) -> None:
    """Ids that are there twice, or are none, and what should be a list, are damage."""
    envelope = json.loads(dumps(Snapshot("s1")))
    if isinstance(value, list) and len(value) == 2:
        loads(json.dumps({**envelope, "snapshot": {**envelope["snapshot"], key: value[:1]}}))
    envelope["snapshot"][key] = value
    with pytest.raises(StoredSnapshotError, match="damaged"):
        loads(json.dumps(envelope))


PARTS = ("sessionId", "entries", "terminals", "prompts", "notices", "usage", "state", "bookkeeping")
ODD_PARTS = [
    (part, odd)
    for part in PARTS
    for odd in (
        '{"a":' * 20_000 + "1" + "}" * 20_000,
        "[" * 20_000 + "]" * 20_000,
        '"' + "g" * 100_000 + '"',
    )
]


@pytest.mark.parametrize(("key", "odd"), ODD_PARTS[:2] + ODD_PARTS[3:], ids=lambda part: part[:9])
def test_damage_is_told_in_short(key: str, odd: str) -> None:
    """However deep or long what is there is, the reason is one short line."""
    envelope = json.loads(dumps(Snapshot("s1")))
    envelope["snapshot"][key] = "here"
    with pytest.raises(StoredSnapshotError, match=r"damaged|deeper") as caught:
        loads(json.dumps(envelope).replace('"here"', odd))
    assert len(str(caught.value)) < 400


def test_a_version_is_told_in_short() -> None:
    """A version that is none is told as far as that is of use."""
    for version in ("x" * 1_000, {"a": 1}, 10**400):
        with pytest.raises(StoredSnapshotError) as caught:
            loads(json.dumps({"format": "acp-client-snapshot", "version": version}))
        assert len(str(caught.value)) < 600


def test_a_replay_within_a_replay_is_refused() -> None:
    """Before a replay there was none, so restoring never goes deeper."""
    envelope = json.loads(dumps(Snapshot("s1")))
    inner = envelope["snapshot"]
    for _ in range(2):
        inner["bookkeeping"]["beforeReplay"] = json.loads(dumps(Snapshot("s1")))["snapshot"]
        inner = inner["bookkeeping"]["beforeReplay"]
    with pytest.raises(StoredSnapshotError, match="damaged"):
        loads(json.dumps(envelope))


STACK_ENDS = """
import sys
import acp_client
from acp_client._storage import serialization

def deeper(levels, call):
    return call() if levels == 0 else deeper(levels - 1, call)

*lines, mistake = sys.stdin.buffer.readlines()
store = acp_client.Store(protocol="v2")
store.receive(b"".join(lines))
snapshot = store.snapshot("s1")
first = {
    "dumps": lambda: acp_client.dumps(snapshot),
    "decode": lambda: acp_client.decode(mistake),
    "loads": lambda: acp_client.loads(stored),
}
stored = acp_client.dumps(snapshot) if sys.argv[1] == "loads" else b""
for left in range(60, 2, -3):
    try:
        deeper(sys.getrecursionlimit() - left, first[sys.argv[1]])
    except RecursionError:
        pass
stored = acp_client.dumps(snapshot)
assert acp_client.loads(stored) == snapshot
assert [problem.kind for problem in acp_client.decode(mistake)[1]] == ["skipped"]
"""


@pytest.mark.parametrize("first", ["dumps", "decode", "loads"])
def test_where_the_stack_ends_nothing_is_remembered_wrongly(first: str) -> None:
    """What fails for want of stack when it is first done is done right the next time."""
    mistake = update_line("tool_call_update", toolCallId="c", locations=[{"path": 5}])
    lines = [
        chunk_line("hi"),
        update_line("tool_call_update", toolCallId="c", title="t", locations=[{"path": "/a"}]),
        update_line("plan_update", plan={"type": "items", "planId": "p", "entries": []}),
        update_line("notice", severity="info", title="t"),
        update_line("terminal_update", terminalId="t", command="ls"),
    ]
    subprocess.run(
        [sys.executable, "-c", STACK_ENDS, first], input=b"".join([*lines, mistake]), check=True
    )
