"""The effect of each update on the entity that it names: one table, field by field.

Each field of an update has three cases. An *omitted* field always leaves the entity unchanged. The
field's `Effect` defines what `null` and a value do:

- `Sets`: `null` resets the field to the default in the table, a value replaces it;
- `SetsStatus`: the same, and the client's own cancel mark is removed;
- `SetsExitStatus`: the same, and a concrete status ends a requested cancel of the terminal;
- `ReplacesContent`: `null` and `[]` clear the content, a value replaces all of it;
- `ReplacesOutput`: the same for all bytes of a terminal's output;
- `PatchesMeta`: `null` clears `_meta`, an object is a patch by top-level key.

An update changes a field of an entity only if the table lists that field. `tests/test_patches.py`
compares the table with the classes in `wire` and `_snapshot`, so neither can gain a field alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs
from msgspec import Struct

from . import wire
from ._content import (
    ContentBlocks,
    ToolCallContents,
    stored_block,
    stored_item,
)
from ._entity_drafts import Entity, EntityDraft
from ._snapshot import FINISHED, Compaction, Message, SessionInfo, Terminal, ToolCall, Usage
from ._terminal_output import OutputBytes


class Sets(Struct, frozen=True):
    """`null` resets the field of the same name to `null`, a value replaces it."""

    null: Any = None

    def apply(self, draft: EntityDraft, name: str, value: Any) -> None:
        """Set the field."""
        draft.changes[name] = self.null if value is None else value


class SetsStatus(Sets, frozen=True):
    """Set `reported_status` like `Sets`, and remove the cancel mark, whatever the status is."""

    def apply(self, draft: EntityDraft, name: str, value: Any) -> None:
        """Set the reported status, and remove the mark."""
        status = self.null if value is None else value
        draft.changes["reported_status"] = status
        draft.changes["cancel_marked"] = False
        if status in FINISHED:
            draft.changes["cancel_requested"] = False


class SetsExitStatus(Sets, frozen=True):
    """Set `exit_status` like `Sets`; a concrete one means that the terminal has exited."""

    def apply(self, draft: EntityDraft, name: str, value: Any) -> None:
        """Set the exit status."""
        draft.changes["exit_status"] = value
        if value is not None:
            draft.changes["cancel_requested"] = False


class ReplacesContent(Struct, frozen=True):
    """`null` and `[]` clear the content, a value replaces it with the `_meta` of its chunks."""

    stored: Callable[[Any], Any]

    def apply(self, draft: EntityDraft, name: str, value: Any) -> None:
        """Replace the content."""
        draft.replace([self.stored(item) for item in value or ()])


class ReplacesOutput(Struct, frozen=True):
    """`null` clears the output, a value replaces all bytes, those dropped by a limit included."""

    def apply(self, draft: EntityDraft, name: str, value: wire.TerminalOutput | None) -> None:
        """Replace the output."""
        output = wire.TerminalOutput(b"") if value is None else value
        draft.replace([output.data])
        has_meta = output.meta is not None and output.meta.text != b"{}"
        draft.changes["output_meta"] = output.meta if has_meta else None
        draft.changes["dropped_bytes"] = 0


class PatchesMeta(Struct, frozen=True):
    """`null` clears `_meta`; an object replaces its keys, and removes those set to `null`."""

    def apply(self, draft: EntityDraft, name: str, value: wire.JsonObject | None) -> None:
        """Patch `_meta`."""
        draft.patch_meta(value)


_META: Final = ("meta", PatchesMeta())

MESSAGE: Final = Entity(  # user_message, agent_message, agent_thought
    made=Message,
    identity=lambda key: {"type": key[0], "message_id": key[1]},
    growing="content",
    container=ContentBlocks,
    patches=(
        ("content", ReplacesContent(stored_block)),
        _META,
    ),
)

TOOL_CALL: Final = Entity(  # tool_call_update
    made=ToolCall,
    identity=lambda key: {"tool_call_id": key[1]},
    growing="content",
    container=ToolCallContents,
    patches=(
        ("name", Sets(null=None)),
        ("title", Sets(null=None)),
        ("kind", Sets(null="other")),
        ("status", SetsStatus(null="pending")),
        ("content", ReplacesContent(stored_item)),
        ("locations", Sets(null=())),
        ("raw_input", Sets(null=None)),
        ("raw_output", Sets(null=None)),
        ("capabilities", Sets(null=None)),
        _META,
    ),
)

COMPACTION: Final = Entity(  # compaction_update
    made=Compaction,
    identity=lambda key: {"compaction_id": key[1]},
    growing="summary",
    container=ContentBlocks,
    patches=(
        ("status", Sets()),  # never `null`
        ("summary", ReplacesContent(stored_block)),
        ("error", Sets(null=None)),
        _META,
    ),
)

TERMINAL: Final = Entity(  # terminal_update
    made=Terminal,
    identity=lambda key: {"terminal_id": key},
    growing="pieces",
    container=OutputBytes,
    patches=(
        ("command", Sets(null=None)),
        ("cwd", Sets(null=None)),
        ("output", ReplacesOutput()),
        ("exit_status", SetsExitStatus()),
        ("size", Sets(null=None)),
        ("capabilities", Sets(null=None)),
        _META,
    ),
)

USAGE: Final = Entity(  # usage_update
    made=Usage,
    identity=lambda key: {},
    evolve=attrs.evolve,
    patches=(
        ("used", Sets()),  # never `null`
        ("size", Sets()),  # never `null`
        ("cost", Sets(null=None)),
    ),
)

INFO: Final = Entity(  # session_info_update
    made=SessionInfo,
    identity=lambda key: {},
    evolve=attrs.evolve,
    patches=(
        ("title", Sets(null=None)),
        ("updated_at", Sets(null=None)),
        _META,
    ),
)

PATCHES: Final[dict[type, Entity]] = {
    wire.UserMessage: MESSAGE,
    wire.AgentMessage: MESSAGE,
    wire.AgentThought: MESSAGE,
    wire.ToolCallUpdate: TOOL_CALL,
    wire.CompactionUpdate: COMPACTION,
    wire.TerminalUpdate: TERMINAL,
    wire.UsageUpdate: USAGE,
    wire.SessionInfoUpdate: INFO,
}
"""The entity that each update patches."""
