"""The mutable draft of a session on which one batch of events is reduced.

Building frozen objects is what an update costs most, so a batch is reduced on drafts of the
entities that it touches, and each of them is frozen once at the end. `Draft.freeze` gives the next
snapshot; whatever did not change in value is the same object as before, up to the snapshot itself.

A draft lives for one batch and one thread. The reducer's handlers are the only ones to use it. A
batch may be a single event, so a draft makes nothing that is not asked for: fields that most
batches do not need are class attributes until they are set.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

import attrs
from msgspec import UNSET

from . import wire
from ._containers import Keyed
from ._content import (
    ChunkMeta,
    ContentBlocks,
    OutputBytes,
    ToolCallContents,
    stored_block,
    stored_item,
)
from ._limits import DEFAULT_LIMITS, Limits
from ._prompts import echoed
from ._snapshot import (
    Compaction,
    Message,
    MessageType,
    Snapshot,
    Surroundings,
    Terminal,
    ToolCall,
    UnknownEntry,
)

_NO_META: Final = b"{}"


def patched_meta(
    meta: wire.JsonObject | None, patch: wire.JsonObject | wire.UnsetType | None
) -> wire.JsonObject | None:
    """Patch `_meta` by top-level key; an object that becomes empty is unset."""
    if patch is UNSET:
        return meta
    if not isinstance(patch, wire.JsonObject):
        return None
    merged = {} if meta is None else meta.value
    merged |= patch.value
    kept = {key: value for key, value in merged.items() if value is not None}
    return wire.JsonObject(kept) if kept else None


def changed(base: Any, changes: dict[str, Any]) -> Any:
    """Return a frozen object with changes, or itself where every value is equal."""
    real = {name: value for name, value in changes.items() if getattr(base, name) != value}
    return attrs.evolve(base, **real) if real else base


class _Growing:
    """What the drafts have in common: content that grows, or is replaced and then grows.

    `base` is the entity before the batch, `None` for a new one; `content` is its content then.
    `place` is where it is, or will be, among its like.
    """

    __slots__ = ("base", "content", "fresh", "metas", "place", "replaced")

    base: Any
    content: Any
    metas: list[ChunkMeta] | None

    def __init__(self, base: Any, content: Any, place: int) -> None:
        self.base = base
        self.content = content
        self.place = place
        self.fresh: list[Any] = []
        self.metas = None
        self.replaced = False

    def replace(self, items: Sequence[Any]) -> None:
        self.replaced = True
        self.fresh[:] = items
        self.metas = None

    def add(self, item: Any, meta: wire.JsonObject | None) -> None:
        if meta is not None and meta.text != _NO_META:
            before = 0 if self.replaced or self.base is None else len(self.content)
            self.metas = [*(self.metas or ()), (before + len(self.fresh), meta)]
        self.fresh.append(item)

    def grown(self, kind: Any) -> Any:
        """Return the content after the batch: the same object if it is what it was."""
        before = self.content
        if before is None:
            return kind.made(self.fresh, self.metas)
        if not self.replaced:
            return before.grown(self.fresh, self.metas) if self.fresh else before
        after = kind.made(self.fresh, self.metas)
        return before if after == before else after


class MessageDraft(_Growing):
    """A message in the making."""

    __slots__ = ("key", "meta")

    def __init__(self, key: tuple[MessageType, str], base: Message | None, place: int) -> None:
        self.key = key
        if base is None:
            _Growing.__init__(self, None, None, place)
            self.meta = None
        else:
            _Growing.__init__(self, base, base.content, place)
            self.meta = base.meta

    def patch(self, update: wire.UserMessage | wire.AgentMessage | wire.AgentThought) -> None:
        if update.content is not UNSET:
            self.replace([stored_block(block) for block in update.content or ()])
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)

    def freeze(self) -> Message:
        base: Message | None = self.base
        content = self.grown(ContentBlocks)
        if base is not None and content is base.content and self.meta == base.meta:
            return base
        return Message(*self.key, content, self.meta)


_TOOL_CALL_FIELDS: Final = ("name", "title", "raw_input", "raw_output", "capabilities")
_TERMINAL_FIELDS: Final = ("command", "cwd", "exit_status", "size", "capabilities")


class _PatchedDraft(_Growing):
    """An entity with many fields that patches set: a mutable mirror of the frozen class.

    Mirrors are frozen by calling the class; `attrs.evolve` takes several times as long (see the
    benchmark "one apply per update").
    """

    __slots__ = ("capabilities", "key", "meta")
    meta: wire.JsonObject | None

    def take(self, update: Any, names: Sequence[str]) -> None:
        """Take what an update says of some fields that `null` resets to `None`."""
        for name in names:
            value = getattr(update, name)
            if value is not UNSET:
                setattr(self, name, value)
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)


class ToolCallDraft(_PatchedDraft):
    """A tool call in the making."""

    __slots__ = (
        "cancel_marked",
        "kind",
        "locations",
        "name",
        "raw_input",
        "raw_output",
        "reported_status",
        "title",
    )

    def __init__(self, key: tuple[str, str], base: ToolCall | None, place: int) -> None:
        self.key = key
        known = base or _NEW_TOOL_CALL
        _Growing.__init__(self, base, base and base.content, place)
        self.name = known.name
        self.title = known.title
        self.kind = known.kind
        self.reported_status = known.reported_status
        self.cancel_marked = known.cancel_marked
        self.locations = known.locations
        self.raw_input = known.raw_input
        self.raw_output = known.raw_output
        self.capabilities = known.capabilities
        self.meta = known.meta

    def patch(self, update: wire.ToolCallUpdate) -> None:
        self.take(update, _TOOL_CALL_FIELDS)
        if update.kind is not UNSET:
            self.kind = "other" if update.kind is None else update.kind
        if update.status is not UNSET:
            self.reported_status = "pending" if update.status is None else update.status
            self.cancel_marked = False
        if update.locations is not UNSET:
            self.locations = update.locations or ()
        if update.content is not UNSET:
            self.replace([stored_item(item) for item in update.content or ()])

    def freeze(self) -> ToolCall:
        frozen = ToolCall(
            self.key[1],
            self.name,
            self.title,
            self.kind,
            self.reported_status,
            self.cancel_marked,
            self.grown(ToolCallContents),
            self.locations,
            self.raw_input,
            self.raw_output,
            self.capabilities,
            self.meta,
        )
        return self.base if frozen == self.base else frozen


class CompactionDraft(_PatchedDraft):
    """A compaction in the making."""

    __slots__ = ("error", "status")

    def __init__(self, key: tuple[str, str], base: Compaction | None, place: int) -> None:
        self.key = key
        known = base or _NEW_COMPACTION
        _Growing.__init__(self, base, base and base.summary, place)
        self.status = known.status
        self.error = known.error
        self.meta = known.meta

    def patch(self, update: wire.CompactionUpdate) -> None:
        self.take(update, ("error",))
        self.status = update.status
        if update.summary is not UNSET:
            self.replace([stored_block(block) for block in update.summary or ()])

    def freeze(self) -> Compaction:
        summary = self.grown(ContentBlocks)
        frozen = Compaction(self.key[1], self.status, summary, self.error, self.meta)
        return self.base if frozen == self.base else frozen


class TerminalDraft(_PatchedDraft):
    """A terminal in the making."""

    __slots__ = ("command", "cwd", "dropped_bytes", "exit_status", "limit", "output_meta", "size")

    limit: int | None

    def __init__(self, key: str, base: Terminal | None, place: int) -> None:
        self.key = key
        known = base or _NEW_TERMINAL
        _Growing.__init__(self, base, base and base.pieces, place)
        self.command = known.command
        self.cwd = known.cwd
        self.output_meta = known.output_meta
        self.exit_status = known.exit_status
        self.size = known.size
        self.capabilities = known.capabilities
        self.meta = known.meta
        self.dropped_bytes = known.dropped_bytes

    def patch(self, update: wire.TerminalUpdate) -> None:
        self.take(update, _TERMINAL_FIELDS)
        if update.output is not UNSET:
            self._replace_output(update.output)

    def _replace_output(self, output: wire.TerminalOutput | wire.UnsetType | None) -> None:
        given = output if isinstance(output, wire.TerminalOutput) else wire.TerminalOutput(b"")
        self.replace([given.data])
        empty = given.meta is None or given.meta.text == _NO_META
        self.output_meta = None if empty else given.meta
        self.dropped_bytes = 0

    def _output(self) -> OutputBytes:
        self.fresh[:] = filter(None, self.fresh)  # an empty piece is no output
        pieces: OutputBytes = self.grown(OutputBytes)
        if self.limit is not None:
            pieces, surplus = pieces.limited(self.limit)
            self.dropped_bytes += surplus
        return pieces

    def freeze(self) -> Terminal:
        pieces = self._output()
        frozen = Terminal(
            self.key,
            self.command,
            self.cwd,
            pieces,
            self.output_meta,
            self.exit_status,
            self.size,
            self.capabilities,
            self.meta,
            self.dropped_bytes,
        )
        return self.base if frozen == self.base else frozen


_NEW_TOOL_CALL: Final = ToolCall("")
_NEW_COMPACTION: Final = Compaction("")
_NEW_TERMINAL: Final = Terminal("")
"""What an entity is before anything was said of it."""


class _WholeDraft:
    """An entity that is always replaced whole: a plan, or an update that nobody knows."""

    __slots__ = ("base", "place", "value")

    def __init__(self, key: Hashable, base: Any, place: int) -> None:
        self.base = base
        self.place = place
        self.value: Any = None

    def freeze(self) -> Any:
        return self.base if self.value == self.base else self.value


class _Places(dict[Any, Any]):
    """The drafts of one keyed sequence by key, new ones in the order of their places."""

    __slots__ = ("base", "count")

    def __init__(self, base: Keyed[Any]) -> None:
        self.base = base
        self.count = len(base)

    def open(self, key: Any, draft: Any) -> Any:
        """Open the draft of an entity, which takes the next place if it is not there yet."""
        place = self.base.place(key)
        if place >= 0:
            opened = draft(key, self.base.at(place), place)
        else:
            opened = draft(key, None, self.count)
            self.count += 1
        self[key] = opened
        return opened

    def freeze(self) -> Keyed[Any]:
        base = self.base
        replaced, added = {}, []
        for key, draft in self.items():
            value = draft.freeze()
            if draft.base is None:
                added.append((key, value))
            elif value is not draft.base:
                replaced[draft.place] = value
        return base.changed(replaced, added) if replaced or added else base


class Draft:
    """A session in the making."""

    _terminals: _Places | None = None
    _plans: _Places | None = None
    _notices: list[wire.Notice] | None = None
    _surroundings: dict[str, Any] | None = None

    def __init__(self, base: Snapshot, limits: Limits = DEFAULT_LIMITS) -> None:
        self.base = base
        self._limits = limits
        self._entries = _Places(base.entries)

    def rebased(self, base: Snapshot) -> Draft:
        """Return the draft to go on with from another snapshot of the session."""
        return Draft(base, self._limits)

    @property
    def entry_count(self) -> int:
        """How many entries there are by now."""
        return self._entries.count

    def message(self, type: MessageType, message_id: str) -> MessageDraft:  # noqa: A002  # the protocol's word
        key = (type, message_id)
        draft: MessageDraft | None = self._entries.get(key)
        if draft is None:
            draft = self._entries.open(key, MessageDraft)
            if draft.base is None and type == "user_message":
                self._echo(message_id)
        return draft

    def tool_call(self, tool_call_id: str) -> ToolCallDraft:
        key = ("tool_call", tool_call_id)
        draft: ToolCallDraft = self._entries.get(key) or self._entries.open(key, ToolCallDraft)
        return draft

    def compaction(self, compaction_id: str) -> CompactionDraft:
        key = ("compaction", compaction_id)
        entries = self._entries
        draft: CompactionDraft = entries.get(key) or entries.open(key, CompactionDraft)
        return draft

    def unknown(self, update: wire.Unknown) -> None:
        entries = self._entries
        entries.open(("unknown", entries.count), _WholeDraft).value = UnknownEntry(update)

    def terminal(self, terminal_id: str) -> TerminalDraft:
        if self._terminals is None:
            self._terminals = _Places(self.base.terminals)
        draft: TerminalDraft | None = self._terminals.get(terminal_id)
        if draft is None:
            draft = self._terminals.open(terminal_id, TerminalDraft)
            draft.limit = self._limits.terminal_bytes
        return draft

    def plan(self, plan_id: str, plan: wire.PlanItems | wire.Unknown) -> None:
        if self._plans is None:
            self._plans = _Places(self.base.plans)
        draft = self._plans.get(plan_id) or self._plans.open(plan_id, _WholeDraft)
        draft.value = plan

    def notice(self, notice: wire.Notice) -> None:
        if self._notices is None:
            self._notices = []
        self._notices.append(notice)

    def get(self, name: str) -> Any:
        """Return a field of the surroundings as it is now."""
        base = getattr(self.base.surroundings, name)
        return base if self._surroundings is None else self._surroundings.get(name, base)

    def set(self, **values: Any) -> None:
        """Set fields of the surroundings."""
        self._surroundings = {**(self._surroundings or {}), **values}

    def _echo(self, message_id: str) -> None:
        prompts = self.get("prompts")
        if prompts:
            self.set(prompts=echoed(prompts, message_id))

    def freeze(self) -> Snapshot:
        """Build the next snapshot: `base` itself where nothing changed."""
        base = self.base
        entries: Any = self._entries.freeze()
        terminals: Any = base.terminals if self._terminals is None else self._terminals.freeze()
        surroundings = self._freeze_surroundings()
        unchanged = entries is base.entries and terminals is base.terminals
        if unchanged and surroundings is base.surroundings:
            return base
        return Snapshot(base.session_id, entries, terminals, surroundings)

    def _freeze_surroundings(self) -> Surroundings:
        base = self.base.surroundings
        if self._plans is not None:
            self.set(plans=self._plans.freeze())
        if self._notices:
            limit = self._limits.notices
            kept = (*base.notices, *self._notices)
            self.set(notices=kept[-limit:] if limit else ())
        if self._surroundings is None:
            return base
        frozen: Surroundings = changed(base, self._surroundings)
        return frozen
