"""Which version of the protocol a connection speaks: said, agreed on, or seen."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from traffic import chunk_line, line, open_session, permission_line, update_line
from v1_traffic import (
    SESSION,
    Frame,
    agent,
    call,
    chunk,
    client,
    conversation,
    ended,
    permission,
    play,
    prompt,
    said,
)

import acp_client
from acp_client import Store, wire

Version = Literal["v1", "v2"]

CHUNKS_V1 = [chunk("a"), chunk("b"), chunk("c")]
RUNNING: Frame = (False, update_line("state_update", SESSION, state="running"))
CHUNKS_V2: list[Frame] = [(False, chunk_line(said, session=SESSION)) for said in "abc"]
CHUNK_V2 = CHUNKS_V2[0]
PLAN: Frame = said("plan", entries=[])
MODE: Frame = said("current_mode_update", currentModeId="m")
COMMANDS = [{"name": "a", "description": "A"}, {"name": "b", "description": "B"}]
OPTION = {"id": "a", "name": "A", "type": "boolean", "currentValue": True}


def offers(version: Any, request_id: int = 0) -> Frame:
    """Write an `initialize`."""
    return client(id=request_id, method="initialize", params={"protocolVersion": version})


def agrees(version: Any, request_id: int = 0) -> Frame:
    """Write the answer to an `initialize`."""
    return agent(id=request_id, result={"protocolVersion": version})


CASES: dict[str, tuple[list[Frame], Version]] = {
    "nothing": ([], "v2"),
    "v1 is agreed on": ([offers(2), agrees(1)], "v1"),
    "v1 is agreed on, after lines that look otherwise": ([offers(2), RUNNING, agrees(1)], "v1"),
    "v2 is agreed on": ([offers(2), agrees(2), *CHUNKS_V1], "v2"),
    "v1 is offered": ([offers(1)], "v1"),
    "the draft before v1 is offered": ([offers(0)], "v1"),
    "v1 is offered, and v2 spoken": ([offers(1), RUNNING], "v1"),
    "v2 is offered": ([offers(2)], "v2"),
    "v2 is offered, and nothing agreed on": ([offers(2), *CHUNKS_V1, call()], "v2"),
    "v2 is refused": ([offers(2), agent(id=0, error={"code": 1, "message": "no"})], "v2"),
    "v2 is refused, then v1 offered": ([offers(2), agent(id=0, error={}), offers(1, 1)], "v1"),
    "only the answer is there": ([agrees(1)], "v1"),
    "only the answer is there, of v2": ([agrees(2), *CHUNKS_V1], "v2"),
    "in a batch": ([(False, b"[5,%s]\n" % agrees(1)[1].strip())], "v1"),
    "no version that exists": ([offers("1"), agrees(True), agrees(-1)], "v2"),
    "messages of v1 alone": ([call(), *CHUNKS_V1, PLAN, MODE], "v2"),
    "a word in a text": ([chunk("protocolVersion")], "v2"),
    "junk": ([(False, b'{"protocolVersion": 1\n'), (False, b"[" * 2_000 + b"\n")], "v2"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_version_is_learned(case: str) -> None:
    """Nothing but `initialize` says which version it is, however its lines are cut."""
    frames, version = CASES[case]
    assert play(frames, None).protocol == version
    assert play(frames, None, size=7).protocol == version


def test_a_prompt_before_the_version_is_known_becomes_an_entry() -> None:
    """The open requests go over to the version that is agreed on, prompts with their entries."""
    store = Store()
    frames = [
        offers(2),
        client(id=7, method="session/new", params={}),
        prompt(1, "hello"),
        agrees(1),
        chunk("hi"),
        ended(1),
    ]
    for sent, data in [*frames, agent(id=7, result={"sessionId": "t", "modes": {}})]:
        (store.sent if sent else store.receive)(data)
    assert store.sessions == (SESSION, "t")
    assert conversation(store.snapshot(SESSION)) == [
        ("user_message", "hello"),
        ("agent_message", "hi"),
    ]
    assert [one.status for one in store.snapshot(SESSION).prompts] == ["accepted"]
    assert (store.agent is not None, store.problems) == (True, ())


ONLY_V1: dict[str, Frame] = {
    "a tool call": call(),
    "a plan": PLAN,
    "a mode": MODE,
    "a permission request": permission(5, {"toolCallId": "c"}),
    "in a batch": (False, b"[%s]\n" % call()[1].strip()),
}


@pytest.mark.parametrize("case", ONLY_V1)
@pytest.mark.parametrize("protocol", [None, "v2"])
def test_what_only_v1_has_is_a_problem_in_v2_once(case: str, protocol: Version | None) -> None:
    """A store that reads v2 says when that must be wrong, and does not say it again."""
    store = Store(protocol=protocol)
    for _ in range(3):
        store.receive(CHUNK_V2[1] + ONLY_V1[case][1])
    found = [one for one in store.problems if "ACP v1" in one.message]
    assert [(one.line, one.kind, one.path) for one in found] == [(2, "invalid_message", "$")]
    assert store.protocol == "v2"


NOT_ONLY_V1: dict[str, Frame] = {
    "an unknown update": said("_vendor", k="tool_call"),
    "a tool call without an id": said("tool_call", title="x"),
    "a chunk with an id": CHUNK_V2,
    "a malformed chunk": said("agent_message_chunk", messageId="m", content=5),
    "a permission request of v2": (False, permission_line(1)),
    "junk": (False, b'"tool_call"\n'),
}


@pytest.mark.parametrize("case", NOT_ONLY_V1)
def test_other_messages_say_nothing_of_the_version(case: str) -> None:
    """What v2 may have, or what is malformed in both, is not a sign of v1."""
    store = play([NOT_ONLY_V1[case]], None)
    assert [one for one in store.problems if "ACP v1" in one.message] == []


def test_a_protocol_that_is_none_is_refused() -> None:
    """A version that does not exist is the caller's mistake."""
    with pytest.raises(acp_client.InvalidValueError, match="must be 'v1' or 'v2'"):
        Store(protocol="v3")  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize(("written", "expected"), [(b"1", "v1"), (b"1.0", "v1"), (b"2.0", "v2")])
def test_a_version_is_a_number_however_it_is_written(written: bytes, expected: str) -> None:
    """`1.0` is the integer 1."""
    store = Store()
    store.sent(offers(2)[1] + b"\n")
    store.receive(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":%b}}\n' % written)
    assert store.protocol == expected


# --- After a lost connection ---


INFO = {"name": "agent", "version": "1"}


def _initialized(version: int, number: int) -> tuple[bytes, bytes]:
    """Write what the client asks, offering v2, and an agent's answer."""
    asked = line(id=number, method="initialize", params={"protocolVersion": 2})
    more: Any = {"agentCapabilities": {}} if version == 1 else {"info": INFO, "capabilities": {}}
    return asked, line(id=number, result={"protocolVersion": version, **more})


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_the_next_connection_may_speak_another_version(first: int, second: int) -> None:
    """What `initialize` agreed on ends with the connection; prompts sent before the answer live."""
    store = Store()
    out: Any = None
    for number, version in enumerate((first, second)):
        asked, answered = _initialized(version, number)
        store.sent(asked)
        if number:
            out = open_session(store).prompt("s1", [wire.TextContent("hi")])
        store.receive(answered)
        if not number:
            store.disconnect()
    assert store.protocol == f"v{second}"
    assert store.agent is not None
    assert store.agent.protocol_version == second
    result = {"stopReason": "end_turn"} if second == 1 else {"messageId": "u"}
    store.receive(line(id=out.request_id, result=result))
    assert [prompt.status for prompt in store.snapshot("s1").prompts] == ["accepted"]
    assert store.problems == ()


def test_a_chosen_version_outlives_the_connection() -> None:
    """What the caller chose is not for an agent to change."""
    store = Store(protocol="v2")
    store.disconnect()
    for data in _initialized(1, 1):
        store.sent(data) if b"method" in data else store.receive(data)
    assert store.protocol == "v2"
