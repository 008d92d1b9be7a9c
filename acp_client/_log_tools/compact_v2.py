"""Rewriting a log of ACP v2: one line for each thing that the state still shows.

The log becomes a list of lines, each of which is a frame as it was or stands for several of them.

- *Entities* (messages, tool calls, compactions, terminals, the session's information) are reduced
  on a snapshot of their own, in the line that created them, and written as one upsert in the words
  of the snapshot document. That is right because an update of an entity that is there already
  commutes with everything but what reads it: a cancel, a pending permission request, a replay.
  These close the line; what comes for the entity afterwards is kept as it was.
- *Values that are replaced whole* (plans, commands, options, usage, the state) keep their first
  line, with the last content. A line is closed where something in between reads the value: a turn
  that begins or ends, a cancel, a request that sets options.
- *Permission requests and forms* go together with their answers. A tool call that a request
  reported stays, as its own line.
- *A replay* that succeeded makes the session's earlier entries superfluous, except for the user
  messages that settle prompts; states stay, since what a cancel does depends on them.
- Anything else stays as it was: requests of the client, their answers, unknown updates.

A line that is the first of its session is never left out: it decides the order of the sessions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from .. import wire
from .._decode import decode
from .._json import NotJson, TooDeep, encode, parse
from .._limits import DEFAULT_LIMITS
from .._recordings import Frame
from .._reducer import apply
from .._snapshot import Snapshot
from .rewriting import Rewriting
from .upserts import update_message, upserts

_IDS: Final[dict[type, tuple[str, str]]] = {
    wire.UserMessage: ("user_message", "message_id"),
    wire.UserMessageChunk: ("user_message", "message_id"),
    wire.AgentMessage: ("agent_message", "message_id"),
    wire.AgentMessageChunk: ("agent_message", "message_id"),
    wire.AgentThought: ("agent_thought", "message_id"),
    wire.AgentThoughtChunk: ("agent_thought", "message_id"),
    wire.ToolCallUpdate: ("tool_call", "tool_call_id"),
    wire.ToolCallContentChunk: ("tool_call", "tool_call_id"),
    wire.CompactionUpdate: ("compaction", "compaction_id"),
    wire.CompactionSummaryChunk: ("compaction", "compaction_id"),
    wire.TerminalUpdate: ("terminal", "terminal_id"),
    wire.TerminalOutputChunk: ("terminal", "terminal_id"),
}
"""By the class of an update: the kind of its entity, and the field that has the id."""

_INFO: Final = ("info", "")
_STATE: Final = ("state", "")
_OPTIONS: Final = ("options", "")
_USAGE: Final = ("usage", "")
_COMMANDS: Final = ("commands", "")

_BEGIN_A_SESSION: Final = ("session/prompt", "session/resume")
"""Requests of the client that are enough for a session to be there."""


@attrs.define(eq=False)
class Line:
    """One line of the result: a frame, or the updates that a frame began."""

    session: _Session | None
    frame: Frame
    built: Snapshot | None = None
    count: int = 1
    survives_replay: bool = True
    dropped: bool = False

    def frames(self) -> Iterator[Frame]:
        """Return what is to be written."""
        if self.built is None or self.count == 1:
            yield self.frame
            return
        for update in upserts(self.built):
            data = update_message(self.built.session_id, update)
            yield attrs.evolve(self.frame, data=data)


@attrs.define(eq=False)
class _Session:
    """What is known of one session on the way."""

    session_id: str
    open: dict[Hashable, Line] = attrs.field(factory=dict)
    known: set[Hashable] = attrs.field(factory=set)
    notices: deque[Line] = attrs.field(factory=deque)
    first: Line | None = None
    is_idle: bool | None = None
    cancelling: bool = False
    replay: tuple[Any, int] | None = None
    as_recorded: bool = False

    def close(self, *kinds: str) -> None:
        """Let nothing more be merged into lines of some kinds."""
        self.open = {key: line for key, line in self.open.items() if _kind(key) not in kinds}


def _kind(key: Any) -> str:
    kind: str = key[0]
    return kind


@attrs.define(eq=False)
class _Pending:
    """A request of the agent that waits for its answer, and goes with it.

    `call` is the line of the tool call that it reported, `later` what came for that call since.
    """

    session: _Session | None
    lines: list[Line]
    call: Line | None = None
    key: Hashable = None
    later: list[tuple[Line, Any]] = attrs.field(factory=list)
    survives_cancel: bool = False


class CompactedV2(Rewriting):
    """A log of ACP v2 on its way to a shorter one."""

    def __init__(self, first_kept: Mapping[str, int]) -> None:
        super().__init__(first_kept)
        self._lines: list[Line] = []
        self._sessions: dict[str, _Session] = {}
        self._requests: dict[Any, tuple[str, str | None]] = {}
        self._pending: dict[Any, _Pending] = {}
        self._kept_requests: set[Any] = set()

    def frames(self) -> Iterator[Frame]:
        """Return the frames that are left, in order."""
        return (frame for line in self._lines if not line.dropped for frame in line.frames())

    def _take(self, frame: Frame) -> None:
        """Take the next frame of the log."""
        for each in _taken_apart(frame):
            message, _ = decode(each.data, sent=each.sent)
            if message is not None:
                (self._sent if each.sent else self._received)(message, each)

    def _keep(self, session: _Session | None, frame: Frame, *, survives: bool = True) -> Line:
        """Keep a frame as it is."""
        line = Line(session, frame, survives_replay=survives)
        self._lines.append(line)
        if session is not None and session.first is None:
            session.first = line
        return line

    def _session(self, session_id: str) -> _Session:
        return self._sessions.setdefault(session_id, _Session(session_id))

    # --- What the client sent ---

    def _sent(self, message: Any, frame: Frame) -> None:
        match message:
            case wire.Response():
                if message.id in self._kept_requests:
                    self._kept_requests.discard(message.id)
                    self._keep(None, frame)
                elif message.id in self._pending:
                    self._answered(message.id, frame)
            case wire.Request():
                self._client_asks(message, frame)
            case wire.Notification(params=wire.CancelSessionNotification() as params):
                self._cancel(self._session(params.session_id), frame)
            case _:
                self._keep(None, frame)

    def _client_asks(self, message: wire.Request, frame: Frame) -> None:
        session_id = getattr(message.params, "session_id", None) or _session_id(frame)
        session = None if session_id is None else self._session(session_id)
        self._requests[message.id] = (message.method, session_id)
        if session is not None and message.method == "session/set_config_option":
            session.close(_kind(_OPTIONS))
        if getattr(message.params, "replay_from", None) is not None and session is not None:
            self._replay_begins(session, message.id)
        self._keep(session if message.method in _BEGIN_A_SESSION else None, frame)

    def _cancel(self, session: _Session, frame: Frame) -> None:
        for request_id, pending in list(self._pending.items()):
            if pending.session is session and not (session.as_recorded or pending.survives_cancel):
                self._answered(request_id, None)
        session.close("tool_call", _kind(_STATE))
        session.cancelling = session.is_idle is False
        self._keep(session, frame)

    def _answered(self, request_id: Any, answer: Frame | None) -> None:
        """Leave out a request with its answer; what it reported of a tool call stays."""
        pending = self._pending.pop(request_id)
        session = pending.session
        is_first = session is not None and session.first in pending.lines
        if is_first or (session is not None and session.as_recorded):
            if answer is not None:
                self._keep(session, answer)
            return
        for line in pending.lines:
            line.dropped = True
        if session is not None and pending.call is not None:
            for line, update in pending.later:
                line.dropped = True
                _merge(pending.call, update)
            session.open[pending.key] = pending.call

    # --- What the agent sent ---

    def _received(self, message: Any, frame: Frame) -> None:
        match message:
            case wire.Notification(params=wire.UpdateSessionNotification() as params):
                self._updated(self._session(params.session_id), params.update, frame)
            case wire.Notification(params=wire.CancelRequestNotification() as params):
                self._withdrawn(params.request_id, frame)
            case wire.Request(params=wire.RequestPermissionRequest() as params):
                self._permission_asked(message.id, params, frame)
            case wire.Request():
                self._agent_asks(message, frame)
            case wire.Response():
                self._settled(message, frame)
            case _:
                self._keep(None, frame)

    def _withdrawn(self, request_id: Any, frame: Frame) -> None:
        if request_id in self._kept_requests:
            self._kept_requests.discard(request_id)
            self._keep(None, frame)
        elif request_id in self._pending:
            self._answered(request_id, frame)

    def _agent_asks(self, message: wire.Request, frame: Frame) -> None:
        """Keep a question to the user; other requests matter where they take an id away."""
        if message.method != "elicitation/create":
            if message.id in self._pending or message.id in self._kept_requests:
                self._pending.pop(message.id, None)
                self._kept_requests.add(message.id)
                self._keep(None, frame)
            return
        session_id = _session_id(frame)
        session = None if session_id is None else self._session(session_id)
        begins = session is not None and (session.first is None or session.as_recorded)
        line = self._keep(None, frame)
        if _mode(frame) == "form" and not begins and message.id not in self._kept_requests:
            self._wait(message.id, _Pending(session, [line], survives_cancel=True))
        else:
            self._kept_requests.add(message.id)

    def _wait(self, request_id: Any, pending: _Pending) -> None:
        """Follow a request; one that asks again replaces the older, and goes with it."""
        older = self._pending.pop(request_id, None)
        if older is not None and older.session is not pending.session:
            self._kept_requests.add(request_id)
            return
        if older is not None:
            pending.lines += older.lines
        self._pending[request_id] = pending

    def _permission_asked(
        self, request_id: Any, request: wire.RequestPermissionRequest, frame: Frame
    ) -> None:
        session = self._session(request.session_id)
        subject = request.subject
        call = subject.tool_call if isinstance(subject, wire.ToolCallPermissionSubject) else None
        key = None if call is None else ("tool_call", call.tool_call_id)
        is_closed = key in session.known and key not in session.open
        is_kept = request_id in self._kept_requests
        if session.as_recorded or session.cancelling or is_closed or is_kept:
            self._kept_requests.add(request_id)
            self._pending.pop(request_id, None)
            for pending in self._pending.values():
                pending.call = None if pending.key == key else pending.call
            if key is not None:
                session.known.add(key)
            self._keep(session, frame)
            return
        line = None
        if call is not None:
            self._build(session, key, call, frame)
            line = session.open.pop(key)
            line.count += 1  # even a single one is no update as it was recorded
        self._wait(request_id, _Pending(session, [self._keep(session, frame)], line, key))

    def _settled(self, message: wire.Response, frame: Frame) -> None:
        """Keep an answer to the client, and close what it may replace."""
        method, session_id = self._requests.pop(message.id, ("", None))
        session = None if session_id is None else self._session(session_id)
        self._keep(None, frame)
        if method != "session/prompt":
            for each in self._sessions.values():
                each.close(_kind(_INFO))
        if session is None:
            return
        if method in ("session/close", "session/delete"):
            session.as_recorded = True
        session.close(_kind(_OPTIONS))
        if session.replay is not None and session.replay[0] == message.id:
            self._replay_ends(session, _has_result(message))

    # --- Replays ---

    def _replay_begins(self, session: _Session, request_id: Any) -> None:
        """Build everything from empty again."""
        session.as_recorded |= session.replay is not None
        session.replay = (request_id, len(self._lines))
        session.open.clear()
        session.known.clear()
        session.is_idle, session.cancelling = None, False
        for pending in self._pending.values():
            if pending.session is session:
                pending.call = None

    def _replay_ends(self, session: _Session, succeeded: bool) -> None:
        """Leave out what a replay replaced; after anything else, merge no more."""
        if session.as_recorded or session.replay is None:
            return
        start, session.replay = session.replay[1], None
        if not succeeded:
            session.as_recorded = True
            return
        for line in self._lines[:start]:
            if line.session is session and not line.survives_replay:
                line.dropped = line is not session.first

    # --- Updates ---

    def _updated(self, session: _Session, update: Any, frame: Frame) -> None:
        if isinstance(update, wire.StateUpdate | wire.UnknownStateUpdate):
            self._state(session, update, frame)
        elif session.as_recorded:
            self._keep(session, frame)
        elif type(update) in _IDS:
            kind, field = _IDS[type(update)]
            self._build(session, (kind, getattr(update, field)), update, frame)
        elif isinstance(update, wire.SessionInfoUpdate):
            self._build(session, _INFO, update, frame)
        else:
            self._replace(session, update, frame)

    def _build(self, session: _Session, key: Any, update: Any, frame: Frame) -> None:
        """Apply an update to the line of its entity, which a new one begins."""
        line = session.open.get(key)
        if line is not None:
            _merge(line, update)
            return
        is_user_message = _kind(key) == "user_message"
        line = self._keep(session, frame, survives=is_user_message)
        if key in session.known:
            self._note_later(session, key, line, update)
            return
        session.known.add(key)
        session.open[key] = line
        line.built = apply(Snapshot(session.session_id), update)

    def _note_later(self, session: _Session, key: Any, line: Line, update: Any) -> None:
        for pending in self._pending.values():
            if pending.session is session and pending.key == key and pending.call is not None:
                pending.later.append((line, update))

    def _replace(self, session: _Session, update: Any, frame: Frame) -> None:
        """Let an update take the place of the one before it."""
        match update:
            case wire.AvailableCommandsUpdate():
                self._put(session, _COMMANDS, frame)
            case wire.ConfigOptionUpdate():
                self._put(session, _OPTIONS, frame)
            case wire.PlanUpdate():
                self._put(session, ("plan", _plan_id(update)), frame)
            case wire.UsageUpdate():
                if update.cost is wire.UNSET:
                    session.close(_kind(_USAGE))
                self._put(session, _USAGE, frame)
            case wire.Notice():
                self._notice(session, frame)
            case wire.Unknown():
                self._keep(session, frame, survives=False)
            case _:
                session.as_recorded = True  # an update that these rules do not cover
                self._keep(session, frame)

    def _put(self, session: _Session, key: Any, frame: Frame) -> None:
        line = session.open.get(key)
        if line is None:
            session.open[key] = self._keep(session, frame, survives=key is _STATE)
        else:
            line.frame = attrs.evolve(line.frame, data=frame.data)

    def _notice(self, session: _Session, frame: Frame) -> None:
        session.notices.append(self._keep(session, frame, survives=False))
        if len(session.notices) > DEFAULT_LIMITS.notices:
            oldest = session.notices.popleft()
            oldest.dropped = oldest is not session.first

    def _state(self, session: _Session, update: Any, frame: Frame) -> None:
        """Keep the states that begin and end turns, and the last one in between."""
        is_idle = apply(Snapshot(session.session_id), update).is_idle
        changes = is_idle != session.is_idle
        if changes:
            self._turn_changes(session, is_idle)
        if session.as_recorded or (changes and is_idle):
            self._keep(session, frame)
        else:
            self._put(session, _STATE, frame)

    def _turn_changes(self, session: _Session, is_idle: bool) -> None:
        session.close(_kind(_STATE), _kind(_USAGE))
        session.is_idle = is_idle
        session.cancelling &= not is_idle
        if not is_idle:
            session.as_recorded |= self._turn_begins(session.session_id)


def _merge(line: Line, update: Any) -> None:
    line.built = apply(line.built or Snapshot(""), update)
    line.count += 1


def _plan_id(update: wire.PlanUpdate) -> Any:
    plan = update.plan
    return plan.value.get("planId") if isinstance(plan, wire.Unknown) else plan.plan_id


def _has_result(message: wire.Response) -> bool:
    return message.result is not None and isinstance(message.result.value, dict)


def _taken_apart(frame: Frame) -> Iterable[Frame]:
    """Return the messages of a batch, or the one that the frame holds."""
    if not frame.data.startswith(b"["):
        return (frame,)
    try:
        parts = parse(frame.data)
    except (NotJson, TooDeep):
        return ()
    return [attrs.evolve(frame, data=encode(part)) for part in parts if isinstance(part, dict)]


def _params(frame: Frame) -> dict[str, Any]:
    message = parse(frame.data)
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _session_id(frame: Frame) -> str | None:
    """Return the session that a request names."""
    found = _params(frame).get("sessionId")
    return found if isinstance(found, str) else None


def _mode(frame: Frame) -> Any:
    return _params(frame).get("mode")
