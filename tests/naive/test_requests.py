"""Requests of the agent as the second implementation has them: permissions and elicitations."""

from __future__ import annotations

from typing import Any

import pytest

from .connection import NOT_FOUND, OPEN_LIMIT, TOO_MANY, Naive
from .replay import replay
from .stories import (
    CANCEL,
    RESUME,
    Frames,
    answered,
    call,
    called,
    kinds,
    line,
    only,
    permission,
    refused,
    replied,
    said,
    withdrawn,
)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([permission(1), permission("1"), permission(2)], [1, "1", 2]),
        ([permission(1), permission(2), permission(1)], [1, 2]),
        ([permission(1), permission(2), (True, line(id=1, result={}))], [2]),
        ([permission(1), permission(2), (True, line(id=1, error="boom"))], [2]),
        ([permission(1), permission(2), withdrawn(1)], [2]),
        ([permission(1), permission(2), CANCEL], []),
        ([permission(1), permission(2), RESUME], [1, 2]),
        ([permission(1), permission(2), permission(1, options=[])], [1, 2]),
    ],
)
def test_permissions(frames: Frames, expected: list[Any]) -> None:
    """A permission request is open until something answers or withdraws it."""
    assert [permission["requestId"] for permission in only(frames)["permissions"]] == expected


def test_permission_applies_its_tool_call() -> None:
    """The tool call of a permission request is an entry, patched like any other."""
    tool_call = {"toolCallId": "c", "title": None, "status": "in_progress"}
    session = only(
        [call("c", title="t"), permission(1, subject={"type": "tool_call", "toolCall": tool_call})]
    )
    (entry,), (asked,) = session["entries"], session["permissions"]
    assert entry["status"] == "in_progress"
    assert "title" not in entry
    assert asked["subject"]["toolCall"] == {"toolCallId": "c", "status": "in_progress"}


FORM = {"type": "object", "properties": {"n": {"type": "string"}}}


def elicits(request_id: Any, **params: Any) -> tuple[bool, bytes]:
    """Write an elicitation of the agent."""
    return False, line(id=request_id, method="elicitation/create", params=params)


def form(request_id: Any, **more: Any) -> tuple[bool, bytes]:
    """Write a form for the session."""
    fields = {"mode": "form", "message": "M", "requestedSchema": FORM} | more
    return elicits(request_id, sessionId="s", **fields)


def url(request_id: Any, name: str = "e") -> tuple[bool, bytes]:
    """Write a URL for the session."""
    fields = {"mode": "url", "message": "M", "url": "u:", "elicitationId": name}
    return elicits(request_id, sessionId="s", **fields)


def completed(name: str = "e") -> tuple[bool, bytes]:
    """Write that the interaction behind a URL is over."""
    return False, line(method="elicitation/complete", params={"elicitationId": name})


def accepted(request_id: Any) -> tuple[bool, bytes]:
    """Write that the client accepts."""
    return replied(request_id, result={"action": "accept"})


CLOSE = called("session/close", 9)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([form(1), url(2)], [(1, None), (2, None)]),
        ([form(1), accepted(1)], []),
        ([form(1), replied(1, result={"action": "decline"})], []),
        ([form(1), replied(1, error="boom")], []),
        ([url(1), accepted(1)], [(None, "accepted")]),
        ([url(1), replied(1, result={"action": "_x"})], []),
        ([url(1), accepted(1), completed("other")], [(None, "accepted")]),
        ([url(1), accepted(1), completed()], []),
        ([url(1), completed()], [(1, "completed")]),
        ([url(1), completed(), accepted(1)], []),
        ([form(1), withdrawn(1)], []),
        ([url(1), accepted(1), withdrawn(1)], [(None, "accepted")]),
        ([form(1), form(2), form(1)], [(1, None), (2, None)]),
        ([form(1), form(2), permission(1)], [(2, None)]),
        ([permission(1), form(2), form(1)], [(2, None), (1, None)]),
        ([form(1), form(1, requestedSchema={"type": "array"})], [(1, None)]),
        ([form(1), CANCEL], [(1, None)]),
        ([form(1), RESUME, refused(2)], [(1, None)]),
        ([form(1), CLOSE, answered(9, result={})], []),
        ([url(1), accepted(1), CLOSE, refused(9, -32002)], []),
        ([form(1), CLOSE, refused(9)], [(1, None)]),
    ],
)
def test_elicitations(frames: Frames, expected: list[Any]) -> None:
    """An elicitation stays until it is answered, completed, withdrawn or its session closed."""
    found = only([said("notice", severity="info", title="n"), *frames]).get("elicitations", [])
    assert [(one.get("requestId"), one.get("status")) for one in found] == expected


def test_what_an_elicitation_shows() -> None:
    """Known modes show their fields, without metadata; an unknown one shows all that came."""
    frames = [
        form(1, toolCallId="c", _meta={"k": 1}),
        url(2),
        elicits(3, sessionId="s", mode="_x", message="M", other=None, _meta={"k": 1}),
    ]
    assert only(frames)["elicitations"] == [
        {
            "requestId": 1,
            "mode": "form",
            "message": "M",
            "requestedSchema": FORM,
            "toolCallId": "c",
        },
        {"requestId": 2, "mode": "url", "message": "M", "url": "u:", "elicitationId": "e"},
        {"requestId": 3, "mode": "_x", "message": "M", "other": None, "_meta": {"k": 1}},
    ]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"sessionId": "s", "requestId": 1},
        {"sessionId": "s", "requestedSchema": {}},
        {"sessionId": "s", "requestedSchema": {"type": "object", "properties": {"n": {}}}},
        {"sessionId": "s", "requestedSchema": {"type": "object", "properties": []}},
        {"sessionId": 5},
    ],
)
def test_malformed_elicitation(params: dict[str, Any]) -> None:
    """Neither or both scopes, or an invalid schema, is rejected."""
    fields = {"mode": "form", "message": "M", "requestedSchema": FORM} | params
    document = replay([elicits(1, **fields)])
    assert document["sessions"] == []
    assert kinds(document) == [(1, "rejected")]


def test_elicitation_of_a_request_belongs_to_the_connection() -> None:
    """It is in no session, and shares the space of ids with those that are."""
    store = Naive()
    store.receive(form(1)[1])
    store.receive(elicits(1, requestId=7, mode="url", message="M", url="u:", elicitationId="e")[1])
    (session,) = store.document()["sessions"]
    assert "elicitations" not in session
    assert [one["requestId"] for one in store.elicitations] == [1]


def test_store_answers_what_it_does_not_keep() -> None:
    """An unknown request is not found; beyond the limit a request is refused."""
    store = Naive()
    store.receive(line(id="x", method="fs/read_text_file", params={"sessionId": "s"}))
    for number in range(OPEN_LIMIT + 1):
        store.receive(permission(number)[1])
    store.receive(permission(3)[1])
    assert store.answers == [("x", NOT_FOUND), (OPEN_LIMIT, TOO_MANY)]
