"""`Store`: all sessions of one connection, fed with bytes.

What goes in: what the agent wrote (`receive`), what the client's own transport wrote (`sent`), and
what the user does (`prompt`, `cancel`, `answer_permission`), for which the store returns the bytes
to write. What comes out: one immutable `Snapshot` per session, and problems.

The store reduces a whole read at once: the lines of one call are decoded together, routed to one
draft per session, and each touched session gets one new snapshot at the end.

Request ids are followed by a `Correlation`. Ids of the store's own requests are strings with a
prefix of their own, so that they never meet those that a transport counts.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

import attrs
import msgspec

from . import _events as facts
from . import wire
from ._correlation import Correlation, Told
from ._decode import decode_line, decode_refused
from ._errors import (
    PROBLEM_KINDS,
    InvalidValueError,
    Problem,
    ProblemKind,
    UnknownPermissionError,
    UnknownSessionError,
)
from ._framing import TOO_LONG, Framer
from ._intake import Intake
from ._json import encode
from ._limits import DEFAULT_LIMITS, Limits
from ._reducer import Drafts
from ._snapshot import Snapshot

_ID_PREFIX: Final = "acp-client-state:"


@attrs.frozen
class Outgoing:
    """Bytes for the client to write, one line, and the id of the request that they hold."""

    data: bytes
    request_id: wire.RequestId


class Store:
    """All sessions of one connection.

    All methods may be called from any thread; they take turns. Snapshots may be read from any
    thread at any time, and a snapshot once taken never changes.
    """

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._lock = threading.RLock()
        self._sessions: dict[str, Snapshot] = {}
        self._correlation = Correlation()
        self._intake = Intake()
        self._received = Framer(limits.line_length)
        self._sent = Framer(limits.line_length)
        self._line = 0
        self._last_id = 0
        self._problems: deque[Problem] = deque(maxlen=limits.problems)
        self._problem_counts: Counter[ProblemKind] = Counter()

    # --- What can be read ---

    @property
    def sessions(self) -> tuple[str, ...]:
        """The ids of all sessions, in order of first appearance."""
        return tuple(self._sessions)

    def snapshot(self, session_id: str) -> Snapshot:
        """Return the current snapshot of a session. Raises `UnknownSessionError`."""
        try:
            return self._sessions[session_id]
        except KeyError:
            raise UnknownSessionError(f"no session {session_id!r}") from None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The last problems, oldest first; `Limits.problems` says how many are kept."""
        return tuple(self._problems)

    @property
    def problem_counts(self) -> dict[ProblemKind, int]:
        """How many problems there were of each kind, those no longer kept included."""
        return {kind: self._problem_counts[kind] for kind in PROBLEM_KINDS}

    @property
    def agent(self) -> wire.InitializeResponse | None:
        """What the agent said of itself in answer to `initialize`, once it has."""
        return self._correlation.agent

    # --- What the traffic brings ---

    def receive(self, data: bytes | bytearray | memoryview, *, line: int | None = None) -> None:
        """Take bytes that the agent wrote, cut anywhere. Never raises for what is in them.

        Problems name the line that they are in. Lines are counted from 1; `line` sets the number of
        the line in hand, for whoever feeds part of a recording.
        """
        with self._lock:
            if line is not None:
                self._line = line - 1
            self._receive_lines(self._received.feed(bytes(data)))

    def end(self) -> None:
        """Take note that the agent's output ended: an unterminated last line is a message."""
        with self._lock:
            line = self._received.end()
            if line is None:
                return
            batch = self._drafts()
            self._line += 1
            self._receive_odd(batch, line, self._line, unterminated=True)
            self._publish(batch)

    def sent(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes that the client's transport wrote and the store did not make, cut anywhere.

        Requests, answers and cancels in them are followed; what is not understood is left alone.
        """
        with self._lock:
            batch = self._drafts()
            for line in self._sent.feed(bytes(data)):
                self._send_line(batch, line)
            self._publish(batch)

    def disconnect(self, error: wire.Error | None = None) -> None:
        """Take note that the connection is lost.

        Prompts that wait for an answer become `uncertain` (with `error`, if given), permission
        requests go; nothing else changes. Bytes of an unfinished line are forgotten.
        """
        with self._lock:
            batch = self._drafts()
            self._reduce(batch, [(known, facts.ConnectionLost(error)) for known in self._sessions])
            self._correlation.lost()
            self._received.end()
            self._sent.end()
            self._publish(batch)

    # --- What the user does ---

    def prompt(self, session_id: str, content: Sequence[wire.ContentBlock]) -> Outgoing:
        """Submit a message: return the `session/prompt` request to write.

        The prompt is in the snapshot from now on. Raises `InvalidValueError` for content that is
        empty or holds something else than content blocks.
        """
        blocks = _checked_content(content)
        with self._lock:
            request_id = self._next_id()
            params = {"sessionId": session_id, "prompt": [wire.to_builtins(b) for b in blocks]}
            data = _line(id=request_id, method="session/prompt", params=params)
            batch = self._drafts()
            self._reduce(batch, self._correlation.open_prompt(request_id, session_id, blocks))
            self._publish(batch)
        return Outgoing(data, request_id)

    def cancel(self, session_id: str) -> bytes:
        """Cancel a session's foreground work: return what to write, one or more lines.

        That is the `session/cancel` notification and a `cancelled` answer to each of the session's
        open permission requests. Unfinished tool calls of the foreground work are marked at once.
        """
        with self._lock:
            batch = self._drafts()
            asked = batch.draft(session_id).base.permissions
            answers = [_answer(request.request_id, None) for request in asked]
            self._reduce(batch, self._correlation.cancel(session_id))
            self._publish(batch)
        notification = _line(method="session/cancel", params={"sessionId": session_id})
        return b"".join([notification, *answers])

    def answer_permission(
        self, session_id: str, request_id: wire.RequestId, option_id: str | None
    ) -> bytes:
        """Answer a permission request: return what to write. `None` answers `cancelled`.

        Raises `UnknownSessionError`, `UnknownPermissionError` when the request is not pending (it
        was answered, cancelled or withdrawn: nothing is to be sent), and `InvalidValueError` for
        an option that was not offered.
        """
        with self._lock:
            pending = self.snapshot(session_id).permissions
            asked = next((item for item in pending if item.request_id == request_id), None)
            if asked is None:
                raise UnknownPermissionError(f"permission request {request_id!r} is not pending")
            if option_id is not None and option_id not in {o.option_id for o in asked.options}:
                raise InvalidValueError(f"{option_id!r} is not one of the options")
            batch = self._drafts()
            self._reduce(batch, self._correlation.close_permission(request_id))
            self._publish(batch)
        return _answer(request_id, option_id)

    # --- Received lines ---

    def _receive_lines(self, lines: list[bytes]) -> None:
        """Decode and reduce the lines of one read."""
        batch = self._drafts()
        first = self._line + 1
        self._line += len(lines)

        def take_odd(line: bytes, index: int) -> None:
            self._receive_odd(batch, line, first + index)

        self._intake.take(batch, lines, take_odd)
        self._publish(batch)

    def _receive_odd(
        self, batch: Drafts, line: bytes, number: int, *, unterminated: bool = False
    ) -> None:
        """Handle a line that is no well-formed session update."""
        if line == TOO_LONG:
            self._report(Problem(number, "too_long", "$", "is longer than the limit"))
            return
        message = decode_refused(line, number, self._report, unterminated=unterminated)
        self._reduce(batch, self._correlation.received(message, number, self._report))

    # --- Sent lines ---

    def _send_line(self, batch: Drafts, line: bytes) -> None:
        if line != TOO_LONG:
            message = decode_line(line, 0, _ignore, sent=True)
            self._reduce(batch, self._correlation.sent(message))

    # --- The end of a batch ---

    def _drafts(self) -> Drafts:
        return Drafts(self._sessions, self._limits)

    def _reduce(self, batch: Drafts, told: Iterable[Told]) -> None:
        """Reduce events of any session; new options alone do not make a session."""
        for session_id, event in told:
            if batch.knows(session_id) or not isinstance(event, facts.ConfigOptionsSet):
                batch.reduce(session_id, event)

    def _publish(self, batch: Drafts) -> None:
        for session_id, draft in batch.open.items():
            self._sessions[session_id] = draft.freeze()

    def _report(self, problem: Problem) -> None:
        self._problems.append(problem)
        self._problem_counts[problem.kind] += 1

    def _next_id(self) -> str:
        self._last_id += 1
        return f"{_ID_PREFIX}{self._last_id}"


def _checked_content(content: Sequence[wire.ContentBlock]) -> tuple[wire.ContentBlock, ...]:
    if isinstance(content, str | bytes):
        raise InvalidValueError("a prompt is a list of content blocks, not a string")
    blocks = tuple(content)
    if not blocks:
        raise InvalidValueError("a prompt needs at least one content block")
    for block in blocks:
        if not isinstance(block, msgspec.Struct | wire.Unknown):
            raise InvalidValueError(f"{type(block).__name__} is not a content block")
    return blocks


def _answer(request_id: wire.RequestId, option_id: str | None) -> bytes:
    outcome = {"outcome": "cancelled"}
    if option_id is not None:
        outcome = {"outcome": "selected", "optionId": option_id}
    return _line(id=request_id, result={"outcome": outcome})


def _line(**members: Any) -> bytes:
    return encode({"jsonrpc": "2.0", **members}) + b"\n"


def _ignore(problem: Problem) -> None:
    """Leave alone what is wrong in the client's own lines: a problem is the peer's."""
