"""Permission requests of ACP v1."""

from __future__ import annotations

import pytest
from v1_traffic import (
    CANCEL,
    OLD_DIFF,
    SESSION,
    Frame,
    Json,
    agent,
    call,
    client,
    document,
    only_call,
    patch,
    permission,
    play,
    text,
    told,
)

import acp_client


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


KNOWN: Json = {
    "title": "bash",
    "kind": "execute",
    "status": "in_progress",
    "rawInput": {"command": "ls"},
    "locations": [{"path": "/a"}],
    "content": [{"type": "content", "content": text("x")}],
}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"title": "external_directory"},
        {"title": ""},
        {"kind": "other"},
        {"status": "pending"},
        {"rawInput": {}},
        {"rawInput": None},
        {"locations": [], "content": []},
        {"rawInput": {}, "locations": [], "kind": "other", "title": "external_directory"},
    ],
)
def test_a_permission_request_does_not_wipe_what_is_known(fields: Json) -> None:
    """Defaults, empty values and the question's own title leave the tool call alone."""
    before = told(call(**KNOWN))
    asked = told(call(**KNOWN), permission(5, {"toolCallId": "c", **fields}))
    assert asked.entries == before.entries
    assert [one.title for one in asked.permissions] == [fields.get("title") or "bash"]


def test_a_permission_request_brings_what_is_new() -> None:
    """What the request says beyond defaults is the newest of the call."""
    news = {"kind": "edit", "rawInput": {"command": "rm"}, "content": [OLD_DIFF]}
    found = document(told(call(**KNOWN), permission(5, {"toolCallId": "c", **news})))["entries"]
    assert {key: found[0][key] for key in news} == news
    assert (found[0]["title"], found[0]["status"]) == ("bash", "in_progress")


def test_a_call_without_a_title_gets_that_of_the_request() -> None:
    """A title is better than none."""
    asked = told(patch(kind="edit"), permission(5, {"toolCallId": "c", "title": "Edit"}))
    assert only_call(asked).title == "Edit"
