"""The open requests of both sides of one connection, whatever version it speaks.

An answer means nothing without its request, and an id means nothing without its direction: the
client and the agent each number their own requests. So there are two tables. `ClientRequests` holds
the requests of the client until the agent answers; `AgentRequests` holds those of the agent until
the client answers, the agent withdraws the request, or the client cancels the session.

- An answer to a request that is not open is ignored.
- An id that is reused while it is open means the newer request.
- Only the answer to the newest replay request of a session ends the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import chain
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from . import _events as facts
from . import wire
from ._prompts import request_key

SessionEvent: TypeAlias = tuple[str | None, Any]
"""A session id and an event of that session; without an id, an event of the connection."""

NO_SUCH_SESSION = -32002
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

LOST = wire.Error(INTERNAL_ERROR, "the connection was lost")
REPLACED = wire.Error(INTERNAL_ERROR, "another request was sent under the same id")
MALFORMED = wire.Error(INTERNAL_ERROR, "the answer is malformed")
MALFORMED_RESULT = wire.Error(INTERNAL_ERROR, "the result is malformed")


class ClientRequest(Struct, eq=False):
    """A request of the client that has not been answered yet.

    `params` are the parameters as far as they are known. `replay` says whether the answer ends a
    replay: only the answer to the newest one of a session does. `is_forgotten` is true once the
    client has forgotten the session, so that the answer no longer changes it.
    """

    request_id: wire.RequestId
    method: str
    session_id: str | None = None
    params: Any = None
    replay: Literal["none", "newest", "older"] = "none"
    is_forgotten: bool = False


class RequestSent(Struct, frozen=True):
    """The client sent a request: an event of the connection."""

    request: ClientRequest


class RequestAnswered(Struct, frozen=True):
    """A request of the client is no longer open: an event of the connection.

    `answer` is the result as a wire object, or a `wire.Error`: the agent's, or our own where the
    answer is malformed or will never come.
    """

    request: ClientRequest
    answer: Any
    is_lost: bool = False

    @property
    def outcome(self) -> Literal["result", "error", "malformed", "lost"]:
        """The kind of answer: from the agent, malformed, or lost."""
        if not isinstance(self.answer, wire.Error):
            return "result"
        if self.answer is MALFORMED or self.answer is MALFORMED_RESULT:
            return "malformed"
        return "lost" if self.is_lost else "error"


class ClientRequests:
    """The requests of the client that wait for an answer, in the order in which they were sent."""

    def __init__(self) -> None:
        self._open: dict[wire.RequestId, ClientRequest] = {}

    def __iter__(self) -> Any:
        return iter(self._open.values())

    def open(self, request: ClientRequest) -> list[SessionEvent]:
        """Add a request; fail the one that is open under the same id, if any."""
        replaced = self._open.pop(request.request_id, None)
        self._open[request.request_id] = request
        failed = [] if replaced is None else _failed(replaced, REPLACED)
        return [*failed, (None, RequestSent(request))]

    def close(self, request_id: wire.RequestId) -> ClientRequest | None:
        """Remove and return the request with an id; `None` if there is no such request."""
        return self._open.pop(request_id, None)

    def supersede_replays(self, session_id: str) -> None:
        """Mark the open replay requests of a session as older: a newer one will end the replay."""
        for request in self._open.values():
            if request.session_id == session_id and request.replay == "newest":
                request.replay = "older"

    def forget(self, session_id: str, awaited: Container[wire.RequestId]) -> None:
        """Forget the requests of a session; answers to `awaited` requests no longer change it."""
        requests, self._open = self._open, {}
        for request_id, request in requests.items():
            if request.session_id == session_id:
                request.is_forgotten, request.params = True, None
            if not request.is_forgotten or request_id in awaited:
                self._open[request_id] = request

    def lose(self, error: wire.Error | None) -> list[SessionEvent]:
        """Remove all requests: the connection is lost."""
        lost, self._open = self._open, {}
        events = (_failed(request, error or LOST) for request in lost.values())
        return list(chain.from_iterable(events))


def _failed(request: ClientRequest, error: wire.Error) -> list[SessionEvent]:
    return [*answered(request, error), (None, RequestAnswered(request, error, is_lost=True))]


def answered(request: ClientRequest, answer: Any) -> list[SessionEvent]:
    """Return the events that the end of a request causes in its session, whatever the answer is."""
    session_id, params = request.session_id, request.params
    if session_id is None or request.is_forgotten:
        return []
    if request.method in _SETS_OPTION:
        return [(session_id, facts.OptionAnswered(request.request_id))]
    if not isinstance(answer, wire.Error):
        return []
    if isinstance(params, wire.CancelToolCallRequest):
        return [(session_id, facts.ToolCallCancelRefused(params.tool_call_id))]
    if isinstance(params, wire.CancelTerminalRequest):
        return [(session_id, facts.TerminalCancelRefused(params.terminal_id))]
    return []


_SETS_OPTION = frozenset({"session/set_config_option", "session/set_mode", "session/set_model"})


AgentRequestKind: TypeAlias = Literal["permission", "elicitation", "call"]


class AgentRequest(Struct, eq=False):
    """A request of the agent that has not been answered yet; a `call` is any other request."""

    request_id: wire.RequestId
    kind: AgentRequestKind
    session_id: str | None = None
    method: str = ""
    params: Any = None


class RequestReceived(Struct, frozen=True):
    """The agent sent a request that is not part of a session's state: a connection event."""

    request: AgentRequest


class RequestRefused(Struct, frozen=True):
    """A request of the agent must be answered with an error: an event of the connection."""

    request_id: wire.RequestId
    error: wire.Error


TOO_MANY = wire.Error(INTERNAL_ERROR, "too many open requests")


class NotificationReceived(Struct, frozen=True):
    """The agent sent a notification other than a session update: an event of the connection."""

    method: str
    params: Any


class ErrorReceived(Struct, frozen=True):
    """The agent sent an error that answers no open request: an event of the connection."""

    error: wire.Error


def value_of(params: Any) -> Any:
    """Return parameters as parsed JSON."""
    return params.value if isinstance(params, wire.Json) else params


class AgentRequests:
    """The requests of the agent that wait for an answer, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, AgentRequest] = {}  # the agent chooses the ids, so by `request_key`
        self._at_urls: dict[str, set[str | None]] = {}  # by elicitation id: the sessions

    def __iter__(self) -> Any:
        return iter(self._open.values())

    @property
    def is_empty(self) -> bool:
        """Whether no request is open."""
        return not self._open

    def is_open(self, request: AgentRequest) -> bool:
        """Return whether this very request still waits for its answer."""
        return self.get(request.request_id) is request

    def get(self, request_id: wire.RequestId) -> AgentRequest | None:
        """Return the open request with an id, or `None`."""
        return self._open.get(request_key(request_id))

    def open(self, request: AgentRequest, event: Any) -> list[SessionEvent]:
        """Add a request, which `event` reports; refuse it if too many are open.

        A request with the same id is replaced; if it has the same kind and session too, the reducer
        replaces it in its place.
        """
        key = request_key(request.request_id)
        older = self._open.get(key)
        if older is None and len(self._open) >= self._limit:
            return [(None, RequestRefused(request.request_id, TOO_MANY))]
        is_same = older is not None and _place(older) == _place(request)
        events = [] if is_same else self.close(request.request_id)
        self._open[key] = request
        if isinstance(request.params, wire.ElicitationUrlMode):
            sessions = self._at_urls.setdefault(request.params.elicitation_id, set())
            sessions.add(request.session_id)
        session_id = None if request.kind == "call" else request.session_id
        return [*events, (session_id, event)]

    def answer(self, response: wire.Response) -> list[SessionEvent]:
        """Return the events of an answer from the client."""
        request = self.get(response.id)
        if request is None or request.kind != "elicitation":
            return self.close(response.id)
        del self._open[request_key(response.id)]
        result = value_of(response.result)
        action = result.get("action") if isinstance(result, dict) else None
        known = action if isinstance(action, str) else "cancel"
        return [(request.session_id, facts.ElicitationAnswered(request.request_id, known))]

    def complete(self, elicitation_id: str) -> list[SessionEvent]:
        """Return the events of a finished interaction at a URL, for each session that asked."""
        event = facts.ElicitationCompleted(elicitation_id)
        sessions = self._at_urls.pop(elicitation_id, set())
        return [(session_id, event) for session_id in sessions]

    def close(self, request_id: wire.RequestId) -> list[SessionEvent]:
        """Remove a request that was answered or withdrawn; return the events of its end."""
        request = self._open.pop(request_key(request_id), None)
        return [] if request is None else _closed(request)

    def cancel(self, session_id: str) -> None:
        """Remove the permission requests of a session, which a cancel answers."""
        self._keep(lambda one: one.kind != "permission" or one.session_id != session_id)

    def forget(self, session_id: str) -> None:
        """Remove the permission requests and elicitations of a session."""
        self._keep(lambda one: one.kind == "call" or one.session_id != session_id)

    def lose(self) -> None:
        """Remove all requests: the connection is lost."""
        self._open.clear()
        self._at_urls.clear()

    def _keep(self, is_kept: Any) -> None:
        self._open = {key: one for key, one in self._open.items() if is_kept(one)}


def _place(request: AgentRequest) -> tuple[str, str | None]:
    return request.kind, request.session_id


def _closed(request: AgentRequest) -> list[SessionEvent]:
    kind = _CLOSED.get(request.kind)
    return [] if kind is None else [(request.session_id, kind(request.request_id))]


_CLOSED: dict[str, Callable[[wire.RequestId], Any]] = {
    "permission": facts.PermissionClosed,
    "elicitation": facts.ElicitationClosed,
}
"""By the kind of a request: the event that closes it."""
