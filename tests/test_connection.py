"""The connection as a value: phase, agent, login, requests and errors, and their changes."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any, get_args

import pytest
from traffic import line, update_line

import acp_client
from acp_client import Connection, ConnectionChanged, Store, wire
from acp_client._connection import PHASES, ConnectionDraft
from acp_client._events import ConnectionLost
from acp_client._requests import MALFORMED, ClientRequest, RequestAnswered, RequestSent

ERROR = wire.Error(-32000, "Authentication required")
AGENT = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}}

INITIALIZE = ClientRequest(0, "initialize")
STEPS: dict[str, Any] = {
    "initialize": RequestSent(INITIALIZE),
    "result": RequestAnswered(
        INITIALIZE, wire.InitializeResponse(2, wire.Implementation("a", "1"))
    ),
    "error": RequestAnswered(INITIALIZE, ERROR),
    "malformed": RequestAnswered(INITIALIZE, MALFORMED),
    "loss": ConnectionLost(),
}
PAIRS = list(product(get_args(acp_client.Phase), STEPS))


@pytest.mark.parametrize(("phase", "step"), PAIRS)
def test_each_pair_of_phase_and_step(phase: Any, step: str) -> None:
    """A step moves the phase as the table says, or leaves it alone."""
    draft = ConnectionDraft(Connection(phase=phase))
    draft.reduce(STEPS[step])
    assert draft.freeze().phase == PHASES.get((phase, step), phase)


def test_the_table_of_phases_names_what_there_is() -> None:
    """No transition begins or ends anywhere else."""
    assert PHASES.keys() <= set(PAIRS)
    assert set(PHASES.values()) <= set(get_args(acp_client.Phase))


def test_a_connection_from_beginning_to_end() -> None:
    """Subscribers get what there is, and then each change with its fields."""
    store, seen = Store(), list[ConnectionChanged]()
    store.subscribe_connection(seen.append)
    assert [(one.fields, one.new) for one in seen] == [((), Connection())]
    request = store.initialize("c", "1")
    phases = [store.connection.phase]
    store.receive(line(id=request.request_id, result=AGENT))
    phases.append(store.connection.phase)
    assert store.connection.agent is store.agent is not None
    request = store.new_session("/")
    store.receive(line(id=request.request_id, error={"code": ERROR.code, "message": ERROR.message}))
    connection = store.connection
    assert connection.last_error == ERROR
    assert [(one.method, one.request_id) for one in connection.errors] == [
        ("session/new", request.request_id)
    ]
    assert connection.login == "required"
    store.disconnect(wire.Error(-1, "gone"))
    phases.append(store.connection.phase)
    assert phases == ["initializing", "ready", "lost"]
    assert store.connection.loss == wire.Error(-1, "gone")
    assert [one.fields for one in seen[1:]] == [
        ("phase", "requests"),
        ("phase", "agent", "requests"),
        ("requests",),
        ("login", "requests", "errors"),
        ("phase", "loss"),
    ]
    assert all(one.old is other.new for other, one in pairwise(seen))
    store.initialize("c", "1")
    assert [store.connection.phase, store.connection.loss] == ["initializing", None]


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_login(protocol: Any) -> None:
    """A refused login is an error that stays until one succeeds."""
    store = Store(protocol=protocol)
    request = store.login("m")
    store.receive(line(id=request.request_id, error={"code": 5, "message": "wrong"}))
    assert (store.connection.login, store.connection.login_error) == (
        "unknown",
        wire.Error(5, "wrong"),
    )
    request = store.login("m")
    store.receive(line(id=request.request_id, result={"token": "secret"}))
    assert (store.connection.login, store.connection.login_error) == ("logged_in", None)
    assert "secret" not in repr(store.connection)
    request = store.logout()
    store.receive(line(id=request.request_id, result={}))
    assert store.connection.login == "logged_out"


def test_an_error_without_an_id_is_the_last_one_and_no_problem() -> None:
    """What the agent could not read it says so, and nothing else changes."""
    store = Store(protocol="v2")
    store.receive(line(id=None, error={"code": -32700, "message": "Parse error"}))
    assert store.connection.last_error == wire.Error(-32700, "Parse error")
    assert store.problems == ()
    for bad in (line(id=None, error=5), line(id=None, result={}), line(id=None, method="x")):
        store.receive(bad)
    assert len(store.connection.errors) == 1
    assert store.problem_counts["invalid_message"] == len(store.problems) == 3


def test_errors_kept_are_limited() -> None:
    """The oldest errors go first."""
    store = Store(protocol="v2")
    for number in range(150):
        store.receive(line(id=number, error={"code": number, "message": ""}))
    assert [one.error.code for one in store.connection.errors] == list(range(50, 150))


def test_an_unsubscribed_callback_is_not_called() -> None:
    """Closing a subscription is at once."""
    store, seen = Store(), list[ConnectionChanged]()
    with store.subscribe_connection(seen.append) as subscription:
        assert not subscription.closed
    assert subscription.closed
    store.initialize("c", "1")
    assert len(seen) == 1


# --- The catalogue ---


def listed(session: str, **more: Any) -> dict[str, Any]:
    """Give a session as an agent lists it."""
    return {"sessionId": session, "cwd": "/w", **more}


def names(store: Store) -> list[tuple[str, str | None, str]]:
    """Give what a client shows of the sessions."""
    return [(one.session_id, one.title, one.status) for one in store.connection.sessions]


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_pages_of_sessions_are_merged(protocol: Any) -> None:
    """A page with a cursor goes on; one without begins again, and keeps what is open."""
    store = Store(protocol=protocol)
    request = store.list_sessions()
    page = {"sessions": [listed("a", title="A"), listed("b")], "nextCursor": "n"}
    store.receive(line(id=request.request_id, result=page))
    assert store.connection.next_cursor == "n"
    request = store.list_sessions(cursor="n")
    store.receive(line(id=request.request_id, result={"sessions": [listed("c"), listed("b")]}))
    assert names(store) == [("a", "A", "listed"), ("b", None, "listed"), ("c", None, "listed")]
    assert store.connection.next_cursor is None
    opened = store.new_session("/n")
    store.receive(line(id=opened.request_id, result={"sessionId": "n"}))
    request = store.list_sessions()
    store.receive(line(id=request.request_id, result={"sessions": [listed("c", title="C")]}))
    assert names(store) == [("n", None, "open"), ("c", "C", "listed")]


@pytest.mark.parametrize("together", [True, False])
def test_updates_patch_what_is_listed(together: bool) -> None:
    """The last word counts, of a list or of an update, wherever the reads are cut."""
    store = Store(protocol="v2")
    one, two = store.list_sessions(), store.list_sessions()
    lines = [
        line(id=one.request_id, result={"sessions": [listed("a", title="old")]}),
        update_line("session_info_update", "a", title="told"),
        line(id=two.request_id, result={"sessions": [listed("a", title="listed")]}),
        update_line("session_info_update", "a", updatedAt="2026-01-01T00:00:00Z"),
        update_line("session_info_update", "other", title="not listed"),
    ]
    for data in [b"".join(lines)] if together else lines:
        store.receive(data)
    (known,) = store.connection.sessions
    assert (known.title, known.updated_at) == ("listed", "2026-01-01T00:00:00Z")


def test_a_deleted_session_is_marked() -> None:
    """What was deleted stays in the list, marked, until it is listed again."""
    store = Store(protocol="v2")
    request = store.list_sessions()
    store.receive(line(id=request.request_id, result={"sessions": [listed("a")]}))
    request = store.delete_session("a")
    store.receive(line(id=request.request_id, result={}))
    assert names(store) == [("a", None, "deleted")]


def test_accounts_are_never_kept() -> None:
    """The state of the login is, and nothing else of it."""
    store = Store(protocol="v2")
    params = {"state": "unauthenticated", "accounts": [{"email": "someone@example.com"}]}
    store.receive(line(method="auth/status_update", params=params))
    assert store.connection.login == "required"
    assert "someone" not in repr(store.connection)
