"""`Store`: all sessions of one connection, fed with bytes.

What goes in: what the agent wrote (`receive`), what the client's own transport wrote (`sent`), and
what the user does (`prompt`, `cancel`, `answer_permission`), for which the store returns the bytes
to write. What comes out: one immutable `Snapshot` per session, and problems.

The store reduces a whole read at once: the lines of one call are decoded together, routed to one
draft per session, and each touched session gets one new snapshot at the end.

Which version of the protocol the messages are of, and what they tell, is the business of a
`Connection`. Lines are followed one by one until it is settled that this is v2; then the hot path
takes over.

Ids of the store's own requests are strings with a prefix of their own, so that they never meet
those that a transport counts.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from . import _events as facts
from . import wire
from ._chunk_runs import Intake
from ._decode import decode_refused
from ._delivery import Origin
from ._errors import (
    PROBLEM_KINDS,
    InvalidValueError,
    Problem,
    ProblemKind,
    ReentryError,
    UnknownPermissionError,
    UnknownSessionError,
    checked,
)
from ._framing import TOO_LONG, Framer
from ._limits import DEFAULT_LIMITS, Limits
from ._locks import hold_locks, holds, let_go
from ._outgoing import (
    Outgoing,
    cancel_notification,
    checked_content,
    permission_answer,
    prompt_request,
)
from ._reader import Reader
from ._reducer import Drafts
from ._requests import Told
from ._snapshot import Snapshot
from ._subscriptions import (
    Callback,
    Prepared,
    Selector,
    Subscription,
    Subscriptions,
    print_callback_error,
)
from ._versions import Connection, Protocol

if TYPE_CHECKING:
    from ._memory import Memory

_ID_PREFIX: Final = "acp-client-state:"
_DATA: Final = bytes | bytearray | memoryview


class Store:
    """All sessions of one connection.

    `protocol` says what the agent speaks, `"v1"` or `"v2"`; without it, that is learned from
    `initialize`, or from the first messages. Raises `InvalidValueError` for anything else.

    Threads: all methods may be called from any of them, callbacks included. Those that feed the
    store take turns; reading does not wait for them. Snapshots may be read, continued with `apply`
    and compared with `changes` anywhere at any time, and a snapshot once taken never changes. What
    is not promised: that two sessions that one batch changes are seen to change together, or that
    whoever reads a snapshot is not a step ahead of the subscribers, whose calls come afterwards.

    Signal handlers and finalizers run in the middle of anything. They may read snapshots, and close
    subscriptions and readers; any other call raises `ReentryError` if it comes from within one of
    the same store. What is raised into a call (`KeyboardInterrupt`, `MemoryError`) leaves the store
    usable and every snapshot true, but the read in hand is lost: `disconnect`, and resume.

    After a fork, the child may read what it inherits, and feed stores of its own.

    `on_callback_error` is called with each exception that a subscriber raises; until it is set,
    they are printed.
    """

    def __init__(
        self, *, limits: Limits = DEFAULT_LIMITS, protocol: Protocol | None = None
    ) -> None:
        self._limits = checked(limits, Limits, "an object of `Limits`")
        self._sessions: dict[str, Snapshot] = {}
        self._connection = Connection(protocol)
        self._intake = Intake()
        self._received = Framer(limits.line_length)
        self._sent = Framer(sys.maxsize)  # a limit is for what others write
        self._line = 0
        self._last_id = 0
        self._subscriptions = Subscriptions(lambda error: self.on_callback_error(error))
        self.on_callback_error: Callable[[Exception], object] = print_callback_error
        self._problems: deque[Problem] = deque(maxlen=limits.problems)
        self._problem_counts: Counter[ProblemKind] = Counter()
        self._busy: int | None = None  # the thread that is in the middle of a call
        hold_locks(self, Store._renew_locks)

    def _renew_locks(self) -> None:
        self._lock = threading.RLock()
        if self._busy != threading.get_ident():
            self._busy = None  # who was in the middle of a call is not in this process

    # --- What can be read ---

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids of all sessions, in order of first appearance."""
        return tuple(self._sessions)

    def snapshot(self, session_id: str) -> Snapshot:
        """Return the current snapshot of a session. Raises `UnknownSessionError`."""
        try:
            return self._sessions[session_id]
        except (KeyError, TypeError):  # a list, say, is no key
            raise UnknownSessionError(f"no session {session_id!r}") from None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The last problems, oldest first; `Limits.problems` says how many are kept."""
        return tuple(self._problems)

    @property
    def problem_counts(self) -> dict[ProblemKind, int]:
        """How many problems there were of each kind, those no longer kept included."""
        return {kind: self._problem_counts[kind] for kind in PROBLEM_KINDS}

    def memory(self) -> Memory:
        """Tell how many bytes are kept, and for what.

        It takes a walk over all that there is, some microseconds for each entry, in which those
        that feed the store wait. Nothing is changed by it.
        """
        # A look that few take: who imports the package does not wait for it.
        from ._memory import memory_of

        with self._turn():
            return memory_of([self._sessions, self._subscriptions, self])

    @property
    def agent(self) -> wire.InitializeResponse | None:
        """What the agent said of itself in answer to `initialize`, once it has."""
        return self._connection.routes.agent

    @property
    def protocol(self) -> Protocol:
        """What the agent speaks, as far as that is known: `"v2"` before anything tells."""
        return self._connection.protocol

    # --- Who is told of changes ---

    def subscribe(
        self,
        callback: Callback,
        *,
        session: str | None = None,
        select: Selector | None = None,
    ) -> Subscription:
        """Call `callback` with the present snapshot, and then with what each batch changes.

        The first `Delivery` about a session brings what is there already (of a session that nobody
        knows, an empty snapshot), the next ones the steps from there: nothing falls between. A
        batch gives one call for each session that it changes. `session` is the id of the only one
        to be told of; without it, all are, those to come included.

        With `select`, a function of a snapshot, only those batches count after which it returns
        another object: `select=lambda snapshot: snapshot.plans`.

        Calls are made in order and one at a time, by the thread that called the store, when the
        store's method is about to return. They never come within each other: what a callback does
        to the store is told after it has returned. A callback that raises stops nobody, see
        `on_callback_error`; its next call about that session brings a `Reset`, since nobody knows
        what it drew. It is called no more once the subscription is closed.
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

    def reader(self, session: str, *, wake: Callable[[Reader], object] | None = None) -> Reader:
        """Return what holds the newest step of a session, for a renderer that takes its time.

        `wake` is called, as a subscriber is, with the reader when there is a step to take, and when
        one that is there becomes urgent.
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
        """Take bytes that the agent wrote, cut anywhere. Never raises for what is in them.

        Problems name the line that they are in. Lines are counted from 1; `line` sets the number of
        the line in hand, for whoever feeds part of a recording.
        """
        if line is not None and checked(line, int, "the number of a line") < 0:
            raise InvalidValueError(f"{line} is no number of a line")
        with self._batch("live") as batch:
            if line is not None:
                self._line = line - 1
            self._receive_lines(batch, self._received.feed(bytes(checked(data, _DATA, "bytes"))))

    def end(self) -> None:
        """Take note that the agent's output ended: an unterminated last line is a message."""
        with self._batch("live") as batch:
            line = self._received.end()
            if line is not None:
                self._line += 1
                self._follow(batch, line, self._line, unterminated=True)
            begin_anew = partial(self._begin_anew, batch)
            self._reduce(batch, self._connection.end(self._report, begin_anew))

    def sent(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes that the client's transport wrote and the store did not make, cut anywhere.

        Requests, answers and cancels in them are followed; what is not understood is left alone.
        """
        with self._batch("local") as batch:
            for line in self._sent.feed(bytes(checked(data, _DATA, "bytes"))):
                self._follow(batch, line, 0, sent=True)

    def disconnect(self, error: wire.Error | None = None) -> None:
        """Take note that the connection is lost.

        Prompts that wait for an answer become `uncertain` (with `error`, if given), permission
        requests go; nothing else changes. Bytes of an unfinished line are forgotten. The store goes
        on with the next connection, whose `initialize` may agree on another version.
        """
        checked(error, wire.Error | None, "a `wire.Error`")
        with self._batch("local") as batch:
            self._reduce(batch, self._connection.lose())
            self._reduce(batch, [(known, facts.ConnectionLost(error)) for known in self._sessions])
            self._received.end()
            self._sent.end()

    # --- What the user does ---

    def prompt(self, session_id: str, content: Sequence[wire.ContentBlock]) -> Outgoing:
        """Submit a message: return the `session/prompt` request to write.

        The prompt is in the snapshot from now on. Raises `InvalidValueError` for content that is
        empty or holds something else than content blocks, and for an id that is no string.
        """
        checked(session_id, str, "a session id")
        blocks = checked_content(content)
        with self._batch("local") as batch:
            request_id = self._next_id()
            data = prompt_request(request_id, session_id, blocks)
            self._connection.remember_sent(data)
            told = self._connection.routes.open_prompt(request_id, session_id, blocks)
            self._reduce(batch, told)
        return Outgoing(data, request_id)

    def cancel(self, session_id: str) -> bytes:
        """Cancel a session's foreground work: return what to write, one or more lines.

        That is the `session/cancel` notification and a `cancelled` answer to each of the session's
        open permission requests. Unfinished tool calls of the foreground work are marked at once.
        """
        notification = cancel_notification(checked(session_id, str, "a session id"))
        with self._batch("local") as batch:
            asked = batch.draft(session_id).base.permissions
            answers = [permission_answer(request.request_id, None) for request in asked]
            self._connection.remember_sent(notification)
            self._reduce(batch, self._connection.routes.cancel(session_id))
        return b"".join([notification, *answers])

    def answer_permission(
        self, session_id: str, request_id: wire.RequestId, option_id: str | None
    ) -> bytes:
        """Answer a permission request: return what to write. `None` answers `cancelled`.

        Raises `UnknownSessionError`, `UnknownPermissionError` when the request is not pending (it
        was answered, cancelled or withdrawn: nothing is to be sent), and `InvalidValueError` for
        an option that was not offered.
        """
        with self._batch("local") as batch:
            pending = self.snapshot(session_id).permissions
            asked = next((item for item in pending if item.request_id == request_id), None)
            if asked is None:
                raise UnknownPermissionError(f"permission request {request_id!r} is not pending")
            if option_id is not None and option_id not in [o.option_id for o in asked.options]:
                raise InvalidValueError(f"{option_id!r} is not one of the options")
            answer = permission_answer(asked.request_id, option_id)
            self._connection.remember_sent(answer)
            self._reduce(batch, self._connection.routes.close_permission(asked.request_id))
        return answer

    def close_session(self, session_id: str) -> None:
        """Forget a session, and what waits for an answer in it. Raises `UnknownSessionError`.

        Its subscribers are told: the step leads to an empty snapshot. Nothing is to be written; an
        agent that should stop is told with `cancel` before. If it reports something of the session
        later, that begins the session anew.
        """
        with self._turn():
            before = self.snapshot(session_id)
            prepared = Prepared([], [])
            self._subscriptions.prepare(prepared, before, Snapshot(session_id), "local")
            self._connection.forget(session_id)
            del self._sessions[session_id]
            self._subscriptions.waiting += prepared.calls
            self._subscriptions.offers += prepared.offers
            self._subscriptions.offer()
        self._subscriptions.deliver()

    # --- Received lines ---

    def _receive_lines(self, batch: Drafts, lines: list[bytes]) -> None:
        """Decode and reduce the lines of one read."""
        number = self._line + 1
        self._line += len(lines)
        looked_at = 0
        while looked_at < len(lines) and not self._connection.is_plain:
            self._follow(batch, lines[looked_at], number)
            looked_at, number = looked_at + 1, number + 1

        def take_odd(line: bytes, index: int) -> None:
            self._receive_odd(batch, line, number + index)

        self._intake.take(batch, lines[looked_at:] if looked_at else lines, take_odd)

    def _receive_odd(self, batch: Drafts, line: bytes, number: int) -> None:
        """Handle a line of v2 that is no well-formed session update."""
        if line == TOO_LONG:
            self._report(Problem(number, "too_long", "$", "is longer than the limit"))
            return
        message = decode_refused(line, number, self._report)
        self._reduce(batch, self._connection.routes.received(message, number, self._report))

    def _follow(
        self,
        batch: Drafts,
        line: bytes,
        number: int,
        *,
        sent: bool = False,
        unterminated: bool = False,
    ) -> None:
        """Reduce what a line tells, one of the agent's or one that was `sent`."""
        begin_anew = partial(self._begin_anew, batch)
        told = self._connection.follow(
            line, number, self._report, begin_anew, sent=sent, unterminated=unterminated
        )
        self._reduce(batch, told)

    def _begin_anew(self, batch: Drafts) -> None:
        """Forget all that was told and found: it is going to be told again."""
        batch.forget()
        self._problems.clear()
        self._problem_counts.clear()

    # --- Batches ---

    @contextmanager
    def _batch(self, origin: Origin) -> Iterator[Drafts]:
        """Take turns for one batch; publish what became of it, then call the subscribers."""
        with self._turn():
            batch = Drafts(self._sessions, self._limits)
            yield batch
            self._publish(batch, origin)
        self._subscriptions.deliver()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for other threads; refuse whoever comes from within another turn of this one."""
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

    def _reduce(self, batch: Drafts, told: Iterable[Told]) -> None:
        """Reduce events of any session; new options alone do not make a session."""
        for session_id, event in told:
            if batch.knows(session_id) or not isinstance(event, facts.ConfigOptionsSet):
                batch.reduce(session_id, event)

    def _publish(self, batch: Drafts, origin: Origin) -> None:
        """Make the sessions what the batch made of them, and tell who follows them."""
        before, news, prepared = self._sessions, dict[str, Snapshot](), Prepared([], [])
        for session_id, draft in batch.open.items():
            new = news[session_id] = draft.freeze()
            self._subscriptions.prepare(prepared, before.get(session_id), new, origin)
        for gone in [old for old in before if old not in news] if batch.begins_anew else ():
            self._subscriptions.prepare(prepared, before[gone], Snapshot(gone), origin)
        # From here to `offer` nothing can fail, and no signal handler comes between.
        if batch.begins_anew:
            self._sessions = news
        else:
            self._sessions |= news
        self._subscriptions.waiting += prepared.calls
        self._subscriptions.offers += prepared.offers
        self._subscriptions.offer()

    def _report(self, problem: Problem) -> None:
        self._problems.append(problem)
        self._problem_counts[problem.kind] += 1

    def _next_id(self) -> str:
        self._last_id += 1
        return f"{_ID_PREFIX}{self._last_id}"


def _check_function(given: object) -> None:
    checked(given, Callable, "a function")  # type: ignore[arg-type]  # it is a class
