"""Terminals of ACP v1: those of the client and those in `_meta`."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from v1_traffic import (
    SESSION,
    Json,
    agent_asks,
    call,
    client,
    document,
    patch,
    play,
    told,
)

from acp_client import Snapshot


def terminals(snapshot: Snapshot) -> list[Json]:
    """Return the terminals of the document, output decoded."""
    found = document(snapshot)["terminals"]
    return [{**one, "output": base64.b64decode(one["output"]).decode()} for one in found]


INFO = {"terminal_info": {"terminal_id": "t", "cwd": "/w"}}
EXIT = {"terminal_exit": {"terminal_id": "t", "exit_code": 3, "signal": None}}


@pytest.mark.parametrize("key", ["terminal_output", "terminal_output_delta"])
def test_output_in_meta_feeds_a_terminal(key: str) -> None:
    """A terminal begins with its place, grows with each piece, and ends."""
    frames = [call(rawInput={"command": "ls"}, _meta=INFO)]
    frames += [patch(_meta={key: {"terminal_id": "t", "data": piece}}) for piece in ("a\n", "ü")]
    frames += [patch(_meta=EXIT)]
    assert terminals(told(*frames)) == [
        {
            "terminalId": "t",
            "command": "ls",
            "cwd": "/w",
            "output": "a\nü",
            "exitStatus": {"exitCode": 3},
        }
    ]


def test_output_without_an_id_is_that_of_the_tool_call() -> None:
    """A terminal that is not named is the call's, and all may come at once."""
    meta = {"terminal_output": {"data": "x"}, "terminal_exit": {"exit_code": 0}}
    raw = {"command": ["bash", "-c", "a b"]}
    meta |= {"terminal_info": {"cwd": "/"}}
    assert terminals(told(patch(rawInput=raw, _meta=meta))) == [
        {
            "terminalId": "c",
            "command": "bash -c 'a b'",
            "cwd": "/",
            "output": "x",
            "exitStatus": {"exitCode": 0},
        }
    ]


def test_odd_terminal_meta_is_survived() -> None:
    """What is malformed in `_meta` is a problem at most; the tool call is there."""
    odd: list[Any] = [5, {"terminal_output": 5}, {"terminal_output": {"data": 5}}]
    odd += [{"terminal_info": {"terminal_id": 5, "cwd": 5}}, {"terminal_exit": {"exit_code": "0"}}]
    store = play(
        [*(patch(_meta=meta) for meta in odd), patch(rawInput={"command": []}, _meta=INFO)]
    )
    snapshot = store.snapshot(SESSION)
    assert [entry.type for entry in snapshot.entries] == ["tool_call"]
    assert [one.terminal_id for one in snapshot.terminals] == ["c", "t"]


def test_terminals_of_the_client_are_shown() -> None:
    """What the client answers is what is known of its terminals; output is told whole."""
    frames = [agent_asks(1, "terminal/create", command="npm", args=["run", "a b"], cwd="/w")]
    frames += [client(id=1, result={"terminalId": "t"})]
    frames += [agent_asks(2, "terminal/output", terminalId="t")]
    frames += [client(id=2, result={"output": "one\n", "truncated": False})]
    shown = {"terminalId": "t", "command": "npm run 'a b'", "cwd": "/w"}
    assert terminals(told(*frames)) == [{**shown, "output": "one\n"}]
    frames += [agent_asks(3, "terminal/wait_for_exit", terminalId="t")]
    frames += [agent_asks(4, "terminal/output", terminalId="t")]
    frames += [
        client(id=4, result={"output": "one\ntwo\n", "truncated": False, "exitStatus": None})
    ]
    frames += [client(id=3, result={"exitCode": 1, "signal": None})]
    frames += [agent_asks(5, "terminal/release", terminalId="t"), client(id=5, result={})]
    ended_ = {**shown, "output": "one\ntwo\n", "exitStatus": {"exitCode": 1}}
    assert terminals(told(*frames)) == [ended_]


def test_terminal_requests_that_fail_tell_nothing() -> None:
    """A refused request, and one without a session, make no terminal."""
    frames = [agent_asks(1, "terminal/create", command="x"), client(id=1, error={"code": 1})]
    frames += [agent_asks(2, "terminal/create", sessionId=5), client(id=2, result={})]
    frames += [agent_asks(3, "terminal/output", terminalId=5)]
    frames += [client(id=3, result={"output": 5, "exitStatus": 5})]
    assert play(frames).sessions == ()


POLLS: dict[str, tuple[list[tuple[str, bool]], str]] = {
    "that grow": ([("one\n", False), ("one\ntwo\n", False)], "one\ntwo\n"),
    "whose beginning is cut off": (
        [("one\ntwo\n", False), ("two\nthree\n", True), ("three\nfour\n", True)],
        "one\ntwo\nthree\nfour\n",
    ),
    "that repeat themselves": ([("a\na\na\n", False), ("a\na\nb\n", True)], "a\na\na\nb\n"),
    "that miss something": ([("one\n", False), ("nine\n", True)], "nine\n"),
    "that begin cut off": ([("two\n", True), ("two\nthree\n", True)], "two\nthree\n"),
}


@pytest.mark.parametrize("case", POLLS)
def test_truncated_output_goes_on_with_what_is_known(case: str) -> None:
    """A client that cuts the beginning off leaves what was polled before."""
    polls, expected = POLLS[case]
    frames = [
        agent_asks(0, "terminal/create", command="x"),
        client(id=0, result={"terminalId": "t"}),
    ]
    for number, (output, truncated) in enumerate(polls, 1):
        frames.append(agent_asks(number, "terminal/output", terminalId="t"))
        frames.append(client(id=number, result={"output": output, "truncated": truncated}))
    assert [one["output"] for one in terminals(told(*frames))] == [expected]
