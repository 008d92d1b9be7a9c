"""What a checker knows of a connection while it reads it: messages, and books about them.

A `Said` is one message with what it answers. `Books` are what was said before: open requests,
capabilities, and one page for each session. Rules read the books; only `Books.follow` writes them.
Nothing is concluded from what was not seen: a recording may begin late, or have one side alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from .._json import NotJson, TooDeep, parse
from .._recordings import Frame
from .leaves import at, text_at

FINAL: Final = frozenset({"completed", "failed", "cancelled"})
"""Statuses in which a tool call has ended."""

_OPENED_BY: Final = ("session/load", "session/resume")


@attrs.frozen
class Said:
    """One message of one side; `method` of an answer is that of its request."""

    line: int
    sent: bool
    path: str
    message: dict[str, Any]
    request: Said | None = None

    @property
    def kind(self) -> str:
        """Whether it is a `request`, a `notification` or a `response`."""
        if "method" not in self.message:
            return "response"
        return "request" if "id" in self.message else "notification"

    @property
    def method(self) -> str:
        """The method; empty for an answer to a request that was not seen."""
        if self.kind == "response":
            return self.request.method if self.request else ""
        method = self.message["method"]
        return method if isinstance(method, str) else ""

    @property
    def key(self) -> str:
        """The id in a form that compares as ids do: `1.0` equals `1`, and `"1"` does not."""
        value = self.message.get("id")
        whole = isinstance(value, float) and value.is_integer()
        return repr(int(value) if whole else value)  # type: ignore[arg-type]  # a float

    @property
    def params(self) -> Any:
        """The parameters, of an answer those of its request."""
        source = self.request if self.kind == "response" else self
        return source.message.get("params") if source else None

    @property
    def result(self) -> Any:
        """The result of a response."""
        return self.message.get("result")

    @property
    def succeeded(self) -> bool:
        """Whether it is an answer with a result."""
        return self.kind == "response" and "result" in self.message

    @property
    def session_id(self) -> str | None:
        """The session that it is about."""
        found = at(self.params, "sessionId")
        return found if isinstance(found, str) else None

    @property
    def update(self) -> dict[str, Any]:
        """The session update in the message; empty for any other message."""
        found = at(self.message, "params", "update") if self.method == "session/update" else None
        return found if isinstance(found, dict) else {}

    @property
    def variant(self) -> str:
        """The name of the update."""
        found = self.update.get("sessionUpdate")
        return found if isinstance(found, str) else ""


@attrs.define
class Entity:
    """A tool call or a terminal: its status, and whether it can be cancelled alone."""

    status: str = "pending"
    can_cancel: bool = False
    ever_could: bool = False

    def patch(self, update: dict[str, Any]) -> None:
        """Take the capabilities of an update."""
        if "capabilities" in update:
            self.can_cancel = isinstance(at(update, "capabilities", "cancel"), dict)
            self.ever_could |= self.can_cancel


@attrs.define
class Session:
    """What is known of one session."""

    opened: bool = False
    closed: bool = False
    state: str | None = None
    stop_reason: str | None = None
    message_ids: dict[str, int] = attrs.field(factory=dict)
    echoes: dict[str, int] = attrs.field(factory=dict)
    open_prompts: dict[str, Said] = attrs.field(factory=dict)
    prompted: bool = False
    worked: bool = False
    ended_since: dict[str, int] = attrs.field(factory=dict)
    calls: dict[str, Entity] = attrs.field(factory=dict)
    terminals: dict[str, Entity] = attrs.field(factory=dict)
    referenced: dict[str, int] = attrs.field(factory=dict)
    turn_calls: set[str] = attrs.field(factory=set)
    cancelled_calls: set[str] = attrs.field(factory=set)
    cancel_line: int | None = None
    asked: dict[str, Said] = attrs.field(factory=dict)
    asked_before_cancel: dict[str, Said] = attrs.field(factory=dict)
    background: dict[tuple[str, str], None] | None = None
    resume: Said | None = None
    state_since_resume: bool = False
    options: dict[str, dict[str, Any]] | None = None
    modes: set[str] | None = None
    elicitations: set[str] = attrs.field(factory=set)

    @property
    def is_idle(self) -> bool:
        """Whether the last reported state is idle."""
        return self.state == "idle"


class Books:
    """What was said so far on one connection."""

    def __init__(self, protocol: str, *, complete: bool) -> None:
        self.protocol = protocol
        self.complete = complete
        self.initialize: Said | None = None
        self.initialized: Said | None = None
        self.open: dict[tuple[bool, str], Said] = {}
        self.answered: set[tuple[bool, str]] = set()
        self.sessions: dict[str, Session] = {}
        self.heard_client = False

    def session(self, session_id: str | None) -> Session:
        """Return the page of a session; an unknown one is empty."""
        return self.sessions.get(session_id or "") or Session()

    def agent_can(self, *path: str) -> bool:
        """Return whether the agent advertised something; yes where that was not seen."""
        return self.initialized is None or _is_given(at(self.initialized.result, *path))

    def client_can(self, *path: str) -> bool:
        """Return whether the client advertised something; yes where that was not seen."""
        return self.initialize is None or _is_given(at(self.initialize.params, *path))

    def waits_for(self, method: str, session_id: str | None = None) -> bool:
        """Return whether a request of the client of some method is open."""
        return any(
            sent and said.method == method and session_id in (None, said.session_id)
            for (sent, _), said in self.open.items()
        )

    # --- Following ---

    def follow(self, said: Said) -> None:
        """Write down what a message changes; rules have read the books before."""
        self.heard_client |= said.sent
        page = None
        if said.session_id is not None:
            page = self.sessions.setdefault(said.session_id, Session())
        if said.kind == "response":
            self.open.pop((not said.sent, said.key), None)
            self.answered.add((not said.sent, said.key))
            self._follow_answer(said, page)
        else:
            if said.kind == "request":
                self.open[said.sent, said.key] = said
                self.answered.discard((said.sent, said.key))
            if page is not None:
                self._follow_call(said, page)
            elif said.method == "initialize" and said.sent:
                self.initialize = said
            elif said.method == "$/cancel_request":
                self._withdraw(said)

    def _withdraw(self, said: Said) -> None:
        for page in self.sessions.values():
            key = repr(at(said.params, "requestId"))
            page.asked.pop(key, None)
            page.asked_before_cancel.pop(key, None)

    def _follow_answer(self, said: Said, page: Session | None) -> None:
        if said.method == "initialize" and said.succeeded:
            self.initialized = said
        if said.succeeded and said.method == "session/new":
            session_id = at(said.result, "sessionId")
            if isinstance(session_id, str):
                page = self.sessions.setdefault(session_id, Session())
                page.opened = True
        if page is None:
            return
        if said.method in ("session/new", "session/load", "session/resume"):
            _follow_lists(page, said.result)
            page.resume = None if said.request is page.resume else page.resume
        follow = _ON_ANSWER.get(said.method)
        if follow is not None:
            follow(page, said)

    def _follow_call(self, said: Said, page: Session) -> None:
        if said.method in _OPENED_BY and said.sent:
            page.opened, page.closed = True, False
            page.resume, page.state_since_resume = said, False
        elif said.method == "session/update" and not said.sent:
            _follow_update(page, said)
        follow = _ON_CALL.get(said.method)
        if follow is not None:
            follow(page, said)


def _is_given(value: Any) -> bool:
    return value is not None and value is not False


def _follow_lists(page: Session, result: Any) -> None:
    options = at(result, "configOptions")
    if isinstance(options, list):
        _set_options(page, options)
    modes = at(result, "modes", "availableModes")
    if isinstance(modes, list):
        page.modes = {mode["id"] for mode in modes if isinstance(at(mode, "id"), str)}


def _set_options(page: Session, options: list[Any]) -> None:
    found = ((option_id(option), option) for option in options)
    page.options = {key: option for key, option in found if key is not None}


def option_id(option: Any) -> str | None:
    """Return the id of an option: `configId`, or `id` in version 1."""
    found = at(option, "configId") or at(option, "id")
    return found if isinstance(found, str) else None


def _prompt_answered(page: Session, said: Said) -> None:
    page.open_prompts.pop(said.key, None)
    message_id = at(said.result, "messageId")
    if isinstance(message_id, str):
        page.message_ids.setdefault(message_id, said.line)


def _prompt_sent(page: Session, said: Said) -> None:
    page.open_prompts[said.key] = said
    page.prompted = True


def _closed(page: Session, said: Said) -> None:
    page.closed = said.succeeded


def _permission_answered(page: Session, said: Said) -> None:
    page.asked.pop(said.key, None)
    page.asked_before_cancel.pop(said.key, None)


def _permission_asked(page: Session, said: Said) -> None:
    if not said.sent and said.kind == "request":
        page.asked[said.key] = said
        call = at(said.params, "subject", "toolCall") or at(said.params, "toolCall")
        if isinstance(call, dict):
            _follow_tool_call(page, call)


def _cancelled(page: Session, said: Said) -> None:
    if not said.sent:
        return
    page.asked_before_cancel |= page.asked
    if page.open_prompts or page.state not in (None, "idle"):
        page.cancel_line = said.line
        page.cancelled_calls = {
            call_id for call_id in page.turn_calls if page.calls[call_id].status not in FINAL
        }


def _terminal_created(page: Session, said: Said) -> None:
    terminal_id = at(said.result, "terminalId")
    if isinstance(terminal_id, str):
        page.terminals[terminal_id] = Entity("running")


def _terminal_released(page: Session, said: Said) -> None:
    terminal = page.terminals.get(text_at(said.params, "terminalId"))
    if terminal is not None and not said.sent:
        terminal.status = "released"


def _options_set(page: Session, said: Said) -> None:
    options = at(said.result, "configOptions")
    if isinstance(options, list):
        _set_options(page, options)


_ON_ANSWER: Final[dict[str, Any]] = {
    "session/prompt": _prompt_answered,
    "session/close": _closed,
    "session/request_permission": _permission_answered,
    "session/set_config_option": _options_set,
    "terminal/create": _terminal_created,
}
_ON_CALL: Final[dict[str, Any]] = {
    "session/prompt": _prompt_sent,
    "session/cancel": _cancelled,
    "session/request_permission": _permission_asked,
    "terminal/release": _terminal_released,
}


# --- Updates ---


def _follow_update(page: Session, said: Said) -> None:
    update, variant = said.update, said.variant
    if variant in ("agent_message_chunk", "agent_message", "tool_call", "tool_call_update"):
        page.worked = True
    if variant in ("user_message", "user_message_chunk"):
        page.echoes.setdefault(repr(update.get("messageId")), said.line)
    elif variant in ("tool_call", "tool_call_update"):
        _follow_tool_call(page, update)
        _note_terminals(page, said.line, update.get("content"))
    elif variant == "tool_call_content_chunk":
        _note_terminals(page, said.line, [update.get("content")])
    elif variant in ("terminal_update", "terminal_output_chunk"):
        _follow_terminal(page, update)
    elif variant == "state_update":
        _follow_state(page, update, said)
    elif variant == "config_option_update" and isinstance(update.get("configOptions"), list):
        _set_options(page, update["configOptions"])


def _follow_tool_call(page: Session, update: dict[str, Any]) -> None:
    call_id = update.get("toolCallId")
    if not isinstance(call_id, str):
        return
    if call_id not in page.calls:
        page.calls[call_id] = Entity()
        page.turn_calls.add(call_id)
    call = page.calls[call_id]
    call.patch(update)
    if isinstance(update.get("status"), str):
        call.status = update["status"]


def _note_terminals(page: Session, line: int, content: Any) -> None:
    for item in content if isinstance(content, list) else ():
        terminal_id = at(item, "terminalId")
        if at(item, "type") == "terminal" and isinstance(terminal_id, str):
            page.referenced.setdefault(terminal_id, line)


def _follow_terminal(page: Session, update: dict[str, Any]) -> None:
    terminal_id = update.get("terminalId")
    if not isinstance(terminal_id, str):
        return
    terminal = page.terminals.setdefault(terminal_id, Entity("running"))
    terminal.patch(update)
    if "exitStatus" in update:
        exited = isinstance(update["exitStatus"], dict)
        terminal.status = "exited" if exited else "running"


def _follow_state(page: Session, update: dict[str, Any], said: Said) -> None:
    state = update.get("state")
    was_idle, is_idle = page.state in (None, "idle"), state == "idle"
    page.state = state if isinstance(state, str) else page.state
    page.stop_reason = update.get("stopReason") if is_idle else None
    page.state_since_resume = True
    if isinstance(update.get("background"), list):
        page.background = dict.fromkeys(background_items(update["background"]))
    if is_idle:
        page.cancel_line = None
        page.turn_calls.clear()
        page.prompted = page.worked = False
        if not was_idle:
            page.ended_since |= dict.fromkeys(page.open_prompts, said.line)
    elif was_idle:
        page.cancelled_calls.clear()


def background_items(items: Any) -> Iterator[tuple[str, str]]:
    """Return the kind and the id of each known item of background work."""
    for item in items if isinstance(items, list) else ():
        for kind, key in (("tool_call", "toolCallId"), ("terminal", "terminalId")):
            if at(item, "type") == kind and isinstance(at(item, key), str):
                yield kind, item[key]


# --- Messages of a frame ---


def messages(frame: Frame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the messages of a frame with their paths; none for what is not JSON."""
    try:
        value = parse(frame.data)
    except (NotJson, TooDeep):
        return
    if isinstance(value, dict):
        yield "$", value
    for place, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, dict):
            yield f"$[{place}]", each
