"""The mutable draft of a session on which one batch of events is reduced.

Building frozen objects is what an update costs most, so a batch is reduced on drafts of the
entities that it touches, and each of them is frozen once at the end. `Draft.freeze` gives the next
snapshot; whatever did not change in value is the same object as before, up to the snapshot itself.

A draft lives for one batch and one thread. The reducer's handlers are the only ones to use it. A
batch may be a single event, so a draft makes nothing that is not asked for: fields that most
batches do not need are class attributes until they are set.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Final

import attrs
from msgspec import UNSET

from . import wire
from ._containers import Keyed
from ._content import ChunkMeta, OutputBytes, stored_block, stored_item
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

    `place` is where the entity is, or will be, among its like. `base` is the entity before the
    batch; `is_new` says that it was made for this draft.
    """

    __slots__ = ("base", "fresh", "is_new", "metas", "place", "replaced")

    base: Any
    metas: list[ChunkMeta] | None

    def __init__(self, base: Any, place: int, is_new: bool) -> None:
        self.base = base
        self.place = place
        self.is_new = is_new
        self.fresh: list[Any] = []
        self.metas = None
        self.replaced = False

    def replace(self, items: Sequence[Any]) -> None:
        self.replaced = True
        self.fresh[:] = items
        self.metas = None

    def add(self, item: Any, meta: wire.JsonObject | None) -> None:
        if meta is not None and meta.text != _NO_META:
            before = 0 if self.replaced else len(self.base.content)
            self.metas = [*(self.metas or ()), (before + len(self.fresh), meta)]
        self.fresh.append(item)

    def grown(self, before: Any) -> Any:
        """Return the content after the batch: `before` itself if that is what it is again."""
        if not self.replaced:
            return before.grown(self.fresh, self.metas) if self.fresh else before
        after = type(before)(self.fresh, self.metas or ())
        return before if after == before else after


class MessageDraft(_Growing):
    """A message in the making."""

    __slots__ = ("meta",)

    def __init__(self, base: Message, place: int, is_new: bool) -> None:
        _Growing.__init__(self, base, place, is_new)
        self.meta = base.meta

    def patch(self, update: wire.UserMessage | wire.AgentMessage | wire.AgentThought) -> None:
        if update.content is not UNSET:
            self.replace([stored_block(block) for block in update.content or ()])
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)

    def freeze(self) -> Message:
        base: Message = self.base
        content = self.grown(base.content)
        if content is base.content and self.meta == base.meta:
            return base
        return Message(base.type, base.message_id, content, self.meta)


class _PatchedDraft(_Growing):
    """An entity with many fields that patches set: `changes` by attribute."""

    __slots__ = ("changes",)

    def __init__(self, base: Any, place: int, is_new: bool) -> None:
        _Growing.__init__(self, base, place, is_new)
        self.changes: dict[str, Any] = {}

    def take(self, update: Any, names: Sequence[str]) -> None:
        """Take what an update says of some fields that `null` resets to `None`."""
        for name in names:
            value = getattr(update, name)
            if value is not UNSET:
                self.changes[name] = value
        if update.meta is not UNSET:
            before = self.changes.get("meta", self.base.meta)
            self.changes["meta"] = patched_meta(before, update.meta)


class ToolCallDraft(_PatchedDraft):
    """A tool call in the making."""

    __slots__ = ()
    _FIELDS: ClassVar = ("name", "title", "raw_input", "raw_output", "capabilities")

    def patch(self, update: wire.ToolCallUpdate) -> None:
        self.take(update, self._FIELDS)
        changes = self.changes
        if update.kind is not UNSET:
            changes["kind"] = "other" if update.kind is None else update.kind
        if update.status is not UNSET:
            changes["reported_status"] = "pending" if update.status is None else update.status
            changes["cancel_marked"] = False
        if update.locations is not UNSET:
            changes["locations"] = update.locations or ()
        if update.content is not UNSET:
            self.replace([stored_item(item) for item in update.content or ()])

    def freeze(self) -> ToolCall:
        self.changes["content"] = self.grown(self.base.content)
        frozen: ToolCall = changed(self.base, self.changes)
        return frozen


class CompactionDraft(_PatchedDraft):
    """A compaction in the making."""

    __slots__ = ()

    def patch(self, update: wire.CompactionUpdate) -> None:
        self.take(update, ("error",))
        self.changes["status"] = update.status
        if update.summary is not UNSET:
            self.replace([stored_block(block) for block in update.summary or ()])

    def freeze(self) -> Compaction:
        self.changes["summary"] = self.grown(self.base.summary)
        frozen: Compaction = changed(self.base, self.changes)
        return frozen


class TerminalDraft(_PatchedDraft):
    """A terminal in the making."""

    __slots__ = ("limit",)
    limit: int | None
    _FIELDS: ClassVar = ("command", "cwd", "exit_status", "size", "capabilities")

    def patch(self, update: wire.TerminalUpdate) -> None:
        self.take(update, self._FIELDS)
        if update.output is not UNSET:
            self._replace_output(update.output)

    def _replace_output(self, output: wire.TerminalOutput | wire.UnsetType | None) -> None:
        given = output if isinstance(output, wire.TerminalOutput) else wire.TerminalOutput(b"")
        self.replace([given.data] if given.data else [])
        empty = given.meta is None or given.meta.text == _NO_META
        self.changes["output_meta"] = None if empty else given.meta
        self.changes["dropped_bytes"] = 0

    def freeze(self) -> Terminal:
        pieces: OutputBytes = self.grown(self.base.pieces)
        if self.limit is not None:
            pieces, surplus = pieces.limited(self.limit)
            dropped = self.changes.get("dropped_bytes", self.base.dropped_bytes)
            self.changes["dropped_bytes"] = dropped + surplus
        self.changes["pieces"] = pieces
        frozen: Terminal = changed(self.base, self.changes)
        return frozen


class _WholeDraft:
    """An entity that is always replaced whole: a plan, or an update that nobody knows."""

    __slots__ = ("base", "is_new", "place", "value")

    def __init__(self, base: Any, place: int, is_new: bool) -> None:
        self.base = self.value = base
        self.place = place
        self.is_new = is_new

    def freeze(self) -> Any:
        return self.base if self.value == self.base else self.value


class _Places(dict[Hashable, Any]):
    """The drafts of one keyed sequence by key, new ones in the order of their places."""

    __slots__ = ("base", "count")

    def __init__(self, base: Keyed[Any]) -> None:
        self.base = base
        self.count = len(base)

    def open(self, key: Hashable, draft: Any, make: Callable[[], Any]) -> Any:
        """Open the draft of a key; `make` makes the entity if it is not there yet."""
        place = self.base.place(key)
        if place >= 0:
            opened = draft(self.base.at(place), place, False)
        else:
            opened = draft(make(), self.count, True)
            self.count += 1
        self[key] = opened
        return opened

    def freeze(self) -> Keyed[Any]:
        base = self.base
        replaced, added = {}, []
        for key, draft in self.items():
            value = draft.freeze()
            if draft.is_new:
                added.append((key, value))
            elif value is not draft.base:
                replaced[draft.place] = value
        return base.changed(replaced, added) if replaced or added else base


def _nowhere(item: Any) -> None:
    """Stand in for `append` while nothing was appended."""


class Draft:
    """A session in the making.

    `chunk_kind`, `chunk_id` and `append` remember where the last chunk went to, so that a run of
    chunks is appended without a look-up (see the benchmark "bytes to snapshot").
    """

    chunk_kind: type | None = None
    chunk_id: str = ""
    append: Callable[[Any], None] = staticmethod(_nowhere)

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
            draft = self._entries.open(key, MessageDraft, lambda: Message(type, message_id))
            if draft.is_new and type == "user_message":
                self._echo(message_id)
        return draft

    def tool_call(self, tool_call_id: str) -> ToolCallDraft:
        key = ("tool_call", tool_call_id)
        draft: ToolCallDraft = self._entries.get(key) or self._entries.open(
            key, ToolCallDraft, lambda: ToolCall(tool_call_id)
        )
        return draft

    def compaction(self, compaction_id: str) -> CompactionDraft:
        key = ("compaction", compaction_id)
        draft: CompactionDraft = self._entries.get(key) or self._entries.open(
            key, CompactionDraft, lambda: Compaction(compaction_id)
        )
        return draft

    def unknown(self, update: wire.Unknown) -> None:
        entries = self._entries
        entries.open(("unknown", entries.count), _WholeDraft, lambda: UnknownEntry(update))

    def terminal(self, terminal_id: str) -> TerminalDraft:
        if self._terminals is None:
            self._terminals = _Places(self.base.terminals)
        draft: TerminalDraft | None = self._terminals.get(terminal_id)
        if draft is None:
            draft = self._terminals.open(terminal_id, TerminalDraft, lambda: Terminal(terminal_id))
            draft.limit = self._limits.terminal_bytes
        return draft

    def plan(self, plan_id: str, plan: wire.PlanItems | wire.Unknown) -> None:
        if self._plans is None:
            self._plans = _Places(self.base.plans)
        draft = self._plans.get(plan_id) or self._plans.open(plan_id, _WholeDraft, lambda: plan)
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
