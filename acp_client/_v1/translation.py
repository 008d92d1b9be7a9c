"""ACP v1 beside the decoder: one connection's messages to events in the words of v2.

Deployed agents speak v1. The reducer knows one vocabulary, so what they say is translated at the
edge: message in, pairs of a session and an event out, as `Correlation` gives them for v2. Messages
are read with their parameters as parsed JSON, updates are rewritten in the shape of v2, and the
decoder of v2 makes events of them, so leniency is the same. The rules:

- *Tool calls.* `tool_call` creates or updates and never resets what is known; `tool_call_update`
  patches; `null` is "not given". Diffs with an old and a new text are kept as they are.
- *Messages.* A chunk without an id belongs to the message of its kind that is open
  (`_v1.messages`).
- *Prompts.* A prompt is its own echo: the user's message is an entry from sending on, and what the
  agent reports of it is not shown again (`_v1.echo`). Sending it makes the session `running`; the
  answer to the last open prompt makes it `idle` (`_v1.turns`).
- *Loading.* `session/load` begins a replay that its answer ends: the session starts again from
  empty, every message is shown once, and a refusal brings back what was there. `session/resume`
  begins one with the first part of a history that comes before its answer.
- *Permission requests* get title and subject from their tool call, which appears if it is new.
- *Configuration.* Modes and models become options (`_v1.settings`). The list is kept whole here,
  since v1 says it in parts; results of requests give the list that is merged from them.
- *Terminals* are those of the client, and those in the `_meta` of tool calls (`_v1.terminals`).
- *Vendors.* An update that nobody knows is an entry; notifications and requests outside the
  protocol are not.

An answer to a request that is not open tells nothing, with one exception: in a recording of the
agent alone no prompt is seen, so a reason to stop is what ends a turn, and with it a message. A
malformed answer counts as an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from .. import _events as facts
from .. import wire
from .._decode import Report, ignored
from .._prompts import request_key
from .._requests import Correlation, Told
from . import shapes
from .parser import ReaderV1
from .session import SessionV1
from .terminals import CALLS

Fields = dict[str, Any]


class _Asked(Struct):
    """A request of either side that waits for its answer."""

    method: str
    session_id: str
    params: Fields


class TranslationV1(Correlation):
    """The sessions and open requests of one connection that speaks v1."""

    def __init__(self) -> None:
        super().__init__()
        self._sessions: dict[str, SessionV1] = {}
        self._requests: dict[wire.RequestId, _Asked] = {}
        self._terminal_calls: dict[str, _Asked] = {}  # the agent's ids, so by `request_key`
        self._last_session: str | None = None
        self._sees_prompts = False

    def followed(
        self,
        line: bytes,
        number: int,
        report: Report,
        *,
        sent: bool = False,
        unterminated: bool = False,
    ) -> list[Told]:
        """Translate line `number` of the agent, or a line of the client that was `sent`."""
        reader = ReaderV1(number, ignored if sent else report)
        follow = self._sent if sent else self._received
        messages = reader.messages(line, unterminated)
        return [told for each in messages for told in follow(*each)]

    def lost(self) -> list[Told]:
        """Forget all open requests, which nobody will answer; return the states without them."""
        super().lost()
        self._requests.clear()
        self._terminal_calls.clear()
        return [
            (session_id, state)
            for session_id, session in self._sessions.items()
            for state in session.turns.lose()
        ]

    def forget(self, session_id: str) -> None:
        """Forget a session, and its open requests."""
        super().forget(session_id)
        self._sessions.pop(session_id, None)
        both: tuple[dict[Any, Any], ...] = (self._requests, self._terminal_calls)
        for requests in both:
            for request_id, asked in list(requests.items()):
                if asked.session_id == session_id != "":  # which stands for no session, too
                    del requests[request_id]

    def open_prompt(
        self,
        request_id: wire.RequestId,
        session_id: str,
        content: tuple[wire.ContentBlock, ...],
    ) -> list[Told]:
        """Follow a `session/prompt`."""
        return self._prompted(request_id, session_id, content, {})

    def _session(self, session_id: str) -> SessionV1:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = SessionV1()
        return session

    # --- What the agent says ---

    def _received(self, message: Any, reader: ReaderV1) -> list[Told]:
        match message:
            case wire.Response():
                return self._answered(message, reader)
            case wire.Request():
                return self._agent_asks(message, reader)
            case wire.Notification(method="session/update", params=params):
                return self._updated(params, reader)
            case wire.Notification(method="$/cancel_request", params=params):
                return self._withdrawn(_fields(params).get("requestId"))
        return []

    def _updated(self, params: Any, reader: ReaderV1) -> list[Told]:
        session_id, update = _fields(params).get("sessionId"), _fields(params).get("update")
        if not isinstance(session_id, str):
            reader.rejected("$.params.sessionId", "is not string")
            return []
        if not isinstance(update, dict):
            reader.rejected("$.params.update", "is not object")
            return []
        self._last_session = session_id
        session = self._session(session_id)
        begun = self._begin_replay(session_id) if session.begins_history(update) else []
        return [*begun, *_told(session_id, self._session(session_id).update(update, reader))]

    def _begin_replay(self, session_id: str) -> list[Told]:
        self._sessions[session_id], events = self._session(session_id).before_history()
        return _told(session_id, events)

    def _withdrawn(self, request_id: Any) -> list[Told]:
        is_id = isinstance(request_id, str | int | float) and not isinstance(request_id, bool)
        return self.close_permission(request_id) if is_id else []

    def _agent_asks(self, message: wire.Request, reader: ReaderV1) -> list[Told]:
        params = _fields(message.params)
        session_id = params.get("sessionId")
        if message.method == "session/request_permission":
            return self._permission_asked(message.id, params, reader)
        if message.method in CALLS and isinstance(session_id, str):
            self._terminal_calls[request_key(message.id)] = _Asked(
                message.method, session_id, params
            )
        return []

    def _permission_asked(
        self, request_id: wire.RequestId, params: Fields, reader: ReaderV1
    ) -> list[Told]:
        session_id = params.get("sessionId")
        if not isinstance(session_id, str):
            reader.rejected("$.params.sessionId", "is not string")
            return []
        session, fields = self._session(session_id), _fields(params.get("toolCall"))
        call = None
        if isinstance(params.get("toolCall"), dict):
            call = session.permission_asked(fields, "$.params.toolCall", reader)
        shaped = {
            "title": session.title(fields, call),
            **shapes.given(params),
            "options": shapes.each(params.get("options"), shapes.permission_option),
        }
        request = reader.structure(shaped, wire.RequestPermissionRequest, "$.params")
        if request is None:
            return [] if call is None else [(session_id, call)]
        if call is not None:
            subject = wire.ToolCallPermissionSubject(call)
            request = msgspec.structs.replace(request, subject=subject)
        return self._ask(request_id, request)

    # --- What the client says ---

    def _sent(self, message: Any, reader: ReaderV1) -> list[Told]:
        match message:
            case wire.Response():
                return self._client_answers(message, reader)
            case wire.Request():
                return self._client_asks(message, reader)
            case wire.Notification(method="session/cancel", params=params):
                session_id = _fields(params).get("sessionId")
                return self.cancel(session_id) if isinstance(session_id, str) else []
        return []

    def _client_answers(self, message: wire.Response, reader: ReaderV1) -> list[Told]:
        asked = self._terminal_calls.pop(request_key(message.id), None)
        if asked is None:
            return self.close_permission(message.id)
        result = _fields(message.result and message.result.value)
        event = reader.event(CALLS[asked.method](asked.params, result)) if result else None
        return [] if event is None else [(asked.session_id, event)]

    def _client_asks(self, message: wire.Request, reader: ReaderV1) -> list[Told]:
        params = _fields(message.params)
        session_id = params.get("sessionId")
        named = session_id if isinstance(session_id, str) else ""
        if message.method not in _ANSWERED or (not named and message.method in _OF_A_SESSION):
            return []
        if message.method == "session/prompt":
            prompt = reader.structure(params, wire.SentPromptRequest, "$.params")
            return self._prompted(message.id, named, prompt.prompt if prompt else (), params)
        self._requests[message.id] = _Asked(message.method, named, params)
        if message.method in _WITH_HISTORY:
            self._session(named).await_history(message.id)
        return self._begin_replay(named) if message.method == "session/load" else []

    def _prompted(
        self,
        request_id: wire.RequestId,
        session_id: str,
        content: tuple[wire.ContentBlock, ...],
        params: Fields,
    ) -> list[Told]:
        self._sees_prompts = True
        self._requests[request_id] = _Asked("session/prompt", session_id, params)
        message_id = params.get("messageId")
        given = message_id if isinstance(message_id, str) else None
        return _told(session_id, self._session(session_id).prompt(request_id, content, given))

    # --- The agent's answers ---

    def _answered(self, message: wire.Response, reader: ReaderV1) -> list[Told]:
        asked = self._requests.pop(message.id, None)
        result = None if message.result is None else _fields(message.result.value)
        if asked is None:  # answered twice, or asked by a side that is not seen
            return [] if self._sees_prompts else self._turn_ended(result or {}, reader)
        return _ANSWERED[asked.method](self, asked, _Outcome(message, result, reader))

    def _turn_ended(self, result: Fields, reader: ReaderV1) -> list[Told]:
        """Follow the answer to a prompt that was not seen: of the session heard of last."""
        session = self._sessions.get(self._last_session or "")
        if session is None or not isinstance(result.get("stopReason"), str):
            return []
        session.end_turn()
        return _told(self._last_session or "", [_idle(result, reader)])

    def initialized(self, asked: _Asked, outcome: _Outcome) -> list[Told]:
        """Take what the agent says of itself."""
        if outcome.result is not None:
            shaped = shapes.initialize_result(outcome.result)
            agent = outcome.reader.structure(shaped, wire.InitializeResponse, "$.result")
            self.agent = agent or self.agent
        return []

    def opened(self, asked: _Asked, outcome: _Outcome) -> list[Told]:
        """Take the configuration of a new session, or of one that is there."""
        result = outcome.result
        if result is None:
            return []
        session_id = asked.session_id or result.get("sessionId")
        if not isinstance(session_id, str):
            outcome.reader.rejected("$.result.sessionId", "is not string")
            return []
        session = self._session(session_id)
        events: list[Any] = [facts.SessionOpened()]
        if session.settings.opened(result, outcome.reader):
            events += session.configured(outcome.reader)
        return _told(session_id, events)

    def forked(self, asked: _Asked, outcome: _Outcome) -> list[Told]:
        """Take the configuration of a session that was made of another."""
        return self.opened(_Asked(asked.method, "", asked.params), outcome)

    def loaded(self, asked: _Asked, outcome: _Outcome) -> list[Told]:
        """End the history of a session; only the answer to the newest request does."""
        session_id, answer = asked.session_id, outcome.message
        session = self._session(session_id)
        if session.history != answer.id:
            return []
        end = session.after_history if answer.error is None else session.without_history
        self._sessions[session_id], events = end()
        return [*self.opened(asked, outcome), *_told(session_id, events)]

    def prompt_ended(self, asked: _Asked, outcome: _Outcome) -> list[Told]:
        """End the foreground work, unless another prompt is open."""
        answer = outcome.message
        if answer.error is not None:
            idle: Any = wire.StateUpdate("idle", stop_reason="error", error=answer.error)
        else:
            idle = _idle(outcome.result or {}, outcome.reader)
        session = self._session(asked.session_id)
        return _told(asked.session_id, session.prompt_answered(answer, idle))

    def chosen(self, asked: _Asked, outcome: _Outcome) -> list[Told]:
        """Take note of a mode, a model or the value of an option that the client has set."""
        if outcome.result is None:
            return []
        session, params = self._session(asked.session_id), asked.params
        options = outcome.result.get("configOptions")
        if isinstance(options, list):
            session.settings.replace(options, outcome.reader, "$.result")
        elif asked.method == "session/set_config_option":
            session.settings.choose(params.get("configId"), params.get("value"))
        else:
            name = asked.method.removeprefix("session/set_")
            session.settings.switch(name, params.get(f"{name}Id"))
        return _told(asked.session_id, session.configured(outcome.reader))


class _Outcome(Struct, frozen=True):
    """An answer; `result` is `None` for an error and for a malformed answer."""

    message: wire.Response
    result: Fields | None
    reader: ReaderV1


_WITH_HISTORY: Final = frozenset({"session/load", "session/resume"})
"""Requests before whose answer the agent may report the history of the session."""

_OF_A_SESSION: Final = frozenset(
    {
        "session/load",
        "session/prompt",
        "session/resume",
        "session/set_config_option",
        "session/set_mode",
        "session/set_model",
    }
)

_ANSWERED: Final[dict[str, Callable[[TranslationV1, _Asked, _Outcome], list[Told]]]] = {
    "initialize": TranslationV1.initialized,
    "session/fork": TranslationV1.forked,
    "session/load": TranslationV1.loaded,
    "session/new": TranslationV1.opened,
    "session/prompt": TranslationV1.prompt_ended,
    "session/resume": TranslationV1.loaded,
    "session/set_config_option": TranslationV1.chosen,
    "session/set_mode": TranslationV1.chosen,
    "session/set_model": TranslationV1.chosen,
}
"""By the client's request: what its answer tells."""


def _idle(result: Fields, reader: ReaderV1) -> Any:
    """Make the state of what the answer to a prompt says."""
    kept = shapes.given({key: result.get(key) for key in ("stopReason", "_meta")})
    return reader.event({**kept, "sessionUpdate": "state_update", "state": "idle"})


def _fields(value: Any) -> Fields:
    """Return an object's fields; what is no object has none."""
    return value if isinstance(value, dict) else {}


def _told(session_id: str, events: list[Any]) -> list[Told]:
    return [(session_id, event) for event in events]
