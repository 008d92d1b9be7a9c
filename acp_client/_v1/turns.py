"""The prompts of one ACP v1 session that wait for their answers, and the state that they make.

A prompt belongs to its answer by the id of the request, whatever order answers come in. While any
prompt is open the session is running; the answer to the last one makes it idle, with the reason to
stop, or with the error.
"""

from __future__ import annotations

from typing import Any

from .. import _events as facts
from .. import wire

RUNNING = facts.UpdateInferred(wire.StateUpdate("running"))


class Turns:
    """The open prompts of one session, oldest first, with the ids of their messages."""

    def __init__(self) -> None:
        self._open: dict[wire.RequestId, str] = {}
        self.state: Any = None

    @property
    def is_idle(self) -> bool:
        """Whether no prompt is open."""
        return not self._open

    def begin(self, request_id: wire.RequestId, message_id: str) -> None:
        """Add a prompt; one that is open under the same id will never be answered."""
        self._open.pop(request_id, None)
        self._open[request_id] = message_id
        self.state = RUNNING

    def is_foreground(self, request_id: wire.RequestId) -> bool:
        """Return whether a prompt is the one that the agent works on: the oldest."""
        return next(iter(self._open), None) == request_id

    def settle(self, answer: wire.Response, idle: Any) -> list[Any]:
        """Return what the answer to a prompt says; `idle` is the state if no other is open."""
        message_id = self._open.pop(answer.id, None)
        if message_id is None:
            return []
        outcome = _outcome(answer, message_id)
        if self._open:
            return [outcome]
        self.state = facts.UpdateInferred(idle)
        return [outcome, self.state]

    def lose(self) -> list[Any]:
        """Drop all prompts, which will not be answered; return the state without them."""
        if not self._open:
            return []
        self._open.clear()
        self.state = facts.UpdateInferred(wire.StateUpdate("idle"))
        return [self.state]


def _says_why(result: Any) -> bool:
    """Return whether a result has a reason to stop, without which it is malformed."""
    return isinstance(result, dict) and isinstance(result.get("stopReason"), str)


def _outcome(answer: wire.Response, message_id: str) -> Any:
    if answer.error is not None:
        return facts.PromptRejected(answer.id, answer.error)
    if answer.result is None or not _says_why(answer.result.value):
        return facts.PromptUncertain(answer.id)
    return facts.PromptAccepted(answer.id, message_id)
