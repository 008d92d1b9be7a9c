"""What the agent of ACP v1 answers, in the words of v2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from .. import _events as facts
from .. import wire
from .._decode import decode_result_of, ignored
from .._requests import MALFORMED, ClientRequest, SessionEvent
from . import shapes
from .parser import ReaderV1

Fields = dict[str, Any]


class Outcome(Struct, frozen=True):
    """An answer; `result` is `None` for an error and for a malformed answer."""

    message: wire.Response
    result: Fields | None
    reader: ReaderV1


def unseen_request(outcome: Outcome) -> ClientRequest | None:
    """Return the request that a result must belong to, in a recording of the agent alone."""
    for key, kind, method in _RESULTS:
        if isinstance((outcome.result or {}).get(key), kind):
            return ClientRequest(outcome.message.id, method)
    return None


_RESULTS: Final[tuple[tuple[str, Any, str], ...]] = (
    ("protocolVersion", int | float, "initialize"),
    ("sessionId", str, "session/new"),
)
"""What the result of a request holds that no other result does."""


def idle_state(outcome: Outcome) -> Any:
    """Return the state that the answer to the last open prompt makes."""
    if outcome.message.error is not None:
        return wire.StateUpdate("idle", stop_reason="error", error=outcome.message.error)
    result = outcome.result or {}
    kept = shapes.given({key: result.get(key) for key in ("stopReason", "usage", "_meta")})
    return outcome.reader.event({**kept, "sessionUpdate": "state_update", "state": "idle"})


def answer_of(request: ClientRequest, outcome: Outcome, told: list[SessionEvent]) -> Any:
    """Return the result as a wire object, or the error; `told` is what it means for a session."""
    message = outcome.message
    if message.error is not None:
        return message.error
    if message.result is None:
        return MALFORMED
    make = _ANSWERS.get(request.method)
    return _plain(request.method, message.result) if make is None else make(outcome, told)


def _plain(method: str, result: wire.Json) -> Any:
    """Return a result that v2 has too as its class, any other as it came."""
    found = decode_result_of(method, result, 0, ignored)
    return MALFORMED if found is None else found


def _initialized(outcome: Outcome, told: list[SessionEvent]) -> Any:
    shaped = shapes.initialize_result(outcome.result or {})
    agent = outcome.reader.structure(shaped, wire.InitializeResponse, "$.result")
    return MALFORMED if agent is None else agent


def _session_opened(outcome: Outcome, told: list[SessionEvent]) -> Any:
    session_id = next((session for session, _ in told if session is not None), None)
    if session_id is None:
        return MALFORMED
    return wire.NewSessionResponse(session_id, _options(told))


def _session_resumed(outcome: Outcome, told: list[SessionEvent]) -> Any:
    return wire.ResumeSessionResponse(_options(told))


def _prompted(outcome: Outcome, told: list[SessionEvent]) -> Any:
    accepted = [event for _, event in told if isinstance(event, facts.PromptAccepted)]
    return wire.PromptResponse(accepted[0].message_id) if accepted else outcome.message.result


def _option_set(outcome: Outcome, told: list[SessionEvent]) -> Any:
    return wire.SetSessionConfigOptionResponse(_options(told) or ())


def _options(told: list[SessionEvent]) -> Any:
    lists = [event for _, event in told if isinstance(event, facts.ConfigOptionsSet)]
    return lists[0].config_options if lists else wire.UNSET


_ANSWERS: Final[dict[str, Callable[[Outcome, list[SessionEvent]], Any]]] = {
    "initialize": _initialized,
    "session/fork": _session_opened,
    "session/load": _session_resumed,
    "session/new": _session_opened,
    "session/prompt": _prompted,
    "session/resume": _session_resumed,
    "session/set_config_option": _option_set,
    "session/set_mode": _option_set,
    "session/set_model": _option_set,
}
"""By the client's request: what makes a wire object of its result."""
