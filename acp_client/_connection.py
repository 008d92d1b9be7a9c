"""`Connection`: what is true of a connection itself, as one immutable value.

`Store.connection` is the present one. Like a snapshot, a connection never changes: the next one
shares with it whatever did not change. `ConnectionDraft` makes the next one from the events of a
batch that are not about one session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

import attrs
from msgspec import Struct

from . import wire
from ._client_state import Elicitation
from ._events import ConnectionLost
from ._fact_reducer import ON_ELICITATIONS
from ._requests import ClientRequest, ErrorReceived, RequestAnswered, RequestSent
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
"""Every change of phase; any other pair leaves the phase as it is."""

AUTHENTICATION_REQUIRED: Final = -32000

_ERRORS_KEPT: Final = 100


class OpenRequest(Struct, frozen=True):
    """A request of the client that waits for its answer."""

    request_id: wire.RequestId
    method: str
    session_id: str | None = None


class FailedRequest(Struct, frozen=True):
    """An error that the agent sent.

    `method` and `request_id` say what it answers, and are `None` where that is not known.
    """

    error: wire.Error
    method: str | None = None
    request_id: wire.RequestId | None = None


@attrs.frozen(repr=False, weakref_slot=False)
class Connection(Value):
    """One connection at one moment.

    `phase` is `new` until `initialize` is sent, then `initializing`, `ready` once it is answered,
    and `lost` after `Store.disconnect`, whose error is `loss`. `agent` is what the agent said of
    itself. `login_error` is the last error of a login. `requests` are those of the client that wait
    for an answer, `elicitations` those of the agent that belong to one of them, `errors` the last
    ones that the agent sent, all oldest first.
    """

    phase: Phase = "new"
    loss: wire.Error | None = None
    agent: wire.InitializeResponse | None = None
    login: LoginState = "unknown"
    login_error: wire.Error | None = None
    requests: tuple[OpenRequest, ...] = ()
    elicitations: tuple[Elicitation, ...] = ()
    errors: tuple[FailedRequest, ...] = ()

    @property
    def last_error(self) -> wire.Error | None:
        """The last error that the agent sent."""
        return self.errors[-1].error if self.errors else None


class ConnectionChanged(Struct, frozen=True):
    """The connection is another one: the `fields` that differ, `old` and `new`.

    The first one of a subscription brings what is there already: `old` is an empty connection.
    """

    fields: tuple[str, ...]
    old: Connection
    new: Connection


def connection_change(old: Connection, new: Connection) -> ConnectionChanged:
    """Return what differs between two connections."""
    names = tuple(item.name for item in attrs.fields(Connection))
    differing = tuple(name for name in names if getattr(old, name) != getattr(new, name))
    return ConnectionChanged(differing, old, new)


class ConnectionDraft:
    """The connection that a batch makes of another one."""

    def __init__(self, base: Connection) -> None:
        self.base = base
        self._changes: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Return a field as it is now."""
        return self._changes[name] if name in self._changes else getattr(self.base, name)

    def set(self, **values: Any) -> None:
        """Set fields."""
        self._changes.update(values)

    def reduce(self, event: Any) -> None:
        """Reduce one event; one that is not about the connection changes nothing."""
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
        """Return the next connection: `base` itself where nothing changed."""
        base = self.base
        real = {name: new for name, new in self._changes.items() if new != getattr(base, name)}
        return attrs.evolve(base, **real) if real else base

    def move(self, step: str) -> None:
        """Take a step of the phase."""
        phase = PHASES.get((self.get("phase"), step))
        if phase is not None:
            self.set(phase=phase)

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


_ON_ANSWER: Final[dict[str, Callable[[ConnectionDraft, RequestAnswered], None]]] = {
    "initialize": _initialized,
    "authenticate": _logged_in,
    "auth/login": _logged_in,
    "logout": _logged_out,
    "auth/logout": _logged_out,
}
"""By the request of the client: what its answer means for the connection."""


def _error_received(draft: ConnectionDraft, event: ErrorReceived) -> None:
    draft.fail(FailedRequest(event.error))


def _lost(draft: ConnectionDraft, event: ConnectionLost) -> None:
    draft.move("loss")
    draft.set(loss=event.error, elicitations=())


def _elicitations_changed(draft: ConnectionDraft, event: Any) -> None:
    draft.set(elicitations=ON_ELICITATIONS[type(event)](draft.get("elicitations"), event))


_ON_EVENT: Final[dict[type, Callable[[ConnectionDraft, Any], None]]] = {
    RequestSent: _sent,
    RequestAnswered: _answered,
    ErrorReceived: _error_received,
    ConnectionLost: _lost,
    **dict.fromkeys(ON_ELICITATIONS, _elicitations_changed),
}
