"""The messages of a v2 connection, as events of its sessions and of the connection itself.

Each message of either side becomes pairs of a session id and an event, in order (`SessionEvent`).
A message that changes nothing becomes an empty list. The open requests of both sides are in
`_requests`.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import chain
from typing import Any, Final

from . import _events as facts
from . import wire
from ._decode import Report, decode_result_of, ignored, within
from ._requests import (
    MALFORMED,
    MALFORMED_RESULT,
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


class Conversation:
    """The messages of one connection that speaks v2."""

    def __init__(self, client_requests: ClientRequests, agent_requests: AgentRequests) -> None:
        self.client_requests = client_requests
        self.agent_requests = agent_requests

    def received(self, message: Any, number: int, report: Report) -> list[SessionEvent]:
        """Return the events of a message from the agent, which came on line `number`."""
        match message:
            case wire.Batch():
                placed = zip(message.places or range(len(message)), message, strict=True)
                events = (self.received(each, number, within(report, at)) for at, each in placed)
                return list(chain.from_iterable(events))
            case wire.UnidentifiedError():
                return [(None, ErrorReceived(message.error))]
            case wire.Response():
                return self._answered(message, number, report)
            case wire.Request():
                return self._asked(message)
            case wire.Notification():
                return self._notified(message)
        return []

    def sent(self, message: Any) -> list[SessionEvent]:
        """Return the events of a message from the client."""
        match message:
            case wire.Batch():
                return [event for each in message for event in self.sent(each)]
            case wire.Response():
                return self.agent_requests.answer(message)
            case wire.Request():
                return self._requested(message)
            case wire.Notification(params=wire.CancelSessionNotification() as params):
                self.agent_requests.cancel(params.session_id)
                return [(params.session_id, facts.CancelSent())]
        return []

    def lost(self, error: wire.Error | None) -> list[SessionEvent]:
        """Close all open requests: nothing will be answered."""
        self.agent_requests.lose()
        return self.client_requests.lose(error)

    def forget(self, session_id: str, awaited: Container[wire.RequestId]) -> None:
        """Forget what is open in a session."""
        self.client_requests.forget(session_id, awaited)
        self.agent_requests.forget(session_id)

    def option_call(self, session_id: str, config_id: str, value: Any) -> tuple[str, Any]:
        """Return the method and the parameters that set an option."""
        chosen = {"type": "boolean" if isinstance(value, bool) else "id", "value": value}
        params = {"sessionId": session_id, "configId": config_id, **chosen}
        return "session/set_config_option", params

    # --- What the agent asks and reports ---

    def _asked(self, message: wire.Request) -> list[SessionEvent]:
        request_id, params = message.id, message.params
        if isinstance(params, wire.RequestPermissionRequest):
            asked = AgentRequest(request_id, "permission", params.session_id)
            return self.agent_requests.open(asked, facts.PermissionAsked(request_id, params))
        if isinstance(params, wire.Elicitation | wire.ElicitationUnknownMode):
            session_id = params.session_id
            asked = AgentRequest(request_id, "elicitation", session_id, params=params)
            return self.agent_requests.open(asked, facts.ElicitationAsked(request_id, params))
        call = AgentRequest(request_id, "call", None, message.method, params)
        return self.agent_requests.open(call, RequestReceived(call))

    def _notified(self, message: wire.Notification) -> list[SessionEvent]:
        match message.params:
            case wire.UpdateSessionNotification() as params:
                return [(params.session_id, params.update)]
            case wire.CancelRequestNotification() as params:
                return self.agent_requests.close(params.request_id)
            case wire.CompleteElicitationNotification() as params:
                return self.agent_requests.complete(params.elicitation_id)
        return [(None, NotificationReceived(message.method, message.params))]

    # --- What the client asks ---

    def _requested(self, message: wire.Request) -> list[SessionEvent]:
        params = message.params
        request = ClientRequest(message.id, message.method, session_of(params), params)
        match params:
            case wire.SentPromptRequest():
                fact = (params.session_id, facts.PromptSent(message.id, params.prompt))
                return [*self.client_requests.open(request), fact]
            case wire.ResumeSessionRequest():
                return self._resumed(request, params)
        sent = asked_of_session(request)
        return [*self.client_requests.open(request), *sent]

    def _resumed(
        self, request: ClientRequest, params: wire.ResumeSessionRequest
    ) -> list[SessionEvent]:
        event: facts.Event = facts.ResumeSent()
        if params.replay_from is not None:
            self.client_requests.supersede_replays(params.session_id)
            request.replay = "newest"
            event = facts.ReplayBegun()
        return [*self.client_requests.open(request), (params.session_id, event)]

    # --- Its answers ---

    def _answered(self, response: wire.Response, number: int, report: Report) -> list[SessionEvent]:
        request = self.client_requests.close(response.id)
        if request is None:
            return [(None, ErrorReceived(response.error))] if response.error else []
        answer = _answer(request, response, number, report)
        effect = None if request.is_forgotten else _EFFECTS.get(request.method)
        events = [] if effect is None else effect(request, answer)
        return [*events, *answered(request, answer), (None, RequestAnswered(request, answer))]


def session_of(params: Any) -> str | None:
    """Return the id of the session that parameters name, or `None`."""
    if isinstance(params, wire.Json):
        value = params.value
        session_id = value.get("sessionId") if isinstance(value, dict) else None
    else:
        session_id = getattr(params, "session_id", None)
    return session_id if isinstance(session_id, str) else None


def _answer(request: ClientRequest, response: wire.Response, number: int, report: Report) -> Any:
    """Return the result as a wire object, or the error."""
    if response.error is not None:
        return response.error
    if response.result is None:
        return MALFORMED
    report = report if request.method in _REPORTED else ignored
    result = decode_result_of(request.method, response.result, number, report)
    return MALFORMED_RESULT if result is None else result


_REPORTED: Final = frozenset(
    {
        "initialize",
        "session/new",
        "session/prompt",
        "session/resume",
        "session/set_config_option",
    }
)
"""Requests whose results the state depends on: a mistake in one of them is a problem."""


def _opened(request: ClientRequest, answer: Any) -> list[SessionEvent]:
    if not isinstance(answer, wire.NewSessionResponse):
        return []
    return [(answer.session_id, _lists(answer))]


def _lists(result: wire.NewSessionResponse | wire.ResumeSessionResponse) -> facts.SessionOpened:
    return facts.SessionOpened(result.available_commands, result.config_options)


def _resume_answered(request: ClientRequest, answer: Any) -> list[SessionEvent]:
    if request.replay == "older":
        return []
    events: list[facts.Event] = []
    if isinstance(answer, wire.ResumeSessionResponse):
        events.append(_lists(answer))
    elif answer is MALFORMED_RESULT:
        events.append(facts.SessionOpened())
    if request.replay == "newest":
        events.append(facts.ReplayFailed() if is_refusal(answer) else facts.ReplayEnded())
    return [(request.session_id, event) for event in events]


def _prompt_answered(request: ClientRequest, answer: Any) -> list[SessionEvent]:
    event: facts.Event
    if isinstance(answer, wire.PromptResponse):
        event = facts.PromptAccepted(request.request_id, answer.message_id)
    elif not is_refusal(answer):
        event = facts.PromptUncertain(request.request_id)
    else:
        event = facts.PromptRejected(request.request_id, answer)
    return [(request.session_id, event)]


def _options_set(request: ClientRequest, answer: Any) -> list[SessionEvent]:
    if not isinstance(answer, wire.SetSessionConfigOptionResponse):
        return []
    return [(request.session_id, facts.ConfigOptionsSet(answer.config_options))]


def _closed(request: ClientRequest, answer: Any) -> list[SessionEvent]:
    is_closed = not isinstance(answer, wire.Error) or answer is MALFORMED_RESULT
    if not is_closed and answer.code != NO_SUCH_SESSION:
        return []
    return [(request.session_id, facts.SessionClosed())]


def is_refusal(answer: Any) -> bool:
    """Return whether an answer is an error of the agent."""
    return isinstance(answer, wire.Error) and answer not in (MALFORMED, MALFORMED_RESULT)


def asked_of_session(request: ClientRequest) -> list[SessionEvent]:
    """Return what a request of the client changes in its session before it is answered."""
    event: facts.Event
    match request.params:
        case wire.SetSessionConfigOptionRequest(
            config_id=str() as config_id, value=wire.Json() as value
        ):
            event = facts.OptionWanted(request.request_id, config_id, value)
        case wire.CancelToolCallRequest() as params:
            event = facts.ToolCallCancelSent(params.tool_call_id)
        case wire.CancelTerminalRequest() as params:
            event = facts.TerminalCancelSent(params.terminal_id)
        case _:
            return []
    return [(request.session_id, event)]


_EFFECTS: Final[dict[str, Callable[[ClientRequest, Any], list[SessionEvent]]]] = {
    "session/close": _closed,
    "session/new": _opened,
    "session/prompt": _prompt_answered,
    "session/resume": _resume_answered,
    "session/set_config_option": _options_set,
}
"""By the request: what its answer means for a session."""
