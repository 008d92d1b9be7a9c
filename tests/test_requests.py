"""Requests and answers: what each message tells, given what is open."""

from __future__ import annotations

import time
from typing import Any

import pytest
from strategies import Frame
from traffic import line, permission_line, told, update_line

import acp_client
from acp_client import Problem, Store, wire
from acp_client._conversation import Conversation
from acp_client._decode import decode_line
from acp_client._requests import AgentRequests, ClientRequests

TEXT = {"type": "text", "text": "hi"}
ERROR = {"code": 1, "message": "no"}
OPTIONS = [{"type": "boolean", "configId": "b", "name": "B", "currentValue": True}]
SWITCH = (wire.SessionConfigBoolean(config_id="b", name="B", current_value=True),)
REPLAY = {"type": "start"}


def sent(method: str, request_id: Any = 1, session: Any = "s", **params: Any) -> Frame:
    """Write a request of the client."""
    return Frame(True, line(id=request_id, method=method, params={"sessionId": session, **params}))


def cancel(session: str = "s") -> Frame:
    """Write a cancel."""
    return Frame(True, line(method="session/cancel", params={"sessionId": session}))


def answer(request_id: Any = 1, **outcome: Any) -> Frame:
    """Write an answer of the agent."""
    return Frame(False, line(id=request_id, **outcome))


def replied(request_id: Any) -> Frame:
    """Write an answer of the client."""
    return Frame(True, line(id=request_id, result={"outcome": {"outcome": "cancelled"}}))


def asked(request_id: Any, session: str = "s") -> Frame:
    """Write a permission request."""
    return Frame(False, permission_line(request_id, session))


def withdrawn(request_id: Any) -> Frame:
    """Write the withdrawal of a permission request."""
    return Frame(False, line(method="$/cancel_request", params={"requestId": request_id}))


PROMPT = sent("session/prompt", prompt=[TEXT])
RESUME = sent("session/resume", cwd="/")
REPLAYED = sent("session/resume", cwd="/", replayFrom=REPLAY)
NEW = sent("session/new", cwd="/")
SET = sent("session/set_config_option", configId="b")
GOOD = {"messageId": "m"}


def facts(*frames: Frame) -> list[Any]:
    """Give what frames tell, permission requests by their id alone."""
    found: list[Any] = []
    for session_id, event in told(frames):
        if isinstance(event, acp_client.PermissionAsked):
            found.append((session_id, "asked", event.request_id))
        else:
            found.append((session_id, event))
    return found


PROMPTED = ("s", acp_client.PromptSent(1, (wire.TextContent("hi"),)))
ACCEPTED = ("s", acp_client.PromptAccepted(1, "m"))
REJECTED = ("s", acp_client.PromptRejected(1, wire.Error(1, "no")))
UNCERTAIN = ("s", acp_client.PromptUncertain(1))
OPENED = ("s", acp_client.SessionOpened())
RESUMED = ("s", acp_client.ResumeSent())
SETTLED = ("s", acp_client.OptionAnswered(1))
BEGUN = ("s", acp_client.ReplayBegun())
ENDED = ("s", acp_client.ReplayEnded())
FAILED = ("s", acp_client.ReplayFailed())


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        # prompts
        ([PROMPT], [PROMPTED]),
        ([PROMPT, answer(result=GOOD)], [PROMPTED, ACCEPTED]),
        ([PROMPT, answer(1.0, result=GOOD)], [PROMPTED, ACCEPTED]),
        ([PROMPT, answer("1", result=GOOD)], [PROMPTED]),
        ([PROMPT, answer(error=ERROR)], [PROMPTED, REJECTED]),
        ([PROMPT, answer(result={})], [PROMPTED, UNCERTAIN]),
        ([PROMPT, answer(result=None)], [PROMPTED, UNCERTAIN]),
        ([PROMPT, answer(error="no")], [PROMPTED, UNCERTAIN]),
        ([PROMPT, answer()], [PROMPTED, UNCERTAIN]),
        ([PROMPT, answer(result=GOOD), answer(error=ERROR)], [PROMPTED, ACCEPTED]),
        ([answer(result=GOOD)], []),
        ([answer(result=GOOD), PROMPT], [PROMPTED]),
        # an id that is used again means the newer request
        ([PROMPT, SET, answer(result=GOOD)], [PROMPTED, SETTLED]),
        ([SET, PROMPT, answer(result=GOOD)], [SETTLED, PROMPTED, ACCEPTED]),
        ([PROMPT, sent("session/list"), answer(result=GOOD)], [PROMPTED]),
        ([PROMPT, sent("session/prompt", 1.0, session=5), answer(result=GOOD)], [PROMPTED]),
        ([REPLAYED, sent("session/resume", session=5), answer(result={})], [BEGUN]),
        # new sessions, resumed ones, settings
        ([NEW, answer(result={"sessionId": "n"})], [("n", acp_client.SessionOpened())]),
        ([NEW, answer(result={"sessionId": "n", "configOptions": OPTIONS})],
         [("n", acp_client.SessionOpened(config_options=SWITCH))]),
        ([NEW, answer(result={})], []),
        ([NEW, answer(error=ERROR)], []),
        ([RESUME], [RESUMED]),
        ([RESUME, answer(result={})], [RESUMED, OPENED]),
        ([RESUME, answer(result={"availableCommands": []})],
         [RESUMED, ("s", acp_client.SessionOpened(()))]),
        ([RESUME, answer(error=ERROR)], [RESUMED]),
        ([SET], []),
        ([SET, answer(result={"configOptions": OPTIONS})],
         [("s", acp_client.ConfigOptionsSet(SWITCH)), SETTLED]),
        ([SET, answer(result={})], [SETTLED]),
        ([SET, answer(error=ERROR)], [SETTLED]),
        # replays
        ([REPLAYED], [BEGUN]),
        ([REPLAYED, answer(result={})], [BEGUN, OPENED, ENDED]),
        ([REPLAYED, answer(error=ERROR)], [BEGUN, FAILED]),
        ([REPLAYED, answer(result=5)], [BEGUN, OPENED, ENDED]),
        ([REPLAYED, sent("session/resume", 2, replayFrom=REPLAY), answer(error=ERROR)],
         [BEGUN, BEGUN]),
        ([REPLAYED, sent("session/resume", 2, replayFrom=REPLAY), answer(2, result={})],
         [BEGUN, BEGUN, OPENED, ENDED]),
        ([REPLAYED, sent("session/resume", 2, replayFrom=None), answer(result={})],
         [BEGUN, RESUMED, OPENED, ENDED]),
        ([REPLAYED, sent("session/resume", 2, "other", replayFrom=REPLAY), answer(result={})],
         [BEGUN, ("other", acp_client.ReplayBegun()), OPENED, ENDED]),
        # permissions
        ([asked(1)], [("s", "asked", 1)]),
        ([asked(1), replied(1)], [("s", "asked", 1), ("s", acp_client.PermissionClosed(1))]),
        ([asked(1), replied("1")], [("s", "asked", 1)]),
        ([asked(1), withdrawn(1)], [("s", "asked", 1), ("s", acp_client.PermissionClosed(1))]),
        ([asked(1), withdrawn(1.0)], [("s", "asked", 1), ("s", acp_client.PermissionClosed(1))]),
        ([asked(1), replied(1), withdrawn(1)],
         [("s", "asked", 1), ("s", acp_client.PermissionClosed(1))]),
        ([replied(1), withdrawn(1)], []),
        ([asked(1), asked(1)], [("s", "asked", 1)] * 2),
        ([asked(1), asked(1, "o")],
         [("s", "asked", 1), ("s", acp_client.PermissionClosed(1)), ("o", "asked", 1)]),
        ([asked(1), cancel(), replied(1)], [("s", "asked", 1), ("s", acp_client.CancelSent())]),
        ([asked(1), cancel("o"), replied(1)],
         [("s", "asked", 1), ("o", acp_client.CancelSent()),
          ("s", acp_client.PermissionClosed(1))]),
        # ids of the two sides do not meet
        ([PROMPT, asked(1), replied(1), answer(result=GOOD)],
         [PROMPTED, ("s", "asked", 1), ("s", acp_client.PermissionClosed(1)), ACCEPTED]),
        # what tells nothing
        ([Frame(True, line(id=1, method="session/list", params={})), answer(result=GOOD)], []),
        ([Frame(True, line(method="session/prompt", params={"sessionId": "s", "prompt": []}))], []),
        ([Frame(True, line(id=1, method="session/cancel", params={"sessionId": "s"}))], []),
        ([Frame(True, line(id=1, method="session/prompt", params={"prompt": []}))], []),
        ([Frame(True, line(method="_example.com/x")), Frame(False, line(method="x"))], []),
        ([Frame(True, b"junk"), Frame(False, b"junk"), Frame(True, b"5")], []),
        # the wrong side
        ([Frame(False, PROMPT.data), answer(result=GOOD)], []),
        ([Frame(True, permission_line(1)), replied(1)], []),
        ([Frame(True, update_line("agent_message", messageId="m"))], []),
    ],
)  # fmt: skip
def test_what_messages_tell(frames: list[Frame], expected: list[Any]) -> None:
    """Messages tell events of sessions by the requests that are open on either side."""
    assert facts(*frames) == expected


def test_batches_tell_what_their_messages_tell() -> None:
    """A batch of either side is followed message by message."""
    both = b"[" + PROMPT.data.strip() + b"," + cancel().data.strip() + b"]"
    told_by_agent = b"[" + asked(1).data.strip() + b",5," + answer(result=GOOD).data.strip() + b"]"
    assert facts(Frame(True, both), Frame(False, told_by_agent)) == [
        PROMPTED,
        ("s", acp_client.CancelSent()),
        ("s", "asked", 1),
        ACCEPTED,
    ]


def test_nothing_is_open_after_a_lost_connection() -> None:
    """Answers from before mean nothing any more."""
    correlation = Conversation(ClientRequests(), AgentRequests(1000))
    for frame in (PROMPT, asked(7)):
        message = decode_line(frame.data, 1, refuse, sent=frame.sent)
        assert correlation.sent(message) if frame.sent else correlation.received(message, 1, refuse)
    correlation.lost(None)
    late = decode_line(answer(result=GOOD).data, 1, refuse)
    assert correlation.received(late, 1, refuse) == []
    assert correlation.agent_requests.close(7) == []


def refuse(problem: Problem) -> None:
    """Accept no problem."""
    raise AssertionError(problem)


def test_problems_of_results_name_the_line_of_the_answer() -> None:
    """What is wrong in a result is told when it is read, with the line that it came on."""
    correlation, problems = Conversation(ClientRequests(), AgentRequests(1000)), list[Problem]()
    correlation.sent(decode_line(PROMPT.data, 1, refuse, sent=True))
    message = decode_line(answer(result={"messageId": 5}).data, 9, refuse)
    correlation.received(message, 9, problems.append)
    assert [(one.line, one.kind, one.path) for one in problems] == [
        (9, "rejected", "$.result.messageId")
    ]


def test_the_agent_is_remembered() -> None:
    """The last good answer to `initialize` stays."""
    store = Store(protocol="v2")
    good = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}}
    for result in (good, {"protocolVersion": 2}):
        request = store.initialize("client", "1")
        store.receive(line(id=request.request_id, result=result))
    assert store.agent is not None
    assert store.agent.info.name == "a"


MODULUS = 2**61 - 1  # what hash() takes integers by
EQUAL_HASHES: list[Any] = [1, "1", 1 + MODULUS, 1 + 2 * MODULUS, 1 - MODULUS, -1, -2]


@pytest.mark.parametrize("closed", EQUAL_HASHES)
def test_ids_of_equal_hashes_are_told_apart(closed: Any) -> None:
    """An answer closes the permission request of its id, and leaves the others open."""
    store = Store(protocol="v2")
    store.receive(b"".join(permission_line(one) for one in EQUAL_HASHES))
    store.answer_permission("s1", closed, "yes")
    left = [one.request_id for one in store.snapshot("s1").permissions]
    assert left == [one for one in EQUAL_HASHES if one != closed]


def test_ids_of_equal_hashes_cost_as_much_as_others() -> None:
    """An agent chooses its ids; which ones it takes does not matter to the time."""

    def seconds(factor: int) -> float:
        data = b"".join(permission_line(number * factor) for number in range(8_000))
        store = Store(protocol="v2")
        start = time.process_time()
        store.receive(data)
        return time.process_time() - start

    assert min(seconds(MODULUS) for _ in range(3)) < 4 * min(seconds(1) for _ in range(3))
