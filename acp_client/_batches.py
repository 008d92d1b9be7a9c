"""`Batches`: what one call of the store makes, from the lines of a read to new snapshots.

A call opens a batch, which takes turns with other threads. Lines and events are reduced to drafts
of the sessions and of the connection; the batch also collects the lines to write and the calls to
make. At its end all of it is published at once, and then the subscribers are called.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from msgspec import Struct, field

from . import _events as facts
from . import wire
from ._agent_calls import Handler, NotificationHandler, Responder, answer_by
from ._chunk_runs import Intake
from ._client_calls import OnAnswer
from ._connection import Connection, ConnectionDraft
from ._delivery import Origin
from ._errors import (
    Problem,
    ProblemKind,
    ReentryError,
    UnknownRequestError,
)
from ._limits import Limits
from ._locks import hold_locks, holds, let_go
from ._outgoing import (
    error_line,
    permission_outcome,
    plain,
    result_line,
)
from ._reducer import Drafts
from ._requests import (
    METHOD_NOT_FOUND,
    AgentRequest,
    NotificationReceived,
    RequestAnswered,
    RequestReceived,
    RequestRefused,
    RequestSent,
    SessionEvent,
    value_of,
)
from ._snapshot import Snapshot
from ._subscriptions import (
    Call,
    OneCall,
    Prepared,
    Subscriptions,
    print_callback_error,
)
from ._versions import Protocol, VersionedConnection

_OF_KNOWN_SESSIONS: Final = (
    facts.ConfigOptionsSet,
    facts.OptionWanted,
    facts.OptionAnswered,
    facts.SessionClosed,
    facts.ElicitationCompleted,
    facts.ToolCallCancelSent,
    facts.ToolCallCancelRefused,
    facts.TerminalCancelSent,
    facts.TerminalCancelRefused,
)
"""Events that change an existing session, and do not create one."""


class Batch(Struct, eq=False):
    """The outcome of one call of the store.

    It has sessions and the connection, lines to write, calls to make, and forgotten sessions.
    """

    drafts: Drafts
    connection: ConnectionDraft
    lines: list[bytes] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def patch_sessions(self) -> None:
        """Patch the list of sessions with their own updates since the last time."""
        for session_id, draft in self.drafts.open.items():
            if draft.info_updates:
                updates, draft.info_updates = draft.info_updates, None
                for update in updates:
                    self.connection.patch_session(session_id, update)


class Batches:
    """The state of a connection and its sessions, which only batches change."""

    def __init__(self, limits: Limits, protocol: Protocol | None, *, observer: bool) -> None:
        self._limits = limits
        self._sessions: dict[str, Snapshot] = {}
        self._messages = VersionedConnection(protocol, limits.open_requests)
        self._connection = Connection()
        self._observes = observer
        self._answer_callbacks: dict[wire.RequestId, OnAnswer[Any]] = {}
        self._handlers: dict[str, Handler] = {}
        self._notification_handlers: dict[str, NotificationHandler] = {}
        self._to_send: deque[bytes] = deque()
        self.on_data_to_send: Callable[[], object] | None = None
        self._line = 0
        self._subscriptions = Subscriptions(lambda error: self.on_callback_error(error))
        self.on_callback_error: Callable[[Exception], object] = print_callback_error
        self._problems: deque[Problem] = deque(maxlen=limits.problems)
        self._problem_counts: Counter[ProblemKind] = Counter()
        self._busy: int | None = None  # the thread that is within a call
        hold_locks(self, Batches._renew_locks)

    def _renew_locks(self) -> None:
        self._lock = threading.RLock()
        if self._busy != threading.get_ident():
            self._busy = None  # the thread that was within a call is not in this process

    # --- Batches ---

    @contextmanager
    def _batch(self, origin: Origin) -> Iterator[Batch]:
        """Run one batch under the lock; publish its outcome, then call the subscribers."""
        with self._turn():
            drafts = Drafts(self._sessions, self._limits)
            batch = Batch(drafts, ConnectionDraft(self._connection))
            yield batch
            self._publish(batch, origin)
        if batch.lines:
            self._wake_writer()
        self._subscriptions.deliver()

    def _send(self, batch: Batch, line: bytes) -> None:
        """Queue a line of the client, and follow it as `sent` does."""
        batch.lines.append(line)
        self._follow(batch, line[:-1], 0, sent=True)

    def _wake_writer(self) -> None:
        if self.on_data_to_send is None:
            return
        try:
            self.on_data_to_send()
        except Exception as error:  # noqa: BLE001  # a callback may raise anything; it is reported
            self.on_callback_error(error)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for other threads. Raises `ReentryError` within another turn of this thread."""
        lock, before = self._lock, holds(self._lock)
        try:
            with lock:
                if self._busy is not None:
                    raise ReentryError("the store is in the middle of another call of this thread")
                self._busy = threading.get_ident()
                try:
                    yield
                finally:
                    self._busy = None
        except BaseException:
            let_go(lock, before)
            raise

    def _reduce(self, batch: Batch, events: Iterable[SessionEvent]) -> None:
        """Reduce events of any session; an event in `_OF_KNOWN_SESSIONS` creates no session."""
        drafts = batch.drafts
        for session_id, event in events:
            if session_id is None:
                self._reduce_connection(batch, event)
            elif drafts.knows(session_id) or not isinstance(event, _OF_KNOWN_SESSIONS):
                drafts.reduce(session_id, event)
                if isinstance(event, facts.PermissionAsked):
                    self._answer_if_cancelling(batch, session_id, event.request_id)

    def _answer_if_cancelling(
        self, batch: Batch, session_id: str, request_id: wire.RequestId
    ) -> None:
        """Answer a permission request that was on its way when the session was cancelled."""
        if batch.drafts.draft(session_id).foreground != "cancelling":
            return
        if self._observes:
            self._messages.routes.agent_requests.close(request_id)
        else:
            self._send(batch, result_line(request_id, permission_outcome(None)))

    def _reduce_connection(self, batch: Batch, event: Any) -> None:
        """Reduce an event of the connection, and call what waits for it."""
        batch.patch_sessions()
        batch.connection.reduce(event)
        match event:
            case RequestSent() | RequestAnswered():
                batch.connection.set_requests(self._messages.routes.client_requests)
        match event:
            case RequestAnswered():
                on_answer = self._answer_callbacks.pop(event.request.request_id, None)
                if on_answer is not None:
                    batch.calls.append((OneCall(on_answer), event.answer))
            case RequestReceived():
                self._receive_request(batch, event.request)
            case RequestRefused():
                self._refuse(batch, event.request_id, event.error)
            case NotificationReceived():
                handler = self._notification_handlers.get(event.method)
                if handler is not None:
                    call = OneCall(partial(handler, event.method))
                    batch.calls.append((call, value_of(event.params)))

    def _receive_request(self, batch: Batch, request: AgentRequest) -> None:
        """Pass a request of the agent to its handler, or refuse it."""
        handler = None if self._observes else self._handlers.get(request.method)
        if handler is not None:
            is_open = self._messages.routes.agent_requests.is_open
            responder = Responder(request, self._respond, is_open)
            batch.calls.append((OneCall(partial(answer_by, handler)), responder))
        else:
            error = wire.Error(METHOD_NOT_FOUND, "Method not found")
            self._refuse(batch, request.request_id, error)

    @contextmanager
    def _observing(self) -> Iterator[None]:
        """Answer nothing by itself within a block: a recording has the answers."""
        before, self._observes = self._observes, True
        try:
            yield
        finally:
            self._observes = before

    def _refuse(self, batch: Batch, request_id: wire.RequestId, error: wire.Error) -> None:
        if not self._observes:
            self._send(batch, error_line(request_id, error))

    def _publish(self, batch: Batch, origin: Origin) -> None:
        """Publish the sessions and the connection after the batch."""
        before, news, prepared = self._sessions, dict[str, Snapshot](), Prepared([], [])
        batch.patch_sessions()
        drafts, connection = batch.drafts, batch.connection.freeze()
        for session_id, draft in drafts.open.items():
            new = news[session_id] = draft.freeze()
            self._subscriptions.prepare(prepared, before.get(session_id), new, origin)
        for session_id in batch.forgotten:
            self._subscriptions.prepare(prepared, before[session_id], Snapshot(session_id), origin)
        if connection is not self._connection:
            self._subscriptions.prepare_connection(prepared, self._connection, connection)
        # From here to `offer` nothing can fail, and no signal handler can run.
        self._sessions |= news
        for session_id in batch.forgotten:
            del self._sessions[session_id]
        self._connection = connection
        self._to_send += batch.lines
        self._subscriptions.waiting += prepared.calls
        self._subscriptions.waiting += batch.calls
        self._subscriptions.offers += prepared.offers
        self._subscriptions.offer()

    def _report(self, problem: Problem) -> None:
        self._problems.append(problem)
        self._problem_counts[problem.kind] += 1

    # --- Received lines ---

    def _receive_lines(self, batch: Batch, lines: list[bytes]) -> None:
        """Decode and reduce the lines of one read."""
        first = self._line + 1
        self._line += len(lines)
        taken = 0
        while taken < len(lines):
            intake = self._messages.intake
            take_odd = partial(self._receive_refused, batch, first + taken, intake)
            taken += intake.take(batch.drafts, lines[taken:] if taken else lines, take_odd)

    def _receive_refused(
        self, batch: Batch, first: int, intake: Intake, line: bytes, index: int
    ) -> bool:
        """Follow a line that is not a well-formed update; return whether the version is unchanged.

        If it has changed, the following lines must be read in the new version.
        """
        self._follow(batch, line, first + index, is_refused=True)
        return self._messages.intake is intake

    def _follow(
        self,
        batch: Batch,
        line: bytes,
        number: int,
        *,
        sent: bool = False,
        unterminated: bool = False,
        is_refused: bool = False,
    ) -> None:
        """Reduce the events of a line from the agent, or from the client if it is `sent`."""
        events = self._messages.follow(
            line,
            number,
            self._report,
            sent=sent,
            unterminated=unterminated,
            is_refused=is_refused,
        )
        self._reduce(batch, events)

    def _assume(self, protocol: Protocol) -> None:
        """Read messages as this version, unless `initialize` or the caller has settled one."""
        with self._batch("local") as batch:
            self._reduce(batch, self._messages.assume(protocol))

    # --- What the agent asks ---

    def _respond(self, request: AgentRequest, result: Any, error: wire.Error | None) -> None:
        with self._batch("local") as batch:
            if not self._messages.routes.agent_requests.is_open(request):
                raise UnknownRequestError(f"request {request.request_id!r} is not open")
            if error is None:
                self._send(batch, result_line(request.request_id, plain(result)))
            else:
                self._send(batch, error_line(request.request_id, error))
