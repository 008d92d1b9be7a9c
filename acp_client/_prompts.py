"""The life of a prompt, from sending to echo.

A prompt response says that the message was inserted, under which id, and nothing more: it does not
end a turn. The echo, the agent's own report of the message, comes before or after the response, and
prompts overlap. So a prompt has two independent marks:

- its *status*, moved by answers, and only out of `pending`:

      pending -- a result with a messageId --> accepted
      pending -- an error -------------------> rejected
      pending -- a malformed answer ---------> uncertain
      pending -- the connection is lost -----> uncertain

  `uncertain` means that the message may or may not have been inserted: to send it again could
  insert it twice.

- *echoed*, which turns true, once and for good, when a user message with the prompt's `messageId`
  exists. That id is the only thing that is ever matched: neither content nor order counts.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final, Literal

import attrs

from ._snapshot import Prompt, PromptStatus
from .wire import Error, RequestId

Answer = Literal["result", "error", "malformed", "lost"]

TRANSITIONS: Final[dict[tuple[PromptStatus, Answer], PromptStatus]] = {
    ("pending", "result"): "accepted",
    ("pending", "error"): "rejected",
    ("pending", "malformed"): "uncertain",
    ("pending", "lost"): "uncertain",
}
"""Every transition there is; any other pair leaves the prompt as it is."""

Prompts = tuple[Prompt, ...]

_MESSAGE_ID: Final = attrgetter("message_id")


def answered(
    prompts: Prompts,
    request_id: RequestId,
    answer: Answer,
    *,
    message_id: str | None = None,
    error: Error | None = None,
    is_echoed: Callable[[str], bool],
) -> Prompts:
    """Settle the last pending prompt with a request id; without one nothing changes.

    `is_echoed` tells whether a user message with an id exists.
    """
    for place in reversed(range(len(prompts))):
        if prompts[place].request_id != request_id:
            continue
        status = TRANSITIONS.get((prompts[place].status, answer))
        if status is not None:
            settled = attrs.evolve(
                prompts[place], status=status, message_id=message_id, error=error
            )
            return _with(prompts, place, _echo(settled, is_echoed))
    return prompts


def lost(prompts: Prompts, error: Error | None) -> Prompts:
    """Move every pending prompt to what a lost connection makes of it."""
    return _mapped(prompts, lambda prompt: _lose(prompt, error))


def echoed(prompts: Prompts, message_id: str) -> Prompts:
    """Mark the prompts whose message has come; most messages are those of none."""
    if message_id not in map(_MESSAGE_ID, prompts):
        return prompts
    return matched(prompts, lambda found: found == message_id)


def matched(prompts: Prompts, is_echoed: Callable[[str], bool]) -> Prompts:
    """Mark the prompts whose message exists, for when many messages have come at once."""
    return _mapped(prompts, lambda prompt: _echo(prompt, is_echoed))


def _lose(prompt: Prompt, error: Error | None) -> Prompt:
    status = TRANSITIONS.get((prompt.status, "lost"))
    return prompt if status is None else attrs.evolve(prompt, status=status, error=error)


def _echo(prompt: Prompt, is_echoed: Callable[[str], bool]) -> Prompt:
    if prompt.echoed or prompt.message_id is None or not is_echoed(prompt.message_id):
        return prompt
    return attrs.evolve(prompt, echoed=True, content=())


def _with(prompts: Prompts, place: int, prompt: Prompt) -> Prompts:
    return (*prompts[:place], prompt, *prompts[place + 1 :])


def _mapped(prompts: Prompts, change: Callable[[Prompt], Prompt]) -> Prompts:
    mapped = tuple(map(change, prompts))
    return prompts if all(a is b for a, b in zip(mapped, prompts, strict=True)) else mapped
