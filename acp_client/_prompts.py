"""The lifecycle of a prompt, from sending to echo.

A prompt response says that the message was inserted, under which id, and nothing more: it does not
end a turn. The echo, the agent's own report of the message, comes before or after the response, and
prompts overlap. So a prompt has two independent marks:

- its *status*, moved by answers, and only out of `pending`:

      pending -- a result with a messageId --> accepted
      pending -- an error -------------------> rejected
      pending -- the error -32800 -----------> withdrawn
      pending -- a malformed answer ---------> uncertain
      pending -- the connection is lost -----> uncertain

  `uncertain` means that the message may or may not have been inserted: to send it again could
  insert it twice.

- *echoed*, which becomes true when a user message with the prompt's `messageId` exists. Only that
  id is matched, never content or order. It becomes false again only if the message came in a replay
  that is undone. So a prompt keeps its content until its message is among entries that stay.

A session may have thousands of prompts, and each step changes one. So work on all of them is a
plain loop that compares ids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final, Literal

import attrs

from ._client_state import Prompt, PromptStatus
from .wire import Error, RequestId

Answer = Literal["result", "error", "cancelled", "malformed", "lost"]

TRANSITIONS: Final[dict[tuple[PromptStatus, Answer], PromptStatus]] = {
    ("pending", "result"): "accepted",
    ("pending", "error"): "rejected",
    ("pending", "cancelled"): "withdrawn",
    ("pending", "malformed"): "uncertain",
    ("pending", "lost"): "uncertain",
}
"""Every transition; any other pair leaves the prompt unchanged."""

Prompts = tuple[Prompt, ...]

_SLICE: Final = 256
"""The number of ids compared at once: long enough to save loops, and short to search."""


def request_key(request_id: RequestId) -> str:
    """Return the dictionary key of a request: equal for equal ids, but with an unpredictable hash.

    The peer chooses its ids. It can choose integers whose hashes collide, but not such texts.
    """
    if isinstance(request_id, str):
        return f"text {request_id}"
    if isinstance(request_id, bool):
        return f"no number {request_id}"
    is_whole = isinstance(request_id, int) or float(request_id).is_integer()
    return f"number {int(request_id):x}" if is_whole else f"number {request_id!r}"


def is_same_id(one: object, other: object) -> bool:
    """Return whether two ids are the same in JSON-RPC: `1` is `1.0`, and is not `True`."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def answered(
    prompts: Prompts,
    request_id: RequestId,
    answer: Answer,
    *,
    message_id: str | None = None,
    error: Error | None = None,
    is_echoed: Callable[[str], bool],
    replaying: bool = False,
) -> Prompts:
    """Settle the last pending prompt with a request id; without one nothing changes.

    `is_echoed` returns whether a user message with an id exists.
    """
    if isinstance(request_id, bool):  # it equals 0 or 1 to Python, and is no id
        return prompts
    for place in _places_from_the_end(prompts, request_id):
        prompt = prompts[place]
        status = TRANSITIONS.get((prompt.status, answer))
        if status is not None:
            known = prompt.message_id if message_id is None else message_id
            after = attrs.evolve(prompt, status=status, message_id=known, error=error)
            return _with(prompts, {place: _echo(after, is_echoed, replaying)})
    return prompts


def _places_from_the_end(prompts: Prompts, request_id: RequestId) -> Iterator[int]:
    """Yield the places of a request id, last one first: mostly it is one of the last."""
    for stop in range(len(prompts), 0, -_SLICE):
        start = max(stop - _SLICE, 0)
        ids = [prompt.request_id for prompt in prompts[start:stop]]
        if request_id in ids:
            places = range(stop - 1, start - 1, -1)
            yield from (place for place in places if ids[place - start] == request_id)


def lost(prompts: Prompts, error: Error | None) -> Prompts:
    """Move every pending prompt to its status after a lost connection."""
    return _with(prompts, {place: _lose(prompt, error) for place, prompt in enumerate(prompts)})


def echoed(prompts: Prompts, message_ids: Collection[str], replaying: bool = False) -> Prompts:
    """Mark the prompts whose messages have come; most messages belong to no prompt."""
    places = [place for place, one in enumerate(prompts) if one.message_id in message_ids]
    return _with(prompts, {place: _marked(prompts[place], replaying) for place in places})


def settled(prompts: Prompts) -> Prompts:
    """Drop the content of the prompts that were echoed in a replay that has ended."""
    return _with(prompts, {place: _without_content(one) for place, one in enumerate(prompts)})


def restored(prompts: Prompts, before: Prompts, is_echoed: Callable[[str], bool]) -> Prompts:
    """Return the prompts after a replay that is undone, which began with those of `before`.

    `is_echoed` returns whether a user message with an id exists in the entries from before.
    """
    known = len(before)
    kept = {
        place: _restored(one, place < known and before[place].echoed, is_echoed)
        for place, one in enumerate(prompts)
    }
    return _with(prompts, kept)


def _restored(prompt: Prompt, was_echoed: bool, is_echoed: Callable[[str], bool]) -> Prompt:
    if prompt.echoed is not was_echoed:
        prompt = attrs.evolve(prompt, echoed=was_echoed)
    return _echo(prompt, is_echoed, replaying=False)


def _lose(prompt: Prompt, error: Error | None) -> Prompt:
    status = TRANSITIONS.get((prompt.status, "lost"))
    return prompt if status is None else attrs.evolve(prompt, status=status, error=error)


def _echo(prompt: Prompt, is_echoed: Callable[[str], bool], replaying: bool) -> Prompt:
    if prompt.echoed or prompt.message_id is None or not is_echoed(prompt.message_id):
        return prompt
    return _marked(prompt, replaying)


def _marked(prompt: Prompt, replaying: bool) -> Prompt:
    if prompt.echoed:
        return prompt
    content = prompt.content if replaying else ()
    return attrs.evolve(prompt, echoed=True, content=content)


def _without_content(prompt: Prompt) -> Prompt:
    has_content = prompt.echoed and prompt.content
    return attrs.evolve(prompt, content=()) if has_content else prompt


def _with(prompts: Prompts, changed: dict[int, Prompt]) -> Prompts:
    """Return prompts with some replaced in place; the same object if nothing differs."""
    if all(prompts[place] is prompt for place, prompt in changed.items()):
        return prompts
    after = list(prompts)
    for place, prompt in changed.items():
        after[place] = prompt
    return tuple(after)
