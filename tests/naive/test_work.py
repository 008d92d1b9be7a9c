"""Foreground work as the second implementation has it: states, turns, cancelling."""

from __future__ import annotations

from typing import Any

import pytest

from .connection import Naive
from .stories import (
    CANCEL,
    ECHO,
    IDLE,
    RESUME,
    RUNNING,
    Frames,
    answered,
    call,
    only,
    permission,
    refused,
    said,
)

LISTED = said(
    "state_update", state="running", background=[{"type": "tool_call", "toolCallId": "c"}]
)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([call("c"), CANCEL], ("cancelled", "pending")),
        ([call("c", status="paused"), CANCEL], ("cancelled", "paused")),
        ([call("c", status="failed"), CANCEL], ("failed", None)),
        ([call("c"), RUNNING, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), CANCEL], ("cancelled", "pending")),
        ([said("state_update", state="_x"), call("c"), CANCEL], ("cancelled", "pending")),
        ([RUNNING, call("c"), IDLE, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), IDLE, RUNNING, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), LISTED, CANCEL], ("pending", None)),
        ([RUNNING, call("c"), LISTED, RUNNING, CANCEL], ("cancelled", "pending")),
        ([call("c"), CANCEL, call("c", title="t")], ("cancelled", "pending")),
        ([call("c"), CANCEL, call("c", status=5)], ("cancelled", "pending")),
        ([call("c"), CANCEL, call("c", status="completed")], ("completed", None)),
        ([call("c", status="paused"), CANCEL, call("c", status=None)], ("pending", None)),
    ],
)
def test_cancel(frames: Frames, expected: tuple[str, str | None]) -> None:
    """A cancel marks the unfinished foreground tool calls until the agent reports a status."""
    (entry,) = only(frames)["entries"]
    assert (entry["status"], entry.get("reportedStatus")) == expected


def test_unknown_stop_reason_keeps_its_keys() -> None:
    """Keys beside an unknown stop reason stay as they came, those beside a known one go."""
    unknown = only([said("state_update", state="idle", stopReason="_x", extra=None, error=5)])
    known = only([said("state_update", state="idle", stopReason="end_turn", extra=1, error=5)])
    assert unknown["state"] == {"state": "idle", "stopReason": "_x", "extra": None, "error": 5}
    assert known["state"] == {"state": "idle", "stopReason": "end_turn"}


USAGE = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
ENDED = said("state_update", state="idle", stopReason="end_turn", usage=USAGE)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([IDLE], []),
        ([RUNNING], [{"entries": [0]}]),
        ([RUNNING, RUNNING, said("state_update", state="_x")], [{"entries": [0]}]),
        ([ECHO, RUNNING, call("c"), IDLE, IDLE], [{"entries": [1, 2]}]),
        ([RUNNING, IDLE, ECHO, RUNNING], [{"entries": [0, 0]}, {"entries": [1]}]),
        ([RUNNING, ENDED], [{"entries": [0, 0], "stopReason": "end_turn", "usage": USAGE}]),
        ([RUNNING, RESUME], []),
        ([RUNNING, RESUME, refused(2)], [{"entries": [0]}]),
    ],
)
def test_turns(frames: Frames, expected: list[Any]) -> None:
    """A turn lasts from the first state that is not idle to the next idle one."""
    assert only([said("usage_update", used=1, size=2), *frames]).get("turns", []) == expected


def test_loss_closes_the_turn() -> None:
    """After a loss no turn is open, and the last one has no stop reason."""
    store = Naive()
    for frame in (RUNNING, call("c")):
        store.receive(frame[1])
    store.disconnect()
    (session,) = store.document()["sessions"]
    assert session["turns"] == [{"entries": [0, 1]}]
    assert session["state"] == {"state": "running"}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (USAGE | {"extra": 1}, USAGE),
        (USAGE | {"thoughtTokens": "x", "cachedReadTokens": 0}, USAGE | {"cachedReadTokens": 0}),
        (USAGE | {"totalTokens": -1}, None),
        ({"totalTokens": 3}, None),
        (None, None),
    ],
)
def test_usage_of_an_idle_state(usage: Any, expected: Any) -> None:
    """The three totals are required; each of the rest is lenient."""
    state = only([said("state_update", state="idle", usage=usage)])["state"]
    assert state.get("usage") == expected


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([CANCEL], False),
        ([RUNNING, IDLE, CANCEL], False),
        ([RUNNING, CANCEL], True),
        ([RUNNING, CANCEL, RUNNING], True),
        ([RUNNING, CANCEL, IDLE], False),
        ([RUNNING, CANCEL, IDLE, RUNNING], False),
        ([RUNNING, CANCEL, RESUME], False),
        ([RUNNING, CANCEL, RESUME, refused(2)], True),
        ([RUNNING, CANCEL, RESUME, answered(2, result={})], False),
    ],
)
def test_cancelling(frames: Frames, expected: bool) -> None:
    """A session is cancelling from a cancel of foreground work to the next idle state."""
    assert only([ECHO, *frames]).get("cancelling", False) is expected


def test_permission_request_while_cancelling() -> None:
    """It was on its way: the store answers it, and its tool call keeps the mark."""
    store = Naive()
    subject = {"type": "tool_call", "toolCall": {"toolCallId": "c", "status": "in_progress"}}
    for sent, data in (RUNNING, call("c"), CANCEL, permission(1, subject=subject)):
        (store.sent if sent else store.receive)(data)
    (session,) = store.document()["sessions"]
    assert session["permissions"] == []
    assert store.answers == [(1, "cancelled")]
    (entry,) = session["entries"]
    assert (entry["status"], entry["reportedStatus"]) == ("cancelled", "in_progress")
