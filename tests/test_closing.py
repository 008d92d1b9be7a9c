"""Closing sessions, and keeping less of them: what a client does that is left alone for days."""

from __future__ import annotations

import base64
import tracemalloc
from typing import Any

import pytest
from toy_renderer import ToyRenderer, drawn
from traffic import chunk_line, line, open_session, permission_line, text, update_line

from acp_client import (
    Limits,
    Snapshot,
    Store,
    UnknownPermissionError,
    UnknownSessionError,
    wire,
)
from acp_client._delivery import Delivery
from acp_client._versions import Protocol

OUTPUT = {"terminalId": "t"}


def answered(request_id: Any) -> bytes:
    """Answer a prompt."""
    return line(id=request_id, result={"messageId": "m"})


# --- Closing ---


def test_a_closed_session_is_gone() -> None:
    """The snapshot is gone, the other sessions stay, and closing twice is an error."""
    store = Store()
    store.receive(chunk_line("a", "m", "s1") + chunk_line("b", "m", "s2"))
    kept = store.snapshot("s1")
    store.forget_session("s1")
    assert store.sessions == ("s2",)
    with pytest.raises(UnknownSessionError, match="s1"):
        store.snapshot("s1")
    with pytest.raises(UnknownSessionError, match="s1"):
        store.forget_session("s1")
    assert kept.entries[0].text == "a"  # type: ignore[union-attr]  # a message


@pytest.mark.parametrize("protocol", ["v2", None])
def test_later_updates_make_a_new_session(protocol: Protocol | None) -> None:
    """What the agent reports of a closed session begins it anew, from empty."""
    store = Store(protocol=protocol)
    store.receive(chunk_line("a") + chunk_line("b"))
    store.forget_session("s1")
    store.receive(chunk_line("c"))
    (entry,) = store.snapshot("s1").entries
    assert entry.text == "c"  # type: ignore[union-attr]  # a message


def of_version_1(number: int, session: str) -> bytes:
    """Write an update that only v1 has."""
    return update_line("tool_call", session, toolCallId=f"c{number}", title="t", kind="other")


@pytest.mark.parametrize("returns", [False, True])
def test_a_closed_session_stays_gone_when_the_version_turns_out(returns: bool) -> None:
    """The open requests that go over to the version agreed on are not those of a closed session."""
    store, seen = Store(), list[Delivery]()
    store.sent(line(id=0, method="initialize", params={"protocolVersion": 2}))
    open_session(open_session(store), "s2")
    store.prompt("s1", [wire.TextContent("hi")])
    store.prompt("s2", [wire.TextContent("hi")])
    store.subscribe(seen.append, session="s1")
    store.forget_session("s1")
    del seen[:]
    store.receive(line(id=0, result={"protocolVersion": 1}))
    if returns:
        store.receive(of_version_1(2, "s1"))
    assert store.protocol == "v1"
    assert set(store.sessions) == ({"s1", "s2"} if returns else {"s2"})
    assert [len(one.new.entries) for one in seen] == ([1] if returns else [])
    assert [prompt.status for prompt in store.snapshot("s2").prompts] == ["pending"]


def test_subscribers_are_told_that_nothing_is_left() -> None:
    """Whoever draws the session draws it empty; whoever draws all of them meets it anew later."""
    store = Store()
    store.receive(chunk_line("a"))
    one, every = list[Delivery](), list[Delivery]()
    store.subscribe(one.append, session="s1")
    store.subscribe(every.append)
    reader = store.reader("s1")
    for told in (one, every):
        assert told.pop().is_first
    store.forget_session("s1")
    for told in (one, every):
        (gone,) = told
        assert not gone.is_first
        assert gone.origin == "local"
        assert gone.new == Snapshot("s1")
        renderer = ToyRenderer(gone.old)
        renderer.apply(gone.changes)
        assert renderer.drawn == drawn(Snapshot("s1"))
    step = reader.take()
    assert step is not None
    assert step.new == Snapshot("s1")
    store.receive(chunk_line("b"))
    assert [delivery.is_first for delivery in (one[-1], every[-1])] == [False, True]
    assert one[-1].old == Snapshot("s1")
    assert one[-1].new is every[-1].new is store.snapshot("s1")


@pytest.mark.parametrize("protocol", ["v2", "v1"])
def test_answers_do_not_bring_a_closed_session_back(protocol: Protocol) -> None:
    """An answer to a request of a closed session tells nothing, and its permissions are gone."""
    store = Store(protocol=protocol)
    prompt = {"sessionId": "s1", "prompt": [{"type": "text", "text": "hi"}]}
    load = {"sessionId": "s1", "cwd": "/", "mcpServers": [], "replayFrom": {"type": "start"}}
    options = {"sessionId": "s1", "configId": "o", "value": "v", "type": "select"}
    sent = [
        line(id=0, method="session/prompt", params=prompt),
        line(id=1, method="session/resume", params=load),
        line(id=2, method="session/load", params=load),
        line(id=3, method="session/set_config_option", params=options),
    ]
    asked = {"toolCallId": "c", "title": "t"}
    for data in sent:
        store.sent(data)
    store.receive(permission_line(5, toolCall=asked))
    request = store.prompt("s1", [text("hi")]).request_id
    store.forget_session("s1")
    for request_id in (request, 0, 1, 2, 3):
        store.receive(answered(request_id))
        store.receive(line(id=request_id, error={"code": 1, "message": "no"}))
    assert store.sessions == ()
    assert {problem.path for problem in store.problems} <= {"$.result.configOptions"}
    with pytest.raises(UnknownSessionError):
        store.answer_permission("s1", 5, None)
    store.receive(chunk_line("x"))
    with pytest.raises(UnknownPermissionError):
        store.answer_permission("s1", 5, None)


def test_requests_of_no_session_stay_open() -> None:
    """A session whose id is empty takes nothing else along."""
    store = Store(protocol="v2")
    store.sent(line(id=0, method="session/new", params={"cwd": "/", "mcpServers": []}))
    store.receive(chunk_line("x", "m", ""))
    store.forget_session("")
    store.receive(line(id=0, result={"sessionId": "s2"}))
    assert store.sessions == ("s2",)


@pytest.mark.parametrize("protocol", ["v2", "v1"])
def test_memory_is_level_where_sessions_come_and_go(protocol: Protocol) -> None:
    """Sessions that are opened and closed leave nothing behind."""
    store = Store(protocol=protocol)

    def live(number: int) -> None:
        session = f"session {number}"
        store.sent(line(id=number, method="session/prompt", params=prompt(session)))
        store.receive(permission_line(number, session, toolCall={"toolCallId": "c", "title": "t"}))
        for place in range(20):
            store.receive(chunk_line("some words " * 20, f"m{place}", session))
        store.forget_session(session)

    for number in range(20):
        live(number)
    tracemalloc.start()
    try:
        for number in range(20, 60):
            live(number)
        before = tracemalloc.get_traced_memory()[0]
        for number in range(60, 220):
            live(number)
        assert tracemalloc.get_traced_memory()[0] - before < 50_000
    finally:
        tracemalloc.stop()


def prompt(session: str) -> dict[str, Any]:
    """Give the parameters of a prompt."""
    return {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]}


# --- Terminals ---


@pytest.mark.parametrize("limit", [0, 1, 7, 64])
def test_the_oldest_output_goes_and_is_counted(limit: int) -> None:
    """Of a terminal's output the last bytes are kept, and those that went are counted."""
    store = Store(limits=Limits(terminal_bytes=limit), protocol="v2")
    whole = b""
    for number in range(30):
        data = b"%d " % number * (number % 4)
        whole += data
        encoded = base64.b64encode(data).decode()
        store.receive(update_line("terminal_output_chunk", **OUTPUT, data=encoded))
        (terminal,) = store.snapshot("s1").terminals
        assert terminal.output == whole[max(0, len(whole) - limit) :]
        assert terminal.dropped_bytes + len(terminal.output) == len(whole)


def test_new_output_is_counted_anew() -> None:
    """Output that the agent replaces is limited too, and what went before it is forgotten."""
    store = Store(limits=Limits(terminal_bytes=4), protocol="v2")
    data = base64.b64encode(b"123456").decode()
    store.receive(update_line("terminal_output_chunk", **OUTPUT, data=data) * 3)
    assert store.snapshot("s1").terminals[0].dropped_bytes == 14
    store.receive(update_line("terminal_update", **OUTPUT, output={"data": data}))
    (terminal,) = store.snapshot("s1").terminals
    assert (terminal.output, terminal.dropped_bytes) == (b"3456", 2)


def test_limited_output_is_all_that_is_kept() -> None:
    """A terminal that never stops takes no more memory than its limit asks for."""
    store = Store(limits=Limits(terminal_bytes=10_000), protocol="v2")
    data = base64.b64encode(b"x" * 6_000).decode()
    for _ in range(200):
        store.receive(update_line("terminal_output_chunk", **OUTPUT, data=data))
    assert store.snapshot("s1").terminals[0].dropped_bytes == 200 * 6_000 - 10_000
    assert store.memory().terminals < 25_000
