"""New and resumed sessions as the second implementation has them."""

from __future__ import annotations

from typing import Any

import pytest

from .connection import Naive
from .replay import replay
from .stories import ECHO, RESUME, Frames, answered, called, kinds, only, refused, said

OPTIONS = [{"type": "boolean", "configId": "b", "name": "B", "currentValue": True}]
COMMANDS = [{"type": "command", "name": "c", "description": "d"}]
AGAIN = called("session/resume", 3, cwd="/", replayFrom={"type": "start"})
PLAIN = called("session/resume", 3, cwd="/")
THOUGHT = said("agent_thought", messageId="t")


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([], ([], True)),
        ([THOUGHT], (["agent_thought"], True)),
        ([answered(2, result={})], ([], False)),
        ([refused(2)], (["user_message"], False)),
        ([answered(2, result=None)], ([], False)),
        ([answered(2, result=5)], ([], False)),
        ([answered(2, result={}, error=None)], ([], False)),
        ([answered(2)], ([], False)),
        ([THOUGHT, AGAIN, refused(2)], ([], True)),
        ([THOUGHT, AGAIN, answered(2, result={})], ([], True)),
        ([THOUGHT, AGAIN, refused(3)], (["user_message"], False)),
        ([AGAIN, refused(3), answered(2, result={})], (["user_message"], False)),
        ([AGAIN, THOUGHT, answered(3, result={}), refused(2)], (["agent_thought"], False)),
        ([PLAIN, answered(3, result={})], ([], True)),
        ([PLAIN, refused(3)], ([], True)),
    ],
)
def test_replay(frames: Frames, expected: tuple[list[str], bool]) -> None:
    """The newest replay starts from empty; its result ends it, an error brings back what was."""
    session = only([ECHO, RESUME, *frames])
    assert [entry["type"] for entry in session["entries"]] == expected[0]
    assert session.get("replaying", False) is expected[1]


def test_lost_connection_undoes_a_replay() -> None:
    """What was there before is there again, and the session says that it lost the connection."""
    store = Naive()
    for sent, data in (ECHO, RESUME, THOUGHT):
        (store.sent if sent else store.receive)(data)
    store.disconnect()
    (session,) = store.document()["sessions"]
    assert [entry["type"] for entry in session["entries"]] == ["user_message"]
    assert session["connectionLost"] == {}
    assert "replaying" not in session


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([], True),
        ([RESUME], False),
        ([PLAIN], True),
        ([PLAIN, refused(3)], True),
        ([PLAIN, answered(3, result={})], False),
        ([called("session/new", 4), answered(4, result={"sessionId": "s"})], False),
        ([ECHO], False),
        ([called("session/prompt", 5, prompt=[]), refused(5)], True),
    ],
)
def test_what_ends_the_loss(frames: Frames, expected: bool) -> None:
    """An update, a replay, or the result of opening the session shows that it is back."""
    store = Naive()
    store.receive(ECHO[1])
    store.disconnect()
    for sent, data in frames:
        (store.sent if sent else store.receive)(data)
    (session,) = store.document()["sessions"]
    assert ("connectionLost" in session) is expected


NEW = called("session/new", 4)
REPORTED = said("config_option_update", configOptions=[])
WANTED = called("session/set_config_option", 5, configId="b", type="boolean", value=False)
SHOWN = [OPTIONS[0] | {"currentValue": False}]
OPENED = [NEW, answered(4, result={"sessionId": "s", "configOptions": OPTIONS})]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([*OPENED], OPTIONS),
        ([REPORTED, *OPENED], []),
        ([REPORTED, RESUME, answered(2, result={"configOptions": OPTIONS})], OPTIONS),
        ([RESUME, REPORTED, answered(2, result={"configOptions": OPTIONS})], []),
        ([RESUME, AGAIN, answered(2, result={"configOptions": OPTIONS})], []),
        ([REPORTED, WANTED, answered(5, result={"configOptions": OPTIONS})], OPTIONS),
        ([*OPENED, WANTED], SHOWN),
        ([*OPENED, WANTED, said("config_option_update", configOptions=OPTIONS)], SHOWN),
        ([*OPENED, WANTED, refused(5)], OPTIONS),
        ([*OPENED, WANTED, answered(5, result={"configOptions": OPTIONS})], OPTIONS),
    ],
)
def test_options(frames: Frames, expected: list[Any]) -> None:
    """A result gives a list that no update has reported; what is asked for shows meanwhile."""
    assert only(frames)["configOptions"] == expected


def test_absent_list_stays_and_null_list_is_empty() -> None:
    """A list that a result does not have stays; null empties it, which is a problem."""
    document = replay(
        [
            NEW,
            answered(
                4,
                result={"sessionId": "s", "configOptions": OPTIONS, "availableCommands": COMMANDS},
            ),
            called("session/resume", 6, cwd="/"),
            answered(6, result={"configOptions": None}),
        ]
    )
    (session,) = document["sessions"]
    assert session["configOptions"] == []
    assert session["availableCommands"] == COMMANDS
    assert kinds(document) == [(4, "defaulted")]
