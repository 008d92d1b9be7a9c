"""The mutable draft of a session on which one batch of events is reduced.

Building frozen objects is what an update costs most, so a batch is reduced on drafts of the
entities that it touches, and each of them is frozen once at the end. `Draft.freeze` gives the next
snapshot; whatever did not change in value is the same object as before, up to the snapshot itself.

A draft lives for one batch and one thread. The reducer's handlers are the only ones to use it. A
batch may be a single event, so a draft makes nothing that is not asked for, and all drafts are
Structs, which are made in a fifth of the time that a class takes. Frozen objects are made by
calling their class: `attrs.evolve` takes several times as long (see the benchmark "one apply per
update").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs
from msgspec import UNSET, Struct, field

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


_SURROUNDINGS: Final = tuple(item.name for item in attrs.fields(Surroundings))


def changed(base: Surroundings, changes: dict[str, Any]) -> Surroundings:
    """Return the surroundings with changes, or themselves where every value is equal."""
    if all(getattr(base, name) == value for name, value in changes.items()):
        return base
    before = {name: getattr(base, name) for name in _SURROUNDINGS}
    return Surroundings(**{**before, **changes})


class _Growing(Struct, gc=False, eq=False):
    """What the drafts have in common: content that grows, or is replaced and then grows.

    `key` and `place` are where the entity is, or will be, among its like. `base` is the entity
    before the batch, `None` for a new one; `content` is its content then.
    """

    key: Any
    place: int
    base: Any = None
    content: Any = None
    fresh: list[Any] = field(default_factory=list)
    metas: list[ChunkMeta] | None = None
    replaced: bool = False

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
            return before.appended(self.fresh, self.metas) if self.fresh else before
        after = kind.made(self.fresh, self.metas)
        return before if after == before else after


class MessageDraft(_Growing, gc=False, eq=False):
    """A message in the making."""

    meta: wire.JsonObject | None = None

    @classmethod
    def opened(cls, key: Any, place: int, base: Message | None) -> MessageDraft:
        if base is None:
            return cls(key, place)
        return cls(key, place, base, base.content, meta=base.meta)

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
        return Message(self.key[0], self.key[1], content, self.meta)


class _Patched(_Growing, gc=False, eq=False):
    """An entity with many fields that patches set: a mutable mirror of the frozen class."""

    meta: wire.JsonObject | None = None
    capabilities: Any = None

    def frozen(self, entity: Any) -> Any:
        """Return the entity as frozen now, or as it was if it is equal."""
        base = self.base
        return entity if base is None or entity != base else base


class ToolCallDraft(_Patched, gc=False, eq=False):
    """A tool call in the making."""

    name: str | None = None
    title: str | None = None
    kind: str = "other"
    reported_status: str = "pending"
    cancel_marked: bool = False
    locations: tuple[wire.ToolCallLocation, ...] = ()
    raw_input: wire.Json | None = None
    raw_output: wire.Json | None = None

    @classmethod
    def opened(cls, key: Any, place: int, base: ToolCall | None) -> ToolCallDraft:
        if base is None:
            return cls(key, place)
        return cls(
            key,
            place,
            base,
            base.content,
            meta=base.meta,
            capabilities=base.capabilities,
            name=base.name,
            title=base.title,
            kind=base.kind,
            reported_status=base.reported_status,
            cancel_marked=base.cancel_marked,
            locations=base.locations,
            raw_input=base.raw_input,
            raw_output=base.raw_output,
        )

    def patch(self, update: wire.ToolCallUpdate) -> None:
        if update.title is not UNSET:
            self.title = update.title
        if update.kind is not UNSET:
            self.kind = "other" if update.kind is None else update.kind
        if update.status is not UNSET:
            self.reported_status = "pending" if update.status is None else update.status
            self.cancel_marked = False
        if update.content is not UNSET:
            self.replace([stored_item(item) for item in update.content or ()])
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)
        self._patch_rest(update)

    def _patch_rest(self, update: wire.ToolCallUpdate) -> None:
        if update.name is not UNSET:
            self.name = update.name
        if update.locations is not UNSET:
            self.locations = update.locations or ()
        if update.raw_input is not UNSET:
            self.raw_input = update.raw_input
        if update.raw_output is not UNSET:
            self.raw_output = update.raw_output
        if update.capabilities is not UNSET:
            self.capabilities = update.capabilities

    def freeze(self) -> ToolCall:
        entity = ToolCall(
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
        return self.frozen(entity)  # type: ignore[no-any-return]  # of its class


class CompactionDraft(_Patched, gc=False, eq=False):
    """A compaction in the making."""

    status: str = "in_progress"
    error: str | None = None

    @classmethod
    def opened(cls, key: Any, place: int, base: Compaction | None) -> CompactionDraft:
        if base is None:
            return cls(key, place)
        return cls(
            key,
            place,
            base,
            base.summary,
            meta=base.meta,
            status=base.status,
            error=base.error,
        )

    def patch(self, update: wire.CompactionUpdate) -> None:
        self.status = update.status
        if update.error is not UNSET:
            self.error = update.error
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)
        if update.summary is not UNSET:
            self.replace([stored_block(block) for block in update.summary or ()])

    def freeze(self) -> Compaction:
        summary = self.grown(ContentBlocks)
        entity = Compaction(self.key[1], self.status, summary, self.error, self.meta)
        return self.frozen(entity)  # type: ignore[no-any-return]  # of its class


class TerminalDraft(_Patched, gc=False, eq=False):
    """A terminal in the making; `limit` is how many bytes of output are kept."""

    command: str | None = None
    cwd: str | None = None
    output_meta: wire.JsonObject | None = None
    exit_status: wire.TerminalExitStatus | None = None
    size: wire.TerminalSize | None = None
    dropped_bytes: int = 0
    limit: int | None = None

    @classmethod
    def opened(cls, key: Any, place: int, base: Terminal | None) -> TerminalDraft:
        if base is None:
            return cls(key, place)
        return cls(
            key,
            place,
            base,
            base.pieces,
            meta=base.meta,
            capabilities=base.capabilities,
            command=base.command,
            cwd=base.cwd,
            output_meta=base.output_meta,
            exit_status=base.exit_status,
            size=base.size,
            dropped_bytes=base.dropped_bytes,
        )

    def patch(self, update: wire.TerminalUpdate) -> None:
        if update.command is not UNSET:
            self.command = update.command
        if update.cwd is not UNSET:
            self.cwd = update.cwd
        if update.output is not UNSET:
            self._replace_output(update.output)
        if update.exit_status is not UNSET:
            self.exit_status = update.exit_status
        if update.size is not UNSET:
            self.size = update.size
        if update.capabilities is not UNSET:
            self.capabilities = update.capabilities
        if update.meta is not UNSET:
            self.meta = patched_meta(self.meta, update.meta)

    def _replace_output(self, output: wire.TerminalOutput | wire.UnsetType | None) -> None:
        given = output if isinstance(output, wire.TerminalOutput) else wire.TerminalOutput(b"")
        self.replace([given.data])
        empty = given.meta is None or given.meta.text == _NO_META
        self.output_meta = None if empty else given.meta
        self.dropped_bytes = 0

    def _output(self) -> OutputBytes:
        data = b"".join(self.fresh)
        self.fresh[:] = [data] if data else ()  # one piece a batch: how it was cut is no matter
        pieces: OutputBytes = self.grown(OutputBytes)
        if self.limit is not None:
            pieces, surplus = pieces.limited(self.limit)
            self.dropped_bytes += surplus
        return pieces

    def freeze(self) -> Terminal:
        pieces = self._output()
        entity = Terminal(
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
        return self.frozen(entity)  # type: ignore[no-any-return]  # of its class


class _WholeDraft(Struct, gc=False, eq=False):
    """An entity that is always replaced whole: a plan, or an update that nobody knows."""

    key: Any
    place: int
    base: Any = None
    value: Any = None

    @classmethod
    def opened(cls, key: Any, place: int, base: Any) -> _WholeDraft:
        return cls(key, place, base)

    def freeze(self) -> Any:
        return self.base if self.value == self.base else self.value


class _Places(Struct, gc=False, eq=False):
    """The drafts of one keyed sequence by key, new ones in the order of their places."""

    base: Keyed[Any]
    count: int
    drafts: dict[Any, Any] = field(default_factory=dict)

    def open(self, key: Any, kind: Any) -> Any:
        """Open the draft of an entity, which takes the next place if it is not there yet."""
        place = self.base.place(key)
        if place >= 0:
            draft = kind.opened(key, place, self.base.at(place))
        else:
            draft = kind.opened(key, self.count, None)
            self.count += 1
        self.drafts[key] = draft
        return draft

    def freeze(self) -> Keyed[Any]:
        base = self.base
        replaced: dict[int, Any] = {}
        keys: list[Any] = []
        values: list[Any] = []
        for key, draft in self.drafts.items():
            value = draft.freeze()
            if draft.base is None:
                keys.append(key)
                values.append(value)
            elif value is not draft.base:
                replaced[draft.place] = value
        return base.changed(replaced, keys, values) if replaced or keys else base


class Draft(Struct, gc=False, eq=False):
    """A session in the making."""

    base: Snapshot
    limits: Limits
    _entries: _Places
    _terminals: _Places | None = None
    _plans: _Places | None = None
    _notices: list[wire.Notice] | None = None
    _surroundings: dict[str, Any] | None = None

    @classmethod
    def of(cls, base: Snapshot, limits: Limits = DEFAULT_LIMITS) -> Draft:
        """Begin a draft of what comes after a snapshot."""
        entries = base.entries
        return cls(base, limits, _Places(entries, len(entries)))

    @property
    def entry_count(self) -> int:
        """How many entries there are by now."""
        return self._entries.count

    def message(self, type: MessageType, message_id: str) -> MessageDraft:  # noqa: A002  # the protocol's word
        key = (type, message_id)
        entries = self._entries
        draft: MessageDraft | None = entries.drafts.get(key)
        if draft is None:
            draft = entries.open(key, MessageDraft)
            if draft.base is None and type == "user_message":
                self._echo(message_id)
        return draft

    def tool_call(self, tool_call_id: str) -> ToolCallDraft:
        key = ("tool_call", tool_call_id)
        entries = self._entries
        draft: ToolCallDraft = entries.drafts.get(key) or entries.open(key, ToolCallDraft)
        return draft

    def compaction(self, compaction_id: str) -> CompactionDraft:
        key = ("compaction", compaction_id)
        entries = self._entries
        draft: CompactionDraft = entries.drafts.get(key) or entries.open(key, CompactionDraft)
        return draft

    def unknown(self, update: wire.Unknown) -> None:
        entries = self._entries
        entries.open(entries.count, _WholeDraft).value = UnknownEntry(update)

    def terminal(self, terminal_id: str) -> TerminalDraft:
        terminals = self._terminals
        if terminals is None:
            terminals = self._terminals = _Places(self.base.terminals, len(self.base.terminals))
        draft: TerminalDraft | None = terminals.drafts.get(terminal_id)
        if draft is None:
            draft = terminals.open(terminal_id, TerminalDraft)
            draft.limit = self.limits.terminal_bytes
        return draft

    def plan(self, plan_id: str, plan: wire.PlanItems | wire.Unknown) -> None:
        plans = self._plans
        if plans is None:
            plans = self._plans = _Places(self.base.plans, len(self.base.plans))
        draft = plans.drafts.get(plan_id) or plans.open(plan_id, _WholeDraft)
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
        if self._surroundings is None:
            self._surroundings = values
        else:
            self._surroundings.update(values)

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
            limit = self.limits.notices
            kept = (*base.notices, *self._notices)
            self.set(notices=kept[-limit:] if limit else ())
        if self._surroundings is None:
            return base
        return changed(base, self._surroundings)
