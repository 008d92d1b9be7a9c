"""Sessions of v1 as the second implementation has them, from the rules of the design alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from v1_traffic import (
    SESSION,
    Frame,
    agent,
    agent_asks,
    asks,
    call,
    chunk,
    client,
    echo,
    ended,
    patch,
    permission,
    prompt,
    said,
    thought,
)

from .connection import NaiveV1

ERROR = {"code": -32600, "message": "no"}
CANCEL = client(method="session/cancel", params={"sessionId": SESSION})
LOAD = asks(8, "session/load", cwd="/")
RESUME = asks(9, "session/resume", cwd="/")


def fed(frames: Iterable[Frame], *, one_sided: bool = False) -> NaiveV1:
    """Feed frames to a connection."""
    connection = NaiveV1()
    connection.one_sided = one_sided
    for sent, data in frames:
        (connection.sent if sent else connection.receive)(data)
    return connection


def only(frames: Iterable[Frame], *, one_sided: bool = False) -> dict[str, Any]:
    """Feed frames that make one session without a problem."""
    document = fed(frames, one_sided=one_sided).document()
    assert document["problems"] == []
    (session,) = document["sessions"]
    assert isinstance(session, dict)
    return session


def words(session: dict[str, Any]) -> list[str]:
    """Return the texts of the entries, each with a letter for its kind."""
    letters = {"user_message": "u", "agent_message": "a", "agent_thought": "t", "tool_call": "c"}
    return [
        f"{letters.get(entry['type'], '?')} "
        + "".join(block.get("text", "") for block in entry.get("content", ()))
        for entry in session["entries"]
    ]


UNKNOWN = said("_vendor", k=1)
SUBAGENT = {"claudeCode": {"parentToolUseId": "p"}}


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([chunk("a"), chunk("b")], ["a ab"]),
        ([chunk("a"), thought("t"), chunk("b")], ["a a", "t t", "a b"]),
        ([chunk("a"), call(), chunk("b")], ["a a", "c ", "a b"]),
        ([call(), chunk("a"), patch(status="completed"), chunk("b")], ["c ", "a ab"]),
        ([chunk("a"), UNKNOWN, chunk("b")], ["a a", "? ", "a b"]),
        ([chunk("a"), agent(method="_x/y"), chunk("b")], ["a ab"]),
        ([thought("x"), echo("and"), thought("y")], ["t x", "u and", "t y"]),
        ([chunk(""), chunk("a"), thought(""), chunk("b"), chunk("")], ["a ab"]),
        ([chunk("a", messageId="m"), thought("t"), chunk("b", messageId="m")], ["a ab", "t t"]),
        ([chunk("a", _meta=SUBAGENT), chunk("b"), chunk("c", _meta=SUBAGENT)], ["a ac", "a b"]),
        ([prompt(1, "q"), chunk("a"), ended(1), chunk("b")], ["u q", "a ab"]),
        ([chunk("a"), ended(1), chunk("b")], ["a ab"]),
        (
            [prompt(1, "q"), call(), chunk("a"), ended(1), patch(title="T"), chunk("b")],
            ["u q", "c ", "a a", "a b"],
        ),
        (
            [prompt(1, "q"), chunk("a"), prompt(2, "r"), chunk("b"), ended(1), chunk("c")],
            ["u q", "a ab", "u r", "a c"],
        ),
        (
            [
                prompt(1, "q"),
                chunk("a"),
                prompt(2, "r"),
                agent(id=2, error=ERROR),
                chunk("b"),
            ],
            ["u q", "a ab", "u r"],
        ),
        ([prompt(1, "q"), thought("x"), echo("q"), thought("y")], ["u q", "t x", "t y"]),
        ([prompt(1, "long"), echo("lo"), echo("ng"), chunk("a")], ["u long", "a a"]),
        ([prompt(1, "long"), echo("lo"), echo("long"), chunk("a")], ["u long", "a a"]),
        ([prompt(1, "long"), echo("lo"), echo("x")], ["u long", "u lox"]),
        ([prompt(1, "q"), ended(1), echo("q")], ["u q"]),
        ([prompt(1, "q"), echo("q"), ended(1), echo("q")], ["u q", "u q"]),
    ],
)
def test_messages(frames: list[Frame], expected: list[str]) -> None:
    """A message goes on until something new comes, and a prompt is shown once."""
    assert words(only(frames)) == expected


@pytest.mark.parametrize(
    ("frames", "expected", "state"),
    [
        ([prompt(1, "q")], ["pending"], {"state": "running"}),
        ([prompt(1, "q"), ended(1)], ["accepted"], {"state": "idle", "stopReason": "end_turn"}),
        (
            [prompt(1, "q"), prompt(2, "r"), agent(id=2, error=ERROR)],
            ["pending", "rejected"],
            {"state": "running"},
        ),
        (
            [prompt(1, "q"), prompt(2, "r"), ended(2), ended(1, "refusal")],
            ["accepted", "accepted"],
            {"state": "idle", "stopReason": "refusal"},
        ),
        (
            [prompt(1, "q"), agent(id=1, error={"code": -32800, "message": "m"})],
            ["withdrawn"],
            {"state": "idle", "stopReason": "error", "error": {"code": -32800, "message": "m"}},
        ),
        ([prompt(1, "q"), agent(id=1, result=None)], ["uncertain"], {"state": "idle"}),
    ],
)
def test_prompts(frames: list[Frame], expected: list[str], state: dict[str, Any]) -> None:
    """Each answer is that of its own prompt, and the session is idle when none is open."""
    session = only(frames)
    assert [one["status"] for one in session["prompts"]] == expected
    assert session["state"] == state
    assert all(one["echoed"] for one in session["prompts"])


def test_usage_of_an_answer_is_that_of_the_turn() -> None:
    """A turn lasts from the prompt to its answer."""
    usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
    answer = agent(id=1, result={"stopReason": "end_turn", "usage": usage})
    (turn,) = only([prompt(1, "q"), chunk("a"), answer])["turns"]
    assert turn == {"entries": [1, 2], "stopReason": "end_turn", "usage": usage}


def test_lost_connection() -> None:
    """Prompts without an answer are uncertain, nothing runs, and the session says so."""
    connection = fed([prompt(1, "q"), chunk("a"), LOAD, chunk("b")])
    connection.disconnect({"code": 1, "message": "gone"})
    (session,) = connection.document()["sessions"]
    assert session["prompts"][0]["status"] == "uncertain"
    assert session["state"] == {"state": "idle"}
    assert session["turns"] == [{"entries": [1, 2]}]
    assert session["connectionLost"] == {"error": {"code": 1, "message": "gone"}}
    assert words(session) == ["u q", "a a"]


KNOWN: dict[str, Any] = {"title": "bash", "kind": "execute", "status": "in_progress"}
KNOWN |= {"rawInput": {"command": "x"}}


def test_permission_request_wipes_nothing() -> None:
    """What is default or empty in it says nothing, and a known title stays."""
    asked = {"toolCallId": "c", "title": "Allow?", "kind": "other", "rawInput": {}, "locations": []}
    session = only([call(**KNOWN), permission(5, asked | {"status": "pending"})])
    (entry,) = session["entries"]
    assert {key: entry[key] for key in KNOWN} == KNOWN
    assert [one["title"] for one in session["permissions"]] == ["Allow?"]


def test_repeated_tool_call_wipes_nothing() -> None:
    """A tool call that is announced again says what is not default; an update says everything."""
    session = only([call(**KNOWN), call(title="Do", status="pending", kind="other", content=[])])
    (entry,) = session["entries"]
    assert {key: entry[key] for key in KNOWN} == KNOWN | {"title": "Do"}
    (entry,) = only([call(**KNOWN), patch(status="pending")])["entries"]
    assert entry["status"] == "pending"


def test_tool_call_id_that_is_used_again() -> None:
    """After a final status and in a later turn it is another call, and a problem."""
    turn = [prompt(1, "q"), call(status="completed"), ended(1), prompt(2, "r")]
    document = fed([*turn, call(title="New"), patch(status="failed")]).document()
    (session,) = document["sessions"]
    calls = [entry for entry in session["entries"] if entry["type"] == "tool_call"]
    assert [(one["toolCallId"], one["title"], one["status"]) for one in calls] == [
        ("c", "Do", "completed"),
        ("c#2", "New", "failed"),
    ]
    assert [problem["kind"] for problem in document["problems"]] == ["defaulted"]
    assert words(only([*turn, patch(title="New")])) == ["u q", "c ", "u r"]


@pytest.mark.parametrize(
    ("frames", "expected", "replaying"),
    [
        ([LOAD], [], True),
        ([LOAD, echo("q"), chunk("a")], ["u q", "a a"], True),
        ([LOAD, echo("q"), agent(id=8, result={})], ["u q"], False),
        ([LOAD, echo("q"), agent(id=8, result=None)], ["u q"], False),
        ([LOAD, echo("q"), agent(id=8, error=ERROR)], ["u q", "a a"], False),
        ([RESUME], ["u q", "a a"], False),
        ([RESUME, agent(id=9, result={})], ["u q", "a a"], False),
        ([RESUME, said("plan", entries=[])], ["u q", "a a"], False),
        ([RESUME, echo("q"), chunk("a"), agent(id=9, result={})], ["u q", "a a"], False),
        ([RESUME, echo("q"), agent(id=9, error=ERROR)], ["u q", "a a"], False),
        ([LOAD, RESUME, agent(id=8, error=ERROR)], [], True),
        ([RESUME, agent(id=9, result={}), chunk("b")], ["u q", "a ab"], False),
    ],
)
def test_history(frames: list[Frame], expected: list[str], replaying: bool) -> None:
    """Content between a load or resume and its answer is a replay."""
    session = only([prompt(1, "q"), chunk("a"), ended(1), *frames])
    assert words(session) == expected
    assert session.get("replaying", False) is replaying


MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
MODE: dict[str, Any] = {"id": "m", "name": "M", "category": "mode", "type": "select"}
MODE |= {
    "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
}
OTHER = {"id": "b", "name": "B", "type": "boolean", "currentValue": True}


def opened(**result: Any) -> list[Frame]:
    """Write a new session."""
    asked = client(id=7, method="session/new", params={"cwd": "/"})
    return [asked, agent(id=7, result={"sessionId": SESSION, **result})]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (opened(modes=MODES), [("mode", "ask")]),
        (opened(modes=MODES, configOptions=[OTHER]), [("mode", "ask"), ("b", True)]),
        (opened(modes=MODES, configOptions=[MODE, OTHER]), [("m", "ask"), ("b", True)]),
        (
            [*opened(configOptions=[MODE]), said("current_mode_update", currentModeId="code")],
            [("m", "code")],
        ),
        (
            [*opened(modes=MODES), said("config_option_update", configOptions=[OTHER])],
            [("mode", "ask"), ("b", True)],
        ),
        ([*opened(configOptions=[MODE]), asks(6, "session/set_mode", modeId="x")], [("m", "x")]),
        (
            [
                *opened(configOptions=[MODE]),
                asks(6, "session/set_mode", modeId="code"),
                agent(id=6, error=ERROR),
            ],
            [("m", "ask")],
        ),
        (
            [
                *opened(configOptions=[OTHER]),
                asks(6, "session/set_config_option", configId="b", value=False),
                agent(id=6, result={}),
            ],
            [("b", False)],
        ),
    ],
)
def test_options(frames: list[Frame], expected: list[Any]) -> None:
    """Modes, models and options are one list without doubles."""
    options = only(frames)["configOptions"]
    assert [(option["configId"], option["currentValue"]) for option in options] == expected


def test_terminals() -> None:
    """Terminals come in the metadata of a call, and in what the client answers."""
    info = {"terminal_info": {"terminal_id": "t", "cwd": "/w"}}
    output = {"terminal_output": {"terminal_id": "t", "data": "a"}}
    frames = [
        call(rawInput={"command": "ls"}, _meta=info),
        patch(_meta=output),
        patch(_meta=output),
    ]
    frames += [patch(_meta={"terminal_exit": {"terminal_id": "t", "exit_code": 0}})]
    frames += [agent_asks(4, "terminal/create", command="npm", args=["run"])]
    frames += [client(id=4, result={"terminalId": "u"})]
    shown = {"terminalId": "t", "command": "ls", "cwd": "/w"}
    assert only(frames)["terminals"] == [
        {**shown, "output": "YWE=", "exitStatus": {"exitCode": 0}},
        {"terminalId": "u", "command": "npm run", "output": ""},
    ]


def test_cancel_marks_what_runs() -> None:
    """A refused prompt ends nothing, so a cancel marks the call that runs."""
    refused = [prompt(2, "r"), agent(id=2, error=ERROR)]
    frames = [prompt(1, "q"), call(status="in_progress"), *refused, CANCEL]
    session = only(frames)
    assert session["entries"][1]["status"] == "cancelled"
    assert session["cancelling"] is True
    late = fed([*frames, permission(5, {"toolCallId": "c"})])
    assert late.answers == [(5, "cancelled")]


def test_agent_alone() -> None:
    """Without the client's side, answers tell what was asked."""
    frames = [*opened(modes=MODES)[1:], permission(5, {"toolCallId": "c"})]
    frames += [patch(status="completed"), ended(2, "refusal")]
    session = only(frames, one_sided=True)
    assert session["permissions"] == []
    assert session["state"] == {"state": "idle", "stopReason": "refusal"}
    assert [option["configId"] for option in session["configOptions"]] == ["mode"]
    bare = {"method": "session/update", "params": json.loads(chunk("a")[1])["params"]}
    assert words(only([(False, json.dumps(bare).encode())])) == ["a a"]
