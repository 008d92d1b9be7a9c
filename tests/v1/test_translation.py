"""ACP v1 in the words of v2: one connection, whatever it brings."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from traffic import open_session
from v1_traffic import (
    CANCEL,
    HISTORY,
    LIVE,
    LOAD,
    SESSION,
    Frame,
    Json,
    agent,
    chunk,
    client,
    conversation,
    document,
    ended,
    only_call,
    permission,
    play,
    prompt,
    said,
    text,
    told,
)

import acp_client
from acp_client import wire

# --- What agents send beside the protocol ---


def test_unknown_updates_are_entries() -> None:
    """A kind that is not in the list is kept as it came, in its place."""
    snapshot = told(chunk("a"), said("_vendor", k=[1]), said("plan_removed", id="p"))
    assert document(snapshot)["entries"][1:] == [
        {"type": "unknown", "update": {"sessionUpdate": "_vendor", "k": [1]}},
        {"type": "unknown", "update": {"sessionUpdate": "plan_removed", "id": "p"}},
    ]


def test_updates_of_v2_are_understood() -> None:
    """Agents that are ahead of v1 are read, and what cannot be read is kept."""
    plan = {"type": "items", "id": "p", "entries": []}
    frames = [said("plan_update", plan=plan), said("agent_message", messageId="m", content=[])]
    frames += [said("tool_call_content_chunk", toolCallId="c", content={"type": "_x"})]
    frames += [said("user_message"), said("state_update", state="_busy")]
    frames += [said("agent_message_chunk", content=text("!"), messageId="m")]
    snapshot = told(*frames)
    assert [plan.plan_id for plan in snapshot.plans] == ["p"]  # type: ignore[union-attr]  # items
    assert conversation(snapshot) == [
        ("agent_message", "!"),
        ("tool_call", "None"),
        ("unknown", "{'sessionUpdate': 'user_message'}"),
    ]
    assert document(snapshot)["state"] == {"state": "_busy"}


def test_what_is_lenient_in_them_is_told() -> None:
    """An update of v2 that is read with a flaw leaves its problem."""
    store = play([said("user_message", messageId="m", content=[5])])
    assert [(one.kind, one.path) for one in store.problems] == [
        ("skipped", "$.params.update.content[0]")
    ]


def test_notifications_of_vendors_are_no_entries() -> None:
    """A notification outside `session/update` is not part of the conversation."""
    named = agent(method="_x/named", params={"sessionId": SESSION})
    others = [
        agent(method=name, params=[1]) for name in ("_x/stray", "elicitation/complete", "$/x")
    ]
    request = agent(id=1, method="_x/request", params={})
    snapshot = told(named, *others, request, chunk("a"), named, *others, request, chunk("b"))
    assert conversation(snapshot) == [("agent_message", "ab")]
    assert play([named, *others]).sessions == ()


def test_messages_are_read_as_far_as_they_can_be() -> None:
    """A version that is missing is forgiven, batches are taken apart, junk is a problem."""
    update = json.loads(chunk("a")[1])
    del update["jsonrpc"]
    batch = [update, 5, {"jsonrpc": "1.0", "method": "x"}, update]
    frames = [(False, json.dumps(each).encode() + b"\n") for each in (update, batch)]
    frames += [(False, b"not JSON\n"), (False, b"[" * 2_000 + b"\n"), (False, b"\n")]
    frames += [agent(method="session/update", params=5), said("x", sessionId=5), said(5)]
    store = play([*frames, agent(method="session/update", params={"sessionId": 5}), (False, b"{")])
    assert conversation(store.snapshot(SESSION))[0] == ("agent_message", "aaa")
    assert [one.kind for one in store.problems] == [
        "invalid_message",
        "invalid_message",
        "not_json",
        "too_deep",
        "rejected",
        "rejected",
        "rejected",
        "truncated",
    ]


def test_problems_of_a_batch_say_which_message() -> None:
    """A path begins with the place of its message in the batch, as in v2."""
    asked = client(id=3, method="session/new", params={})
    answer = agent(id=3, result={"sessionId": 5})
    for _, line in (agent(method="session/update", params={"sessionId": 5}), said(5), answer):
        store = play([asked, (False, b"[{}, " + line.rstrip() + b"]\n")])
        (alone,) = play([asked, (False, line)]).problems
        assert store.problems[1].path == alone.path.replace("$", "$[1]")
        assert store.problems[1].message == alone.message


def test_the_agent_is_known() -> None:
    """What `initialize` answers is there in the shape of v2."""
    capabilities = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False},
        "mcpCapabilities": {"http": True},
        "sessionCapabilities": {"delete": {}, "list": {}},
    }
    result = {
        "protocolVersion": 1,
        "agentInfo": {"name": "a", "version": "1", "title": None},
        "agentCapabilities": capabilities,
        "authMethods": [{"id": "key", "name": "Key", "description": None}, 5],
    }
    asked = client(id=0, method="initialize", params={"protocolVersion": 1})
    found = play([asked, agent(id=0, result=result)]).agent
    assert found is not None
    assert found.info == wire.Implementation("a", "1")
    assert found.capabilities.session == wire.SessionCapabilities(
        prompt=wire.PromptCapabilities(image=wire.MetaOnly()),
        mcp=wire.McpCapabilities(stdio=wire.MetaOnly(), http=wire.MetaOnly()),
        delete=wire.MetaOnly(),
    )
    assert found.auth_methods == (wire.AuthMethodAgent("key", "Key"),)
    for odd in ({"protocolVersion": 1}, {"protocolVersion": 1, "agentCapabilities": 5}):
        bare = play([asked, agent(id=0, result=odd)]).agent
        assert bare is not None
        assert bare.info == wire.Implementation("", "")
    assert play([asked, agent(id=0, result=[])]).agent is None
    assert play([asked, agent(id=0, error={"code": 1, "message": "no"})]).agent is None


def test_a_lost_connection_forgets_what_was_open() -> None:
    """Nothing is answered any more, and the next prompt ends the work by itself."""
    store = acp_client.Store(protocol="v1")
    for sent, data in [prompt(1, "a"), permission(5, {"toolCallId": "c"})]:
        (store.sent if sent else store.receive)(data)
    store.disconnect()
    assert store.snapshot(SESSION).permissions == ()
    store.receive(ended(1)[1])
    store.sent(prompt(1, "b")[1])
    store.receive(ended(1)[1])
    assert store.snapshot(SESSION).state == wire.StateUpdate("idle", stop_reason="end_turn")


def test_the_store_speaks_v1() -> None:
    """Prompting, cancelling and answering through the store are followed like a transport's."""
    store = acp_client.Store(protocol="v1")
    request = open_session(store, SESSION).prompt(SESSION, [wire.TextContent("hello")])
    store.receive(permission(5, {"toolCallId": "c", "title": "T"})[1])
    store.answer_permission(SESSION, 5, "yes")
    store.receive(permission(6, {"toolCallId": "c"})[1])
    assert b'"id":6' in store.cancel(SESSION).data
    store.receive(ended(request.request_id, "cancelled")[1])
    snapshot = store.snapshot(SESSION)
    assert snapshot.permissions == ()
    assert only_call(snapshot).status == "cancelled"
    assert snapshot.state == wire.StateUpdate("idle", stop_reason="cancelled")


def test_requests_without_a_session_are_left_alone() -> None:
    """What the client gets wrong makes no session and no problem."""
    odd = [client(id=1, method="session/prompt", params=5), client(id=2, method="session/load")]
    odd += [client(method="session/cancel"), client(id=3, method="session/close", params={})]
    odd += [client(method="session/set_mode"), (True, b"junk\n"), ended(1), ended("x")]
    store = play(odd)
    assert (store.sessions, store.problems) == ((), ())


# --- Whatever comes ---

JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.sampled_from(["", "s", "c", "x"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "id", "name", "text", "content", "toolCallId", "options"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
METHODS = ["initialize", "session/new", "session/load", "session/fork", "session/prompt"]
METHODS += ["session/resume", "session/set_mode", "session/set_model", "session/set_config_option"]
AGENT_METHODS = ["session/request_permission", "terminal/create", "terminal/output"]
AGENT_METHODS += ["terminal/wait_for_exit", "$/cancel_request", "_x/y"]
KINDS = ["tool_call", "tool_call_update", "plan", "current_mode_update", "usage_update"]
KINDS += ["available_commands_update", "config_option_update", "session_info_update", "_x"]
KINDS += ["user_message_chunk", "agent_message_chunk", "plan_update", "notice"]
FIELDS = ["content", "toolCallId", "title", "status", "kind", "_meta", "rawInput", "entries"]
FIELDS += ["configOptions", "configOption", "availableCommands", "used", "size", "messageId"]
FIELDS += ["currentModeId", "plan", "locations"]
PARAMS = ["sessionId", "prompt", "modeId", "configId", "value", "toolCall", "options", "requestId"]
PARAMS += ["terminalId", "command", "args", "protocolVersion"]
RESULTS = ["sessionId", "modes", "models", "configOptions", "stopReason", "output", "exitStatus"]
RESULTS += ["terminalId", "protocolVersion", "agentInfo", "agentCapabilities", "authMethods"]


def some(keys: list[str]) -> st.SearchStrategy[Json]:
    """Draw an object with some keys, its session mostly named."""
    return st.dictionaries(st.sampled_from(keys), JUNK, max_size=4).map(
        lambda drawn: {"sessionId": SESSION, **drawn}
    )


IDS = st.integers(0, 3)
MESSAGES = st.one_of(
    st.builds(said, st.sampled_from(KINDS)),
    st.builds(lambda kind, more: said(kind, **more), st.sampled_from(KINDS), some(FIELDS)),
    st.builds(
        lambda at, method, params: client(id=at, method=method, params=params),
        IDS,
        st.sampled_from(METHODS),
        some(PARAMS),
    ),
    st.builds(
        lambda at, method, params: agent(id=at, method=method, params=params),
        IDS,
        st.sampled_from(AGENT_METHODS),
        some(PARAMS),
    ),
    st.builds(
        lambda method, params: agent(method=method, params=params),
        st.sampled_from(AGENT_METHODS),
        some(PARAMS),
    ),
    st.builds(lambda at, result: agent(id=at, result=result), IDS, some(RESULTS) | JUNK),
    st.builds(lambda at, result: client(id=at, result=result), IDS, some(RESULTS) | JUNK),
    st.builds(lambda at, error: agent(id=at, error=error), IDS, JUNK),
    st.sampled_from([*LIVE, LOAD, *HISTORY, CANCEL, permission(1, {"toolCallId": "c"})]),
)


@given(st.lists(MESSAGES, max_size=12), st.sampled_from(["v1", None]), st.integers(1, 60))
def test_any_messages_are_survived_however_they_are_cut(
    frames: list[Frame], protocol: Any, size: int
) -> None:
    """Nothing raises, the cuts do not matter, and what comes of it can be stored."""
    store = play(frames, protocol)
    split = play(frames, protocol, size=size)
    assert split.sessions == store.sessions
    for session_id in store.sessions:
        snapshot = store.snapshot(session_id)
        assert split.snapshot(session_id) == snapshot
        assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot


def test_a_prompt_ends_once() -> None:
    """A second answer under the same id answers nothing."""
    frames = [prompt(1, "hi"), ended(1, "cancelled"), ended(1, "end_turn")]
    state = play(frames).snapshot(SESSION).state
    assert isinstance(state, wire.StateUpdate)
    assert state.stop_reason == "cancelled"
