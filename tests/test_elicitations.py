"""Elicitations through the store: asked in v1 and v2, answered, withdrawn and completed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from traffic import line, open_session, update_line

import acp_client
from acp_client import Store

FIELDS: dict[str, Any] = {
    "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
    "kind": {"type": "string", "enum": ["a", "b"]},
    "titled": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
    "number": {"type": "number", "minimum": 0, "maximum": 1},
    "whole": {"type": "integer"},
    "switch": {"type": "boolean"},
    "several": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1},
    "any": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "minItems": 1},
    "later": {"type": "_date"},
    "slow": {"type": "string", "pattern": "(a+)+$"},
}
FORM = {"type": "object", "properties": FIELDS, "required": ["name"]}


def form(request_id: Any = 7, **scope: Any) -> bytes:
    """Ask for a form."""
    params = {"mode": "form", "message": "Name?", "requestedSchema": FORM}
    scoped = scope or {"sessionId": "s1"}
    return line(id=request_id, method="elicitation/create", params={**params, **scoped})


def url(request_id: Any = 7, **scope: Any) -> bytes:
    """Ask to visit a URL."""
    params = {"mode": "url", "message": "Log in", "url": "https://a", "elicitationId": "e"}
    scoped = scope or {"sessionId": "s1"}
    return line(id=request_id, method="elicitation/create", params={**params, **scoped})


def sent(store: Store) -> list[Any]:
    """Parse what is to be written."""
    return [json.loads(one) for one in store.data_to_send().splitlines()]


VERSIONS = pytest.mark.parametrize("protocol", ["v1", "v2"])


@VERSIONS
@pytest.mark.parametrize(
    ("action", "content"), [("accept", {"name": "ab"}), ("decline", None), ("cancel", None)]
)
def test_a_form_is_answered(protocol: Any, action: Any, content: Any) -> None:
    """The answer is the result of the request; the values are nowhere else."""
    store = Store(protocol=protocol)
    store.receive(form())
    (asked,) = store.snapshot("s1").elicitations
    assert (asked.mode, asked.message, asked.status) == ("form", "Name?", "pending")
    store.answer_elicitation("s1", 7, action, content)
    result = {"action": action} if content is None else {"action": action, "content": content}
    assert sent(store) == [{"jsonrpc": "2.0", "id": 7, "result": result}]
    assert store.snapshot("s1").elicitations == ()
    with pytest.raises(acp_client.UnknownRequestError):
        store.answer_elicitation("s1", 7, "decline")


GOOD: list[dict[str, Any]] = [
    {"kind": "a"},
    {"titled": "x"},
    {"number": 0.5},
    {"number": 1},
    {"whole": 3},
    {"whole": 3.0},
    {"switch": False},
    {"several": ["a"]},
    {"any": ["x"]},
    {"later": {"what": "ever"}},
    {"slow": "a" * 60 + "b"},
]
BAD: list[dict[str, Any]] = [
    {"name": 5},
    {"name": "a"},
    {"name": "abcde"},
    {"name": "AB"},
    {"kind": "c"},
    {"titled": "y"},
    {"number": "1"},
    {"number": True},
    {"number": 2},
    {"number": -1},
    {"number": float("nan")},
    {"whole": 1.5},
    {"switch": 1},
    {"several": "a"},
    {"several": [1]},
    {"several": ["c"]},
    {"several": ["a", "b"]},
    {"any": []},
    {"any": ["y"]},
    {"unknown": 1},
]


@pytest.mark.parametrize("content", GOOD)
def test_values_that_fit_are_sent(content: dict[str, Any]) -> None:
    """What the schema allows is sent, and what it does not know too."""
    store = Store(protocol="v2")
    store.receive(form())
    store.answer_elicitation("s1", 7, "accept", {"name": "ab", **content})
    assert sent(store)[0]["result"]["content"] == {"name": "ab", **content}


@pytest.mark.parametrize("content", [*({"name": "ab", **bad} for bad in BAD), {}, None])
def test_values_that_do_not_fit_send_nothing(content: Any) -> None:
    """A value that the schema forbids is the caller's mistake, and the form stays."""
    store = Store(protocol="v2")
    store.receive(form())
    with pytest.raises(acp_client.InvalidValueError):
        store.answer_elicitation("s1", 7, "accept", content)
    assert store.data_to_send() == b""
    assert len(store.snapshot("s1").elicitations) == 1


@pytest.mark.parametrize(
    ("action", "content"), [("later", None), ("decline", {"name": "ab"}), ("accept", {"k": 1})]
)
def test_an_answer_that_a_url_has_not_is_refused(action: Any, content: Any) -> None:
    """A URL takes no values, and there are three actions."""
    store = Store(protocol="v2")
    store.receive(url())
    with pytest.raises(acp_client.InvalidValueError):
        store.answer_elicitation("s1", 7, action, content)
    assert store.data_to_send() == b""


@VERSIONS
@pytest.mark.parametrize("is_first", [True, False])
def test_a_url_is_done_when_both_sides_said_so(protocol: Any, is_first: bool) -> None:
    """The answer and the end of the interaction come in either order, with the same end."""
    store = Store(protocol=protocol)
    store.receive(url())
    done = line(method="elicitation/complete", params={"elicitationId": "e"})
    if is_first:
        store.receive(done)
        assert [one.status for one in store.snapshot("s1").elicitations] == ["completed"]
        store.answer_elicitation("s1", 7, "accept")
    else:
        store.answer_elicitation("s1", 7, "accept")
        (accepted,) = store.snapshot("s1").elicitations
        assert (accepted.status, accepted.request_id) == ("accepted", None)
        store.receive(done)
    assert store.snapshot("s1").elicitations == ()


@VERSIONS
def test_an_elicitation_of_a_request_is_the_connection_s(protocol: Any) -> None:
    """What belongs to a request of the client stands in the connection, with its changes."""
    store, seen = Store(protocol=protocol), list[Any]()
    store.subscribe_connection(lambda change: seen.append(change.fields))
    request = store.login("m")
    store.receive(url(requestId=request.request_id))
    (asked,) = store.connection.elicitations
    assert asked.related_request == request.request_id
    assert store.sessions == ()
    store.answer_elicitation(None, 7, "accept")
    assert [one.status for one in store.connection.elicitations] == ["accepted"]
    store.receive(line(method="elicitation/complete", params={"elicitationId": "e"}))
    assert store.connection.elicitations == ()
    assert seen[-3:] == [("elicitations",)] * 3


@pytest.mark.parametrize("ending", ["withdrawn", "lost", "closed", "no such session"])
def test_an_elicitation_that_is_gone(ending: str) -> None:
    """A withdrawal, a loss and the closing of the session take it away; a cancel does not."""
    store = open_session(Store(protocol="v2"))
    store.receive(form())
    store.cancel("s1")
    assert len(store.snapshot("s1").elicitations) == 1
    if ending == "withdrawn":
        store.receive(line(method="$/cancel_request", params={"requestId": 7}))
    elif ending == "lost":
        store.disconnect()
    else:
        request = store.close_session("s1")
        error = {"code": -32002, "message": "no such session"}
        outcome: Any = {"result": {}} if ending == "closed" else {"error": error}
        store.receive(line(id=request.request_id, **outcome))
        assert store.connection.sessions[0].status == "closed"
    assert store.snapshot("s1").elicitations == ()


def test_permissions_and_elicitations_share_their_ids() -> None:
    """The newer request of an id replaces the older one, of whatever kind it is."""
    store = Store(protocol="v2")
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    asked = {"sessionId": "s1", "title": "May I?", "options": options}
    store.receive(form(7) + line(id=7, method="session/request_permission", params=asked))
    assert store.snapshot("s1").elicitations == ()
    assert len(store.snapshot("s1").permissions) == 1
    store.receive(form(7))
    assert store.snapshot("s1").permissions == ()
    assert len(store.snapshot("s1").elicitations) == 1


# --- Cancelling ---

RUNNING = update_line("state_update", state="running")
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]


def permission(request_id: Any) -> bytes:
    """Ask for permission to go on with a tool call."""
    call = {"toolCallId": "c", "status": "in_progress"}
    subject = {"type": "tool_call", "toolCall": call}
    scope = {"sessionId": "s1", "title": "May I?"}
    params: dict[str, Any] = {**scope, "options": OPTIONS, "subject": subject}
    return line(id=request_id, method="session/request_permission", params=params)


@pytest.mark.parametrize("observes", [False, True])
def test_a_permission_that_was_on_its_way_is_answered(observes: bool) -> None:
    """While the session is cancelling a request is `cancelled`, and the mark stays on its call."""
    store = open_session(Store(protocol="v2", observer=observes))
    store.receive(RUNNING + update_line("tool_call_update", toolCallId="c", status="pending"))
    store.cancel("s1")
    store.data_to_send()
    store.receive(permission(7))
    snapshot = store.snapshot("s1")
    assert (snapshot.cancelling, snapshot.permissions) == (True, ())
    call = snapshot.entries.tool_call("c")
    assert call is not None
    assert (call.status, call.reported_status) == ("cancelled", "in_progress")
    answers = [(one["id"], one["result"]["outcome"]["outcome"]) for one in sent(store)]
    assert answers == ([] if observes else [(7, "cancelled")])
    store.receive(update_line("state_update", state="idle", stopReason="cancelled"))
    store.receive(permission(8))
    assert len(store.snapshot("s1").permissions) == 1


@pytest.mark.parametrize("way", ["tool_call", "terminal"])
def test_one_thing_can_be_cancelled_alone(way: str) -> None:
    """Only what advertises it can be cancelled, until it has ended; a refusal takes it back."""
    store = open_session(Store(protocol="v2"))
    key = "toolCallId" if way == "tool_call" else "terminalId"
    store.receive(update_line(f"{way}_update", **{key: "c"}))
    cancel = store.cancel_tool_call if way == "tool_call" else store.cancel_terminal

    def requested() -> bool:
        snapshot = store.snapshot("s1")
        return (snapshot.entries if way == "tool_call" else snapshot.terminals)[0].cancel_requested  # type: ignore[union-attr]

    for wrong in ("c", "unknown"):
        with pytest.raises(acp_client.InvalidValueError):
            cancel("s1", wrong)
    store.receive(update_line(f"{way}_update", **{key: "c"}, capabilities={"cancel": {}}))
    request = cancel("s1", "c")
    assert requested()
    store.receive(line(id=request.request_id, error={"code": -32602, "message": "no"}))
    assert not requested()
    cancel("s1", "c")
    ended: dict[str, Any] = {"status": "completed"} if way == "tool_call" else {"exitStatus": {}}
    store.receive(update_line(f"{way}_update", **{key: "c"}, **ended))
    assert not requested()
    with pytest.raises(acp_client.InvalidValueError):
        cancel("s1", "c")


# --- Options ---

LIST = [{"type": "boolean", "configId": "b", "name": "B", "currentValue": False}]


@pytest.mark.parametrize("refused", [True, False])
def test_an_option_shows_what_is_wanted(refused: bool) -> None:
    """The value shows until the answer; an error brings the confirmed one back and is told."""
    store = open_session(Store(protocol="v2"))
    store.receive(update_line("config_option_update", configOptions=LIST))
    request = store.set_config_option("s1", "b", True)
    assert [one.current_value for one in store.snapshot("s1").config_options] == [True]  # type: ignore[union-attr]
    error = {"code": 5, "message": "no"}
    outcome: Any = {"error": error} if refused else {"result": {"configOptions": LIST}}
    store.receive(line(id=request.request_id, **outcome))
    assert [one.current_value for one in store.snapshot("s1").config_options] == [False]  # type: ignore[union-attr]
    assert len(store.connection.errors) == refused
