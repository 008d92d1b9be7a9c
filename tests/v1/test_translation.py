"""ACP v1 in the words of v2: the rules of the translation, one by one."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from v1_traffic import (
    SESSION,
    Frame,
    Json,
    agent,
    agent_asks,
    asks,
    call,
    chunk,
    client,
    conversation,
    document,
    echo,
    ended,
    link,
    only_call,
    patch,
    permission,
    play,
    prompt,
    said,
    text,
    thought,
    told,
)

import acp_client
from acp_client import Snapshot, wire
from acp_client._v1.session import is_inferred

CANCEL = client(method="session/cancel", params={"sessionId": SESSION})
HERE = {"sessionId": SESSION}
OLD_DIFF = {"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}


def options(snapshot: Snapshot) -> list[tuple[str, Any]]:
    """Return the options and what is chosen."""
    found = document(snapshot)["configOptions"]
    return [(option["configId"], option["currentValue"]) for option in found]


# --- Messages ---


def test_chunks_without_an_id_make_one_message() -> None:
    """Chunks of one kind are one message, text exact, empty and blank ones included."""
    snapshot = told(chunk(""), chunk("Hel"), chunk("lo"), chunk(" \n"), chunk(""))
    assert conversation(snapshot) == [("agent_message", "Hello \n")]
    assert len(snapshot.entries[0].content) == 5  # type: ignore[union-attr]  # a message


BETWEEN: dict[str, Frame] = {
    "a thought": thought("hm"),
    "a user message": echo("and?"),
    "a tool call": call(),
    "a tool call that an update makes": patch(),
    "a tool call that a permission request makes": permission(9, {"toolCallId": "c"}),
    "a compaction": said("compaction_update", compactionId="k", status="in_progress"),
    "an update that nobody knows": said("_vendor", k=1),
    "a message with an id": chunk("x", messageId="m"),
    "a prompt": prompt(1, "go on"),
}


@pytest.mark.parametrize("case", BETWEEN)
def test_a_new_entry_ends_the_open_message(case: str) -> None:
    """What becomes an entry of its own stands between two messages."""
    snapshot = told(chunk("a"), BETWEEN[case], thought("t"), chunk("b"))
    texts = [said for type_, said in conversation(snapshot) if type_ == "agent_message"]
    assert [texts[0], texts[-1]] == ["a", "b"]


INSIDE: dict[str, Frame] = {
    "an update of a tool call": patch(title="Done"),
    "a tool call again": call(title="Done"),
    "usage": said("usage_update", used=1, size=2),
    "a plan": said("plan", entries=[]),
    "a mode": said("current_mode_update", currentModeId="m"),
    "commands": said("available_commands_update", availableCommands=[]),
    "options": said("config_option_update", configOptions=[]),
    "a title": said("session_info_update", title="t"),
    "a notice": said("notice", severity="info", title="n"),
    "a notification of a vendor": agent(method="_x/y", params={"sessionId": SESSION}),
    "the result": ended(1),
    "what is no update": agent(method="session/update", params={"sessionId": SESSION}),
}


@pytest.mark.parametrize("case", INSIDE)
def test_what_is_no_new_entry_leaves_the_message_open(case: str) -> None:
    """Updates of what is there already come in the middle of a sentence."""
    store = play([prompt(1, "q"), call(), chunk("a"), INSIDE[case], chunk("b")])
    texts = [said for _, said in conversation(store.snapshot(SESSION))]
    assert "ab" in texts


def test_inferred_ids_are_recognised_and_stable() -> None:
    """Made ids number the messages of each kind, and the same stream gives the same ones."""
    frames = [
        prompt(1, "q"),
        thought("t"),
        chunk("a"),
        call(),
        chunk("b"),
        chunk("c", messageId="m"),
    ]
    ids = [
        (e.type, e.message_id) for e in told(*frames).entries if isinstance(e, acp_client.Message)
    ]
    assert ids == [
        ("user_message", "inferred:1"),
        ("agent_thought", "inferred:1"),
        ("agent_message", "inferred:1"),
        ("agent_message", "inferred:2"),
        ("agent_message", "m"),
    ]
    assert [is_inferred(message_id) for _, message_id in ids] == [True] * 4 + [False]
    assert told(*frames) == told(*frames)


def test_chunks_with_an_id_are_keyed_by_kind_and_id() -> None:
    """Messages of two kinds may share an id, interleave, and go on after other entries."""
    frames = [thought("t", messageId="m"), chunk("a", messageId="m"), call()]
    frames += [thought("T", messageId="m"), chunk("A", messageId="m"), chunk("!")]
    assert conversation(told(*frames)) == [
        ("agent_thought", "tT"),
        ("agent_message", "aA!"),
        ("tool_call", "Do"),
    ]


ODD_CONTENT: dict[str, tuple[Any, str]] = {
    "a list of blocks": ([text("a"), text("b")], "ab"),
    "a string": ("ab", "ab"),
    "text without a type": ({"text": "ab"}, "ab"),
    "a block that nobody knows": ({"type": "_x", "k": 1}, ""),
}


@pytest.mark.parametrize("case", ODD_CONTENT)
def test_odd_content_is_shown(case: str) -> None:
    """Content that is not one block is understood as far as it can be."""
    content, expected = ODD_CONTENT[case]
    snapshot = told(said("agent_message_chunk", content=content, messageId=5, _meta=None))
    assert conversation(snapshot) == [("agent_message", expected)]


def test_the_meta_of_a_chunk_stays_beside_its_block() -> None:
    """A chunk's `_meta` is that of its block, as in v2."""
    snapshot = told(chunk("a"), chunk("b", _meta={"k": 1}))
    assert document(snapshot)["entries"][0]["chunkMeta"] == {"1": {"k": 1}}


# --- Prompts ---


def test_a_prompt_is_an_entry_from_sending_on() -> None:
    """A prompt is a user message at once, and the session runs until the result."""
    sent = told(prompt(1, "hello", link("a")))
    assert conversation(sent) == [("user_message", "hello")]
    assert document(sent)["prompts"] == [
        {"requestId": 1, "status": "accepted", "messageId": "inferred:1", "echoed": True}
    ]
    assert document(sent)["state"] == {"state": "running"}
    assert told(prompt(1, "hello"), ended(1, "refusal")).state == wire.StateUpdate(
        "idle", stop_reason="refusal"
    )


def test_the_id_that_a_client_gives_its_message_is_kept() -> None:
    """A `messageId` in the prompt is the message's id, which an echo may name."""
    snapshot = told(prompt(1, "hello", messageId="u1"), echo("hello", messageId="u1"))
    assert [entry.message_id for entry in snapshot.entries] == ["u1"]  # type: ignore[union-attr]  # a message


ERROR = {"code": -32603, "message": "overloaded", "data": {"k": 1}}
ENDS: dict[str, tuple[Json, Json]] = {
    "a reason": ({"result": {"stopReason": "max_tokens"}}, {"stopReason": "max_tokens"}),
    "another reason": ({"result": {"stopReason": "_nap"}}, {"stopReason": "_nap"}),
    "no reason": ({"result": {}}, {}),
    "nothing": ({"result": None}, {}),
    "an error": ({"error": ERROR}, {"stopReason": "error", "error": ERROR}),
    "a reason beside no error": (
        {"result": {"stopReason": "end_turn"}, "error": None},
        {"stopReason": "end_turn"},
    ),
    "a reason with meta": (
        {"result": {"stopReason": "end_turn", "_meta": {"k": 1}}},
        {"stopReason": "end_turn", "_meta": {"k": 1}},
    ),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_answer_ends_the_foreground_work(case: str) -> None:
    """Whatever the answer says, the session is idle then, with what is known of the reason."""
    answer, state = ENDS[case]
    snapshot = told(prompt(1, "hello"), agent(id=1, **answer))
    assert document(snapshot)["state"] == {"state": "idle", **state}


def test_a_malformed_answer_ends_it_too() -> None:
    """An answer that is none is a problem, and the end of the work."""
    store = play([prompt(1, "hello"), agent(id=1)])
    assert document(store.snapshot(SESSION))["state"] == {"state": "idle"}
    assert store.problem_counts["invalid_message"] == 1


def test_work_goes_on_while_a_prompt_waits() -> None:
    """With two prompts open, the answer to the first is not the end; a lost answer is no matter."""
    queued = [prompt(1, "a"), prompt(2, "b"), ended(1, "cancelled")]
    assert told(*queued).state == wire.StateUpdate("running")
    assert told(*queued, ended(2)).state == wire.StateUpdate("idle", stop_reason="end_turn")
    lost = told(prompt(1, "a"), prompt(2, "b"), ended(2))
    assert lost.state == wire.StateUpdate("idle", stop_reason="end_turn")


def test_updates_after_the_result_are_applied() -> None:
    """What comes late is applied like anything else, and the state stays."""
    snapshot = told(prompt(1, "q"), chunk("a"), call(), ended(1), patch(status="completed"))
    assert only_call(snapshot).status == "completed"
    late = told(prompt(1, "q"), chunk("a"), ended(1), chunk("b"))
    assert conversation(late)[-1] == ("agent_message", "ab")
    assert document(late)["state"] == {"state": "idle", "stopReason": "end_turn"}


def test_a_cancel_marks_the_calls_of_this_turn() -> None:
    """A cancel covers unfinished tool calls since the prompt, until the agent reports again."""
    frames = [call("old"), prompt(1, "q"), call(status="in_progress"), call("done")]
    frames += [patch("done", status="completed"), CANCEL]
    cancelled = told(*frames)
    assert [only_call(cancelled, name).status for name in ("old", "c", "done")] == [
        "pending",
        "cancelled",
        "completed",
    ]
    assert only_call(told(*frames, patch(status="failed"))).status == "failed"


def test_a_reason_to_stop_ends_a_turn_that_was_not_seen() -> None:
    """In a recording of the agent alone, the answers to prompts part its messages."""
    alone = told(chunk("a"), chunk("b"), ended(1), chunk("c"), ended(2, "refusal"))
    assert conversation(alone) == [("agent_message", "ab"), ("agent_message", "c")]
    assert alone.state == wire.StateUpdate("idle", stop_reason="refusal")
    other = agent(method="session/update", params={"sessionId": "t", "update": {}})
    store = play([chunk("a"), other, ended(1), agent(id=2, result={}), chunk("b")])
    assert conversation(store.snapshot(SESSION)) == [("agent_message", "a"), ("agent_message", "b")]
    assert "stopReason" not in document(store.snapshot(SESSION))["state"]
    busy = told(prompt(1, "q"), chunk("a"), ended(2), chunk("b"))
    assert conversation(busy)[1:] == [("agent_message", "ab")]
    assert busy.state == wire.StateUpdate("running")


# --- Tool calls ---


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


# --- Permission requests ---


def test_a_permission_request_shows_its_tool_call() -> None:
    """Title and subject come from the tool call, which appears."""
    tool_call = {"toolCallId": "c", "title": "Edit", "kind": "edit", "content": [OLD_DIFF]}
    snapshot = told(permission(5, {**tool_call, "status": None}))
    found = document(snapshot)
    assert found["permissions"] == [
        {
            "requestId": 5,
            "title": "Edit",
            "subject": {"type": "tool_call", "toolCall": tool_call},
            "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
        }
    ]
    assert found["entries"] == [{"type": "tool_call", "status": "pending", **tool_call}]
    assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot


TITLES: list[tuple[Json, str]] = [
    ({"toolCallId": "c"}, "Known"),
    ({"toolCallId": "d", "kind": "execute"}, "execute"),
    ({"toolCallId": "d"}, "Permission"),
]


@pytest.mark.parametrize(("tool_call", "title"), TITLES)
def test_a_permission_request_has_a_title(tool_call: Json, title: str) -> None:
    """Without a title the known one serves, or whatever names the call."""
    snapshot = told(call(title="Known"), permission(5, tool_call))
    assert [asked.title for asked in snapshot.permissions] == [title]


def test_options_are_read_as_far_as_they_can_be() -> None:
    """An option needs its id alone; what it lacks is made up."""
    given = [{"optionId": "a"}, {"id": "b", "label": "B", "kind": "reject_once"}]
    snapshot = told(permission(5, {"toolCallId": "c"}, options=given))
    assert document(snapshot)["permissions"][0]["options"] == [
        {"optionId": "a", "name": "a", "kind": "unknown"},
        {"optionId": "b", "name": "B", "kind": "reject_once"},
    ]


CLOSING: dict[str, Frame] = {
    "an answer": client(id=5, result={"outcome": {"outcome": "selected", "optionId": "yes"}}),
    "an error": client(id=5, error={"code": 1, "message": "x"}),
    "a withdrawal": agent(method="$/cancel_request", params={"requestId": 5}),
    "a cancel": CANCEL,
}


@pytest.mark.parametrize("case", CLOSING)
def test_a_permission_request_is_closed(case: str) -> None:
    """An answer, a withdrawal or a cancel takes the one request away, or all."""
    asked = [permission(5, {"toolCallId": "c"}), permission(6, {"toolCallId": "d"})]
    left = [one.request_id for one in told(*asked, CLOSING[case]).permissions]
    assert left == ([] if case == "a cancel" else [6])


def test_permission_requests_that_cannot_be_used() -> None:
    """Without options nothing is asked, though the tool call appears; without a session neither."""
    refused = [permission(5, {"toolCallId": "c"}, options=[]), permission(6, {}, sessionId=7)]
    store = play([*refused, permission(7, {}), agent(method="$/cancel_request", params={})])
    snapshot = store.snapshot(SESSION)
    assert [entry.type for entry in snapshot.entries] == ["tool_call"]
    assert [asked.subject for asked in snapshot.permissions] == [None]
    assert store.problem_counts["rejected"] == 3


# --- Plans, usage, commands, information ---


def test_a_plan_replaces_the_one_plan() -> None:
    """There is one plan, and steps have what they lack by default."""
    steps = [{"content": "a", "priority": "high", "status": "completed"}]
    frames = [said("plan", entries=[{"content": "x"}, 5]), said("plan", entries=steps)]
    store = play(frames[:1])
    assert document(store.snapshot(SESSION))["plans"] == [
        {
            "type": "items",
            "planId": "plan",
            "entries": [{"content": "x", "priority": "medium", "status": "pending"}],
        }
    ]
    assert store.problem_counts["skipped"] == 1
    assert document(play(frames).snapshot(SESSION))["plans"][0]["entries"] == steps


def test_usage_keeps_what_is_not_given() -> None:
    """A `null` number is the last known one; nothing is shown before both are known."""
    assert told(chunk("x"), said("usage_update", used=None, size=10)).usage is None
    frames = [said("usage_update", used=None, size=10), said("usage_update", used=3, size=None)]
    frames += [said("usage_update", used=4, size=12, cost={"amount": 1, "currency": "EUR"})]
    frames += [said("usage_update", used=None, size=12, cost=None)]
    assert told(*frames).usage == acp_client.Usage(4, 12, wire.Cost(1, "EUR"))


def test_commands_get_the_shape_of_v2() -> None:
    """Commands are typed, a hint is a text input, and other input is kept."""
    given = [
        {"name": "a", "description": "A", "input": {"hint": "what"}},
        {"name": "b", "description": "B", "input": None},
        {"name": "c", "input": {"choices": []}},
        {"type": "command", "name": "d", "description": "D", "input": {"type": "_x"}},
    ]
    found = document(told(said("available_commands_update", availableCommands=given)))
    assert found["availableCommands"] == [
        {
            "type": "command",
            "name": "a",
            "description": "A",
            "input": {"type": "text", "hint": "what"},
        },
        {"type": "command", "name": "b", "description": "B"},
        {"type": "command", "name": "c", "description": ""},
        {"type": "command", "name": "d", "description": "D", "input": {"type": "_x"}},
    ]


def test_session_information_is_patched() -> None:
    """Title and time are replaced or cleared, as in v2."""
    frames = [said("session_info_update", title="t", _meta={"a": 1})]
    frames += [said("session_info_update", title=None, _meta={"b": 2})]
    assert document(told(*frames))["info"] == {"_meta": {"a": 1, "b": 2}}


# --- Configuration ---

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


def test_modes_and_models_become_options() -> None:
    """Older lists are select options of their own."""
    found = document(told(*opened(modes=MODES, models=MODELS)))["configOptions"]
    assert found == [
        {
            "type": "select",
            "configId": "mode",
            "name": "Mode",
            "category": "mode",
            "currentValue": "ask",
            "options": [{"value": "ask", "name": "Ask", "description": "Ask first"}, CHOICES[1]],
        },
        {
            "type": "select",
            "configId": "model",
            "name": "Model",
            "category": "model",
            "currentValue": "s",
            "options": [{"value": "s", "name": "Small"}],
        },
    ]


def test_options_get_the_shape_of_v2() -> None:
    """Ids are renamed, missing types are seen from the value, and groups are kept."""
    group = {"group": "g", "name": "G", "options": CHOICES}
    given = [
        {"id": "a", "name": "A", "currentValue": True},
        {"id": "b", "name": "B", "currentValue": "ask", "options": [group]},
        {"id": "c", "name": "C", "currentValue": "x", "options": [], "description": None},
        {"type": "_x", "id": "d", "name": "D"},
    ]
    found = document(told(*opened(configOptions=given)))["configOptions"]
    assert found == [
        {"type": "boolean", "configId": "a", "name": "A", "currentValue": True},
        {
            "type": "select",
            "configId": "b",
            "name": "B",
            "currentValue": "ask",
            "options": [{"groupId": "g", "name": "G", "options": CHOICES}],
        },
        {
            "type": "select",
            "configId": "c",
            "name": "C",
            "currentValue": "x",
            "options": [{"value": "x", "name": "x"}],
        },
        {"type": "_x", "configId": "d", "name": "D"},
    ]


MODE_CHANGES: dict[str, list[Frame]] = {
    "the agent says so": [said("current_mode_update", currentModeId="code")],
    "an older agent says so": [said("current_mode_update", modeId="code")],
    "the client sets it": [
        asks(2, "session/set_mode", modeId="code"),
        agent(id=2, result={}),
    ],
    "the client sets it, and nothing is answered": [
        asks(2, "session/set_mode", modeId="code"),
        agent(id=2, result=None),
    ],
    "the client sets the option": [
        asks(2, "session/set_config_option", configId="mode", value="code"),
        agent(id=2, result={}),
    ],
}


@pytest.mark.parametrize("case", MODE_CHANGES)
@pytest.mark.parametrize("lists", [{"modes": MODES}, {"configOptions": [MODE_OPTION]}])
def test_the_mode_changes(case: str, lists: Json) -> None:
    """However the mode changes, the option has the new one, be it made of modes or given."""
    assert options(told(*opened(**lists), *MODE_CHANGES[case])) == [("mode", "code")]


def test_a_mode_that_comes_early_is_kept() -> None:
    """A mode that is reported before the result of the new session is the current one."""
    asked, answer = opened(modes=MODES, configOptions=[{**MODE_OPTION, "id": "m"}])
    early = said("current_mode_update", currentModeId="code")
    assert options(told(early)) == [("mode", "code")]
    assert options(told(asked, early, answer)) == [("m", "code")]
    assert options(told(early, *opened(modes=MODES))) == [("mode", "code")]


def test_a_refused_change_changes_nothing() -> None:
    """An error leaves the mode, and so does a mode that is none."""
    refused = [asks(2, "session/set_mode", modeId="code")]
    refused += [agent(id=2, error={"code": 1, "message": "no"})]
    assert options(told(*opened(modes=MODES), *refused)) == [("mode", "ask")]
    store = play([*opened(modes=MODES), said("current_mode_update", currentModeId=5)])
    assert options(store.snapshot(SESSION)) == [("mode", "ask")]
    assert store.problem_counts["rejected"] == 1


def test_a_model_changes() -> None:
    """A model is set like a mode; an id that the option does not know is none of its values."""
    change = [asks(2, "session/set_model", modelId="l"), agent(id=2, result={})]
    assert options(told(*opened(models=MODELS), *change)) == [("model", "l")]
    option = {**MODE_OPTION, "id": "model", "category": "model"}
    assert options(told(*opened(configOptions=[option]), *change)) == [("model", "ask")]


UPDATES: dict[str, tuple[Json, list[tuple[str, Any]]]] = {
    "all": ({"configOptions": [{**MODE_OPTION, "id": "z"}]}, [("z", "ask")]),
    "none": ({"configOptions": []}, [("mode", "ask")]),
    "one of them": (
        {"configOption": {**MODE_OPTION, "id": "b", "category": "x", "currentValue": "code"}},
        [("mode", "ask"), ("a", True), ("b", "code")],
    ),
    "a new one": (
        {"configOption": {"id": "n", "name": "N", "currentValue": False}},
        [("mode", "ask"), ("a", True), ("b", "ask"), ("n", False)],
    ),
    "one in the place of all": (
        {"configOptions": {"id": "n", "name": "N", "currentValue": False}},
        [("mode", "ask"), ("a", True), ("b", "ask"), ("n", False)],
    ),
    "a value": (
        {"configId": "a", "value": False},
        [("mode", "ask"), ("a", False), ("b", "ask")],
    ),
    "a value of an option that nobody knows": (
        {"id": "q", "currentValue": False},
        [("mode", "ask"), ("a", True), ("b", "ask")],
    ),
}


@pytest.mark.parametrize("case", UPDATES)
def test_options_are_updated(case: str) -> None:
    """An update replaces all options, or one, or the value of one."""
    fields, expected = UPDATES[case]
    given = [{"id": "a", "name": "A", "currentValue": True}]
    given += [{**MODE_OPTION, "id": "b", "category": "x"}]
    before = opened(modes=MODES, configOptions=given)
    assert options(told(*before, said("config_option_update", **fields))) == expected


def test_an_update_without_options_is_refused() -> None:
    """An update that names nothing is a problem."""
    store = play([said("config_option_update"), *opened()])
    assert store.problem_counts["rejected"] == 1
    assert options(store.snapshot(SESSION)) == []


def test_the_result_of_a_change_replaces_the_list() -> None:
    """The answer to a changed option has the new list."""
    change = [asks(2, "session/set_config_option", configId="mode", value="code")]
    change += [agent(id=2, result={"configOptions": [{**MODE_OPTION, "currentValue": "code"}]})]
    assert options(told(*opened(configOptions=[MODE_OPTION]), *change)) == [("mode", "code")]


def test_items_that_are_no_objects_are_left_out() -> None:
    """Junk in the lists of v1 is skipped by the decoder of v2, and the rest is there."""
    junk: list[Any] = [5, None, [], "x"]
    options_ = [*junk, MODE_OPTION, {**MODE_OPTION, "id": "b", "category": "x", "options": junk}]
    frames = [*opened(configOptions=options_), said("plan", entries=junk)]
    frames += [said("available_commands_update", availableCommands=[*junk, {"name": "a"}])]
    frames += [patch(locations=junk, content=[5, None]), said("config_option_update", id="mode")]
    frames += [asks(2, "session/set_config_option", configId=5), agent(id=2, result={})]
    store = play(frames)
    found = document(store.snapshot(SESSION))
    assert options(store.snapshot(SESSION)) == [("mode", "ask")]
    assert [command["name"] for command in found["availableCommands"]] == ["a"]
    assert [entry["type"] for entry in found["entries"]] == ["tool_call"]
    assert found["plans"][0]["entries"] == []
    assert {problem.kind for problem in store.problems} == {"skipped"}


# --- Sessions and loading ---


def test_a_session_is_there_when_it_is_opened() -> None:
    """A new or forked session exists, empty; one without an id is refused."""
    assert conversation(told(*opened())) == []
    fork = [asks(1, "session/fork"), agent(id=1, result={"sessionId": "t", "modes": MODES})]
    store = play([*opened(), *fork, asks(2, "session/resume"), agent(id=2, result=None)])
    assert store.sessions == (SESSION, "t")
    assert options(store.snapshot("t")) == [("mode", "ask")]
    asked, _ = opened()
    refused = play([asked, agent(id=1, result={"sessionId": 5}), asked, agent(id=1, error=5)])
    assert refused.sessions == ()
    assert [one.kind for one in refused.problems] == ["rejected", "invalid_message"]


LIVE = [prompt(1, "hello"), chunk("Hi"), call(status="completed"), chunk("Bye"), ended(1)]
HISTORY = [echo("hello"), chunk("Hi"), call(status="completed"), chunk("Bye")]
LOAD = asks(2, "session/load", cwd="/", mcpServers=[])


def test_a_loaded_session_shows_each_message_once() -> None:
    """Loading tells the history again from empty, with the same ids."""
    live = told(*LIVE)
    loading = told(*LIVE, LOAD, *HISTORY[:2])
    assert loading.replaying
    assert conversation(loading) == [("user_message", "hello"), ("agent_message", "Hi")]
    loaded = told(*LIVE, LOAD, *HISTORY, agent(id=2, result={"modes": MODES}))
    assert not loaded.replaying
    assert loaded.entries == live.entries
    assert options(loaded) == [("mode", "ask")]


def test_a_session_that_is_loaded_first_goes_on() -> None:
    """After the history, a prompt is one more message, echo or not."""
    frames = [LOAD, *HISTORY, agent(id=2, result=None), prompt(3, "hello"), echo("hello")]
    snapshot = told(*frames, chunk("again"))
    assert conversation(snapshot)[-2:] == [("user_message", "hello"), ("agent_message", "again")]
    assert len(snapshot.entries) == 6


def test_a_refused_load_brings_back_what_was_there() -> None:
    """An error ends the replay and changes nothing, also for what follows."""
    refused = [LOAD, *HISTORY[:2], agent(id=2, error={"code": 1, "message": "no"})]
    snapshot = told(*LIVE, *refused, chunk("!"))
    assert conversation(snapshot) == conversation(told(*LIVE, chunk("!")))
    assert not snapshot.replaying


def test_only_the_newest_load_ends_the_replay() -> None:
    """The answer to an older load leaves the replay alone, and an error restores the first."""
    again = asks(3, "session/load", cwd="/", mcpServers=[])
    frames = [*LIVE, LOAD, HISTORY[0], again, HISTORY[0], agent(id=2, result={})]
    assert told(*frames).replaying
    assert not told(*frames, agent(id=3, result={})).replaying
    failed = told(*frames, agent(id=3, error={"code": 1, "message": "no"}), chunk("!"))
    assert conversation(failed) == conversation(told(*LIVE, chunk("!")))


# --- Terminals ---


def terminals(snapshot: Snapshot) -> list[Json]:
    """Return the terminals of the document, output decoded."""
    found = document(snapshot)["terminals"]
    return [{**one, "output": base64.b64decode(one["output"]).decode()} for one in found]


INFO = {"terminal_info": {"terminal_id": "t", "cwd": "/w"}}
EXIT = {"terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None}}


@pytest.mark.parametrize("key", ["terminal_output", "terminal_output_delta"])
def test_output_in_meta_feeds_a_terminal(key: str) -> None:
    """A terminal begins with its place, grows with each piece, and ends."""
    frames = [call(rawInput={"command": "ls"}, _meta=INFO)]
    frames += [patch(_meta={key: {"terminal_id": "t", "data": piece}}) for piece in ("a\n", "ü")]
    frames += [patch(_meta=EXIT)]
    assert terminals(told(*frames)) == [
        {
            "terminalId": "t",
            "command": "ls",
            "cwd": "/w",
            "output": "a\nü",
            "exitStatus": {"exitCode": 3},
        }
    ]


def test_output_without_an_id_is_that_of_the_tool_call() -> None:
    """A terminal that is not named is the call's, and all may come at once."""
    meta = {"terminal_output": {"data": "x"}, "terminal_exit": {"exit_code": 0}}
    raw = {"command": ["bash", "-c", "a b"]}
    meta |= {"terminal_info": {"cwd": "/"}}
    assert terminals(told(patch(rawInput=raw, _meta=meta))) == [
        {
            "terminalId": "c",
            "command": "bash -c 'a b'",
            "cwd": "/",
            "output": "x",
            "exitStatus": {"exitCode": 0},
        }
    ]


def test_odd_terminal_meta_is_survived() -> None:
    """What is malformed in `_meta` is a problem at most; the tool call is there."""
    odd: list[Any] = [5, {"terminal_output": 5}, {"terminal_output": {"data": 5}}]
    odd += [{"terminal_info": {"terminal_id": 5, "cwd": 5}}, {"terminal_exit": {"exit_code": "0"}}]
    store = play(
        [*(patch(_meta=meta) for meta in odd), patch(rawInput={"command": []}, _meta=INFO)]
    )
    snapshot = store.snapshot(SESSION)
    assert [entry.type for entry in snapshot.entries] == ["tool_call"]
    assert [one.terminal_id for one in snapshot.terminals] == ["c", "t"]


def test_terminals_of_the_client_are_shown() -> None:
    """What the client answers is what is known of its terminals; output is told whole."""
    frames = [agent_asks(1, "terminal/create", command="npm", args=["run", "a b"], cwd="/w")]
    frames += [client(id=1, result={"terminalId": "t"})]
    frames += [agent_asks(2, "terminal/output", terminalId="t")]
    frames += [client(id=2, result={"output": "one\n", "truncated": False})]
    shown = {"terminalId": "t", "command": "npm run 'a b'", "cwd": "/w"}
    assert terminals(told(*frames)) == [{**shown, "output": "one\n"}]
    frames += [agent_asks(3, "terminal/wait_for_exit", terminalId="t")]
    frames += [agent_asks(4, "terminal/output", terminalId="t")]
    frames += [
        client(id=4, result={"output": "one\ntwo\n", "truncated": False, "exitStatus": None})
    ]
    frames += [client(id=3, result={"exitCode": 1, "signal": None})]
    frames += [agent_asks(5, "terminal/release", terminalId="t"), client(id=5, result={})]
    ended_ = {**shown, "output": "one\ntwo\n", "exitStatus": {"exitCode": 1}}
    assert terminals(told(*frames)) == [ended_]


def test_terminal_requests_that_fail_tell_nothing() -> None:
    """A refused request, and one without a session, make no terminal."""
    frames = [agent_asks(1, "terminal/create", command="x"), client(id=1, error={"code": 1})]
    frames += [agent_asks(2, "terminal/create", sessionId=5), client(id=2, result={})]
    frames += [agent_asks(3, "terminal/output", terminalId=5)]
    frames += [client(id=3, result={"output": 5, "exitStatus": 5})]
    assert play(frames).sessions == ()


# --- What agents send beside the protocol ---


def test_unknown_updates_are_entries() -> None:
    """A kind that is not in the list is kept as it came, in its place."""
    snapshot = told(chunk("a"), said("_vendor", k=[1]), said("plan_removed", id="p"))
    assert document(snapshot)["entries"][1:] == [
        {"type": "unknown", "update": {"sessionUpdate": "_vendor", "k": [1]}},
        {"type": "unknown", "update": {"sessionUpdate": "plan_removed", "id": "p"}},
    ]


def test_updates_of_v2_are_understood() -> None:
    """Agents that are ahead of v1 are read, and what cannot be read is kept."""
    plan = {"type": "items", "id": "p", "entries": []}
    frames = [said("plan_update", plan=plan), said("agent_message", messageId="m", content=[])]
    frames += [said("tool_call_content_chunk", toolCallId="c", content={"type": "_x"})]
    frames += [said("user_message"), said("state_update", state="_busy")]
    frames += [said("agent_message_chunk", content=text("!"), messageId="m")]
    snapshot = told(*frames)
    assert [plan.plan_id for plan in snapshot.plans] == ["p"]  # type: ignore[union-attr]  # items
    assert conversation(snapshot) == [
        ("agent_message", "!"),
        ("tool_call", "None"),
        ("unknown", "{'sessionUpdate': 'user_message'}"),
    ]
    assert document(snapshot)["state"] == {"state": "_busy"}


def test_what_is_lenient_in_them_is_told() -> None:
    """An update of v2 that is read with a flaw leaves its problem."""
    store = play([said("user_message", messageId="m", content=[5])])
    assert [(one.kind, one.path) for one in store.problems] == [
        ("skipped", "$.params.update.content[0]")
    ]


def test_notifications_of_vendors_are_entries() -> None:
    """A notification outside `session/update` is kept with its method, wherever it belongs."""
    stray, named = agent(method="_x/stray", params=[1]), agent(method="_x/named", params={**HERE})
    own = [agent(method="elicitation/complete", params={**HERE}), agent(method="$/x", params={})]
    snapshot = told(stray, *own, agent(id=1, method="_x/request", params={}), named, stray)
    entry = {"type": "unknown", "update": {"method": "_x/stray", "params": [1]}}
    assert document(snapshot)["entries"] == [
        {"type": "unknown", "update": {"method": "_x/named", "params": HERE}},
        entry,
        entry,
    ]
    there = agent(method="_x/named", params={"sessionId": "t"})
    store = play([named, there, stray])
    assert [len(store.snapshot(name).entries) for name in store.sessions] == [1, 2]
    assert document(told(stray, *opened()))["entries"] == [entry]


def test_messages_are_read_as_far_as_they_can_be() -> None:
    """A version that is missing is forgiven, batches are taken apart, junk is a problem."""
    update = json.loads(chunk("a")[1])
    del update["jsonrpc"]
    batch = [update, 5, {"jsonrpc": "1.0", "method": "x"}, update]
    frames = [(False, json.dumps(each).encode() + b"\n") for each in (update, batch)]
    frames += [(False, b"not JSON\n"), (False, b"[" * 2_000 + b"\n"), (False, b"\n")]
    frames += [agent(method="session/update", params=5), said("x", sessionId=5), said(5)]
    store = play([*frames, agent(method="session/update", params={"sessionId": 5}), (False, b"{")])
    assert conversation(store.snapshot(SESSION))[0] == ("agent_message", "aaa")
    assert [one.kind for one in store.problems] == [
        "invalid_message",
        "invalid_message",
        "not_json",
        "too_deep",
        "rejected",
        "rejected",
        "rejected",
        "truncated",
    ]


def test_problems_of_a_batch_say_which_message() -> None:
    """A path begins with the place of its message in the batch, as in v2."""
    asked = client(id=3, method="session/new", params={})
    answer = agent(id=3, result={"sessionId": 5})
    for _, line in (agent(method="session/update", params={"sessionId": 5}), said(5), answer):
        store = play([asked, (False, b"[{}, " + line.rstrip() + b"]\n")])
        (alone,) = play([asked, (False, line)]).problems
        assert store.problems[1].path == alone.path.replace("$", "$[1]")
        assert store.problems[1].message == alone.message


def test_the_agent_is_known() -> None:
    """What `initialize` answers is there in the shape of v2."""
    capabilities = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False},
        "mcpCapabilities": {"http": True},
        "sessionCapabilities": {"delete": {}, "list": {}},
    }
    result = {
        "protocolVersion": 1,
        "agentInfo": {"name": "a", "version": "1", "title": None},
        "agentCapabilities": capabilities,
        "authMethods": [{"id": "key", "name": "Key", "description": None}, 5],
    }
    asked = client(id=0, method="initialize", params={"protocolVersion": 1})
    found = play([asked, agent(id=0, result=result)]).agent
    assert found is not None
    assert found.info == wire.Implementation("a", "1")
    assert found.capabilities.session == wire.SessionCapabilities(
        prompt=wire.PromptCapabilities(image=wire.MetaOnly()),
        mcp=wire.McpCapabilities(stdio=wire.MetaOnly(), http=wire.MetaOnly()),
        delete=wire.MetaOnly(),
    )
    assert found.auth_methods == (wire.AuthMethodAgent("key", "Key"),)
    for odd in ({"protocolVersion": 1}, {"protocolVersion": 1, "agentCapabilities": 5}):
        bare = play([asked, agent(id=0, result=odd)]).agent
        assert bare is not None
        assert bare.info == wire.Implementation("", "")
    assert play([asked, agent(id=0, result=[])]).agent is None
    assert play([asked, agent(id=0, error={"code": 1, "message": "no"})]).agent is None


def test_a_lost_connection_forgets_what_was_open() -> None:
    """Nothing is answered any more, and the next prompt ends the work by itself."""
    store = acp_client.Store(protocol="v1")
    for sent, data in [prompt(1, "a"), permission(5, {"toolCallId": "c"})]:
        (store.sent if sent else store.receive)(data)
    store.disconnect()
    assert store.snapshot(SESSION).permissions == ()
    store.receive(ended(1)[1])
    store.sent(prompt(1, "b")[1])
    store.receive(ended(1)[1])
    assert store.snapshot(SESSION).state == wire.StateUpdate("idle", stop_reason="end_turn")


def test_the_store_speaks_v1() -> None:
    """Prompting, cancelling and answering through the store are followed like a transport's."""
    store = acp_client.Store(protocol="v1")
    request = store.prompt(SESSION, [wire.TextContent("hello")])
    store.receive(permission(5, {"toolCallId": "c", "title": "T"})[1])
    store.answer_permission(SESSION, 5, "yes")
    store.receive(permission(6, {"toolCallId": "c"})[1])
    assert b'"id":6' in store.cancel(SESSION)
    store.receive(ended(request.request_id, "cancelled")[1])
    snapshot = store.snapshot(SESSION)
    assert snapshot.permissions == ()
    assert only_call(snapshot).status == "cancelled"
    assert snapshot.state == wire.StateUpdate("idle", stop_reason="cancelled")


def test_requests_without_a_session_are_left_alone() -> None:
    """What the client gets wrong makes no session and no problem."""
    odd = [client(id=1, method="session/prompt", params=5), client(id=2, method="session/load")]
    odd += [client(method="session/cancel"), client(id=3, method="session/close", params={})]
    odd += [client(method="session/set_mode"), (True, b"junk\n"), ended(1), ended("x")]
    store = play(odd)
    assert (store.sessions, store.problems) == ((), ())


# --- Whatever comes ---

JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from(["", "s", "c", "x"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "id", "name", "text", "content", "toolCallId", "options"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
METHODS = ["initialize", "session/new", "session/load", "session/fork", "session/prompt"]
METHODS += ["session/resume", "session/set_mode", "session/set_model", "session/set_config_option"]
AGENT_METHODS = ["session/request_permission", "terminal/create", "terminal/output"]
AGENT_METHODS += ["terminal/wait_for_exit", "$/cancel_request", "_x/y"]
KINDS = ["tool_call", "tool_call_update", "plan", "current_mode_update", "usage_update"]
KINDS += ["available_commands_update", "config_option_update", "session_info_update", "_x"]
KINDS += ["user_message_chunk", "agent_message_chunk", "plan_update", "notice"]
FIELDS = ["content", "toolCallId", "title", "status", "kind", "_meta", "rawInput", "entries"]
FIELDS += ["configOptions", "configOption", "availableCommands", "used", "size", "messageId"]
FIELDS += ["currentModeId", "plan", "locations"]
PARAMS = ["sessionId", "prompt", "modeId", "configId", "value", "toolCall", "options", "requestId"]
PARAMS += ["terminalId", "command", "args", "protocolVersion"]
RESULTS = ["sessionId", "modes", "models", "configOptions", "stopReason", "output", "exitStatus"]
RESULTS += ["terminalId", "protocolVersion", "agentInfo", "agentCapabilities", "authMethods"]


def some(keys: list[str]) -> st.SearchStrategy[Json]:
    """Draw an object with some keys, its session mostly named."""
    return st.dictionaries(st.sampled_from(keys), JUNK, max_size=4).map(
        lambda drawn: {"sessionId": SESSION, **drawn}
    )


IDS = st.integers(0, 3)
MESSAGES = st.one_of(
    st.builds(said, st.sampled_from(KINDS)),
    st.builds(lambda kind, more: said(kind, **more), st.sampled_from(KINDS), some(FIELDS)),
    st.builds(
        lambda at, method, params: client(id=at, method=method, params=params),
        IDS,
        st.sampled_from(METHODS),
        some(PARAMS),
    ),
    st.builds(
        lambda at, method, params: agent(id=at, method=method, params=params),
        IDS,
        st.sampled_from(AGENT_METHODS),
        some(PARAMS),
    ),
    st.builds(
        lambda method, params: agent(method=method, params=params),
        st.sampled_from(AGENT_METHODS),
        some(PARAMS),
    ),
    st.builds(lambda at, result: agent(id=at, result=result), IDS, some(RESULTS) | JUNK),
    st.builds(lambda at, result: client(id=at, result=result), IDS, some(RESULTS) | JUNK),
    st.builds(lambda at, error: agent(id=at, error=error), IDS, JUNK),
    st.sampled_from([*LIVE, LOAD, *HISTORY, CANCEL, permission(1, {"toolCallId": "c"})]),
)


@given(st.lists(MESSAGES, max_size=12), st.sampled_from(["v1", None]), st.integers(1, 60))
def test_any_messages_are_survived_however_they_are_cut(
    frames: list[Frame], protocol: Any, size: int
) -> None:
    """Nothing raises, the cuts do not matter, and what comes of it can be stored."""
    store = play(frames, protocol)
    split = play(frames, protocol, size=size)
    assert split.sessions == store.sessions
    for session_id in store.sessions:
        snapshot = store.snapshot(session_id)
        assert split.snapshot(session_id) == snapshot
        assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot


def test_a_prompt_ends_once() -> None:
    """A second answer under the same id answers nothing."""
    frames = [prompt(1, "hi"), ended(1, "cancelled"), ended(1, "end_turn")]
    state = play(frames).snapshot(SESSION).state
    assert isinstance(state, wire.StateUpdate)
    assert state.stop_reason == "cancelled"
