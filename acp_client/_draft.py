"""The mutable draft of a session on which one batch of events is reduced.

Building frozen objects is what an update costs most, so a batch is reduced on drafts of the
entities that it touches, and each of them is frozen once at the end. `Draft.freeze` gives the next
snapshot; whatever did not change in value is the same object as before, up to the snapshot itself.

A draft lives for one batch and one thread. The reducer's handlers are the only ones to use it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

import attrs
from msgspec import UNSET

from . import wire
from ._containers import Items, Keyed
from ._content import (
    ChunkMetas,
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

F = TypeVar("F", bound=Items[Any])
_NO_META: Final = b"{}"


class _Growth(Generic[F]):
    """A growing sequence in the making: what is there, what is new, what replaced it."""

    __slots__ = ("_base", "_made", "_replaced", "append", "fresh")

    def __init__(self, made: type[F], base: F | None) -> None:
        self._made = made
        self._base = base
        self._replaced = base is None
        self.fresh: list[Any] = []
        self.append = self.fresh.append

    def replace(self, items: Sequence[Any]) -> None:
        self._replaced = True
        self.fresh[:] = items

    def __len__(self) -> int:
        before = 0 if self._replaced or self._base is None else len(self._base)
        return before + len(self.fresh)

    def freeze(self) -> F:
        base = self._base
        if base is None:
            return self._made(self.fresh)
        if not self._replaced:
            return base.appended(self.fresh) if self.fresh else base  # type: ignore[return-value]  # the same class
        made = self._made(self.fresh)
        return base if made == base else made


class _Content(_Growth[F]):
    """Content with the `_meta` of the chunks that brought it."""

    __slots__ = ("metas",)

    def __init__(self, made: type[F], base: F | None, metas: ChunkMetas | None) -> None:
        super().__init__(made, base)
        self.metas = _Growth(ChunkMetas, metas)

    def replace(self, items: Sequence[Any]) -> None:
        super().replace(items)
        self.metas.replace(())

    def add(self, item: Any, meta: wire.JsonObject | None) -> None:
        if meta is not None and meta.text != _NO_META:
            self.metas.append((len(self), meta))
        self.append(item)


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


class MessageDraft:
    """A message in the making."""

    __slots__ = ("_base", "_key", "content", "meta")

    def __init__(self, key: tuple[MessageType, str], base: Message | None) -> None:
        self._key = key
        self._base = base
        content, metas = (base.content, base.chunk_metas) if base else (None, None)
        self.content = _Content(ContentBlocks, content, metas)
        self.meta = base.meta if base else None

    def patch(self, update: wire.UserMessage | wire.AgentMessage | wire.AgentThought) -> None:
        if update.content is not UNSET:
            self.content.replace([stored_block(block) for block in update.content or ()])
        self.meta = patched_meta(self.meta, update.meta)

    def freeze(self) -> Message:
        content, metas, base = self.content.freeze(), self.content.metas.freeze(), self._base
        if base is None:
            return Message(*self._key, content, metas, self.meta)
        same = content is base.content and metas is base.chunk_metas and self.meta == base.meta
        return base if same else Message(*self._key, content, metas, self.meta)


_TOOL_CALL_FIELDS: Final = ("name", "title", "raw_input", "raw_output", "capabilities")


class ToolCallDraft:
    """A tool call in the making: `changes` by attribute, and its content."""

    __slots__ = ("_base", "_changes", "content")

    def __init__(self, tool_call_id: str, base: ToolCall | None) -> None:
        self._base = base or ToolCall(tool_call_id)
        self._changes: dict[str, Any] = {} if base else {"tool_call_id": tool_call_id}
        self.content = _Content(ToolCallContents, self._base.content, self._base.chunk_metas)

    def patch(self, update: wire.ToolCallUpdate) -> None:
        changes = self._changes
        for name in _TOOL_CALL_FIELDS:
            value = getattr(update, name)
            if value is not UNSET:
                changes[name] = value
        if update.kind is not UNSET:
            changes["kind"] = "other" if update.kind is None else update.kind
        if update.status is not UNSET:
            changes["reported_status"] = "pending" if update.status is None else update.status
            changes["cancel_marked"] = False
        if update.locations is not UNSET:
            changes["locations"] = update.locations or ()
        if update.content is not UNSET:
            self.content.replace([stored_item(item) for item in update.content or ()])
        if update.meta is not UNSET:
            changes["meta"] = patched_meta(changes.get("meta", self._base.meta), update.meta)

    def freeze(self) -> ToolCall:
        changes = self._changes
        changes["content"] = self.content.freeze()
        changes["chunk_metas"] = self.content.metas.freeze()
        return changed(self._base, changes)  # type: ignore[no-any-return]  # a ToolCall


class CompactionDraft:
    """A compaction in the making."""

    __slots__ = ("_base", "_changes", "content")

    def __init__(self, compaction_id: str, base: Compaction | None) -> None:
        self._base = base or Compaction(compaction_id)
        self._changes: dict[str, Any] = {} if base else {"compaction_id": compaction_id}
        self.content = _Growth(ContentBlocks, self._base.summary)

    def patch(self, update: wire.CompactionUpdate) -> None:
        self._changes["status"] = update.status
        if update.error is not UNSET:
            self._changes["error"] = update.error
        if update.summary is not UNSET:
            self.content.replace([stored_block(block) for block in update.summary or ()])
        if update.meta is not UNSET:
            before = self._changes.get("meta", self._base.meta)
            self._changes["meta"] = patched_meta(before, update.meta)

    def freeze(self) -> Compaction:
        self._changes["summary"] = self.content.freeze()
        return changed(self._base, self._changes)  # type: ignore[no-any-return]  # of its class


_TERMINAL_FIELDS: Final = ("command", "cwd", "exit_status", "size", "capabilities")


class TerminalDraft:
    """A terminal in the making."""

    __slots__ = ("_base", "_changes", "_limit", "content")

    def __init__(self, terminal_id: str, base: Terminal | None, limit: int | None) -> None:
        self._base = base or Terminal(terminal_id)
        self._changes: dict[str, Any] = {} if base else {"terminal_id": terminal_id}
        self._limit = limit
        self.content = _Growth(OutputBytes, self._base.pieces)

    def patch(self, update: wire.TerminalUpdate) -> None:
        for name in _TERMINAL_FIELDS:
            value = getattr(update, name)
            if value is not UNSET:
                self._changes[name] = value
        if update.output is not UNSET:
            self._replace_output(update.output)
        if update.meta is not UNSET:
            before = self._changes.get("meta", self._base.meta)
            self._changes["meta"] = patched_meta(before, update.meta)

    def _replace_output(self, output: wire.TerminalOutput | wire.UnsetType | None) -> None:
        given = output if isinstance(output, wire.TerminalOutput) else wire.TerminalOutput(b"")
        self.content.replace([given.data] if given.data else [])
        self._changes["dropped_bytes"] = 0
        empty = given.meta is None or given.meta.text == _NO_META
        self._changes["output_meta"] = None if empty else given.meta

    def freeze(self) -> Terminal:
        pieces = self.content.freeze()
        if self._limit is not None:
            dropped = self._changes.get("dropped_bytes", self._base.dropped_bytes)
            pieces, more = pieces.limited(self._limit)
            self._changes["dropped_bytes"] = dropped + more
        self._changes["pieces"] = pieces
        return changed(self._base, self._changes)  # type: ignore[no-any-return]  # of its class


def changed(base: Any, changes: dict[str, Any]) -> Any:
    """Return `base` with changes, or `base` itself where every value is equal."""
    real = {name: value for name, value in changes.items() if not _same(getattr(base, name), value)}
    if "tool_call_id" in changes or "compaction_id" in changes or "terminal_id" in changes:
        return type(base)(**changes)  # a new entity, even when nothing but its id is known
    return attrs.evolve(base, **real) if real else base


def _same(old: Any, new: Any) -> bool:
    # `True == 1` and `1 == 1.0`, but these are different values in JSON; only types that the
    # snapshot holds are compared here, and none of its fields admits both.
    return old is new or old == new


class _Draft(Protocol):
    def freeze(self) -> Any: ...


class _Places:
    """The drafts of one keyed sequence: those of values that were there, and new ones in order."""

    __slots__ = ("_base", "added", "open", "touched")

    def __init__(self, base: Keyed[Any]) -> None:
        self._base = base
        self.open: dict[Hashable, Any] = {}
        self.touched: list[tuple[int, _Draft]] = []
        self.added: list[tuple[Hashable, Any]] = []

    def __len__(self) -> int:
        return len(self._base) + len(self.added)

    def draft(self, key: Hashable, make: Callable[[Any], Any]) -> Any:
        """Return the open draft of a key, or open one: `make` gets the value, or `None`."""
        place = self._base.place(key)
        draft = make(self._base[place] if place >= 0 else None)
        self.open[key] = draft
        if place >= 0:
            self.touched.append((place, draft))
        else:
            self.added.append((key, draft))
        return draft

    def freeze(self) -> Keyed[Any]:
        base = self._base
        replaced = {}
        for place, draft in self.touched:
            value = draft.freeze()
            if value is not base[place]:
                replaced[place] = value
        if not replaced and not self.added:
            return base
        added = [(key, _frozen(value)) for key, value in self.added]
        return base.changed(replaced, added)


def _frozen(value: Any) -> Any:
    return value if isinstance(value, UnknownEntry) else value.freeze()


class _PlanDraft:
    """A plan, which is always replaced whole."""

    __slots__ = ("_base", "plan")

    def __init__(self, base: Any) -> None:
        self._base = self.plan = base

    def freeze(self) -> Any:
        return self._base if self.plan == self._base else self.plan


class Draft:
    """A session in the making.

    `chunk_kind`, `chunk_id` and `append` remember the message that the last chunk went to, so that
    a run of chunks finds its message without a look-up (see `benchmarks/`, "bytes to snapshot").
    """

    __slots__ = (
        "append",
        "base",
        "chunk_id",
        "chunk_kind",
        "entries",
        "limits",
        "notices",
        "plans",
        "surroundings",
        "terminals",
    )

    def __init__(self, base: Snapshot, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.rebase(base)

    def rebase(self, base: Snapshot) -> None:
        """Go on from another snapshot; what was drafted so far must have been frozen."""
        self.base = base
        self.entries = _Places(base.entries)
        self.terminals: _Places | None = None
        self.plans: _Places | None = None
        self.notices: list[wire.Notice] = []
        self.surroundings: dict[str, Any] = {}
        self.chunk_kind: type | None = None
        self.chunk_id = ""
        self.append: Callable[[Any], None] = self.notices.append

    def message(self, type: MessageType, message_id: str) -> MessageDraft:  # noqa: A002  # the protocol's word
        key = (type, message_id)
        draft: MessageDraft | None = self.entries.open.get(key)
        if draft is not None:
            return draft
        count = len(self.entries)
        made: MessageDraft = self.entries.draft(key, lambda base: MessageDraft(key, base))
        if type == "user_message" and len(self.entries) > count:
            self._echo(message_id)
        return made

    def tool_call(self, tool_call_id: str) -> ToolCallDraft:
        key = ("tool_call", tool_call_id)
        draft: ToolCallDraft = self.entries.open.get(key) or self.entries.draft(
            key, lambda base: ToolCallDraft(tool_call_id, base)
        )
        return draft

    def compaction(self, compaction_id: str) -> CompactionDraft:
        key = ("compaction", compaction_id)
        draft: CompactionDraft = self.entries.open.get(key) or self.entries.draft(
            key, lambda base: CompactionDraft(compaction_id, base)
        )
        return draft

    def unknown(self, update: wire.Unknown) -> None:
        entries = self.entries
        entries.added.append((("unknown", len(entries)), UnknownEntry(update)))

    def terminal(self, terminal_id: str) -> TerminalDraft:
        if self.terminals is None:
            self.terminals = _Places(self.base.terminals)
        limit = self.limits.terminal_bytes
        draft: TerminalDraft = self.terminals.open.get(terminal_id) or self.terminals.draft(
            terminal_id, lambda base: TerminalDraft(terminal_id, base, limit)
        )
        return draft

    def plan(self, plan_id: str, plan: wire.PlanItems | wire.Unknown) -> None:
        if self.plans is None:
            self.plans = _Places(self.base.plans)
        draft = self.plans.open.get(plan_id) or self.plans.draft(plan_id, _PlanDraft)
        draft.plan = plan

    def get(self, name: str) -> Any:
        """Return a field of the surroundings as it is now."""
        return self.surroundings.get(name, getattr(self.base.surroundings, name))

    def set(self, **values: Any) -> None:
        """Set fields of the surroundings."""
        self.surroundings.update(values)

    def _echo(self, message_id: str) -> None:
        prompts = self.get("prompts")
        if prompts:
            self.set(prompts=echoed(prompts, message_id))

    def freeze(self) -> Snapshot:
        """Build the next snapshot: `base` itself where nothing changed."""
        base = self.base
        entries = self.entries.freeze()
        terminals = self.terminals.freeze() if self.terminals else base.terminals
        surroundings = self._freeze_surroundings()
        unchanged = entries is base.entries and terminals is base.terminals
        if unchanged and surroundings is base.surroundings:
            return base
        return Snapshot(
            base.session_id,
            entries,  # type: ignore[arg-type]  # `changed` keeps the class
            terminals,  # type: ignore[arg-type]  # the same
            surroundings,
        )

    def _freeze_surroundings(self) -> Surroundings:
        changes, base = self.surroundings, self.base.surroundings
        if self.plans is not None:
            changes["plans"] = self.plans.freeze()
        if self.notices:
            kept = (*base.notices, *self.notices)
            limit = self.limits.notices
            changes["notices"] = kept[-limit:] if limit else ()
        return changed(base, changes) if changes else base
