"""ACP v1 beside the decoder: one connection's messages to events in the words of v2.

Deployed agents speak v1. The reducer knows one vocabulary, so what they say is translated at the
edge: messages in, pairs of a session and an event out, as from `Conversation` for v2. Messages
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
  since v1 sends it in parts; results of requests return the merged list.
- *Terminals* are those of the client, and those in the `_meta` of tool calls (`_v1.terminals`).
- *Vendors.* An unknown update is an entry; notifications and requests outside the
  protocol are not.

An answer to a request that is not open is skipped, with one exception: in a recording of the
agent alone no prompt is seen, so a reason to stop is what ends a turn, and with it a message. A
malformed answer counts as an error.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, Final

import msgspec

from .. import _events as facts
from .. import wire
from .._decode import Report, ignored
from .._requests import (
    NO_SUCH_SESSION,
    AgentRequest,
    AgentRequests,
    ClientRequest,
    ClientRequests,
    ErrorReceived,
    NotificationReceived,
    RequestAnswered,
    RequestReceived,
    SessionEvent,
    answered,
)
from . import shapes
from .answers import Outcome, answer_of, idle_state, unseen_request
from .parser import ReaderV1
from .session import SessionV1, ends_call
from .terminals import CALLS, stitched

Fields = dict[str, Any]


class TranslationV1:
    """The sessions and open requests of one connection that speaks v1."""

    def __init__(self, client_requests: ClientRequests, agent_requests: AgentRequests) -> None:
        self.client_requests = client_requests
        self.agent_requests = agent_requests
        self._sessions: dict[str, SessionV1] = {}
        self._outputs: dict[str, str] = {}
        self._last_session: str | None = None
        self._sees_client = False

    def adopted(self) -> list[SessionEvent]:
        """Return what the open requests mean that were sent before this was known to be v1."""
        told: list[SessionEvent] = []
        for request in self.client_requests:
            request.params = _parameters(request.params)
            if request.method == "session/prompt" and request.session_id is not None:
                told += self.prompted(request, ReaderV1(0, ignored))
        return [one for one in told if not isinstance(one[1], facts.PromptSent)]

    def followed(
        self,
        line: bytes,
        number: int,
        report: Report,
        *,
        sent: bool = False,
        unterminated: bool = False,
    ) -> list[SessionEvent]:
        """Translate line `number` of the agent, or a line of the client that was `sent`."""
        reader = ReaderV1(number, ignored if sent else report)
        follow = self._sent if sent else self._received
        messages = reader.messages(line, unterminated)
        return [told for each in messages for told in follow(*each)]

    def lost(self, error: wire.Error | None) -> list[SessionEvent]:
        """Close all open requests, which will not be answered; return the states without them."""
        self.agent_requests.lose()
        states: list[SessionEvent] = []
        for session_id, session in self._sessions.items():
            self._sessions[session_id], events = session.lose()
            states += _told(session_id, events)
        return [*states, *self.client_requests.lose(error)]

    def forget(self, session_id: str, awaited: Container[wire.RequestId]) -> None:
        """Forget a session, and what is open in it."""
        self.client_requests.forget(session_id, awaited)
        self.agent_requests.forget(session_id)
        self._sessions.pop(session_id, None)

    def _session(self, session_id: str) -> SessionV1:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = SessionV1()
        return session

    def option_call(self, session_id: str, config_id: str, value: Any) -> tuple[str, Any]:
        """Return the method and the parameters that set an option."""
        method, params = self._session(session_id).settings.call(config_id, value)
        return method, {"sessionId": session_id, **params}

    # --- What the agent says ---

    def _received(self, message: Any, reader: ReaderV1) -> list[SessionEvent]:
        match message:
            case wire.UnidentifiedError():
                return [(None, ErrorReceived(message.error))]
            case wire.Response():
                return self._answered(message, reader)
            case wire.Request():
                return self._agent_asks(message, reader)
            case wire.Notification(method="session/update", params=params):
                return self._updated(params, reader)
            case wire.Notification(method="$/cancel_request", params=params):
                return self._withdrawn(_fields(params).get("requestId"))
            case wire.Notification(method="elicitation/complete", params=params):
                found: Any = _fields(params).get("elicitationId")
                return self.agent_requests.complete(found) if isinstance(found, str) else []
            case wire.Notification():
                return [(None, NotificationReceived(message.method, message.params))]
        return []

    def _updated(self, params: Any, reader: ReaderV1) -> list[SessionEvent]:
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
        events = self._session(session_id).update(update, reader) or self._found(session_id)
        closed = [] if self._sees_client else self._moot_permissions(session_id, events)
        return [*begun, *_told(session_id, events), *closed]

    def _moot_permissions(self, session_id: str, events: list[Any]) -> list[SessionEvent]:
        """Close the requests to permit a call that has ended: their answers are not seen."""
        ended = [event.tool_call_id for event in events if ends_call(event)]
        asked = (
            [one for one in self.agent_requests if one.session_id == session_id] if ended else []
        )
        moot = [one for one in asked if one.kind == "permission" and one.params in ended]
        return [told for one in moot for told in self.agent_requests.close(one.request_id)]

    def typed(self, session_id: str, update: Any) -> list[Any] | None:
        """Translate a well-formed update; `None` for one that is to be read as parsed JSON.

        So is one that may do more than that: begin a replay, or close requests.
        """
        session = self._session(session_id)
        self._last_session = session_id
        if session.history is not None or not (self._sees_client or self.agent_requests.is_empty):
            return None
        events = session.typed_update(update)
        return self._found(session_id) if events == [] else events

    def _found(self, session_id: str) -> list[Any]:
        """Return what ends the loss of a session that reports something which is not shown."""
        session = self._session(session_id)
        was_lost, session.is_lost = session.is_lost, False
        return [facts.SessionOpened()] if was_lost else []

    def run_of(self, session_id: str, kind: str, given: str | None = None) -> str | None:
        """Return the message that the next chunk goes on with, by its id or without one."""
        return self._session(session_id).run_of(kind, given)

    def _begin_replay(self, session_id: str) -> list[SessionEvent]:
        self._sessions[session_id], events = self._session(session_id).before_history()
        return _told(session_id, events)

    def _withdrawn(self, request_id: Any) -> list[SessionEvent]:
        if isinstance(request_id, bool) or not isinstance(request_id, str | int | float):
            return []
        number: Any = request_id  # `1.0` is 1 to JSON-RPC
        return self.agent_requests.close(number)

    def _agent_asks(self, message: wire.Request, reader: ReaderV1) -> list[SessionEvent]:
        params = _fields(message.params)
        if message.method == "session/request_permission":
            return self._permission_asked(message.id, params, reader)
        if message.method == "elicitation/create":
            return self._elicited(message, reader)
        call = AgentRequest(message.id, "call", None, message.method, message.params)
        return self.agent_requests.open(call, RequestReceived(call))

    def _elicited(self, message: wire.Request, reader: ReaderV1) -> list[SessionEvent]:
        kind: Any = wire.CreateElicitationRequest
        request = reader.structure(_fields(message.params), kind, "$.params")
        if request is None:
            return []
        asked = AgentRequest(message.id, "elicitation", request.session_id, params=request)
        return self.agent_requests.open(asked, facts.ElicitationAsked(message.id, request))

    def _permission_asked(
        self, request_id: wire.RequestId, params: Fields, reader: ReaderV1
    ) -> list[SessionEvent]:
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
        call_id = None if call is None else call.tool_call_id
        asked = AgentRequest(request_id, "permission", session_id, params=call_id)
        return self.agent_requests.open(asked, facts.PermissionAsked(request_id, request))

    # --- What the client says ---

    def _sent(self, message: Any, reader: ReaderV1) -> list[SessionEvent]:
        self._sees_client = True
        match message:
            case wire.Response():
                return self._client_answers(message, reader)
            case wire.Request():
                return self._client_asks(message, reader)
            case wire.Notification(method="session/cancel", params=params):
                session_id = _fields(params).get("sessionId")
                return self._cancelled(session_id) if isinstance(session_id, str) else []
        return []

    def _cancelled(self, session_id: str) -> list[SessionEvent]:
        self.agent_requests.cancel(session_id)
        return [(session_id, facts.CancelSent())]

    def _client_answers(self, message: wire.Response, reader: ReaderV1) -> list[SessionEvent]:
        asked = self.agent_requests.get(message.id)
        told = self.agent_requests.answer(message)
        session_id = None if asked is None else _fields(asked.params).get("sessionId")
        if asked is None or asked.method not in CALLS or not isinstance(session_id, str):
            return told
        result, params = _fields(message.result and message.result.value), _fields(asked.params)
        if asked.method == "terminal/output":
            result = self._polled(params.get("terminalId"), result)
        event = reader.event(CALLS[asked.method](params, result)) if result else None
        return [] if event is None else [(session_id, event)]

    def _polled(self, terminal_id: Any, result: Fields) -> Fields:
        """Return the answer to a poll with the output that the client has cut off before."""
        output = result.get("output")
        if not isinstance(terminal_id, str) or not isinstance(output, str):
            return result
        known = self._outputs.get(terminal_id)
        if result.get("truncated") is True and known is not None:
            output = stitched(known, output)
        self._outputs[terminal_id] = output
        return {**result, "output": output}

    def _client_asks(self, message: wire.Request, reader: ReaderV1) -> list[SessionEvent]:
        params = _fields(message.params)
        session_id = params.get("sessionId")
        named = session_id if isinstance(session_id, str) else None
        if named is None and message.method in _OF_A_SESSION:
            return []
        request = ClientRequest(message.id, message.method, named, params)
        told = self.client_requests.open(request)
        effect = _ASKED.get(message.method)
        return told if named is None or effect is None else [*told, *effect(self, request, reader)]

    def prompted(self, request: ClientRequest, reader: ReaderV1) -> list[SessionEvent]:
        """Follow a `session/prompt`."""
        session_id: Any = request.session_id
        prompt = reader.structure(request.params, wire.SentPromptRequest, "$.params")
        message_id = request.params.get("messageId")
        given = message_id if isinstance(message_id, str) else None
        content = prompt.prompt if prompt else ()
        session = self._session(session_id)
        return _told(session_id, session.prompt(request.request_id, content, given))

    def history_asked(self, request: ClientRequest, reader: ReaderV1) -> list[SessionEvent]:
        """Follow a `session/load` or a `session/resume`."""
        session_id: Any = request.session_id
        self._session(session_id).await_history(request.request_id)
        if request.method == "session/load":
            return self._begin_replay(session_id)
        return [(session_id, facts.ResumeSent())]

    def option_asked(self, request: ClientRequest, reader: ReaderV1) -> list[SessionEvent]:
        """Follow a request that sets an option, a mode or a model."""
        session_id: Any = request.session_id
        session = self._sessions.get(session_id)
        found = None if session is None else session.settings.wanted(request.method, request.params)
        if found is None:
            return []
        config_id, value = found
        wanted = facts.OptionWanted(request.request_id, config_id, wire.Json(value))
        return [(session_id, wanted)]

    def closed(self, asked: ClientRequest, outcome: Outcome) -> list[SessionEvent]:
        """Take away what a closed session asks for."""
        error = outcome.message.error
        if error is not None and error.code != NO_SUCH_SESSION:
            return []
        return [(asked.session_id, facts.SessionClosed())]

    # --- The agent's answers ---

    def _answered(self, message: wire.Response, reader: ReaderV1) -> list[SessionEvent]:
        result = None if message.result is None else _fields(message.result.value)
        outcome = Outcome(message, result, reader)
        request = self.client_requests.close(message.id)
        if request is None and not self._sees_client:
            request = unseen_request(outcome)
        if request is None:  # answered twice, or asked by a side that is not seen
            return self._unasked(outcome)
        effect = None if request.is_forgotten else _ANSWERED.get(request.method)
        told = [] if effect is None else effect(self, request, outcome)
        answer = answer_of(request, outcome, told)
        return [*told, *answered(request, answer), (None, RequestAnswered(request, answer))]

    def _unasked(self, outcome: Outcome) -> list[SessionEvent]:
        """Follow an answer without its request: in a recording of the agent alone it ends a turn.

        The turn is that of the session heard of last.
        """
        error = outcome.message.error
        told: list[SessionEvent] = [] if error is None else [(None, ErrorReceived(error))]
        session = self._sessions.get(self._last_session or "")
        if self._sees_client or session is None or not session.is_ended_by(outcome):
            return told
        session.end_turn()
        idle = facts.UpdateInferred(idle_state(outcome))
        return [*told, (self._last_session or "", idle)]

    def opened(self, asked: ClientRequest, outcome: Outcome) -> list[SessionEvent]:
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

    def forked(self, asked: ClientRequest, outcome: Outcome) -> list[SessionEvent]:
        """Take the configuration of a session that was made of another."""
        return self.opened(ClientRequest(asked.request_id, asked.method), outcome)

    def loaded(self, asked: ClientRequest, outcome: Outcome) -> list[SessionEvent]:
        """End the history of a session; only the answer to the newest request does."""
        session_id, answer = asked.session_id or "", outcome.message
        session = self._session(session_id)
        if session.history != answer.id:
            return []
        end = session.after_history if answer.error is None else session.without_history
        self._sessions[session_id], events = end()
        return [*self.opened(asked, outcome), *_told(session_id, events)]

    def prompt_ended(self, asked: ClientRequest, outcome: Outcome) -> list[SessionEvent]:
        """End the foreground work, unless another prompt is open."""
        session_id = asked.session_id or ""
        events = self._session(session_id).prompt_answered(outcome.message, idle_state(outcome))
        return _told(session_id, events)

    def chosen(self, asked: ClientRequest, outcome: Outcome) -> list[SessionEvent]:
        """Record a mode, a model or the value of an option that the client has set."""
        if outcome.result is None:
            return []
        session_id, params = asked.session_id or "", asked.params
        session = self._session(session_id)
        options = outcome.result.get("configOptions")
        if isinstance(options, list):
            session.settings.replace(options, outcome.reader, "$.result")
        elif asked.method == "session/set_config_option":
            session.settings.choose(params.get("configId"), params.get("value"))
        else:
            name = asked.method.removeprefix("session/set_")
            session.settings.switch(name, params.get(f"{name}Id"))
        return _told(session_id, session.configured(outcome.reader))


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

_ANSWERED: Final[
    dict[str, Callable[[TranslationV1, ClientRequest, Outcome], list[SessionEvent]]]
] = {
    "session/close": TranslationV1.closed,
    "session/fork": TranslationV1.forked,
    "session/load": TranslationV1.loaded,
    "session/new": TranslationV1.opened,
    "session/prompt": TranslationV1.prompt_ended,
    "session/resume": TranslationV1.loaded,
    "session/set_config_option": TranslationV1.chosen,
    "session/set_mode": TranslationV1.chosen,
    "session/set_model": TranslationV1.chosen,
}
"""The handler of the answer, by the method of the client's request."""

_ASKED: Final[dict[str, Callable[[TranslationV1, ClientRequest, ReaderV1], list[SessionEvent]]]] = {
    "session/load": TranslationV1.history_asked,
    "session/prompt": TranslationV1.prompted,
    "session/resume": TranslationV1.history_asked,
    "session/set_config_option": TranslationV1.option_asked,
    "session/set_mode": TranslationV1.option_asked,
    "session/set_model": TranslationV1.option_asked,
}
"""By the client's request: what it means before it is answered.

The agent may report the history of a session before it answers a request to load or resume it.
"""


def _parameters(value: Any) -> Fields:
    """Return the parameters of a request that was read as one of v2."""
    return _fields(value.value if isinstance(value, wire.Json) else wire.to_builtins(value))


def _fields(value: Any) -> Fields:
    """Return an object's fields, or none for a value that is not an object."""
    return value if isinstance(value, dict) else {}


def _told(session_id: str, events: list[Any]) -> list[SessionEvent]:
    return [(session_id, event) for event in events]
