"""Tool calls of ACP v1: created, patched, and never wiped."""

from __future__ import annotations

from typing import Any

import pytest
from v1_traffic import (
    OLD_DIFF,
    SESSION,
    Frame,
    Json,
    asks,
    call,
    chunk,
    document,
    echo,
    ended,
    only_call,
    patch,
    permission,
    play,
    prompt,
    said,
    text,
    told,
)

from acp_client import ToolCall


def test_a_tool_call_is_created_whole() -> None:
    """All that a tool call says is there."""
    fields: Json = {
        "kind": "read",
        "status": "in_progress",
        "content": [{"type": "content", "content": text("x")}, OLD_DIFF],
        "locations": [{"path": "/a", "line": 3}, {"path": "/b", "line": 0}],
        "rawInput": {"k": [1]},
        "rawOutput": "out",
        "_meta": {"k": 1},
    }
    assert document(told(call(**fields)))["entries"] == [
        {
            **fields,
            "type": "tool_call",
            "toolCallId": "c",
            "title": "Do",
            "locations": [{"path": "/a", "line": 3}, {"path": "/b"}],
        }
    ]


KNOWN: Json = {
    "kind": "edit",
    "status": "completed",
    "content": [{"type": "content", "content": text("x")}],
    "locations": [{"path": "/a"}],
    "rawInput": {"k": 1},
    "rawOutput": [1],
    "_meta": {"k": 1},
}


@pytest.mark.parametrize("key", [*KNOWN, "title"])
def test_null_is_not_given(key: str) -> None:
    """A `null` leaves what is known, in a call and in an update."""
    before = told(call(**KNOWN))
    nothing: Json = {key: None}
    assert told(call(**KNOWN), patch(**nothing)) == before
    assert told(call(**KNOWN), call(**nothing)) == before


@pytest.mark.parametrize(
    ("key", "value"),
    [("title", ""), ("status", "pending"), ("kind", "other"), ("content", []), ("rawInput", {})],
)
def test_a_tool_call_never_resets_what_is_known(key: str, value: Any) -> None:
    """A call that is announced again brings no defaults and no empty values."""
    assert told(call(**KNOWN), call(**{key: value})) == told(call(**KNOWN))


def test_a_tool_call_again_is_an_update() -> None:
    """A second `tool_call` changes what it says, and makes no second entry."""
    snapshot = told(call(**KNOWN), chunk("x"), call(title="New", status="failed"))
    assert [entry.type for entry in snapshot.entries] == ["tool_call", "agent_message"]
    found = only_call(snapshot)
    assert (found.title, found.status, found.kind) == ("New", "failed", "edit")


def test_an_update_patches() -> None:
    """An update changes what it gives, also after completion, and creates what is not there."""
    frames = [patch(title="A", status="completed"), patch(title="B"), patch(content=[])]
    found = only_call(told(*frames))
    assert (found.title, found.status) == ("B", "completed")
    assert not only_call(told(call(**KNOWN), patch(content=[]))).content


@pytest.mark.parametrize("output", ["text", ["a", 1], 5, False, {"k": None}])
def test_raw_output_is_any_value(output: Any) -> None:
    """Raw output need be no object."""
    found = only_call(told(patch(rawOutput=output)))
    assert found.raw_output is not None
    assert found.raw_output.value == output


def test_bare_blocks_are_content() -> None:
    """A content block that lacks its wrapper is wrapped, and a single item is a list."""
    found = document(told(patch(content=[text("a"), "b"]), patch("d", content=text("c"))))
    assert [entry["content"] for entry in found["entries"]] == [
        [{"type": "content", "content": text("a")}, {"type": "content", "content": text("b")}],
        [{"type": "content", "content": text("c")}],
    ]


def test_bad_items_beside_an_old_diff_are_left_out() -> None:
    """Old diffs are kept as they came, and leniency beside them is that of v2."""
    store = play([call(content=[OLD_DIFF, {"type": "content"}, {"type": "terminal"}, 5])])
    (entry,) = document(store.snapshot(SESSION))["entries"]
    assert entry["content"] == [OLD_DIFF]
    assert [(one.kind, one.path) for one in store.problems] == [
        ("rejected", "$.params.update.content[1].content"),
        ("rejected", "$.params.update.content[2].terminalId"),
        ("rejected", "$.params.update.content[3]"),
    ]


def test_a_call_without_an_id_is_refused() -> None:
    """What a tool call cannot do without is missed as in v2."""
    store = play([said("tool_call", title="x"), said("tool_call_update", toolCallId=[])])
    assert store.sessions == ()
    assert store.problem_counts["rejected"] == 2


DONE = patch(status="completed")


def test_an_id_that_is_used_again_in_a_later_turn_is_a_new_call() -> None:
    """A finished call stays as it was, and the new one gets all that comes after it."""
    frames = [prompt(1, "a"), call(title="One"), DONE, ended(1)]
    frames += [prompt(2, "b"), call(title="Two", status="in_progress")]
    frames += [permission(7, {"toolCallId": "c"}), patch(status="failed", rawOutput="x")]
    store = play(frames)
    first, second = (
        entry for entry in store.snapshot(SESSION).entries if isinstance(entry, ToolCall)
    )
    assert (first.title, first.status, first.raw_output) == ("One", "completed", None)
    assert (second.title, second.status) == ("Two", "failed")
    assert second.tool_call_id == "c#2"
    assert [(one.kind, one.path) for one in store.problems] == [
        ("defaulted", "$.params.update.toolCallId")
    ]


SAME: dict[str, list[Frame]] = {
    "in the same turn": [prompt(1, "a"), call(title="One"), DONE, call(title="Two")],
    "not finished": [
        prompt(1, "a"),
        call(title="One"),
        ended(1),
        prompt(2, "b"),
        call(title="Two"),
    ],
    "an update": [prompt(1, "a"), call(title="One"), DONE, ended(1), patch(title="Two")],
    "begun again": [
        prompt(1, "a"),
        call(title="One"),
        DONE,
        ended(1),
        patch(status="in_progress"),
        call(title="Two"),
    ],
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_call_is_updated(case: str) -> None:
    """Only a new call after the end of the old one, in another turn, is another one."""
    calls = [entry for entry in told(*SAME[case]).entries if isinstance(entry, ToolCall)]
    assert [entry.title for entry in calls] == ["Two"]


def test_a_history_has_turns_too() -> None:
    """In a session that is loaded, messages of the user tell the turns apart."""
    load = asks(9, "session/load", cwd="/", mcpServers=[])
    frames = [load, echo("a"), call(title="One"), DONE, echo("b"), call(title="Two")]
    snapshot = play(frames).snapshot(SESSION)
    titles = [entry.title for entry in snapshot.entries if isinstance(entry, ToolCall)]
    assert titles == ["One", "Two"]


def test_ids_that_are_used_three_times() -> None:
    """Every use in a turn of its own is an entry of its own."""
    frames = [frame for at in range(3) for frame in (prompt(at, "a"), call(), DONE, ended(at))]
    snapshot = play(frames).snapshot(SESSION)
    ids = [entry.tool_call_id for entry in snapshot.entries if isinstance(entry, ToolCall)]
    assert ids == ["c", "c#2", "c#3"]
