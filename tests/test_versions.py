"""Which version of the protocol a connection speaks: said, agreed on, or seen."""

from __future__ import annotations

from typing import Any, Literal

import pytest
import strategies
from hypothesis import given
from traffic import chunk_line, line, open_session, permission_line, update_line
from v1_traffic import (
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
    permission,
    play,
    prompt,
    said,
    text,
    thought,
)

import acp_client
from acp_client import Limits, Store, wire
from acp_client._versions import _FIRST

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
    # initialize
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
    "no version that exists": ([offers("1"), agrees(True), agrees(-1)], "v2"),
    # What only v1 has
    "a session with modes": ([agent(id=1, result={"sessionId": "s", "modes": {}})], "v1"),
    "a session with models": ([agent(id=1, result={"sessionId": "s", "models": {}})], "v1"),
    "a session with options": (
        [agent(id=1, result={"sessionId": "s", "configOptions": [OPTION]})],
        "v1",
    ),
    "a permission request": ([permission(1, {"toolCallId": "c"})], "v1"),
    "a session is loaded": ([asks(1, "session/load")], "v1"),
    "a mode is set": ([asks(1, "session/set_mode", modeId="m")], "v1"),
    "a terminal of the client": ([agent_asks(1, "terminal/create", command="x")], "v1"),
    "a batch": ([(False, b"[5,%s]\n" % permission(1, {"toolCallId": "c"})[1].strip())], "v1"),
    # What may be v2 that lacks a part, or that nobody knows
    "a tool call": ([call()], "v2"),
    "the same tool call again": ([call()] * 5, "v2"),
    "a tool call, a plan, and a mode": ([call(), PLAN, MODE], "v1"),
    "commands without a type, options with an id, and a mode": (
        [
            said("available_commands_update", availableCommands=COMMANDS),
            said("config_option_update", configOptions=[OPTION]),
            MODE,
        ],
        "v1",
    ),
    "a tool call and two chunks without an id": ([call(), *CHUNKS_V1[:2]], "v1"),
    "three chunks without an id": (CHUNKS_V1, "v1"),
    "thoughts and messages without an id": ([thought("a"), thought("b"), chunk("c")], "v1"),
    "the same chunk again": ([*CHUNKS_V1[:2], *[CHUNKS_V1[1]] * 5, *CHUNKS_V2], "v2"),
    "chunks that are malformed": (
        [said("agent_message_chunk", content={"k": at}) for at in range(5)],
        "v2",
    ),
    "chunks with more in them": ([chunk(str(at), extra=1) for at in range(5)], "v2"),
    "as many chunks with an id before them": ([*CHUNKS_V2, *CHUNKS_V1], "v2"),
    "a prompt that stops": ([prompt(1, "q"), chunk("a"), ended(1)], "v1"),
    "a reason to stop that nobody asked for": ([CHUNK_V2, ended(1)], "v2"),
    "a reason to stop beside an id": (
        [prompt(1, "q"), CHUNK_V2, agent(id=1, result={"stopReason": "x", "messageId": "m"})],
        "v2",
    ),
    "one command without a type": (
        [said("available_commands_update", availableCommands=COMMANDS[:1])],
        "v2",
    ),
    "a tool call without an id": ([said("tool_call", title="x")], "v2"),
    "a plan without steps": ([said("plan")], "v2"),
    "lists that are none": (
        [said("available_commands_update"), said("config_option_update", configOptions=[])],
        "v2",
    ),
    "a permission request without a call": ([agent_asks(1, "session/request_permission")], "v2"),
    # What only v2 has
    "a state": ([RUNNING, *CHUNKS_V1, call()], "v2"),
    "a whole message": ([said("user_message", messageId="m"), call()], "v2"),
    "a permission request with a title": ([(False, permission_line(1)), call()], "v2"),
    # What both have
    "chunks with an id": (CHUNKS_V2, "v2"),
    "chunks with an id, then a tool call": ([*CHUNKS_V2 * 10, call()], "v2"),
    "chunks with an id, then more": ([*CHUNKS_V2 * 10, call(), PLAN, MODE], "v1"),
    "an update of a tool call": ([said("tool_call_update", toolCallId="c")], "v2"),
    "junk": ([(False, b"junk\n"), (False, b"[1]\n"), said(5), (False, b"[" * 2_000 + b"\n")], "v2"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_version_is_learned(case: str) -> None:
    """The messages say which version it is, as early as they can, and however they are cut."""
    frames, version = CASES[case]
    assert play(frames, None).protocol == version
    assert play(frames, None, size=7).protocol == version


@pytest.mark.parametrize("case", CASES)
def test_what_came_before_is_told_again(case: str) -> None:
    """Once the version is known, everything is as if it had been known from the start."""
    frames, version = CASES[case]
    learned, given_ = play(frames, None), play(frames, version)
    assert learned.sessions == given_.sessions
    assert learned.problems == given_.problems
    assert learned.problem_counts == given_.problem_counts
    assert learned.agent == given_.agent
    for session_id in given_.sessions:
        assert learned.snapshot(session_id) == given_.snapshot(session_id)


HINTS: dict[str, tuple[list[Frame], Version]] = {
    "one chunk without an id": ([chunk("a")], "v2"),
    "two chunks without an id": ([chunk("a"), chunk("b")], "v1"),
    "one tool call": ([call()], "v2"),
    "a tool call and a plan": ([call(), PLAN], "v1"),
    "a prompt and its end": ([prompt(1, "q"), CHUNK_V2, ended(1)], "v1"),
    "as many chunks with an id": ([chunk("a"), CHUNK_V2], "v2"),
    "an update of both": ([said("tool_call_update", toolCallId="c")], "v2"),
    "a chunk without an id where v2 was offered": ([offers(2), chunk("a")], "v2"),
    "a chunk without an id after a state": ([RUNNING, chunk("a")], "v2"),
}


@pytest.mark.parametrize("case", HINTS)
def test_a_hint_counts_at_the_end(case: str) -> None:
    """A recording that ends before anything is certain is what it looks like."""
    frames, version = HINTS[case]
    store = play(frames, None)
    given_ = play(frames, version)
    assert store.protocol == version
    assert store.problems == given_.problems
    assert [store.snapshot(name) for name in store.sessions] == [
        given_.snapshot(name) for name in given_.sessions
    ]


def test_a_prompt_before_the_first_telling_line_is_an_entry() -> None:
    """A prompt of v1 is an entry although the version was seen after it, and problems go."""
    frames = [prompt(1, "hello"), (False, b"junk\n"), *CHUNKS_V1]
    store = Store()
    for sent, data in frames[:-1]:
        (store.sent if sent else store.receive)(data)
    assert [problem.kind for problem in store.problems] == ["not_json", "rejected", "rejected"]
    assert [one.status for one in store.snapshot(SESSION).prompts] == ["pending"]
    for sent, data in frames[-1:]:
        assert not sent
        store.receive(data)
    assert conversation(store.snapshot(SESSION)) == [
        ("user_message", "hello"),
        ("agent_message", "abc"),
    ]
    assert [(problem.line, problem.kind) for problem in store.problems] == [(1, "not_json")]


def test_what_the_store_itself_sent_is_told_again() -> None:
    """Prompts, answers and cancels through the store are remembered like a transport's."""
    store = Store()
    open_session(store, SESSION).prompt(SESSION, [acp_client.wire.TextContent("hello")])
    store.receive(permission_line(5, SESSION).replace(b'"title": "May I?", ', b""))
    store.receive(agent_asks("x", "_unknown")[1])
    store.cancel(SESSION)
    assert store.snapshot(SESSION).prompts[0].status == "pending"
    for _, data in (call(), PLAN, MODE):
        store.receive(data)
    assert store.protocol == "v1"
    assert conversation(store.snapshot(SESSION)) == [("user_message", "hello"), ("tool_call", "Do")]
    assert store.snapshot(SESSION).permissions == ()


def test_an_answer_through_the_store_is_told_again() -> None:
    """A permission request that was answered before the version was known stays answered."""
    store = Store()
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    asked = agent_asks(5, "session/request_permission", title=None, options=options)
    store.receive(asked[1].replace(b'"title": null', b'"description": "d", "title": "t"'))
    assert store.snapshot(SESSION).permissions
    store.answer_permission(SESSION, 5, "yes")
    assert store.protocol == "v2"
    assert store.snapshot(SESSION).permissions == ()


def test_a_session_of_the_other_version_goes() -> None:
    """A session that only the wrong version had is not there any more."""
    store = Store()
    stray = {"sessionId": "stray", "prompt": [text("x")]}
    store.receive(agent(id=9, method="session/request_permission", params={"sessionId": "o"})[1])
    store.sent(client(id=1, method="session/prompt", params=stray)[1])
    store.receive(call()[1])
    assert store.sessions == ("stray", SESSION)


def test_long_lines_are_told_again() -> None:
    """The problem of a line that is too long stays, whoever looks at the line."""
    store = Store(limits=Limits(line_length=400))
    store.receive(b"x" * 500 + b"\n" + call()[1] + PLAN[1] + MODE[1])
    store.sent(b"x" * 500 + b"\n")
    assert store.protocol == "v1"
    assert [(problem.line, problem.kind) for problem in store.problems] == [(1, "too_long")]


def test_the_search_ends() -> None:
    """What does not show for many lines is v2 for good."""
    store = play([CHUNK_V2] * _FIRST, None)
    store.receive(call()[1])
    assert store.protocol == "v2"
    assert [entry.type for entry in store.snapshot(SESSION).entries] == ["agent_message", "unknown"]


def test_lines_are_remembered_in_part() -> None:
    """What is remembered until it shows takes no more memory than a few lines may need."""
    store = Store()
    junk = b"x" * 1_000_000 + b"\n"
    for _ in range(8):
        store.sent(junk)
        store.receive(junk)
        assert store.memory().total < 5_000_000
    prompts = Store()
    for _ in range(2 * _FIRST):
        open_session(prompts, SESSION).prompt(SESSION, [wire.TextContent("hello")])
    assert prompts._messages._lines == []


def test_a_lost_connection_settles_it() -> None:
    """What was told before a loss is not told again."""
    store = Store()
    store.sent(prompt(1, "hello")[1])
    store.disconnect()
    store.receive(call()[1])
    assert store.protocol == "v2"
    assert [one.status for one in store.snapshot(SESSION).prompts] == ["uncertain"]


def test_a_protocol_that_is_none_is_refused() -> None:
    """A version that does not exist is the caller's mistake."""
    with pytest.raises(acp_client.InvalidValueError, match="must be 'v1' or 'v2'"):
        Store(protocol="v3")  # type: ignore[arg-type]  # the mistake


@given(strategies.sessions(well_formed=True, max_frames=30))
def test_sessions_of_v2_are_known(frames: list[strategies.Frame]) -> None:
    """Whole sessions of v2 are never taken for v1."""
    store = Store()
    for frame in frames:
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
    assert store.protocol == "v2"


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


@pytest.mark.parametrize("protocol", [None, "v1", "v2"])
@pytest.mark.parametrize("place", ["rawInput", "_meta", "vendor"])
def test_what_nests_deeply_is_compared_without_end_of_the_stack(
    protocol: Literal["v1", "v2"] | None, place: str
) -> None:
    """While it is open what is spoken, updates are compared, and none of them is too deep."""
    value = {"k": "deep"} if place == "_meta" else "deep"
    update = update_line("tool_call_update", toolCallId="c", **{place: value})
    deep = update.replace(b'"deep"', b"[" * 990 + b"]" * 990)
    store = Store(protocol=protocol)
    store.receive(deep + deep + update_line("agent_message", messageId="m", content=[]))
    assert [entry.type for entry in store.snapshot("s1").entries] == ["tool_call", "agent_message"]
    assert store.problems == ()
