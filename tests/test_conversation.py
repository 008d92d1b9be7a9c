"""The store owns the conversation: its requests and their answers, the agent's, and the queue."""

from __future__ import annotations

import itertools
import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic import chunk_line, line, open_session, permission_line, text

import acp_client
from acp_client import Delivery, Responder, Store, wire

HI = [text("hi")]
REFUSED = {"code": -32000, "message": "Authentication required"}


def messages(data: bytes) -> list[Any]:
    """Parse lines."""
    return [json.loads(one) for one in data.splitlines()]


# --- Requests of the client ---

CALLS: dict[str, tuple[Any, str, Any]] = {
    "initialize": (
        lambda store, **more: store.initialize("c", "1", **more),
        "initialize",
        {
            "protocolVersion": 2,
            "info": {"name": "c", "version": "1"},
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
            "clientCapabilities": {},
        },
    ),
    "login": (lambda store, **more: store.login("m", **more), "auth/login", {"methodId": "m"}),
    "logout": (lambda store, **more: store.logout(**more), "auth/logout", {}),
    "new": (
        lambda store, **more: store.new_session("/w", **more),
        "session/new",
        {"cwd": "/w", "mcpServers": []},
    ),
    "load": (
        lambda store, **more: store.load_session("s1", "/w", **more),
        "session/load",
        {"sessionId": "s1", "cwd": "/w", "mcpServers": []},
    ),
    "resume": (
        lambda store, **more: store.resume_session("s1", "/w", more={"x": 1}, **more),
        "session/resume",
        {
            "sessionId": "s1",
            "cwd": "/w",
            "mcpServers": [],
            "x": 1,
            "replayFrom": {"type": "start"},
        },
    ),
    "list": (
        lambda store, **more: store.list_sessions(cursor="c", **more),
        "session/list",
        {"cursor": "c"},
    ),
    "close": (
        lambda store, **more: store.close_session("s1", **more),
        "session/close",
        {"sessionId": "s1"},
    ),
    "delete": (
        lambda store, **more: store.delete_session("s9", **more),
        "session/delete",
        {"sessionId": "s9"},
    ),
    "prompt": (
        lambda store, **more: store.prompt("s1", HI, **more),
        "session/prompt",
        {"sessionId": "s1", "prompt": [{"type": "text", "text": "hi"}]},
    ),
    "option": (
        lambda store, **more: store.set_config_option("s1", "o", "v", **more),
        "session/set_config_option",
        {"sessionId": "s1", "configId": "o", "type": "id", "value": "v"},
    ),
    "switch": (
        lambda store, **more: store.set_config_option("s1", "o", True, **more),
        "session/set_config_option",
        {"sessionId": "s1", "configId": "o", "type": "boolean", "value": True},
    ),
    "any": (
        lambda store, **more: store.request("_vendor/x", {"k": wire.TextContent("t")}, **more),
        "_vendor/x",
        {"k": {"type": "text", "text": "t"}},
    ),
}
"""By the name of a call: the call, its method and its parameters."""


@pytest.mark.parametrize("name", CALLS)
def test_each_call_writes_its_request(name: str) -> None:
    """A call queues one line, returns it with its id, and is in flight until it is answered."""
    call, method, params = CALLS[name]
    store = open_session(Store())
    out = call(store)
    assert store.data_to_send() == out.data
    assert messages(out.data) == [
        {"jsonrpc": "2.0", "id": out.request_id, "method": method, "params": params}
    ]
    ((asked),) = store.connection.requests
    assert (asked.request_id, asked.method) == (out.request_id, method)
    store.receive(line(id=out.request_id, error=REFUSED))
    assert store.connection.requests == ()
    assert store.connection.errors[-1].method == method


def test_version_1_has_words_of_its_own() -> None:
    """A store that was made for v1 offers it, and logs in and out in its words."""
    store = Store(protocol="v1")
    store.initialize("c", "1", capabilities={"fs": {}})
    store.login("m")
    store.logout()
    first, *others = messages(store.data_to_send())
    assert first["params"] == {
        "protocolVersion": 1,
        "clientInfo": {"name": "c", "version": "1"},
        "clientCapabilities": {"fs": {}},
    }
    assert [one["method"] for one in others] == ["authenticate", "logout"]


RESULTS: dict[str, tuple[Any, type]] = {
    "initialize": (
        {"protocolVersion": 2, "info": {"name": "a", "version": "1"}},
        wire.InitializeResponse,
    ),
    "new": ({"sessionId": "n"}, wire.NewSessionResponse),
    "resume": ({}, wire.ResumeSessionResponse),
    "prompt": ({"messageId": "m"}, wire.PromptResponse),
    "option": ({"configOptions": []}, wire.SetSessionConfigOptionResponse),
    "any": ({"x": [1]}, wire.Json),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("way", ["result", "error", "malformed", "lost", "lost for a reason"])
def test_each_answer_comes_once(name: str, way: str) -> None:
    """The answer is a wire object, or an error of the agent, of a bad shape or of the loss."""
    result, kind = RESULTS[name]
    seen: list[Any] = []
    store = open_session(Store())
    out = CALLS[name][0](store, on_answer=seen.append)
    assert seen == []
    reason = wire.Error(-1, "gone")
    if way == "result":
        answer = line(id=out.request_id, result=result)
        store.receive(answer + answer)
        assert [type(one) for one in seen] == [kind]
    elif way == "error":
        store.receive(line(id=out.request_id, error=REFUSED))
        assert seen == [wire.Error(-32000, "Authentication required")]
    elif way == "malformed":
        store.receive(line(id=out.request_id))
        assert [one.message for one in seen] == ["the answer is malformed"]
    else:
        store.disconnect(reason if way == "lost for a reason" else None)
        expected = reason if way == "lost for a reason" else seen[0]
        assert seen == [expected]
        assert isinstance(seen[0], wire.Error)
    store.receive(line(id=out.request_id, error=REFUSED))
    store.disconnect()
    assert len(seen) == 1


def test_an_answer_comes_after_what_its_read_changed() -> None:
    """Subscribers are called first, then who waits for an answer, in the order of the answers."""
    store, seen = open_session(Store()), list[Any]()
    first = store.prompt("s1", HI, on_answer=lambda answer: seen.append(("first", answer)))
    second = store.prompt("s1", HI, on_answer=lambda answer: seen.append(("second", answer)))
    store.subscribe(lambda delivery: seen.append(len(delivery.new.entries)), session="s1")
    store.subscribe_connection(lambda change: seen.append(change.fields))
    del seen[:]
    store.receive(
        line(id=second.request_id, result={"messageId": "m2"})
        + chunk_line("text")
        + line(id=first.request_id, result={"messageId": "m1"})
    )
    assert seen == [
        1,
        ("requests",),
        ("second", wire.PromptResponse("m2")),
        ("first", wire.PromptResponse("m1")),
    ]


def note(seen: list[Any], number: int, answer: Any) -> None:
    """Take note of an answer."""
    seen.append(number)


@given(st.lists(st.integers(0, 400), max_size=6))
def test_reads_may_be_cut_anywhere(cuts: list[int]) -> None:
    """Wherever the bytes are cut, each callback is called once, and in the same order."""
    store, seen = open_session(Store()), list[Any]()
    outs = [store.prompt("s1", HI, on_answer=partial(note, seen, number)) for number in range(4)]
    ids = [out.request_id for out in outs]
    data = b"".join(
        line(id=one, result={"messageId": f"m{one}"}) + chunk_line("session/update") for one in ids
    )
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, stop in itertools.pairwise(places):
        store.receive(data[start:stop])
    assert seen == [0, 1, 2, 3]


def test_a_callback_may_raise_and_call_back() -> None:
    """What a callback raises is reported, and what it asks is answered in its turn."""
    store, seen, errors = open_session(Store()), list[Any](), list[Exception]()
    store.on_callback_error = errors.append

    def answered(answer: Any) -> None:
        seen.append(answer.message_id)
        if len(seen) < 3:
            out = store.prompt("s1", HI, on_answer=answered)
            store.receive(line(id=out.request_id, result={"messageId": f"m{len(seen)}"}))
            assert len(seen) in (1, 2)
        raise RuntimeError("a callback failed")

    out = store.prompt("s1", HI, on_answer=answered)
    store.receive(line(id=out.request_id, result={"messageId": "m0"}))
    assert seen == ["m0", "m1", "m2"]
    assert len(errors) == 3


def test_an_id_that_is_used_again_fails_the_older_request() -> None:
    """A transport that takes the id of a request leaves no callback waiting."""
    store, seen = open_session(Store()), list[Any]()
    out = store.prompt("s1", HI, on_answer=seen.append)
    store.sent(line(id=out.request_id, method="session/list", params={}))
    assert [type(one) for one in seen] == [wire.Error]
    store.receive(line(id=out.request_id, result={"messageId": "m"}))
    assert len(seen) == 1


def test_a_forgotten_session_does_not_lose_an_answer() -> None:
    """Whoever waits for an answer gets it, but the session does not come back."""
    store, seen = open_session(Store()), list[Any]()
    out = store.prompt("s1", HI, on_answer=seen.append)
    store.prompt("s1", HI)
    store.forget_session("s1")
    assert [one.request_id for one in store.connection.requests] == [out.request_id]
    store.receive(line(id=out.request_id, result={"messageId": "m"}))
    assert seen == [wire.PromptResponse("m")]
    assert store.sessions == ()


def test_a_request_can_be_cancelled() -> None:
    """`$/cancel_request` names a request that is open; anything else is misuse."""
    store = open_session(Store())
    out = store.prompt("s1", HI)
    store.data_to_send()
    store.cancel_request(out.request_id)
    assert messages(store.data_to_send()) == [
        {
            "jsonrpc": "2.0",
            "method": "$/cancel_request",
            "params": {"requestId": out.request_id},
        }
    ]
    store.receive(line(id=out.request_id, error={"code": -32800, "message": "cancelled"}))
    with pytest.raises(acp_client.UnknownRequestError):
        store.cancel_request(out.request_id)
    assert store.data_to_send() == b""


@pytest.mark.parametrize(
    "misuse",
    [
        lambda store: store.prompt("unknown", HI),
        lambda store: store.cancel("unknown"),
        lambda store: store.close_session("unknown"),
        lambda store: store.forget_session("unknown"),
        lambda store: store.set_config_option("unknown", "o", "v"),
        lambda store: store.set_config_option("s1", "o", 5),
        lambda store: store.request("x", {"k": object()}),
        lambda store: store.request("x", on_answer=5),
        lambda store: store.request(5),
        lambda store: store.notify("x", 5),
        lambda store: store.new_session(5),
        lambda store: store.initialize("c", 1),
        lambda store: store.handle("x", 5),
        lambda store: store.handle_notification(5, print),
        lambda store: store.subscribe_connection(None),
    ],
)
def test_misuse_sends_nothing(misuse: Any) -> None:
    """A mistake of the caller raises an exception of ours: nothing is queued, nothing changes."""
    store = open_session(Store())
    before = store.connection, store.snapshot("s1")
    with pytest.raises(acp_client.AcpClientError):
        misuse(store)
    assert store.data_to_send() == b""
    assert (store.connection, store.snapshot("s1")) == before
    assert store.sessions == ("s1",)


# --- Requests of the agent ---


def test_a_request_without_a_handler_is_refused() -> None:
    """No agent waits for ever."""
    store = Store(protocol="v2")
    store.receive(line(id=5, method="fs/read_text_file", params={}))
    store.receive(line(id="x", method="_vendor"))
    assert messages(store.data_to_send()) == [
        {"jsonrpc": "2.0", "id": one, "error": {"code": -32601, "message": "Method not found"}}
        for one in (5, "x")
    ]
    assert store.sessions == ()
    assert store.problems == ()


def test_an_observer_answers_nothing() -> None:
    """Whoever has the conversation answers; the store follows."""
    store, called = Store(protocol="v2", observer=True), list[Any]()
    store.handle("x", called.append)
    store.receive(line(id=5, method="x") + line(id=6, method="y"))
    assert store.data_to_send() == b""
    assert called == []


@pytest.mark.parametrize("protocol", ["v1", "v2"])
@pytest.mark.parametrize("moment", ["now", "later"])
def test_a_handler_answers(protocol: Any, moment: str) -> None:
    """What a handler returns is the result; a responder answers once, at any time."""
    store, waiting = Store(protocol=protocol), list[Responder]()

    def read(request: Responder) -> Any:
        assert request.params == {"path": "/a"}
        waiting.append(request)
        return {"content": "text"} if moment == "now" else acp_client.LATER

    store.handle("fs/read_text_file", read)
    store.receive(line(id=5, method="fs/read_text_file", params={"path": "/a"}))
    (request,) = waiting
    assert (request.request_id, request.method) == (5, "fs/read_text_file")
    assert request.is_open is (moment == "later")
    if moment == "later":
        assert store.data_to_send() == b""
        request.result({"content": "text"})
    assert messages(store.data_to_send()) == [
        {"jsonrpc": "2.0", "id": 5, "result": {"content": "text"}}
    ]
    for again in (partial(request.result, 1), partial(request.error, 1, "x")):
        with pytest.raises(acp_client.UnknownRequestError):
            again()
    assert store.data_to_send() == b""
    store.handle("fs/read_text_file", None)
    store.receive(line(id=6, method="fs/read_text_file"))
    assert messages(store.data_to_send())[0]["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("raised", "code", "reported"),
    [
        (acp_client.HandlerError("no", 7, {"k": 1}), 7, 0),
        (RuntimeError("secret"), -32603, 1),
        (None, -32603, 1),
    ],
)
def test_a_handler_that_fails_answers_with_an_error(
    raised: Exception | None, code: int, reported: int
) -> None:
    """The agent gets an error, which says nothing of what went wrong unless the handler does."""
    store, errors = Store(protocol="v2"), list[Exception]()
    store.on_callback_error = errors.append

    def handler(request: Responder) -> Any:
        if raised is not None:
            raise raised
        return object()

    store.handle("x", handler)
    store.receive(line(id=5, method="x"))
    (answer,) = messages(store.data_to_send())
    assert answer["error"]["code"] == code
    assert "secret" not in answer["error"]["message"]
    assert answer["error"].get("data") == (raised.data if code == 7 else None)  # type: ignore[union-attr]
    assert len(errors) == reported


@pytest.mark.parametrize("ending", ["withdrawn", "lost", "asked again"])
def test_a_request_that_is_gone_is_not_answered(ending: str) -> None:
    """After a withdrawal, a loss or a newer request of the same id, an answer is misuse."""
    store, waiting = Store(protocol="v2"), list[Responder]()

    def handler(request: Responder) -> Any:
        waiting.append(request)
        return acp_client.LATER

    store.handle("x", handler)
    store.receive(line(id=5, method="x"))
    if ending == "withdrawn":
        store.receive(line(method="$/cancel_request", params={"requestId": 5}))
    elif ending == "lost":
        store.disconnect()
    else:
        store.receive(line(id=5, method="x"))
    assert not waiting[0].is_open
    with pytest.raises(acp_client.UnknownRequestError):
        waiting[0].result({})
    assert store.data_to_send() == b""


def test_a_withdrawal_in_the_same_read_comes_before_the_handler() -> None:
    """A handler whose request is gone already may look, and its result goes nowhere."""
    store, seen = Store(protocol="v2"), list[bool]()
    store.handle("x", lambda request: seen.append(request.is_open))
    withdrawal = line(method="$/cancel_request", params={"requestId": 5})
    store.receive(line(id=5, method="x") + withdrawal)
    assert seen == [False]
    assert store.data_to_send() == b""


def test_open_requests_are_limited() -> None:
    """The request beyond the limit is refused, and is not pending; the others go on."""
    store = Store(protocol="v2", limits=acp_client.Limits(open_requests=2))
    store.handle("x", lambda request: acp_client.LATER)
    store.receive(line(id=1, method="x") + permission_line(2) + permission_line(3))
    (refusal,) = messages(store.data_to_send())
    assert (refusal["id"], refusal["error"]["code"]) == (3, -32603)
    assert [one.request_id for one in store.snapshot("s1").permissions] == [2]
    store.answer_permission("s1", 2, "yes")
    store.receive(permission_line(3))
    assert [one.request_id for one in store.snapshot("s1").permissions] == [3]


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_notifications_can_be_handled(protocol: Any) -> None:
    """What is no update goes to its handler, in its turn."""
    store, seen = Store(protocol=protocol), list[Any]()
    store.handle_notification("_vendor/x", lambda method, params: seen.append((method, params)))
    store.receive(line(method="_vendor/x", params={"k": 1}) + line(method="_vendor/y"))
    assert seen == [("_vendor/x", {"k": 1})]


# --- The queue ---


def test_there_is_one_queue_in_one_order() -> None:
    """Requests, answers and the store's own answers are written as they were made."""
    store = open_session(Store(protocol="v2"))
    store.prompt("s1", HI)
    store.receive(permission_line(7) + line(id=8, method="unknown"))
    store.answer_permission("s1", 7, "yes")
    store.receive(permission_line(9))
    store.cancel("s1")
    store.notify("_vendor")
    assert [one.get("method", one.get("id")) for one in messages(store.data_to_send())] == [
        "session/prompt",
        8,
        7,
        "session/cancel",
        9,
        "_vendor",
    ]
    assert store.data_to_send() == b""


def test_what_was_not_written_is_forgotten_with_the_connection() -> None:
    """The next connection gets nothing of the last one."""
    store = open_session(Store())
    store.prompt("s1", HI)
    store.disconnect()
    assert store.data_to_send() == b""


def test_the_writer_is_woken() -> None:
    """The hook is called by who queued something, callbacks included, and may raise."""
    store, written, errors = open_session(Store(protocol="v2")), list[bytes](), list[Exception]()
    store.on_callback_error = errors.append
    store.on_data_to_send = lambda: written.append(store.data_to_send())

    def answer(delivery: Delivery) -> None:
        for asked in delivery.new.permissions:
            store.answer_permission("s1", asked.request_id, "yes")

    store.subscribe(answer)
    store.receive(permission_line(7))
    store.receive(chunk_line("text"))
    assert [messages(data)[0]["id"] for data in written] == [7]

    def fail() -> None:
        raise BrokenPipeError

    store.on_data_to_send = fail
    store.prompt("s1", HI)
    assert [type(error) for error in errors] == [BrokenPipeError]
