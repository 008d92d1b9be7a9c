"""`Store`: one connection and all its sessions, without I/O.

The input is what the agent wrote (`receive`) and what the user does (`initialize`, `prompt`,
`cancel`, …: see `_client_calls`). The output is the bytes to write (`data_to_send`), one immutable
`Snapshot` per session, one immutable `Connection`, and problems. A client whose own transport
writes requests passes those bytes to `sent`.

The store reduces a whole read at once: the lines of one call are decoded together, routed to one
draft per session, and each touched session gets one new snapshot at the end. The store follows its
own lines like those that are passed to `sent`, so both ways end in the same state.

`_versions` decides which version of the protocol the messages belong to and what they mean. Lines
that are well-formed session updates take the hot path, see `_chunk_runs`; other lines are followed
one by one.

The ids of the store's own requests are strings with a prefix, so that they never collide with the
ids that a transport counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from . import _events as facts
from . import wire
from ._agent_calls import Handler, NotificationHandler
from ._batches import Batches
from ._client_calls import ClientCalls, OnAnswer, Params
from ._connection import Connection, ConnectionChanged
from ._errors import (
    PROBLEM_KINDS,
    InvalidValueError,
    Problem,
    ProblemKind,
    UnknownPermissionError,
    UnknownRequestError,
    UnknownSessionError,
    checked,
)
from ._framing import Framer
from ._limits import DEFAULT_LIMITS, Limits
from ._outgoing import (
    ElicitationAction,
    Outgoing,
    OutgoingRequest,
    elicitation_result,
    notification_line,
    permission_outcome,
    plain,
    request_line,
    result_line,
)
from ._prompts import is_same_id
from ._reader import Reader
from ._snapshot import Snapshot
from ._subscriptions import (
    Callback,
    ConnectionSubscription,
    Selector,
    Subscription,
)
from ._versions import Protocol

if TYPE_CHECKING:
    from ._memory import Memory

_ID_PREFIX: Final = "acp-client-state:"
_DATA: Final = bytes | bytearray | memoryview


class Store(Batches, ClientCalls):
    """One connection and all its sessions.

    `protocol` is the version that the agent speaks, `"v1"` or `"v2"`. Without it, `initialize`
    settles the version, and messages are read as v2 until then. Any other value raises
    `InvalidValueError`. `limits` bounds what is kept, see `Limits`.

    The client writes what `data_to_send` returns, in that order, and passes what it reads to
    `receive`. An `observer` follows a conversation that other code conducts, through `receive` and
    `sent`; it answers nothing by itself.

    Threads: all methods, callbacks included, may be called from any thread. Calls that feed the
    store take turns; reading does not wait for them. Snapshots may be read, continued with `apply`
    and compared with `changes` anywhere at any time, and a snapshot never changes. Two guarantees
    are not made: a reader may see one of two sessions of a batch change before the other, and a
    snapshot may be a step ahead of the subscribers, which are called afterwards.

    Signal handlers and finalizers may run between any two instructions. They may read snapshots,
    and close subscriptions and readers; any other call from within a call of the same store raises
    `ReentryError`. An exception that is raised into a call (`KeyboardInterrupt`, `MemoryError`)
    leaves the store usable and every snapshot true, but the bytes of that call are lost: call
    `disconnect`, and resume.

    After a fork, the child may read what it inherits, and feed stores of its own.

    `on_callback_error` is called with each exception that a callback raises; until it is set, they
    are printed. `on_data_to_send`, if set, is called when bytes have been queued, by the thread
    whose call queued them, before that call returns.
    """

    def __init__(
        self,
        *,
        limits: Limits = DEFAULT_LIMITS,
        protocol: Protocol | None = None,
        observer: bool = False,
    ) -> None:
        checked(limits, Limits, "an object of `Limits`")
        super().__init__(limits, protocol, observer=observer)
        self._chosen: Protocol | None = protocol
        self._received = Framer(limits.line_length)
        self._sent = Framer(sys.maxsize)  # the limit applies to what the agent writes
        self._last_id = 0

    def __repr__(self) -> str:
        sessions, phase = len(self._sessions), self._connection.phase
        problems = self._problem_counts.total()
        return f"<Store {self.protocol} {phase}, {sessions} sessions, {problems} problems>"

    # --- What can be read ---

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids of all sessions, in order of first appearance."""
        return tuple(self._sessions)

    def snapshot(self, session_id: str) -> Snapshot:
        """Return the current snapshot of a session. Raises `UnknownSessionError`."""
        try:
            return self._sessions[session_id]
        except (KeyError, TypeError):  # a list, for example, cannot be a key
            raise UnknownSessionError(f"no session {session_id!r}") from None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The last problems, oldest first; `Limits.problems` says how many are kept."""
        return tuple(self._problems)

    @property
    def problem_counts(self) -> dict[ProblemKind, int]:
        """The number of problems of each kind, including those that are no longer kept."""
        return {kind: self._problem_counts[kind] for kind in PROBLEM_KINDS}

    def memory(self) -> Memory:
        """Return how many bytes the store keeps, and for what.

        The measurement walks over all entries, and calls that feed the store wait for it. It
        changes nothing.
        """
        # Imported late: few programs measure memory.
        from ._memory import memory_of

        with self._turn():
            return memory_of(
                [self._sessions, self._subscriptions, *self._subscriptions.readers(), self]
            )

    @property
    def agent(self) -> wire.InitializeResponse | None:
        """The result of `initialize`, or `None` before it."""
        return self._connection.agent

    @property
    def connection(self) -> Connection:
        """The state of the connection itself, as an immutable value."""
        return self._connection

    @property
    def protocol(self) -> Protocol:
        """The version of the protocol that the agent speaks; `"v2"` until it is known."""
        return self._messages.protocol

    @property
    def _offered(self) -> Protocol:
        return "v2" if self._chosen is None else self._chosen

    # --- Subscribers and readers ---

    def subscribe(
        self,
        callback: Callback,
        *,
        session: str | None = None,
        select: Selector | None = None,
    ) -> Subscription:
        """Call `callback` with the present snapshot, and then with the changes of each batch.

        The first `Delivery` of a session has its present snapshot (an empty one for an unknown
        session); the next ones are the steps from there, without a gap. A batch makes one call for
        each session that it changes. `session` is the id of the only session to follow; without it,
        all sessions are followed, including those to come.

        With `select`, a function of a snapshot, a batch is delivered only if the function returns
        another object after it: `select=lambda snapshot: snapshot.plans`.

        Calls are made in order and one at a time, by the thread that called the store, just before
        the store's method returns. They are never nested: what a callback does to the store is
        delivered after it has returned. A callback that raises does not stop the others, see
        `on_callback_error`; its next call for that session has a `Reset`, since it is unknown what
        it drew. A callback is not called after its subscription is closed.
        """
        _check_function(callback)
        if select is not None:
            _check_function(select)
        checked(session, str | None, "a session id")
        with self._turn():
            known = self._sessions.values() if session is None else [self._present(session)]
            subscription = self._subscriptions.subscribe(callback, session, select, known)
        self._subscriptions.deliver()
        return subscription

    def subscribe_connection(
        self, callback: Callable[[ConnectionChanged], object]
    ) -> ConnectionSubscription:
        """Call `callback` with the present connection, and then with each change of it.

        The calls are made like those of `subscribe`, and follow the session calls of the batch.
        """
        _check_function(callback)
        with self._turn():
            subscription = self._subscriptions.subscribe_connection(callback, self._connection)
        self._subscriptions.deliver()
        return subscription

    def reader(self, session: str, *, wake: Callable[[Reader], object] | None = None) -> Reader:
        """Return a `Reader` of a session, for a renderer that is slower than the agent.

        `wake` is called with the reader, like a subscriber, when there is a step to take, and when
        a waiting step becomes urgent. The store holds a reader without `wake` weakly: it drops the
        reader when nothing else refers to it.
        """
        if wake is not None:
            _check_function(wake)
        checked(session, str, "a session id")
        with self._turn():
            reader = self._subscriptions.read(self._present(session), wake)
        self._subscriptions.deliver()
        return reader

    def _present(self, session_id: str) -> Snapshot:
        return self._sessions.get(session_id) or Snapshot(session_id)

    # --- What the traffic brings ---

    def receive(self, data: bytes | bytearray | memoryview, *, line: int | None = None) -> None:
        """Take bytes that the agent wrote, split anywhere. Never raises because of their content.

        Problems have the number of their line. Lines are counted from 1; `line` sets the number of
        the next line, for a caller that feeds part of a recording.
        """
        if line is not None and checked(line, int, "the number of a line") < 0:
            raise InvalidValueError(f"{line} is not a line number")
        with self._batch("live") as batch:
            if line is not None:
                self._line = line - 1
            self._receive_lines(batch, self._received.feed(bytes(checked(data, _DATA, "bytes"))))

    def end(self) -> None:
        """Record that the agent's output ended; an unterminated last line is read as a message."""
        with self._batch("live") as batch:
            line = self._received.end()
            if line is not None:
                self._line += 1
                self._follow(batch, line, self._line, unterminated=True)

    def sent(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes that the client's own transport wrote, split anywhere.

        Requests, answers and cancels in them are followed; anything else is ignored.
        """
        with self._batch("local") as batch:
            for line in self._sent.feed(bytes(checked(data, _DATA, "bytes"))):
                self._follow(batch, line, 0, sent=True)

    def disconnect(self, error: wire.Error | None = None) -> None:
        """Record that the connection is lost.

        Pending prompts become `uncertain` (with `error`, if given), permission requests and
        elicitations are removed, and each waiting `on_answer` is called with an error. Bytes that
        were not written yet, and those of an unfinished line, are dropped. The store can be used
        for the next connection, whose `initialize` may agree on another version.
        """
        checked(error, wire.Error | None, "a `wire.Error`")
        with self._batch("local") as batch:
            lost = facts.ConnectionLost(error)
            self._reduce(batch, self._messages.lose(error))
            self._reduce(batch, [(known, lost) for known in (*self._sessions, None)])
            self._received.end()
            self._sent.end()
            self._to_send.clear()

    # --- What the client writes ---

    def data_to_send(self) -> bytes:
        """Return the bytes to write to the agent, and clear the queue; empty if there are none.

        The bytes are everything that was queued since the last call, the store's own answers
        included, in the order in which the store applied it. A client with several threads holds a
        lock from this call until the bytes are written, or leaves writing to one thread.
        """
        lines: list[bytes] = []
        while self._to_send:
            try:
                lines.append(self._to_send.popleft())
            except IndexError:  # another thread took the bytes
                break
        return b"".join(lines)

    def request(
        self, method: str, params: Params | None = None, *, on_answer: OnAnswer[Any] | None = None
    ) -> OutgoingRequest:
        """Send any request. Raises `InvalidValueError` for values that JSON cannot represent.

        The answer to a method of the protocol is a wire object, any other answer is `wire.Json`.
        """
        checked(method, str, "the name of a method")
        checked(params, Mapping | None, "the parameters of a request")
        if on_answer is not None:
            _check_function(on_answer)
        with self._batch("local") as batch:
            request_id = self._next_id()
            line = request_line(request_id, method, plain(params or {}))
            if on_answer is not None:
                self._answer_callbacks[request_id] = on_answer
            self._send(batch, line)
        return OutgoingRequest(line, request_id)

    def notify(self, method: str, params: Params | None = None) -> Outgoing:
        """Send any notification. Raises `InvalidValueError` like `request`."""
        checked(method, str, "the name of a method")
        checked(params, Mapping | None, "the parameters of a notification")
        with self._batch("local") as batch:
            line = notification_line(method, plain(params or {}))
            self._send(batch, line)
        return Outgoing(line)

    def cancel(self, session_id: str) -> Outgoing:
        """Cancel a session's foreground work: `session/cancel`. Raises `UnknownSessionError`.

        Each pending permission request of the session is answered `cancelled`, and the unfinished
        tool calls of the foreground work are marked at once.
        """
        with self._batch("local") as batch:
            lines = [notification_line("session/cancel", {"sessionId": self._known(session_id)})]
            lines += [
                result_line(request.request_id, permission_outcome(None))
                for request in batch.drafts.draft(session_id).base.permissions
            ]
            for line in lines:
                self._send(batch, line)
        return Outgoing(b"".join(lines))

    def cancel_request(self, request_id: wire.RequestId) -> Outgoing:
        """Ask the agent to stop working on a request of the client: `$/cancel_request`.

        The agent still answers it. Raises `UnknownRequestError` if it is not open.
        """
        if not any(one.request_id == request_id for one in self._connection.requests):
            raise UnknownRequestError(f"request {request_id!r} is not open")
        return self.notify("$/cancel_request", {"requestId": request_id})

    def answer_permission(
        self, session_id: str, request_id: wire.RequestId, option_id: str | None
    ) -> Outgoing:
        """Answer a permission request; `None` answers `cancelled`.

        Raises `UnknownSessionError`, `UnknownPermissionError` for a request that is not pending (it
        was answered, cancelled or withdrawn), and `InvalidValueError` for an option that was not
        offered. Nothing is sent then. Protocol: `session/request_permission`.
        """
        with self._batch("local") as batch:
            pending = self.snapshot(session_id).permissions
            asked = next((one for one in pending if is_same_id(one.request_id, request_id)), None)
            if asked is None:
                raise UnknownPermissionError(f"permission request {request_id!r} is not pending")
            if option_id is not None and option_id not in [o.option_id for o in asked.options]:
                raise InvalidValueError(f"{option_id!r} is not one of the options")
            line = result_line(asked.request_id, permission_outcome(option_id))
            self._send(batch, line)
        return Outgoing(line)

    def answer_elicitation(
        self,
        session_id: str | None,
        request_id: wire.RequestId,
        action: ElicitationAction,
        content: Mapping[str, Any] | None = None,
    ) -> Outgoing:
        """Answer an elicitation of a session, or of the connection if the session is `None`.

        `content` has the values of an accepted form, by field; they are not kept. Raises
        `UnknownSessionError`, `UnknownRequestError` for an elicitation that is not pending, and
        `InvalidValueError` for values that do not fit the form. Nothing is sent then. Protocol:
        `elicitation/create`.
        """
        with self._batch("local") as batch:
            holder = self._connection if session_id is None else self.snapshot(session_id)
            asked = next(
                (one for one in holder.elicitations if is_same_id(one.request_id, request_id)), None
            )
            if asked is None:
                raise UnknownRequestError(f"elicitation {request_id!r} is not pending")
            line = result_line(request_id, elicitation_result(asked, action, content))
            self._send(batch, line)
        return Outgoing(line)

    def forget_session(self, session_id: str) -> None:
        """Forget a session and its open requests. Raises `UnknownSessionError`.

        Subscribers receive the step to an empty snapshot. Nothing is sent: to stop the agent, call
        `close_session` or `cancel` first. A later update of the session begins it again.
        """
        with self._batch("local") as batch:
            self.snapshot(session_id)
            self._messages.routes.forget(session_id, self._answer_callbacks)
            batch.connection.set_requests(self._messages.routes.client_requests)
            batch.forgotten.append(session_id)

    def _known(self, session_id: str) -> str:
        if checked(session_id, str, "a session id") not in self._sessions:
            raise UnknownSessionError(f"no session {session_id!r}")
        return session_id

    def _option_call(self, session_id: str, config_id: str, value: Any) -> tuple[str, Params]:
        return self._messages.option_call(session_id, config_id, value)

    # --- What the agent asks ---

    def handle(self, method: str, handler: Handler | None) -> None:
        """Register the handler of the agent's requests of a method; `None` removes it.

        The handler is called with a `Responder`. It returns the result, returns `LATER` to answer
        later through the responder, or raises `HandlerError` to answer with an error. A request
        without a handler is answered with "method not found", except permission requests and
        elicitations, which are state. Handlers are called like subscribers.
        """
        _put(self._handlers, method, handler)

    def handle_notification(self, method: str, handler: NotificationHandler | None) -> None:
        """Register the handler of the agent's notifications of a method; `None` removes it.

        The handler is called with the method and the parameters. Session updates are not among
        these notifications.
        """
        _put(self._notification_handlers, method, handler)

    def _next_id(self) -> str:
        self._last_id += 1
        return f"{_ID_PREFIX}{self._last_id}"


def _check_function(given: object) -> None:
    checked(given, Callable, "a function")  # type: ignore[arg-type]  # it is a class


def _put(handlers: dict[str, Any], method: str, handler: Any) -> None:
    checked(method, str, "the name of a method")
    if handler is None:
        handlers.pop(method, None)
    else:
        _check_function(handler)
        handlers[method] = handler
