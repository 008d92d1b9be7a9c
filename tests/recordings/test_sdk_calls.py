"""Calls of the official SDKs become the messages that made them happen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_formats import CONVERSATION, fixture, read, said


def call(method: str, *arguments: Any, **more: Any) -> bytes:
    """Return a call as a line."""
    return json.dumps({"method": method, "args": arguments, **more}).encode() + b"\n"


def without_ids(pairs: list[tuple[bool, Any]]) -> list[tuple[bool, Any]]:
    """Return messages without their ids."""
    return [
        (sent, {key: value for key, value in message.items() if key != "id"})
        for sent, message in pairs
    ]


UPDATE = call("sessionUpdate", {"sessionId": "s", "update": {"sessionUpdate": "plan"}})


def test_calls_of_both_sides() -> None:
    """A dump gives the calls of the conversation, each on its side, and no answers."""
    recording, frames = read(fixture("sdk-calls.json"))
    assert recording.format == "sdk-calls"
    calls = [(sent, message) for sent, message in CONVERSATION if "method" in message]
    assert without_ids(said(frames)) == without_ids(calls)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (call("request_permission", {"sessionId": "s"}), [(False, "session/request_permission")]),
        (call("cancel", {"sessionId": "s"}), [(True, "session/cancel")]),
        (call("prompt", {"sessionId": "s"}, result={"stopReason": "end_turn"}),
         [(True, "session/prompt"), (False, {"stopReason": "end_turn"})]),
        (call("sessionUpdate"), []),
        (call("sessionUpdate", "text"), []),
        (call("connect", {}), []),
        (b'{"method": 5, "args": [{}]}\n', []),
        (b"5\n", []),
    ],
)  # fmt: skip  # a table
def test_calls(line: bytes, expected: list[tuple[bool, Any]]) -> None:
    """Names in either style are known, results answer, other calls are passed over."""
    recording, frames = read(UPDATE + line)
    shown = [(sent, m.get("method") or m["result"]) for sent, m in said(frames[1:])]
    assert shown == expected
    assert recording.passed_over == (not expected)


def test_ids_are_of_their_own() -> None:
    """Each request that is made up has an id that no other has."""
    _, frames = read(UPDATE + call("readTextFile", {"path": "/a"}) * 2)
    assert len({message["id"] for _, message in said(frames[1:])}) == 2
