"""Which version a recording is in, where it begins late."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from strategies import Frame as Written
from strategies import sessions
from traffic import chunk_line, line, permission_line, update_line
from v1_traffic import (
    OLD_DIFF,
    SESSION,
    Frame,
    agent,
    agent_asks,
    asks,
    call,
    chunk,
    client,
    conversation,
    ended,
    fed,
    patch,
    permission,
    play,
    prompt,
    said,
)

import acp_client
from acp_client import Store
from acp_client._recordings import playback
from acp_client._recordings.playback import Feeder

RUNNING: Frame = (False, update_line("state_update", SESSION, state="running"))
CHUNK: Frame = (False, chunk_line("a", session=SESSION))
OPTION = {"id": "a", "name": "A", "type": "boolean", "currentValue": True}
COMMAND = {"name": "a", "description": "A"}


def initialize(version: int) -> list[Frame]:
    """Write what a client offers, v2, and an agent agrees to."""
    asked = client(id=0, method="initialize", params={"protocolVersion": 2})
    return [asked, agent(id=0, result={"protocolVersion": version})]


V1: dict[str, list[Frame]] = {
    "a tool call": [call()],
    "a tool call after many chunks with an id": [*[CHUNK] * 300, call()],
    "a chunk without an id": [chunk("a")],
    "a plan": [said("plan", entries=[])],
    "a mode": [said("current_mode_update", currentModeId="m")],
    "a diff with an old text": [patch(content=[OLD_DIFF])],
    "a command without a type": [said("available_commands_update", availableCommands=[COMMAND])],
    "an option with an id": [said("config_option_update", configOptions=[OPTION])],
    "a session with modes": [agent(id=1, result={"sessionId": SESSION, "modes": {}})],
    "a session with models": [agent(id=1, result={"sessionId": SESSION, "models": {}})],
    "a session with options": [
        agent(id=1, result={"sessionId": SESSION, "configOptions": [OPTION]})
    ],
    "a prompt that stops": [prompt(1, "q"), CHUNK, ended(1)],
    "a reason to stop that no request asked for": [CHUNK, ended(1)],
    "a permission request": [permission(1, {"toolCallId": "c"})],
    "a session is loaded": [asks(1, "session/load")],
    "a mode is set": [asks(1, "session/set_mode", modeId="m")],
    "a terminal of the client": [agent_asks(1, "terminal/create", command="x")],
    "a batch": [(False, b"[5,%s]\n" % call()[1].strip())],
    "v1 is agreed on": initialize(1),
    "what came first": [call(), RUNNING],
}
V2: dict[str, list[Frame]] = {
    "nothing": [],
    "a state": [RUNNING, call()],
    "a whole message": [said("user_message", messageId="m"), call()],
    "a permission request with a title": [(False, permission_line(1, SESSION)), call()],
    "a prompt with an id": [agent(id=1, result={"messageId": "m"}), call()],
    "options": [agent(id=1, result={"configOptions": [{"configId": "a"}]}), call()],
    "commands": [
        said("available_commands_update", availableCommands=[{**COMMAND, "type": "command"}]),
        call(),
    ],
    "a replay": [asks(1, "session/resume", replayFrom={"type": "start"}), call()],
    "v2 is agreed on": [*initialize(2), call()],
    "v2 is offered": [initialize(2)[0], call()],
    # What both have
    "chunks with an id": [CHUNK] * 3,
    "an update of a tool call": [patch(title="x")],
    "a tool call without an id": [said("tool_call", title="x")],
    "a plan without steps": [said("plan")],
    "a chunk without content": [said("agent_message_chunk")],
    "lists that are none": [
        said("available_commands_update"),
        said("config_option_update", configOptions=[]),
    ],
    "a resume": [asks(1, "session/resume"), agent(id=1, result={})],
    "junk": [(False, b"junk\n"), (False, b"[1]\n"), said(5), (False, b"[" * 2_000 + b"\n")],
}
CASES: list[Any] = [
    pytest.param(frames, version, id=f"{version}: {name}")
    for version, cases in (("v1", V1), ("v2", V2))
    for name, frames in cases.items()
]


@pytest.mark.parametrize(("frames", "version"), CASES)
def test_the_version_of_a_recording_is_detected(frames: list[Frame], version: Any) -> None:
    """One message decides, and everything is as if the version had been known from the start."""
    detected, known = fed(frames), play(frames, version)
    assert detected.protocol == version
    assert detected.sessions == known.sessions
    assert [one.message for one in detected.problems] == [one.message for one in known.problems]
    assert detected.agent == known.agent
    for session_id in known.sessions:
        assert detected.snapshot(session_id) == known.snapshot(session_id)


def test_what_the_caller_says_counts() -> None:
    """A store whose version was chosen keeps it."""
    assert fed([call()], Store(protocol="v2")).protocol == "v2"
    assert fed([RUNNING], Store(protocol="v1")).protocol == "v1"


def test_frames_that_are_shown_before_the_version_is_known() -> None:
    """A flush feeds what is there; what decides later counts from there on."""
    store = Store()
    feeder = Feeder(store)
    for number, (sent, data) in enumerate([prompt(1, "hi"), CHUNK, call(), ended(1)], 1):
        feeder.take(acp_client.Frame(number, sent, data.rstrip(b"\n")))
        feeder.flush()
        assert len(store.snapshot(SESSION).entries) == [0, 1, 3, 3][number - 1]
    feeder.end()
    assert conversation(store.snapshot(SESSION)) == [
        ("agent_message", "a"),
        ("user_message", "hi"),
        ("tool_call", "Do"),
    ]
    assert store.problems == ()


def test_not_everything_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long recording that shows nothing is fed before its end."""
    monkeypatch.setattr(playback, "_MOST_HELD", 1_000)
    store = Store()
    feeder = Feeder(store)
    for number in range(100):
        feeder.take(acp_client.Frame(number, False, CHUNK[1].rstrip()))
    assert len(feeder._held) < 10
    feeder.end()
    assert conversation(store.snapshot(SESSION)) == [("agent_message", "a" * 100)]


@given(sessions(well_formed=True, max_frames=30))
def test_sessions_of_v2_are_known(frames: list[Written]) -> None:
    """Whole sessions of v2 are never taken for v1."""
    assert fed([(frame.sent, frame.data) for frame in frames]).protocol == "v2"


def test_a_version_in_another_place_is_not_a_sign() -> None:
    """Messages with a version are left to the store."""
    asked = line(id=0, method="initialize", params={"protocolVersion": "x"})
    assert fed([(True, asked), call()]).protocol == "v2"
