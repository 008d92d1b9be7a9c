"""Updates of ACP v1 that are not about entries."""

from __future__ import annotations

from v1_traffic import (
    SESSION,
    chunk,
    document,
    play,
    said,
    told,
)

import acp_client
from acp_client import wire


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
