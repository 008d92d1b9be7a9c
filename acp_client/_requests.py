"""Messages of one connection to events of its sessions, by following request ids.

An answer means nothing without its request, and an id means nothing without its direction: the
client and the agent each number their own requests. So two tables are kept, of what the client
asked and waits for, and of the permission requests of the agent. What one message tells comes out
as `Told` pairs, the session and the event, in order; a message that tells nothing gives none.

- An answer to a request that is not open tells nothing.
- An id that is asked again while it is open means the newer request.
- Only the newest replay of a session ends it: an answer to an older one leaves it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from . import _events as facts
from . import wire
from ._decode import Report, decode_result, within
from ._prompts import request_key

Told: TypeAlias = tuple[str, facts.Event]
"""A session id and an event of that session."""

Method = Literal[
    "initialize", "session/new", "session/prompt", "session/resume", "session/set_config_option"
]


_OF_NO_SESSION: Final = ("initialize", "session/new")


class _OpenRequest(Struct):
    """A request of the client that was not answered yet."""

    method: Method
    session_id: str = ""
    begins_replay: bool = False


class _Answer(Struct, frozen=True):
    """A response with the request that it answers, and what is needed to read its result."""

    request: _OpenRequest
    response: wire.Response
    number: int
    report: Report

    def result(self, kind: Any) -> Any:
        """Decode the result; `None` for an error, a malformed answer or a malformed result."""
        if self.response.result is None:
            return None
        return decode_result(kind, self.response.result, self.number, self.report)


class Correlation:
    """The open requests of both sides of one connection."""

    def __init__(self) -> None:
        self._open: dict[wire.RequestId, _OpenRequest] = {}
        self._asked: dict[str, str] = {}  # the agent's ids, so by `request_key`
        self.agent: wire.InitializeResponse | None = None

    def received(self, message: Any, number: int, report: Report) -> list[Told]:
        """Follow a message of the agent, which came on line `number`."""
        if isinstance(message, wire.Batch):
            placed = zip(message.places or range(len(message)), message, strict=True)
            told = (self.received(each, number, within(report, at)) for at, each in placed)
            return [one for some in told for one in some]
        if isinstance(message, wire.Response):
            return self._settle(message, number, report)
        match getattr(message, "params", None):
            case wire.UpdateSessionNotification() as params:
                return [(params.session_id, params.update)]
            case wire.RequestPermissionRequest() as params:
                return self._ask(message.id, params)
            case wire.CancelRequestNotification() as params:
                return self.close_permission(params.request_id)
        return []

    def sent(self, message: Any) -> list[Told]:
        """Follow a message of the client."""
        match message:
            case wire.Batch():
                return [told for each in message for told in self.sent(each)]
            case wire.Response():
                return self.close_permission(message.id)
            case wire.Request():
                self._open.pop(message.id, None)  # its answer cannot be told from the new one's
                return self._open_request(message.id, message.method, message.params)
            case wire.Notification(params=wire.CancelSessionNotification() as params):
                return self.cancel(params.session_id)
        return []

    def lost(self) -> list[Told]:
        """Forget all open requests: nothing will be answered."""
        self._open.clear()
        self._asked.clear()
        return []

    def forget(self, session_id: str) -> None:
        """Forget the open requests of a session."""
        self._open = {
            request_id: request
            for request_id, request in self._open.items()
            if request.session_id != session_id or request.method in _OF_NO_SESSION
        }
        self._asked = {asked: where for asked, where in self._asked.items() if where != session_id}

    # --- The agent's permission requests ---

    def _ask(
        self, request_id: wire.RequestId, request: wire.RequestPermissionRequest
    ) -> list[Told]:
        key = request_key(request_id)
        elsewhere = self._asked.get(key, request.session_id) != request.session_id
        told = self.close_permission(request_id) if elsewhere else []
        self._asked[key] = request.session_id
        return [*told, (request.session_id, facts.PermissionAsked(request_id, request))]

    def close_permission(self, request_id: wire.RequestId) -> list[Told]:
        """Follow an answer to a permission request, or its withdrawal."""
        session_id = self._asked.pop(request_key(request_id), None)
        return [] if session_id is None else [(session_id, facts.PermissionClosed(request_id))]

    def cancel(self, session_id: str) -> list[Told]:
        """Follow a `session/cancel`, which closes the session's permission requests."""
        self._asked = {asked: where for asked, where in self._asked.items() if where != session_id}
        return [(session_id, facts.CancelSent())]

    # --- The client's requests ---

    def _open_request(self, request_id: wire.RequestId, method: str, params: Any) -> list[Told]:
        match params:
            case wire.SentPromptRequest():
                return self.open_prompt(request_id, params.session_id, params.prompt)
            case wire.ResumeSessionRequest():
                return self._open_resume(request_id, params)
            case wire.SetSessionConfigOptionRequest():
                request = _OpenRequest("session/set_config_option", params.session_id)
                self._open[request_id] = request
            case _ if method == "initialize":
                self._open[request_id] = _OpenRequest("initialize")
            case _ if method == "session/new":
                self._open[request_id] = _OpenRequest("session/new")
        return []

    def open_prompt(
        self,
        request_id: wire.RequestId,
        session_id: str,
        content: tuple[wire.ContentBlock, ...],
    ) -> list[Told]:
        """Follow a `session/prompt`."""
        self._open[request_id] = _OpenRequest("session/prompt", session_id)
        return [(session_id, facts.PromptSent(request_id, content))]

    def _open_resume(
        self, request_id: wire.RequestId, params: wire.ResumeSessionRequest
    ) -> list[Told]:
        session_id = params.session_id
        replays = params.replay_from is not None
        if replays:
            self._forget_replays(session_id)
        self._open[request_id] = _OpenRequest("session/resume", session_id, replays)
        return [(session_id, facts.ReplayBegun() if replays else facts.SessionOpened())]

    def _forget_replays(self, session_id: str) -> None:
        for request in self._open.values():
            if request.session_id == session_id:
                request.begins_replay = False

    # --- Their answers ---

    def _settle(self, response: wire.Response, number: int, report: Report) -> list[Told]:
        request = self._open.pop(response.id, None)
        if request is None:
            return []
        answer = _Answer(request, response, number, report)
        if request.method == "initialize":
            self.agent = answer.result(wire.InitializeResponse) or self.agent
            return []
        return _SETTLE[request.method](answer)


def _settle_new(answer: _Answer) -> list[Told]:
    result = answer.result(wire.NewSessionResponse)
    return [] if result is None else [(result.session_id, _opened(result))]


def _settle_resume(answer: _Answer) -> list[Told]:
    result = answer.result(wire.ResumeSessionResponse)
    events: list[facts.Event] = [] if result is None else [_opened(result)]
    if answer.request.begins_replay:
        events.append(facts.ReplayFailed() if result is None else facts.ReplayEnded())
    return [(answer.request.session_id, event) for event in events]


def _opened(result: wire.NewSessionResponse | wire.ResumeSessionResponse) -> facts.SessionOpened:
    return facts.SessionOpened(result.available_commands, result.config_options)


def _settle_prompt(answer: _Answer) -> list[Told]:
    return [(answer.request.session_id, _prompt_event(answer))]


def _prompt_event(answer: _Answer) -> facts.Event:
    response = answer.response
    result = answer.result(wire.PromptResponse)
    if result is not None:
        return facts.PromptAccepted(response.id, result.message_id)
    if response.error is not None:
        return facts.PromptRejected(response.id, response.error)
    return facts.PromptUncertain(response.id)


def _settle_options(answer: _Answer) -> list[Told]:
    result = answer.result(wire.SetSessionConfigOptionResponse)
    if result is None:
        return []
    return [(answer.request.session_id, facts.ConfigOptionsSet(result.config_options))]


_SETTLE: Final[dict[str, Callable[[_Answer], list[Told]]]] = {
    "session/new": _settle_new,
    "session/prompt": _settle_prompt,
    "session/resume": _settle_resume,
    "session/set_config_option": _settle_options,
}
