"""Single messages and what the official SDK makes of each, compared with what we make of them.

Every message is read as its verdict says, apart from those in `OWN_READINGS`, where this project
goes its own way on purpose; the test report lists them at its end.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from corpus import CORPUS, OWN_READINGS, REQUESTS, alike_raw, cases
from traffic import line

from acp_client import Problem, Store, decode, wire
from acp_client._decode import decode_result

RESULTS: dict[str, Any] = {
    "initialize": wire.InitializeResponse,
    "session/prompt": wire.PromptResponse,
    "session/new": wire.NewSessionResponse,
    "session/resume": wire.ResumeSessionResponse,
    "session/set_config_option": wire.SetSessionConfigOptionResponse,
}

UNFOLLOWED = ("session/list", "_example.com/", "fs/", "session/holo")
"""Methods that change no session, so that their contents are not checked."""


def received(data: bytes) -> Store:
    """Return a message to a store whose client has asked all there is to ask."""
    store = Store()
    for number, method in enumerate(REQUESTS):
        store.sent(line(id=number, method=method, params={"sessionId": "s", "prompt": []}))
    store.receive(data + b"\n")
    return store


def value_of(data: bytes) -> Any:
    """Return what a message carries, as the decoder reads it."""
    message, _ = decode(data)
    if isinstance(message, wire.Notification | wire.Request):
        return message.params
    assert isinstance(message, wire.Response)
    assert message.result is not None
    kind = RESULTS[REQUESTS[int(message.id)]]
    return decode_result(kind, message.result, 1, lambda problem: None)


def alike(ours: Any, theirs: Any) -> bool:
    """Compare a wire object with the value of a verdict.

    In objects that are always whole `null` is absent. Raw values are the same to the last key, only
    that integers have passed through doubles on the other side.
    """
    if isinstance(ours, wire.Json):
        return alike_raw(ours.value, theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = ours.keys() | theirs.keys()
        return all(alike(ours.get(key), theirs.get(key)) for key in keys)
    if isinstance(ours, list | tuple) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, bytes):
        return isinstance(theirs, str) and ours == base64.b64decode(theirs + "==")
    return alike_raw(ours, theirs)


def builtins(value: Any) -> Any:
    """Turn a wire object into plain values that still distinguish bytes and raw values."""
    if isinstance(value, wire.UnknownStateUpdate):
        return {"sessionUpdate": "state_update", **value.value}
    if isinstance(value, list | tuple):
        return [builtins(item) for item in value]
    if not hasattr(value, "__struct_config__"):
        return value
    config, names = value.__struct_config__, value.__struct_encode_fields__
    fields = zip(names, value.__struct_fields__, strict=True)
    found = {name: builtins(getattr(value, field)) for name, field in fields}
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    if isinstance(value, wire.ToolCallPermissionSubject):
        del found["toolCall"]["sessionUpdate"]  # the one update that has no tag on the wire
    return tag | {name: item for name, item in found.items() if item is not wire.UNSET}


def nulls(update: Any) -> set[str]:
    """Return the fields that a patch resets."""
    return {
        name
        for name, value in update.items()
        if value is None and type(update.get("sessionUpdate")) is str
    }


PATCHES = {
    "user_message",
    "agent_message",
    "agent_thought",
    "tool_call_update",
    "terminal_update",
    "session_info_update",
    "compaction_update",
}


def repairs(verdict: dict[str, Any]) -> tuple[int, int]:
    """Return how many defaults and skipped items a delivered verdict lists."""
    defaulted = len(verdict.get("defaulted", [])) + len(verdict.get("replaced", []))
    skipped = sum(len(place["items"]) for place in verdict.get("skipped", []))
    return defaulted, skipped


def is_for_nobody(verdict: dict[str, Any]) -> bool:
    """Tell whether a message is ignored, of no interest to a session, or a proper error."""
    method = verdict.get("method") or ""
    peer_error = bool(verdict.get("error", {}).get("peer"))
    return verdict["outcome"] == "ignored" or peer_error or method.startswith(UNFOLLOWED)


@pytest.mark.shared
@pytest.mark.parametrize(("data", "verdict"), cases())
def test_message_is_taken_as_its_verdict_says(
    data: bytes, verdict: dict[str, Any], own_readings: list[str]
) -> None:
    """A message has the value and the problems of its verdict, apart from the listed readings."""
    problems = received(data).problems
    found = [problem.kind for problem in problems]
    if verdict["n"] in OWN_READINGS:
        why, kinds = OWN_READINGS[verdict["n"]]
        own_readings.append(f"{verdict['n']:4} {verdict['label']}: {why}")
        assert found == kinds
    elif is_for_nobody(verdict):
        assert found == []
    elif verdict["outcome"] == "delivered":
        assert (found.count("defaulted"), found.count("skipped")) == repairs(verdict)
        assert_same_value(value_of(data), verdict["value"])
    else:
        assert found in (["rejected"], ["not_json"], ["invalid_message"])


def assert_same_value(ours: Any, theirs: Any) -> None:
    """Compare what a message carries, and in patches which fields it resets."""
    shown = builtins(ours)
    assert alike(shown, theirs)
    update = theirs.get("update", {})
    if update.get("sessionUpdate") in PATCHES:
        assert nulls(shown["update"]) == nulls(update)


@pytest.mark.shared
def test_all_messages_together_disturb_nobody() -> None:
    """The whole corpus as one stream raises nothing, and a message behind it counts."""
    store = Store()
    store.receive((CORPUS / "messages.ndjson").read_bytes())
    store.receive(b"\n" + line(method="session/update", params=LAST))
    assert store.sessions[-1] == "after all"
    assert all(isinstance(problem, Problem) for problem in store.problems)


LAST = {"sessionId": "after all", "update": {"sessionUpdate": "agent_message", "messageId": "m"}}
