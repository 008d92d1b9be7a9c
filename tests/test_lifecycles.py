"""The lifecycles of a session: each pair of a place and a step, in the table and in a snapshot."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest
from traffic import event

import acp_client
from acp_client import Event, Snapshot, apply, apply_all, wire
from acp_client import _lifecycles as lives

EMPTY = Snapshot("s")
RUNNING = event("state_update", state="running")
IDLE = event("state_update", state="idle", stopReason="end_turn")
CANCEL, LOSS = acp_client.CancelSent(), acp_client.ConnectionLost()
CLOSED = acp_client.SessionClosed()


def pairs(places: Any, steps: Any) -> pytest.MarkDecorator:
    """Parametrize a test by every pair."""
    return pytest.mark.parametrize(("place", "step"), list(product(places, steps)))


# --- Foreground work and turns ---

FOREGROUND: dict[str, list[Event]] = {
    "idle": [],
    "working": [RUNNING],
    "cancelling": [RUNNING, CANCEL],
}
FOREGROUND_STEPS: dict[str, Event] = {
    "reported idle": IDLE,
    "reported work": event("state_update", state="requires_action"),
    "cancel": CANCEL,
    "loss": LOSS,
}


def foreground(snapshot: Snapshot) -> str:
    """Give where the foreground work of a snapshot is."""
    if snapshot.cancelling:
        return "cancelling"
    return "idle" if snapshot.is_idle else "working"


@pairs(get_args(lives.Foreground), get_args(lives.ForegroundStep))
def test_foreground(place: Any, step: Any) -> None:
    """Foreground work goes where the table says."""
    before = apply_all(EMPTY, FOREGROUND[place])
    assert foreground(before) == place
    after = apply(before, FOREGROUND_STEPS[step])
    assert foreground(after) == lives.FOREGROUND.get((place, step), place)


def turn(snapshot: Snapshot) -> str:
    """Tell whether a turn is open."""
    return "open" if snapshot.turns and snapshot.turns[-1].stop is None else "none"


@pairs(get_args(lives.TurnPhase), get_args(lives.TurnStep))
def test_turns(place: Any, step: Any) -> None:
    """A turn begins and ends as the table says, and nothing else does either."""
    before = apply_all(EMPTY, [RUNNING] if place == "open" else [])
    after = apply(before, FOREGROUND_STEPS[step])
    assert (turn(before), turn(after)) == (place, lives.TURNS.get((place, step), place))
    assert len(after.turns) == len(before.turns) + ((place, step) == ("none", "reported work"))


def test_what_a_turn_says() -> None:
    """A turn has its entries, how it ended, its usage and its cost."""
    usage = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    snapshot = apply_all(
        EMPTY,
        [
            event("usage_update", used=1, size=2, cost={"amount": 1.0, "currency": "USD"}),
            RUNNING,
            event("agent_message", messageId="m"),
            event("usage_update", used=1, size=2, cost={"amount": 1.25, "currency": "USD"}),
            event("state_update", state="idle", stopReason="end_turn", usage=usage),
            event("state_update", state="idle", stopReason="end_turn", usage=usage),
            RUNNING,
        ],
    )
    first, second = snapshot.turns
    assert (first.start, first.stop, first.stop_reason) == (0, 1, "end_turn")
    assert first.usage == wire.Usage(3, 2, 1)
    assert snapshot.turn_cost(0) == wire.Cost(0.25, "USD")
    assert (second.start, second.stop, snapshot.turn_cost(-1)) == (1, None, wire.Cost(0, "USD"))
    lost = apply(snapshot, LOSS)
    assert (lost.turns[1].stop, lost.turns[1].stop_reason) == (1, None)


# --- Replays ---

BEFORE = [event("agent_message", messageId="before")]
REPLAYING = [*BEFORE, acp_client.ReplayBegun(), event("agent_message", messageId="new")]
REPLAY_STEPS: dict[str, Event] = {
    "begin": acp_client.ReplayBegun(),
    "result": acp_client.ReplayEnded(),
    "error": acp_client.ReplayFailed(),
    "loss": LOSS,
}
SHOWN = {"set aside": [], "start again": [], "keep new": ["new"], "restore old": ["before"]}


@pairs(get_args(lives.ReplayPhase), get_args(lives.ReplayStep))
def test_replays(place: Any, step: Any) -> None:
    """A replay sets the history aside, and keeps or restores it as the table says."""
    before = apply_all(EMPTY, REPLAYING if place == "replaying" else BEFORE)
    after = apply(before, REPLAY_STEPS[step])
    found = lives.REPLAYS.get((place, step))
    if found is None:
        assert (after.replaying, after.entries) == (False, before.entries)
        return
    phase, action = found
    assert after.replaying == (phase == "replaying")
    assert [entry.message_id for entry in after.entries] == SHOWN[action]  # type: ignore[union-attr]
    if after.before_replay is not None:
        assert len(after.before_replay.entries) == 1


# --- Permission requests and elicitations ---

OPTIONS = (wire.PermissionOption("yes", "Yes", "allow_once"),)
ASKED = acp_client.PermissionAsked(1, wire.RequestPermissionRequest("s", "May I?", OPTIONS))
PERMISSION_STEPS: dict[str, list[Event]] = {
    "ask": [ASKED],
    "ask while cancelling": [RUNNING, CANCEL, ASKED],
    "answer": [acp_client.PermissionClosed(1)],
    "withdraw": [acp_client.PermissionClosed(1)],
    "cancel": [CANCEL],
    "close": [CLOSED],
    "loss": [LOSS],
}


@pairs(get_args(lives.PermissionPhase), get_args(lives.PermissionStep))
def test_permissions(place: Any, step: Any) -> None:
    """A permission request is pending as long as the table says."""
    before = apply_all(EMPTY, [ASKED] if place == "pending" else [])
    after = apply_all(before, PERMISSION_STEPS[step])
    phase = lives.PERMISSIONS.get((place, step), place)
    assert len(after.permissions) == (phase == "pending")


URL = wire.ElicitationUrlMode(
    message="Log in", session_id="s", elicitation_id="e", url="https://example.com"
)
ELICITED = acp_client.ElicitationAsked(1, URL)
ACCEPT = acp_client.ElicitationAnswered(1, "accept")
COMPLETE = acp_client.ElicitationCompleted("e")
ELICITATIONS: dict[str, list[Event]] = {
    "pending": [ELICITED],
    "accepted": [ELICITED, ACCEPT],
    "completed": [ELICITED, COMPLETE],
}
ELICITATION_STEPS: dict[str, Event] = {
    "accept a URL": ACCEPT,
    "answer": acp_client.ElicitationAnswered(1, "decline"),
    "complete": COMPLETE,
    "withdraw": acp_client.ElicitationClosed(1),
    "close": CLOSED,
    "loss": LOSS,
}


@pairs(get_args(lives.ElicitationStatus), get_args(lives.ElicitationStep))
def test_elicitations(place: Any, step: Any) -> None:
    """An elicitation of a URL goes through the table."""
    before = apply_all(EMPTY, ELICITATIONS[place])
    after = apply(before, ELICITATION_STEPS[step])
    expected = lives.ELICITATIONS.get((place, step), place)
    assert [one.status for one in after.elicitations] == ([] if expected is None else [expected])
    if expected == "accepted":
        assert after.elicitations[0].request_id is None


@pytest.mark.parametrize("action", ["accept", "decline", "cancel", "_later"])
def test_a_form_goes_with_its_answer(action: str) -> None:
    """Whatever the answer to a form is, nothing of it is kept."""
    schema = wire.RequestedSchema({"type": "object", "properties": {}})
    form = wire.ElicitationFormMode(message="Name?", session_id="s", requested_schema=schema)
    asked = apply(EMPTY, acp_client.ElicitationAsked(1, form))
    assert asked.elicitations[0].schema == wire.ElicitationSchema("object", {})
    assert apply(asked, COMPLETE) is asked
    assert apply(asked, acp_client.ElicitationAnswered(1, action)).elicitations == ()


@pytest.mark.parametrize("closing", [acp_client.PermissionClosed, acp_client.ElicitationClosed])
def test_true_is_no_id(closing: Any) -> None:
    """`True` never answers request 1, though Python says that they are equal."""
    asked = apply_all(EMPTY, [ASKED, ELICITED])
    assert apply(asked, closing(True)) is asked
    sent = apply(EMPTY, acp_client.PromptSent(1, ()))
    wrong: Any = True
    assert apply(sent, acp_client.PromptAccepted(wrong, "m")) is sent


# --- A lost connection ---


@pytest.mark.parametrize(
    ("later", "is_lost"),
    [
        (event("agent_message", messageId="m"), False),
        (event("_vendor"), False),
        (acp_client.SessionOpened(), False),
        (acp_client.ReplayBegun(), False),
        (acp_client.ResumeSent(), True),
        (acp_client.PromptSent(1, ()), True),
        (acp_client.PromptRejected(1, wire.Error(1, "no")), True),
        (ASKED, True),
        (ELICITED, True),
        (CANCEL, True),
    ],
)
def test_a_loss_is_said_until_the_agent_is_heard_of(later: Event, is_lost: bool) -> None:
    """An applied update, a replay and a result end it; what the client does alone does not."""
    lost = apply(EMPTY, acp_client.ConnectionLost(wire.Error(-1, "gone")))
    assert lost.connection_lost is not None
    assert lost.connection_lost.error == wire.Error(-1, "gone")
    assert (apply(lost, later).connection_lost is not None) == is_lost
