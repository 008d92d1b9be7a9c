"""Requests of the agent that the client's own handlers answer: `Responder` and `LATER`.

A handler is registered for a method, see `Store.handle`. It is called like a subscriber: outside
the store's lock, in order, after the subscribers have received the changes of the same read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from . import wire
from ._errors import HandlerError, checked
from ._requests import INTERNAL_ERROR, AgentRequest


class _Later:
    """The type of `LATER`."""

    def __repr__(self) -> str:
        return "LATER"


LATER: Final = _Later()
"""Returned by a handler that will answer later, through its `Responder`."""


class Responder:
    """A request of the agent, which can be answered once, from any thread."""

    def __init__(
        self,
        request: AgentRequest,
        answer: Callable[[AgentRequest, Any, wire.Error | None], None],
        is_open: Callable[[AgentRequest], bool],
    ) -> None:
        self._request = request
        self._answer = answer
        self._is_open = is_open

    def __repr__(self) -> str:
        return f"<Responder {self.method} {self.request_id!r}>"

    @property
    def request_id(self) -> wire.RequestId:
        """The agent's id of the request."""
        return self._request.request_id

    @property
    def method(self) -> str:
        """The method of the request."""
        return self._request.method

    @property
    def params(self) -> Any:
        """The parameters as parsed JSON, or `None`."""
        params = self._request.params
        return params.value if isinstance(params, wire.Json) else params

    @property
    def is_open(self) -> bool:
        """Whether the agent still waits: the request was not answered, withdrawn or lost."""
        return self._is_open(self._request)

    def result(self, result: Any = None) -> None:
        """Answer with a result. Raises `UnknownRequestError` if the request is not open."""
        self._answer(self._request, result, None)

    def error(self, code: int, message: str, data: Any = None) -> None:
        """Answer with an error. Raises `UnknownRequestError` if the request is not open."""
        self._answer(self._request, None, _error_of(HandlerError(message, code, data)))


Handler: TypeAlias = Callable[[Responder], Any]
NotificationHandler: TypeAlias = Callable[[str, Any], object]


def answer_by(handler: Handler, responder: Responder) -> None:
    """Call a handler, and answer with what it returns or raises.

    A request that the agent has withdrawn by then gets no answer.
    """
    try:
        result = handler(responder)
        if result is not LATER and responder.is_open:
            responder.result(result)
    except HandlerError as error:
        if responder.is_open:
            responder.error(error.code, error.message, error.data)
    except BaseException:
        if responder.is_open:
            responder.error(INTERNAL_ERROR, "the client failed to answer")
        raise


def _error_of(error: HandlerError) -> wire.Error:
    """Return the error object for an exception of a handler. Raises `InvalidValueError`."""
    checked(error.code, int, "an error code")
    checked(error.message, str, "an error message")
    data = None if error.data is None else wire.Json(error.data)
    return wire.Error(error.code, error.message, data)
