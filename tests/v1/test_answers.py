"""Answers of ACP v1: what they mean, as wire objects and without their requests."""

from __future__ import annotations

from typing import Any

import pytest
from v1_traffic import (
    MODES,
    SESSION,
    Frame,
    Json,
    agent,
    asks,
    call,
    chunk,
    client,
    conversation,
    document,
    ended,
    opened,
    options,
    patch,
    permission,
    play,
    prompt,
    told,
)

from acp_client import Store, wire

ERROR = {"code": -32603, "message": "Internal error", "data": {"details": "boom"}}
NEW = agent(id=2, result={"sessionId": SESSION, "modes": MODES})


def test_the_result_of_an_unseen_session_counts() -> None:
    """In a recording of the agent alone, a session is there with its lists."""
    assert options(told(NEW)) == [("mode", "ask")]
    seen = play([prompt(1, "q"), agent(id=2, result={"sessionId": "t"})])
    assert seen.sessions == (SESSION,)


def test_the_agent_of_an_unseen_initialize_is_known() -> None:
    """What the agent says of itself needs no question."""
    found = play([agent(id=1, result={"protocolVersion": 1, "agentInfo": {"name": "a"}})]).agent
    assert found is not None
    assert found.info.name == "a"


PERMISSIONS: dict[str, tuple[list[Frame], list[int]]] = {
    "the call has ended": ([patch(status="completed")], []),
    "the call has failed": ([patch(status="failed")], []),
    "the call goes on": ([patch(status="in_progress")], [5]),
    "another call has ended": ([patch("d", status="completed")], [5]),
    "the client is there": ([prompt(1, "q"), patch(status="completed")], [5]),
}


@pytest.mark.parametrize("case", PERMISSIONS)
def test_a_permission_whose_call_has_ended_is_closed_in_a_recording_of_the_agent(case: str) -> None:
    """The answer is not seen there, but it must have come."""
    frames, left = PERMISSIONS[case]
    snapshot = told(call(), permission(5, {"toolCallId": "c"}), *frames)
    assert [one.request_id for one in snapshot.permissions] == left


def test_an_unseen_prompt_that_fails_is_shown() -> None:
    """An error in the middle of the agent's work ends it."""
    store = play([NEW, chunk("Working"), agent(id=3, error=ERROR)])
    snapshot = store.snapshot(SESSION)
    assert conversation(snapshot) == [("agent_message", "Working")]
    assert document(snapshot)["state"] == {"state": "idle", "stopReason": "error", "error": ERROR}
    assert [one.error.code for one in store.connection.errors] == [-32603]


def test_an_unseen_error_between_two_turns_ends_nothing() -> None:
    """What fails while the agent is idle is not a prompt."""
    store = play([NEW, chunk("a"), ended(1), agent(id=3, error=ERROR)])
    assert document(store.snapshot(SESSION))["state"] == {"state": "idle", "stopReason": "end_turn"}
    assert [one.error.code for one in store.connection.errors] == [-32603]


def test_the_usage_of_a_prompt_is_that_of_its_idle_state() -> None:
    """The usage that an answer brings is kept with the reason to stop."""
    usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
    answer = agent(id=1, result={"stopReason": "end_turn", "usage": usage})
    for frames in ([prompt(1, "q"), answer], [chunk("a"), answer]):
        assert document(told(*frames))["state"]["usage"] == usage


def test_the_capabilities_of_v1_are_kept() -> None:
    """What v2 has no word for is in the `_meta` of what the agent says of itself."""
    given: Json = {"loadSession": True, "sessionCapabilities": {"list": {}, "resume": {}}}
    asked = client(id=0, method="initialize", params={"protocolVersion": 1})
    result = {"protocolVersion": 1, "agentCapabilities": given, "_meta": {"k": 1}}
    found = play([asked, agent(id=0, result=result)]).agent
    assert found is not None
    assert found.meta is not None
    assert found.meta.value == {"k": 1, "agentCapabilities": given}


# --- The answers that callers get ---


def live() -> Store:
    """Return a store with a session of v1."""
    store = Store(protocol="v1", observer=True)
    for sent, data in opened(modes=MODES):
        (store.sent if sent else store.receive)(data)
    return store


CALLS: dict[str, tuple[str, Json, Any, type]] = {
    "a session": ("session/new", {}, {"sessionId": "t", "modes": MODES}, wire.NewSessionResponse),
    "a session that is loaded": (
        "session/load",
        {"sessionId": SESSION},
        None,
        wire.ResumeSessionResponse,
    ),
    "a prompt": (
        "session/prompt",
        {"sessionId": SESSION, "prompt": []},
        {"stopReason": "end_turn"},
        wire.PromptResponse,
    ),
    "a mode": (
        "session/set_mode",
        {"sessionId": SESSION, "modeId": "code"},
        {},
        wire.SetSessionConfigOptionResponse,
    ),
    "a list": ("session/list", {}, {"sessions": []}, wire.ListSessionsResponse),
    "something else": ("_vendor/x", {}, {"sessions": []}, wire.Json),
}


@pytest.mark.parametrize("case", CALLS)
def test_answers_are_wire_objects(case: str) -> None:
    """A caller gets the result in the words of v2."""
    method, params, result, kind = CALLS[case]
    store, answers = live(), list[Any]()
    sent = store.request(method, params, on_answer=answers.append)
    store.receive(agent(id=sent.request_id, result=result)[1])
    assert [type(answer) for answer in answers] == [kind]


@pytest.mark.parametrize(
    ("lists", "config_id", "value", "method", "params"),
    [
        ({"modes": MODES}, "mode", "code", "session/set_mode", {"modeId": "code"}),
        (
            {"configOptions": [{"id": "o", "name": "O", "currentValue": True}]},
            "o",
            False,
            "session/set_config_option",
            {"configId": "o", "type": "boolean", "value": False},
        ),
        (
            {"modes": MODES, "configOptions": [{"id": "mode", "name": "M", "currentValue": "x"}]},
            "mode",
            "y",
            "session/set_config_option",
            {"configId": "mode", "value": "y"},
        ),
    ],
)
def test_an_option_is_set_by_its_own_call(
    lists: Json, config_id: str, value: Any, method: str, params: Json
) -> None:
    """Where an option stands for the mode or the model, the older call sets it."""
    store = Store(protocol="v1", observer=True)
    for sent, data in opened(**lists):
        (store.sent if sent else store.receive)(data)
    found = wire_line(store.set_config_option(SESSION, config_id, value).data)
    assert (found["method"], found["params"]) == (method, {"sessionId": SESSION, **params})


def wire_line(data: bytes) -> Any:
    """Parse a line."""
    return wire.Json.from_text(data.rstrip()).value


def test_two_sides_that_ask_under_one_id() -> None:
    """A request of the client and one of the agent do not meet."""
    frames = [prompt(1, "q"), permission(1, {"toolCallId": "c"}), ended(1)]
    snapshot = told(*frames, asks(2, "session/list"))
    assert [one.request_id for one in snapshot.permissions] == [1]
    assert document(snapshot)["state"]["state"] == "idle"
