"""`Connection`: the state of a connection itself, as one immutable value.

`Store.connection` is the present one. Like a snapshot, a connection never changes: the next one
shares the unchanged parts. `ConnectionDraft` builds the next one from the events of a batch that do
not belong to a session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

import attrs
from msgspec import UNSET, Struct
from msgspec.structs import replace

from . import wire
from ._client_state import Elicitation
from ._events import ConnectionLost
from ._fact_reducer import ON_ELICITATIONS
from ._keyed import Keyed
from ._requests import (
    NO_SUCH_SESSION,
    ClientRequest,
    ErrorReceived,
    NotificationReceived,
    RequestAnswered,
    RequestSent,
    value_of,
)
from ._value import Value

Phase: TypeAlias = Literal["new", "initializing", "ready", "lost"]
LoginState: TypeAlias = Literal["unknown", "required", "logged_in", "logged_out"]

PHASES: Final[dict[tuple[Phase, str], Phase]] = {
    ("new", "initialize"): "initializing",
    ("lost", "initialize"): "initializing",
    ("ready", "initialize"): "initializing",
    ("initializing", "result"): "ready",
    ("initializing", "malformed"): "ready",
    ("initializing", "error"): "new",
    ("new", "loss"): "lost",
    ("initializing", "loss"): "lost",
    ("ready", "loss"): "lost",
}
"""Every change of phase; any other pair leaves the phase unchanged."""

AUTHENTICATION_REQUIRED: Final = -32000

_ERRORS_KEPT: Final = 100


class OpenRequest(Struct, frozen=True):
    """A request of the client that waits for its answer."""

    request_id: wire.RequestId
    method: str
    session_id: str | None = None


class FailedRequest(Struct, frozen=True):
    """An error that the agent sent.

    `method` and `request_id` name the request that it answers; they are `None` if unknown.
    """

    error: wire.Error
    method: str | None = None
    request_id: wire.RequestId | None = None


class KnownSession(Struct, frozen=True):
    """A session of the agent, known from `session/list` or from its own updates.

    `status` is the last action of this connection on it: `listed`, `open`, `closed` or `deleted`.
    """

    session_id: str
    cwd: str | None = None
    title: str | None = None
    updated_at: str | None = None
    status: Literal["listed", "open", "closed", "deleted"] = "listed"


class KnownSessions(Keyed[KnownSession]):
    """The sessions that are known; `get(session_id)` finds one."""


@attrs.frozen(repr=False, weakref_slot=False)
class Connection(Value):
    """One connection at one moment.

    `phase` is `new` until `initialize` is sent, then `initializing`, `ready` once it is answered,
    and `lost` after `Store.disconnect`, whose error is `loss`. `agent` is the result of
    `initialize`. `login_error` is the last error of a login. `requests` are the client's requests
    that wait for an answer, `elicitations` the agent's that belong to one of them, and `errors` the
    last errors that the agent sent, all oldest first. `sessions` are those that the agent listed,
    page by page, and those that were opened; `next_cursor` is the cursor of the next page, if any.
    """

    phase: Phase = "new"
    loss: wire.Error | None = None
    agent: wire.InitializeResponse | None = None
    login: LoginState = "unknown"
    login_error: wire.Error | None = None
    requests: tuple[OpenRequest, ...] = ()
    elicitations: tuple[Elicitation, ...] = ()
    sessions: KnownSessions = attrs.field(factory=KnownSessions)
    next_cursor: str | None = None
    errors: tuple[FailedRequest, ...] = ()

    @property
    def last_error(self) -> wire.Error | None:
        """The last error that the agent sent, or `None`."""
        return self.errors[-1].error if self.errors else None


def connection_document(connection: Connection) -> dict[str, Any]:
    """Return the document of a connection, as plain JSON values."""
    agent = None if connection.agent is None else wire.to_builtins(connection.agent)
    document = {
        "phase": connection.phase,
        "agent": agent,
        "errors": [_error_document(one) for one in connection.errors],
        "sessions": [_session_document(one) for one in connection.sessions],
    }
    return {key: value for key, value in document.items() if value is not None}


def _error_document(failed: FailedRequest) -> dict[str, Any]:
    said = {"code": failed.error.code, "message": failed.error.message}
    return said if failed.method is None else {"method": failed.method, **said}


def _session_document(known: KnownSession) -> dict[str, Any]:
    document = {
        "sessionId": known.session_id,
        "cwd": known.cwd,
        "title": known.title,
        "updatedAt": known.updated_at,
        "status": known.status,
    }
    return {key: value for key, value in document.items() if value is not None}


class ConnectionChanged(Struct, frozen=True):
    """A change of the connection: the `fields` that differ between `old` and `new`.

    The first one of a subscription has the present connection; `old` is then an empty one.
    """

    fields: tuple[str, ...]
    old: Connection
    new: Connection


def connection_change(old: Connection, new: Connection) -> ConnectionChanged:
    """Return the difference between two connections."""
    names = tuple(item.name for item in attrs.fields(Connection))
    differing = tuple(name for name in names if getattr(old, name) != getattr(new, name))
    return ConnectionChanged(differing, old, new)


class ConnectionDraft:
    """The mutable draft of a connection during one batch."""

    def __init__(self, base: Connection) -> None:
        self.base = base
        self._changes: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Return the present value of a field."""
        return self._changes[name] if name in self._changes else getattr(self.base, name)

    def set(self, **values: Any) -> None:
        """Set fields."""
        self._changes.update(values)

    def reduce(self, event: Any) -> None:
        """Reduce one event; any event that does not concern the connection changes nothing."""
        handler = _ON_EVENT.get(type(event))
        if handler is not None:
            handler(self, event)

    def set_requests(self, requests: Iterable[ClientRequest]) -> None:
        """Set the requests that are open."""
        self.set(
            requests=tuple(
                OpenRequest(one.request_id, one.method, one.session_id) for one in requests
            )
        )

    def freeze(self) -> Connection:
        """Return the next connection; `base` itself if nothing changed."""
        base = self.base
        if not self._changes:  # nearly always
            return base
        real = {name: new for name, new in self._changes.items() if new != getattr(base, name)}
        return attrs.evolve(base, **real) if real else base

    def move(self, step: str) -> None:
        """Take a step of the phase."""
        phase = PHASES.get((self.get("phase"), step))
        if phase is not None:
            self.set(phase=phase)

    def session(self, session_id: str, **changes: Any) -> None:
        """Change the entry of a session, which is added at the end if it is new."""
        sessions: KnownSessions = self.get("sessions")
        place = sessions._place(session_id)
        if place < 0:
            added = KnownSession(session_id, **changes)
            self.set(sessions=sessions._changed({}, [session_id], [added]))
        else:
            after = replace(sessions._at(place), **changes)
            self.set(sessions=sessions._changed({place: after}, [], []))

    def patch_session(self, session_id: str, update: wire.SessionInfoUpdate) -> None:
        """Patch a known session with the agent's update of its info."""
        if self.get("sessions").get(session_id) is None:
            return
        given = {"title": update.title, "updated_at": update.updated_at}
        self.session(session_id, **{key: item for key, item in given.items() if item is not UNSET})

    def fail(self, failed: FailedRequest) -> None:
        """Keep an error that the agent sent."""
        self.set(errors=(*self.get("errors"), failed)[-_ERRORS_KEPT:])


def _sent(draft: ConnectionDraft, event: RequestSent) -> None:
    if event.request.method == "initialize":
        draft.move("initialize")
        draft.set(loss=None)


def _answered(draft: ConnectionDraft, event: RequestAnswered) -> None:
    request = event.request
    if event.outcome == "error":
        draft.fail(FailedRequest(event.answer, request.method, request.request_id))
        if event.answer.code == AUTHENTICATION_REQUIRED:
            draft.set(login="required")
    effect = _ON_ANSWER.get(request.method)
    if effect is not None:
        effect(draft, event)


def _initialized(draft: ConnectionDraft, event: RequestAnswered) -> None:
    draft.move(event.outcome)
    if event.outcome == "result":
        draft.set(agent=event.answer)


def _logged_in(draft: ConnectionDraft, event: RequestAnswered) -> None:
    _login_answered(draft, event, "logged_in")


def _logged_out(draft: ConnectionDraft, event: RequestAnswered) -> None:
    _login_answered(draft, event, "logged_out")


def _login_answered(draft: ConnectionDraft, event: RequestAnswered, state: LoginState) -> None:
    if event.outcome == "error":
        draft.set(login_error=event.answer)
    elif event.outcome == "result":
        draft.set(login=state, login_error=None)


def _listed(draft: ConnectionDraft, event: RequestAnswered) -> None:
    """Merge a page of sessions; a first page replaces those that were only listed."""
    if not isinstance(event.answer, wire.ListSessionsResponse):
        return
    params = event.request.params
    cursor = params.get("cursor") if isinstance(params, dict) else getattr(params, "cursor", None)
    before: KnownSessions = draft.get("sessions")
    kept = [one for one in before if cursor is not None or one.status != "listed"]
    known = {one.session_id: one for one in kept}
    for one in event.answer.sessions:
        status = known[one.session_id].status if one.session_id in known else "listed"
        known[one.session_id] = KnownSession(
            one.session_id, one.cwd, one.title, one.updated_at, status
        )
    draft.set(sessions=KnownSessions._of(known.items()), next_cursor=event.answer.next_cursor)


def _opened(draft: ConnectionDraft, event: RequestAnswered) -> None:
    request, answer = event.request, event.answer
    if event.outcome != "result":
        return
    created = answer.session_id if isinstance(answer, wire.NewSessionResponse) else None
    session_id = created or request.session_id
    if session_id is not None:
        params = value_of(request.params)
        cwd = params.get("cwd") if isinstance(params, dict) else getattr(params, "cwd", None)
        given = {"cwd": cwd} if isinstance(cwd, str) else {}
        draft.session(session_id, status="open", **given)


def _closed(draft: ConnectionDraft, event: RequestAnswered) -> None:
    is_gone = event.outcome == "error" and event.answer.code == NO_SUCH_SESSION
    if event.request.session_id is not None and (
        event.outcome in ("result", "malformed") or is_gone
    ):
        draft.session(event.request.session_id, status="closed")


def _deleted(draft: ConnectionDraft, event: RequestAnswered) -> None:
    if event.request.session_id is not None and event.outcome == "result":
        draft.session(event.request.session_id, status="deleted")


_ON_ANSWER: Final[dict[str, Callable[[ConnectionDraft, RequestAnswered], None]]] = {
    "initialize": _initialized,
    "authenticate": _logged_in,
    "auth/login": _logged_in,
    "logout": _logged_out,
    "session/close": _closed,
    "session/delete": _deleted,
    "session/list": _listed,
    "session/load": _opened,
    "session/new": _opened,
    "session/resume": _opened,
    "auth/logout": _logged_out,
}
"""The effect of an answer on the connection, by the method of the client's request."""


def _error_received(draft: ConnectionDraft, event: ErrorReceived) -> None:
    draft.fail(FailedRequest(event.error))


def _notified(draft: ConnectionDraft, event: NotificationReceived) -> None:
    """Follow the agent's report of the login state; accounts are never kept."""
    params = value_of(event.params)
    state = params.get("state") if isinstance(params, dict) else None
    login = _LOGINS.get(state) if isinstance(state, str) else None
    if event.method == "auth/status_update" and login is not None:
        draft.set(login=login)


_LOGINS: Final[dict[str, LoginState]] = {
    "authenticated": "logged_in",
    "unauthenticated": "required",
    "not_required": "unknown",
}
"""The login state, by the status in an `auth/status_update`."""


def _lost(draft: ConnectionDraft, event: ConnectionLost) -> None:
    draft.move("loss")
    draft.set(loss=event.error, elicitations=())


def _elicitations_changed(draft: ConnectionDraft, event: Any) -> None:
    draft.set(elicitations=ON_ELICITATIONS[type(event)](draft.get("elicitations"), event))


_ON_EVENT: Final[dict[type, Callable[[ConnectionDraft, Any], None]]] = {
    RequestSent: _sent,
    RequestAnswered: _answered,
    ErrorReceived: _error_received,
    NotificationReceived: _notified,
    ConnectionLost: _lost,
    **dict.fromkeys(ON_ELICITATIONS, _elicitations_changed),
}
