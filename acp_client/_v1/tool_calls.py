"""What is known of the tool calls of one ACP v1 session, so that no message wipes it.

On paper a `tool_call` is a whole tool call, and so is the one inside a permission request. What
agents send is often the default of a field, an empty value, or a title for the question. So:

- A `tool_call` for a call that is known changes what it says beyond defaults and empty values.
- A permission request does the same, and leaves the title alone.
- A `tool_call` under the id of a call that was finished in an earlier turn is another call. It gets
  an entry of its own, with the id that `ToolCalls.entry_id` returns from then on.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET, Struct
from msgspec.structs import replace

from .. import wire

FINISHED: Final = frozenset({"completed", "failed", "cancelled"})

_DEFAULTS: Final[dict[str, Any]] = {"title": "", "kind": "other", "status": "pending"}
"""What a whole tool call says where it has nothing to say."""

_EMPTY_JSON: Final = frozenset({b"{}", b"[]", b'""'})


class _Known(Struct):
    """A tool call under the id that the agent uses for it."""

    entry_id: str
    title: str | None = None
    finished_in: int | None = None


class ToolCalls:
    """The tool calls of one session by the ids that the agent uses."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._uses: dict[str, int] = {}
        self._turn = 0

    def begin_turn(self) -> None:
        """Count a turn: what is announced from now on is not part of the ones before."""
        self._turn += 1

    def is_known(self, call_id: str) -> bool:
        """Return whether a call is there, under the id that the agent uses."""
        known = self._known.get(call_id)
        return known is not None and known.entry_id == call_id

    def title(self, call_id: str) -> str | None:
        """Return the title of a call, if there is one."""
        known = self._known.get(call_id)
        return known.title if known else None

    def entry_id(self, call_id: str) -> str:
        """Return the id of the entry that an id of the agent stands for."""
        known = self._known.get(call_id)
        return known.entry_id if known else call_id

    def is_reused(self, call_id: str) -> bool:
        """Return whether a `tool_call` with this id is another call than the finished one."""
        known = self._known.get(call_id)
        return known is not None and known.finished_in not in (None, self._turn)

    def separate(self, call_id: str) -> None:
        """Let an id stand for a new entry from now on."""
        uses = self._uses[call_id] = self._uses.get(call_id, 1) + 1
        self._known[call_id] = _Known(f"{call_id}#{uses}")

    def reported(self, update: wire.ToolCallUpdate) -> wire.ToolCallUpdate:
        """Return what a `tool_call_update` changes."""
        return self._noted(update)

    def announced(self, update: wire.ToolCallUpdate) -> wire.ToolCallUpdate:
        """Return what a `tool_call` changes."""
        return self._noted(self._news(update))

    def asked(self, update: wire.ToolCallUpdate) -> wire.ToolCallUpdate:
        """Return what the tool call of a permission request changes."""
        update = self._news(update)
        if self.title(update.tool_call_id) and update.title is not UNSET:
            update = replace(update, title=UNSET)
        return self._noted(update)

    def _news(self, update: wire.ToolCallUpdate) -> wire.ToolCallUpdate:
        """Leave out what would reset a call that is known."""
        if update.tool_call_id not in self._known:
            return update
        dropped = {name: UNSET for name in _FIELDS if _is_default(name, getattr(update, name))}
        return replace(update, **dropped) if dropped else update

    def _noted(self, update: wire.ToolCallUpdate) -> wire.ToolCallUpdate:
        call_id = update.tool_call_id
        known = self._known.get(call_id)
        if known is None:
            known = self._known[call_id] = _Known(call_id)
        if update.title:
            known.title = update.title
        if update.status is not UNSET:
            known.finished_in = self._turn if update.status in FINISHED else None
        if known.entry_id == call_id:
            return update
        return replace(update, tool_call_id=known.entry_id)


_FIELDS: Final = ("title", "kind", "status", "content", "locations", "raw_input", "raw_output")


def _is_default(name: str, value: Any) -> bool:
    if value is UNSET:
        return False
    if isinstance(value, wire.Json):
        return value.text in _EMPTY_JSON
    return bool(value == () or value == _DEFAULTS.get(name))
