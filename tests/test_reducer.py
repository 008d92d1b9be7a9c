"""What each event does to a snapshot, row by row of the table of the design.

The cases are written in the words of the protocol; what they must give is a part of the snapshot
document.
"""

from __future__ import annotations

import threading
from typing import Any, get_args

import pytest
import strategies
from traffic import chunk, document, event, text

import acp_client
from acp_client import Event, InvalidValueError, Limits, Snapshot, apply, apply_all, wire
from acp_client._events import ClientEvent
from acp_client._fact_reducer import ON_SNAPSHOT
from acp_client._reducer import _ON_DRAFT, _ON_UPDATE

EMPTY = Snapshot("s1")
TEXT = {"type": "text", "text": "hi"}
OTHER = {"type": "text", "text": " there"}
IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}
ODD = {"type": "_smell", "note": None}
META = {"k": 1}


def shown(*taken: Event) -> Any:
    """Give the document after some events."""
    return document(apply_all(EMPTY, taken))


def entry(*taken: Event) -> Any:
    """Give the document of the only entry after some events."""
    (only,) = shown(*taken)["entries"]
    return only


# --- Messages and thoughts ---

MESSAGES = ("user_message", "agent_message", "agent_thought")


def upsert(**fields: Any) -> tuple[str, dict[str, Any]]:
    """Give a whole message of the kind in hand."""
    return "", fields


def append(content: Any, **fields: Any) -> tuple[str, dict[str, Any]]:
    """Give a chunk of the kind in hand."""
    return "_chunk", {"content": content, **fields}


@pytest.mark.parametrize("kind", MESSAGES)
@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([upsert()], {"content": []}),
        ([upsert(content=[TEXT])], {"content": [TEXT]}),
        ([append(TEXT)], {"content": [TEXT]}),
        ([append(TEXT), append(OTHER)], {"content": [TEXT, OTHER]}),
        ([append(TEXT), append(TEXT)], {"content": [TEXT, TEXT]}),
        ([append(ODD), append(IMAGE)], {"content": [ODD, IMAGE]}),
        ([upsert(content=[TEXT]), append(OTHER)], {"content": [TEXT, OTHER]}),
        ([append(TEXT), upsert()], {"content": [TEXT]}),
        ([append(TEXT), upsert(content=None)], {"content": []}),
        ([append(TEXT), upsert(content=[])], {"content": []}),
        ([append(TEXT), upsert(content=[OTHER])], {"content": [OTHER]}),
        ([append(TEXT), upsert(content=None), append(OTHER)], {"content": [OTHER]}),
        ([upsert(_meta=META)], {"content": [], "_meta": META}),
        ([upsert(_meta=META), upsert()], {"content": [], "_meta": META}),
        ([upsert(_meta=META), upsert(_meta={})], {"content": [], "_meta": META}),
        ([upsert(_meta=META), upsert(_meta=None)], {"content": []}),
        ([upsert(_meta=META), upsert(_meta={"k": None})], {"content": []}),
        (
            [upsert(_meta={"k": {"a": 1}}), upsert(_meta={"l": 2, "k": {"b": 2}})],
            {"content": [], "_meta": {"k": {"b": 2}, "l": 2}},
        ),
        ([append(TEXT, _meta=META)], {"content": [TEXT], "chunkMeta": {"0": META}}),
        (
            [append(TEXT), append(OTHER, _meta=META), append(TEXT, _meta={})],
            {"content": [TEXT, OTHER, TEXT], "chunkMeta": {"1": META}},
        ),
        (
            [append(TEXT, _meta=META), upsert(_meta={"l": 2})],
            {"content": [TEXT], "chunkMeta": {"0": META}, "_meta": {"l": 2}},
        ),
        ([append(TEXT, _meta=META), upsert(content=[OTHER])], {"content": [OTHER]}),
        (
            [append(TEXT, _meta=META), upsert(content=[OTHER]), append(TEXT, _meta={"l": 2})],
            {"content": [OTHER, TEXT], "chunkMeta": {"1": {"l": 2}}},
        ),
    ],
)
def test_messages(kind: str, updates: list[tuple[str, dict[str, Any]]], expected: Any) -> None:
    """A whole message patches, a chunk appends; both create what was not seen."""
    taken = [event(kind + suffix, messageId="m", **fields) for suffix, fields in updates]
    assert entry(*taken) == {"type": kind, "messageId": "m", **expected}


def test_ids_are_unique_per_kind() -> None:
    """A user message, an agent message and a thought may share an id and stay three."""
    taken = [event(f"{kind}_chunk", messageId="m", content=TEXT) for kind in MESSAGES * 2]
    entries = shown(*taken)["entries"]
    assert [one["type"] for one in entries] == list(MESSAGES)
    assert [one["content"] for one in entries] == [[TEXT, TEXT]] * 3


@pytest.mark.parametrize(
    "pieces",
    [
        ["a", " ", "b"],
        ["", "a", ""],
        ["```\n", "\n", "  code\n", "```"],
        [" leading", "trailing "],
        ["\t", "\n\n", "\r\n", "   "],
        ["\u00e9\U0001f680", "e\u0301"],
        ["\ud83d", "\ude80"],
        ["x\ud83d", "\ude80y"],
        ["\ud83d", "x"],
    ],
)
def test_text_is_appended_exactly(pieces: list[str]) -> None:
    """No chunk is trimmed or dropped for being white or empty, and halves of a pair meet."""
    snapshot = apply_all(EMPTY, [chunk(piece) for piece in pieces])
    message = snapshot.entries.message("agent_message", "m")
    assert message is not None
    joined = "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert message.text == joined
    assert [getattr(block, "text", None) for block in message.content] == pieces


def test_chunks_of_different_messages_interleave() -> None:
    """Each chunk goes to its own message, which keeps the place where it was first seen."""
    taken = [chunk("a", "1"), chunk("b", "2"), chunk("c", "1"), chunk("d", "3"), chunk("e", "2")]
    entries = shown(*taken)["entries"]
    assert [one["messageId"] for one in entries] == ["1", "2", "3"]
    assert [[block["text"] for block in one["content"]] for one in entries] == [
        ["a", "c"],
        ["b", "e"],
        ["d"],
    ]


# --- Tool calls ---


def call(**fields: Any) -> Event:
    """Give an update of the tool call in hand."""
    return event("tool_call_update", toolCallId="c", **fields)


def call_chunk(content: Any, **fields: Any) -> Event:
    """Give a content chunk of the tool call in hand."""
    return event("tool_call_content_chunk", toolCallId="c", content=content, **fields)


ITEM = {"type": "content", "content": TEXT}
DIFF = {"type": "diff", "changes": [{"operation": "add", "path": "/a"}]}
FULL = {
    "name": "edit",
    "title": "Edit",
    "kind": "edit",
    "status": "in_progress",
    "content": [ITEM, DIFF, {"type": "terminal", "terminalId": "t"}, {"type": "_x", "k": None}],
    "locations": [{"path": "/a", "line": 3}],
    "rawInput": {"a": None},
    "rawOutput": [1, 1.0, "x"],
    "capabilities": {"cancel": {}},
    "_meta": META,
}
BARE = {"kind": "other", "status": "pending", "content": []}


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([call()], BARE),
        ([call(**FULL)], FULL),
        ([call(**FULL), call()], FULL),
        ([call(**FULL), call(**dict.fromkeys(FULL))], BARE),
        ([call(status="paused", kind="_dream")], BARE | {"status": "paused", "kind": "_dream"}),
        ([call(status="completed"), call(status=None)], BARE),
        ([call(locations=[{"path": "/a"}]), call(locations=[])], BARE),
        ([call(rawInput={}), call(rawOutput=0)], BARE | {"rawInput": {}, "rawOutput": 0}),
        ([call(rawInput=1), call(rawInput=None)], BARE),
        ([call(capabilities={})], BARE | {"capabilities": {}}),
        ([call(title="a"), call(title="")], BARE | {"title": ""}),
        ([call_chunk(ITEM)], BARE | {"content": [ITEM]}),
        ([call(content=[DIFF]), call_chunk(ITEM)], BARE | {"content": [DIFF, ITEM]}),
        ([call_chunk(ITEM), call(content=None)], BARE),
        ([call_chunk(ITEM), call(title="t")], BARE | {"content": [ITEM], "title": "t"}),
        (
            [call_chunk(DIFF, _meta=META), call_chunk(ITEM)],
            BARE | {"content": [DIFF, ITEM], "chunkMeta": {"0": META}},
        ),
        ([call_chunk(ITEM, _meta=META), call(content=[])], BARE),
        ([call(_meta=META), call(_meta={"k": None, "l": 2})], BARE | {"_meta": {"l": 2}}),
    ],
)
def test_tool_calls(updates: list[Event], expected: Any) -> None:
    """A tool call is patched field by field; `null` resets, an omitted field stays."""
    assert entry(*updates) == {"type": "tool_call", "toolCallId": "c", **expected}


# --- Terminals ---


def terminal(**fields: Any) -> Event:
    """Give an update of the terminal in hand."""
    return event("terminal_update", terminalId="t", **fields)


def output(data: str, **fields: Any) -> Event:
    """Give an output chunk of the terminal in hand, which is base64."""
    return event("terminal_output_chunk", terminalId="t", data=data, **fields)


RAN = {
    "command": "ls",
    "cwd": "/w",
    "output": {"data": "bHMK", "_meta": META},
    "exitStatus": {"exitCode": 0},
    "size": {"cols": 80, "rows": 24},
    "capabilities": {"cancel": {}},
    "_meta": META,
}


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([terminal()], {"output": ""}),
        ([terminal(**RAN)], RAN | {"output": "bHMK", "outputMeta": META}),
        ([terminal(**RAN), terminal()], RAN | {"output": "bHMK", "outputMeta": META}),
        ([terminal(**RAN), terminal(**dict.fromkeys(RAN))], {"output": ""}),
        ([output("YQ=="), output("Yg")], {"output": "YWI="}),
        ([output("8J8="), output("moA=")], {"output": "8J+agA=="}),
        ([output("YQ=="), terminal(output={"data": "Yg=="})], {"output": "Yg=="}),
        ([terminal(output={"data": "Yg=="}), output("YQ==")], {"output": "YmE="}),
        ([terminal(output={"data": "", "_meta": META}), output("YQ==")],
         {"output": "YQ==", "outputMeta": META}),
        ([output("YQ==", _meta=META)], {"output": "YQ=="}),
        ([terminal(exitStatus={})], {"output": "", "exitStatus": {}}),
        ([terminal(exitStatus={"signal": "SIGKILL", "exitCode": None})],
         {"output": "", "exitStatus": {"signal": "SIGKILL"}}),
        ([terminal(exitStatus={}), terminal(exitStatus=None)], {"output": ""}),
        ([terminal(_meta=META), terminal(_meta={})], {"output": "", "_meta": META}),
    ],
)  # fmt: skip
def test_terminals(updates: list[Event], expected: Any) -> None:
    """Output is appended as bytes, or replaced whole; the rest is patched field by field."""
    assert shown(*updates)["terminals"] == [{"terminalId": "t", **expected}]


def test_terminals_keep_the_order_of_first_appearance() -> None:
    """A terminal that changes does not move."""
    ids = ["b", "a", "b", "c", "a"]
    taken = [event("terminal_output_chunk", terminalId=name, data="YQ==") for name in ids]
    snapshot = apply_all(EMPTY, taken)
    assert [one.terminal_id for one in snapshot.terminals] == ["b", "a", "c"]
    assert [one.output for one in snapshot.terminals] == [b"aa", b"aa", b"a"]


# --- Compactions, unknown updates, plans ---


def compaction(status: str = "completed", **fields: Any) -> Event:
    """Give an update of the compaction in hand."""
    return event("compaction_update", compactionId="k", status=status, **fields)


SUMMARY = event("compaction_summary_chunk", compactionId="k", content=TEXT, _meta=META)


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([SUMMARY], {"status": "in_progress", "summary": [TEXT]}),
        ([compaction("_queued")], {"status": "_queued", "summary": []}),
        ([SUMMARY, compaction()], {"status": "completed", "summary": [TEXT]}),
        ([compaction(), SUMMARY], {"status": "completed", "summary": [TEXT]}),
        ([SUMMARY, compaction(summary=None)], {"status": "completed", "summary": []}),
        ([SUMMARY, compaction(summary=[OTHER]), SUMMARY],
         {"status": "completed", "summary": [OTHER, TEXT]}),
        ([compaction("failed", error="x"), compaction("failed")],
         {"status": "failed", "summary": [], "error": "x"}),
        ([compaction("failed", error="x"), compaction(error=None)],
         {"status": "completed", "summary": []}),
        ([compaction(_meta=META), compaction(_meta={"l": 2})],
         {"status": "completed", "summary": [], "_meta": {"k": 1, "l": 2}}),
    ],
)  # fmt: skip
def test_compactions(updates: list[Event], expected: Any) -> None:
    """A compaction is an entry; its status is replaced, and a first chunk begins it."""
    assert entry(*updates) == {"type": "compaction", "compactionId": "k", **expected}


def test_unknown_updates_keep_their_payload_and_their_place() -> None:
    """What nobody knows is an entry, exactly as it came, each time that it comes."""
    payload = {"sessionUpdate": "_vendor", "messageId": "m", "k": [None, 1.0, {"z": 1, "a": 2}]}
    unknown = wire.Unknown(payload)
    entries = shown(chunk("a", "1"), unknown, chunk("b", "2"), unknown)["entries"]
    assert [one["type"] for one in entries] == ["agent_message", "unknown"] * 2
    assert entries[1] == entries[3] == {"type": "unknown", "update": payload}


STEPS = [{"content": "x", "priority": "high", "status": "pending"}]
PLAN = {"type": "items", "planId": "p", "entries": STEPS}
RAW_PLAN = {"type": "_chart", "planId": "p", "bars": None}
OTHER_PLAN = {"type": "items", "planId": "q", "entries": []}
MARKDOWN_PLAN = {"type": "markdown", "planId": "p", "content": "# Plan"}
FILE_PLAN = {"type": "file", "planId": "f", "uri": "file:///plan.md"}


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([PLAN], [PLAN]),
        ([PLAN, OTHER_PLAN], [PLAN, OTHER_PLAN]),
        ([PLAN, OTHER_PLAN, RAW_PLAN], [RAW_PLAN, OTHER_PLAN]),
        ([RAW_PLAN, PLAN], [PLAN]),
        ([PLAN, MARKDOWN_PLAN], [MARKDOWN_PLAN]),
        ([FILE_PLAN, PLAN], [FILE_PLAN, PLAN]),
    ],
)
def test_plans(plans: list[Any], expected: list[Any]) -> None:
    """A plan replaces the one with its id, in its place; an unknown kind of plan is kept raw."""
    assert shown(*(event("plan_update", plan=one) for one in plans))["plans"] == expected


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        (["-p"], []),
        (["p", "-p"], []),
        (["p", "q", "-p"], ["q"]),
        (["p", "q", "-p", "p"], ["q", "p"]),
        (["p", "q", "-p", "-p", "p", "r", "-q"], ["p", "r"]),
        (["p", "-p", "p", "-p"], []),
    ],
)
def test_plans_are_removed(plans: list[str], expected: list[str]) -> None:
    """A removed plan is gone, one that comes again stands last; in one batch as in many."""
    events = [
        event("plan_removed", planId=name[1:])
        if name.startswith("-")
        else event("plan_update", plan={**OTHER_PLAN, "planId": name})
        for name in plans
    ]
    assert [plan["planId"] for plan in shown(*events)["plans"]] == expected
    before = apply_all(EMPTY, events[:2])
    assert apply_all(before, events[2:]) == apply_all(EMPTY, events)


def test_removing_a_plan_that_is_not_there_changes_nothing() -> None:
    """The snapshot is the same object."""
    before = apply(EMPTY, event("plan_update", plan=PLAN))
    assert apply(before, event("plan_removed", planId="q")) is before


# --- The session's own fields ---


def state(name: str, **fields: Any) -> Event:
    """Give a state."""
    return event("state_update", state=name, **fields)


ERROR = {"code": -32603, "message": "no"}
WORK = [{"type": "tool_call", "toolCallId": "c"}, {"type": "_x", "k": None}]


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([], {"state": "idle"}),
        ([state("running")], {"state": "running"}),
        ([state("running"), state("requires_action")], {"state": "requires_action"}),
        ([state("idle", stopReason="end_turn")], {"state": "idle", "stopReason": "end_turn"}),
        ([state("idle", stopReason="end_turn"), state("idle")], {"state": "idle"}),
        (
            [state("idle", stopReason="error", error=ERROR)],
            {"state": "idle", "stopReason": "error", "error": ERROR},
        ),
        ([state("idle", error=ERROR)], {"state": "idle"}),
        (
            [state("idle", stopReason="refusal", error=ERROR)],
            {"state": "idle", "stopReason": "refusal"},
        ),
        ([state("running", stopReason="end_turn", error=ERROR)], {"state": "running"}),
        ([state("running", background=[])], {"state": "running", "background": []}),
        ([state("running", background=None)], {"state": "running"}),
        ([state("running", background=WORK)], {"state": "running", "background": WORK}),
        ([state("running", _meta=META)], {"state": "running", "_meta": META}),
        ([state("running", extra=1)], {"state": "running"}),
        ([state("_dreaming", depth=None)], {"state": "_dreaming", "depth": None}),
        (
            [state("idle", stopReason="_nap", extra=None, background=None)],
            {"state": "idle", "stopReason": "_nap", "extra": None},
        ),
    ],
)
def test_state(updates: list[Event], expected: Any) -> None:
    """A state replaces the one before, with its own keys; unknown ones are kept raw."""
    assert shown(*updates)["state"] == expected


def test_a_state_made_by_hand_loses_what_does_not_belong_to_it() -> None:
    """Whoever makes a state with keys of another gets what an agent would get."""
    odd = wire.StateUpdate("running", stop_reason="error", error=wire.Error(1, "no"))
    assert shown(odd)["state"] == {"state": "running"}


COST = {"amount": 0.1, "currency": "USD"}


def usage(used: int, size: int, **fields: Any) -> Event:
    """Give a report of usage."""
    return event("usage_update", used=used, size=size, **fields)


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([usage(1, 2)], {"used": 1, "size": 2}),
        ([usage(1, 2), usage(2**63, 2**70)], {"used": 2**63, "size": 2**70}),
        ([usage(1, 2, cost=COST), usage(3, 4)], {"used": 3, "size": 4, "cost": COST}),
        ([usage(1, 2, cost=COST), usage(3, 4, cost=None)], {"used": 3, "size": 4}),
        ([usage(1, 2, _meta=META)], {"used": 1, "size": 2}),
    ],
)
def test_usage(updates: list[Event], expected: Any) -> None:
    """Tokens are replaced, the cost stays where none is told."""
    assert shown(*updates)["usage"] == expected


def info(**fields: Any) -> Event:
    """Give facts about the session."""
    return event("session_info_update", **fields)


WHEN = "2026-03-01T09:00:00Z"


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([], {}),
        ([info(title="a", updatedAt=WHEN, _meta=META)],
         {"title": "a", "updatedAt": WHEN, "_meta": META}),
        ([info(title="a"), info(updatedAt=WHEN)], {"title": "a", "updatedAt": WHEN}),
        ([info(title="a", updatedAt=WHEN), info(title=None)], {"updatedAt": WHEN}),
        ([info(updatedAt=WHEN), info(updatedAt=None, title="")], {"title": ""}),
        ([info(_meta=META), info(_meta={"k": None})], {}),
    ],
)  # fmt: skip
def test_info(updates: list[Event], expected: Any) -> None:
    """Title, time and metadata are patched."""
    assert shown(*updates)["info"] == expected


COMMAND = {"type": "command", "name": "c", "description": "d"}
OPTION = {"type": "boolean", "configId": "b", "name": "B", "currentValue": True}
SELECT = {
    "type": "select",
    "configId": "s",
    "name": "S",
    "currentValue": "v",
    "options": [{"groupId": "g", "name": "G", "options": [{"value": "v", "name": "V"}]}],
}


def test_lists_are_replaced() -> None:
    """An update of commands or options replaces the whole list."""
    commands = event("available_commands_update", availableCommands=[COMMAND])
    options = event("config_option_update", configOptions=[OPTION, SELECT])
    document = shown(commands, options)
    assert document["availableCommands"] == [COMMAND]
    assert document["configOptions"] == [OPTION, SELECT]
    none = event("available_commands_update", availableCommands=[])
    assert shown(commands, none)["availableCommands"] == []


def notice(title: str) -> Event:
    """Give a notice."""
    return event("notice", severity="info", title=title, _meta=META)


@pytest.mark.parametrize(
    ("kept", "count", "expected"),
    [(100, 3, [0, 1, 2]), (100, 105, list(range(5, 105))), (2, 5, [3, 4]), (0, 5, [])],
)
def test_notices_are_bounded_and_no_entries(kept: int, count: int, expected: list[int]) -> None:
    """Only the last notices are kept, one by one or in a batch, and none is an entry."""
    notices = [notice(str(number)) for number in range(count)]
    limits = Limits(notices=kept)
    batch = apply_all(EMPTY, notices, limits=limits)
    one_by_one = EMPTY
    for one in notices:
        one_by_one = apply(one_by_one, one, limits=limits)
    assert batch == one_by_one
    assert [int(one.title) for one in batch.notices] == expected
    assert len(batch.entries) == 0
    assert all(one.meta == wire.JsonObject(META) for one in batch.notices)


@pytest.mark.parametrize(
    ("limit", "kept", "dropped"),
    [(None, b"abcdef", 0), (6, b"abcdef", 0), (4, b"cdef", 2), (0, b"", 6)],
)
def test_terminal_output_can_be_limited(limit: int | None, kept: bytes, dropped: int) -> None:
    """The oldest bytes go, and the count of dropped bytes is kept until output is replaced."""
    limits = Limits(terminal_bytes=limit)
    chunks = [output("YWI="), output("Y2Q="), output("ZWY=")]
    snapshot = apply_all(EMPTY, chunks, limits=limits)
    one_by_one = EMPTY
    for one in chunks:
        one_by_one = apply(one_by_one, one, limits=limits)
    assert snapshot == one_by_one
    (only,) = snapshot.terminals
    assert (only.output, only.dropped_bytes) == (kept, dropped)
    (replaced,) = apply(snapshot, terminal(output=None), limits=limits).terminals
    assert (replaced.output, replaced.dropped_bytes) == (b"", 0)


# --- The client: cancel, permissions, lists of results, replay ---

RUNNING = state("running")
IDLE = state("idle")
CANCEL = acp_client.CancelSent()
TERMINAL_ITEM = {"type": "terminal", "terminalId": "c"}


def in_background(state_name: str) -> Event:
    """Give a state that lists the tool call in hand as background work."""
    return state(state_name, background=[{"type": "tool_call", "toolCallId": "c"}])


@pytest.mark.parametrize(
    ("taken", "status", "reported"),
    [
        ([call(), CANCEL], "cancelled", "pending"),
        ([RUNNING, call(status="in_progress"), CANCEL], "cancelled", "in_progress"),
        ([RUNNING, call(status="paused"), CANCEL], "cancelled", "paused"),
        ([RUNNING, call(status="_odd"), CANCEL], "cancelled", "_odd"),
        ([RUNNING, call(status="completed"), CANCEL], "completed", None),
        ([RUNNING, call(status="failed"), CANCEL], "failed", None),
        ([RUNNING, call(status="cancelled"), CANCEL], "cancelled", None),
        ([RUNNING, call_chunk(ITEM), CANCEL], "cancelled", "pending"),
        # what is not foreground work
        ([call(), RUNNING, CANCEL], "pending", None),
        ([call(), IDLE, CANCEL], "pending", None),
        ([RUNNING, call(), IDLE, CANCEL], "pending", None),
        ([RUNNING, call(), IDLE, RUNNING, CANCEL], "pending", None),
        ([RUNNING, call(), IDLE, RUNNING, call(title="x"), CANCEL], "pending", None),
        ([RUNNING, call(), state("requires_action"), CANCEL], "cancelled", "pending"),
        ([IDLE, call(), RUNNING, CANCEL], "pending", None),
        ([state("_dreaming"), call(), RUNNING, CANCEL], "cancelled", "pending"),
        ([RUNNING, call(), state("idle", stopReason="_nap"), CANCEL], "pending", None),
        ([RUNNING, call(), state("idle", stopReason="_nap"), RUNNING, CANCEL], "pending", None),
        ([RUNNING, call(), in_background("running"), CANCEL], "pending", None),
        ([RUNNING, call(), in_background("_dreaming"), CANCEL], "pending", None),
        ([RUNNING, call(), in_background("running"), RUNNING, CANCEL], "cancelled", "pending"),
        (
            [RUNNING, call(), state("running", background=[TERMINAL_ITEM]), CANCEL],
            "cancelled",
            "pending",
        ),
        # the mark, and what the agent says later
        ([call(), CANCEL, call(title="late")], "cancelled", "pending"),
        ([call(), CANCEL, call_chunk(ITEM)], "cancelled", "pending"),
        ([call(), CANCEL, call(status="in_progress")], "in_progress", None),
        ([call(), CANCEL, call(status="pending")], "pending", None),
        ([call(), CANCEL, call(status=None)], "pending", None),
        ([call(), CANCEL, call(status="cancelled")], "cancelled", None),
        ([call(), CANCEL, call(status="in_progress"), CANCEL], "cancelled", "in_progress"),
        ([call(), CANCEL, CANCEL], "cancelled", "pending"),
        ([CANCEL, call()], "pending", None),
    ],
)  # fmt: skip
def test_cancel(taken: list[Event], status: str, reported: str | None) -> None:
    """A cancel marks unfinished foreground calls, until the agent reports a status again."""
    one = entry(*taken)
    assert (one["status"], one.get("reportedStatus")) == (status, reported)


def test_later_fields_are_applied_under_the_mark() -> None:
    """A marked tool call still takes what the agent says of it."""
    marked = entry(call(), CANCEL, call(title="late", content=[ITEM]))
    assert (marked["title"], marked["content"]) == ("late", [ITEM])


def asked(request_id: wire.RequestId, **fields: Any) -> Event:
    """Give a permission request."""
    option = {"optionId": "o", "name": "O", "kind": "allow_once"}
    params = {"sessionId": "s1", "title": "T", "options": [option], **fields}
    line = strategies.encode(
        {"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params}
    )
    message, problems = acp_client.decode(line)
    assert problems == ()
    assert isinstance(message, wire.Request)
    assert isinstance(message.params, wire.RequestPermissionRequest)
    return acp_client.PermissionAsked(request_id, message.params)


SUBJECT = {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Edit", "name": None}}
ON_COMMAND = {"type": "command", "command": "ls", "cwd": "/"}


def closed(request_id: wire.RequestId) -> Event:
    """Give the end of a permission request."""
    return acp_client.PermissionClosed(request_id)


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ([asked(1)], [(1, "T")]),
        ([asked(1), asked("1", title="U")], [(1, "T"), ("1", "U")]),
        ([asked(1), asked(2), asked(1, title="again")], [(1, "again"), (2, "T")]),
        ([asked(1), asked(2), closed(1)], [(2, "T")]),
        ([asked(1), closed("1")], [(1, "T")]),
        ([asked(1), asked("1"), CANCEL], []),
        ([asked(1), IDLE, CANCEL], []),
        ([asked(1), acp_client.ConnectionLost()], []),
        ([asked(1), acp_client.ReplayBegun()], [(1, "T")]),
        ([acp_client.ReplayBegun(), asked(1), acp_client.ReplayFailed()], [(1, "T")]),
        ([asked(1), acp_client.ReplayBegun(), closed(1), acp_client.ReplayFailed()], []),
    ],
)
def test_permissions(taken: list[Event], expected: list[Any]) -> None:
    """Several requests may be open; each is known by its id, and goes when it is settled."""
    permissions = shown(*taken)["permissions"]
    assert [(one["requestId"], one["title"]) for one in permissions] == expected


def test_a_permission_shows_its_whole_request() -> None:
    """Description, options and subject are shown; what a tool call resets is not."""
    (one,) = shown(asked(5, description="why", subject=SUBJECT))["permissions"]
    assert one == {
        "requestId": 5,
        "title": "T",
        "description": "why",
        "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Edit"}},
        "options": [{"optionId": "o", "name": "O", "kind": "allow_once"}],
    }
    (one,) = shown(asked(5, subject=ON_COMMAND))["permissions"]
    assert one["subject"] == ON_COMMAND


def test_a_tool_call_known_only_from_a_permission_is_there() -> None:
    """The tool call of a request is applied like an update, resets included."""
    before = call(name="old", title="Old", status="in_progress")
    expected = {"title": "Edit", "kind": "other", "content": [], "type": "tool_call"}
    assert entry(asked(1, subject=SUBJECT)) == {
        "toolCallId": "c",
        "status": "pending",
        **expected,
    }
    assert entry(before, asked(1, subject=SUBJECT)) == {
        "toolCallId": "c",
        "status": "in_progress",
        **expected,
    }


COMMANDS = (wire.Command("c", "d"),)
OPTIONS = (wire.SessionConfigBoolean(config_id="b", name="B", current_value=True),)
TOLD_COMMANDS = event("available_commands_update", availableCommands=[])
TOLD_OPTIONS = event("config_option_update", configOptions=[])
OPENED = acp_client.SessionOpened(COMMANDS, OPTIONS)


@pytest.mark.parametrize(
    ("taken", "commands", "options"),
    [
        ([OPENED], COMMANDS, OPTIONS),
        ([acp_client.SessionOpened()], (), ()),
        ([OPENED, acp_client.SessionOpened()], COMMANDS, OPTIONS),
        ([OPENED, acp_client.SessionOpened((), ())], (), ()),
        ([TOLD_COMMANDS, OPENED], (), OPTIONS),
        ([TOLD_OPTIONS, OPENED], COMMANDS, ()),
        ([OPENED, TOLD_COMMANDS], (), OPTIONS),
        ([OPENED, acp_client.ConfigOptionsSet(())], COMMANDS, ()),
        ([TOLD_OPTIONS, acp_client.ConfigOptionsSet(OPTIONS)], (), OPTIONS),
        ([acp_client.ConfigOptionsSet(()), OPENED], COMMANDS, OPTIONS),
        ([TOLD_OPTIONS, acp_client.ReplayBegun(), OPENED], COMMANDS, OPTIONS),
        ([OPENED, acp_client.ReplayBegun(), acp_client.ReplayEnded()], (), ()),
        ([acp_client.ReplayBegun(), TOLD_OPTIONS, acp_client.ReplayFailed(), OPENED],
         COMMANDS, OPTIONS),
    ],
)  # fmt: skip
def test_lists_of_results(taken: list[Event], commands: Any, options: Any) -> None:
    """A result fills the lists that no update has reported; only a setting replaces for sure."""
    snapshot = apply_all(EMPTY, taken)
    assert snapshot.available_commands == commands
    assert snapshot.config_options == options


FULL_SESSION: list[Event] = [
    chunk("x"),
    call(status="in_progress"),
    terminal(**RAN),
    event("plan_update", plan=PLAN),
    RUNNING,
    usage(1, 2, cost=COST),
    info(title="t"),
    OPENED,
    notice("n"),
]
PROMPTED = acp_client.PromptSent(1, (text("hi"),))


def test_replay_starts_from_empty_and_keeps_what_the_client_has() -> None:
    """Everything goes but prompts and permissions, and the session from before stays at hand."""
    before = apply_all(EMPTY, [*FULL_SESSION, PROMPTED, asked(1)])
    during = apply(before, acp_client.ReplayBegun())
    assert during.before_replay is before
    assert during.replaying
    assert during.prompts == before.prompts
    assert during.permissions == before.permissions
    bare = apply_all(EMPTY, [PROMPTED, asked(1)])
    assert apply(during, acp_client.ReplayEnded()) == bare
    assert apply(during, acp_client.ReplayFailed()) == before


def test_replayed_chunks_do_not_double() -> None:
    """What is told again is there once."""
    replayed = [acp_client.ReplayBegun(), *FULL_SESSION, acp_client.ReplayEnded()]
    assert apply_all(EMPTY, [*FULL_SESSION, *replayed]) == apply_all(EMPTY, FULL_SESSION)


def test_a_second_resume_keeps_the_first_snapshot() -> None:
    """During a replay that begins again the session from before the first one is kept."""
    before = apply_all(EMPTY, FULL_SESSION)
    begun = apply_all(before, [acp_client.ReplayBegun(), chunk("half")])
    again = apply(begun, acp_client.ReplayBegun())
    assert again.before_replay is before
    assert len(again.entries) == 0
    assert apply(again, acp_client.ReplayBegun()) is again


def test_a_failed_replay_keeps_what_the_client_did_meanwhile() -> None:
    """Prompts and permissions of the time of the replay outlive its failure."""
    snapshot = apply_all(
        EMPTY, [chunk("x"), acp_client.ReplayBegun(), PROMPTED, asked(1), acp_client.ReplayFailed()]
    )
    assert [prompt.request_id for prompt in snapshot.prompts] == [1]
    assert [one.request_id for one in snapshot.permissions] == [1]
    assert len(snapshot.entries) == 1


def test_a_failed_replay_brings_the_echo_back() -> None:
    """A prompt that was answered during a failed replay is echoed if the old session says so."""
    echo = event("user_message", messageId="m")
    answered = acp_client.PromptAccepted(1, "m")
    replayed = [echo, PROMPTED, acp_client.ReplayBegun(), answered]
    assert not apply_all(EMPTY, replayed).prompts[0].echoed
    assert apply_all(EMPTY, [*replayed, acp_client.ReplayFailed()]).prompts[0].echoed


@pytest.mark.parametrize("ended", [acp_client.ReplayEnded(), acp_client.ReplayFailed()])
def test_the_end_of_no_replay_is_nothing(ended: Event) -> None:
    """Without a replay its end changes nothing."""
    before = apply_all(EMPTY, FULL_SESSION)
    assert apply(before, ended) is before


def test_lost_connection_changes_nothing_else() -> None:
    """A lost connection settles prompts and permissions, and leaves the rest alone."""
    before = apply_all(EMPTY, [*FULL_SESSION, PROMPTED, asked(1)])
    after = apply(before, acp_client.ConnectionLost())
    assert after.prompts[0].status == "uncertain"
    assert after.permissions == ()
    assert after.entries is before.entries
    assert after.terminals is before.terminals
    assert apply(after, acp_client.ConnectionLost()) is after


# --- Nothing waits for a turn ---


@pytest.mark.parametrize("around", [[], [RUNNING], [IDLE], [PROMPTED], [RUNNING, IDLE]])
def test_updates_count_at_any_time(around: list[Event]) -> None:
    """Before, between and after prompts and while idle updates are applied alike."""
    late = [chunk("late"), call(status="completed"), output("YQ==")]
    before = apply_all(EMPTY, [*around, *late])
    after = apply_all(EMPTY, [*late, *around])
    assert before.entries == after.entries
    assert before.terminals == after.terminals


# --- Misuse, sharing, threads ---


@pytest.mark.parametrize("wrong", [None, "x", {}, wire.TextContent("x"), EMPTY, Event])
def test_what_is_no_event_is_refused(wrong: Any) -> None:
    """Something that is no event raises an exception of ours."""
    with pytest.raises(InvalidValueError, match="is not an event"):
        apply(EMPTY, wrong)
    with pytest.raises(InvalidValueError, match="is not an event"):
        apply_all(EMPTY, [RUNNING, wrong])


def test_every_event_has_a_handler() -> None:
    """The dispatch tables hold each variant of the wire and each fact once."""
    facts: set[Any] = set(get_args(ClientEvent))
    updates: set[Any] = set(_ON_UPDATE)
    unknown = {wire.Unknown, wire.UnknownStateUpdate}
    assert {kind.__struct_config__.tag for kind in updates - unknown} == wire.UPDATE_TAGS
    assert unknown <= updates
    assert set(ON_SNAPSHOT) | set(_ON_DRAFT) == facts


def test_what_did_not_change_is_shared() -> None:
    """The next snapshot has the same objects where nothing changed."""
    before = apply_all(EMPTY, [chunk("a", "1"), chunk("b", "2"), terminal(), *FULL_SESSION])
    after = apply(before, chunk("c", "2"))
    assert after.entries[0] is before.entries[0]
    assert after.entries[1] is not before.entries[1]
    assert after.terminals is before.terminals
    assert after._fields is before._fields
    assert apply(before, usage(9, 9)).entries is before.entries


def test_two_threads_may_continue_one_snapshot() -> None:
    """Continuations that grow at the same time from one snapshot do not see each other."""
    base = apply_all(EMPTY, [chunk("base "), output("YQ==")])
    results: dict[str, Snapshot] = {}

    def grow(name: str) -> None:
        snapshot = base
        for _ in range(300):
            snapshot = apply_all(snapshot, [chunk(name), output("Yg=="), chunk(name, name)])
        results[name] = snapshot

    threads = [threading.Thread(target=grow, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, snapshot in results.items():
        texts = [getattr(one, "text", None) for one in snapshot.entries]
        assert texts == ["base " + name * 300, name * 300]
        assert snapshot.terminals[0].output == b"a" + b"b" * 300
    assert [getattr(one, "text", None) for one in base.entries] == ["base "]
    assert base.terminals[0].output == b"a"
