"""Mutable drafts of what a session holds many of: messages, tool calls, compactions, terminals.

A draft mirrors one frozen class. It takes any number of patches and chunks, and `freeze` makes the
frozen object once, or gives back the one from before the batch if nothing changed in value. Drafts
are Structs, which are made in a fifth of the time that a class takes, and frozen objects are made
by calling their class (see the benchmark "one apply per update").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, Struct, field

from . import wire
from ._content import (
    ChunkMeta,
    ContentBlocks,
    OutputBytes,
    ToolCallContents,
    stored_block,
    stored_item,
)
from ._snapshot import (
    Compaction,
    Message,
    SessionInfo,
    Terminal,
    ToolCall,
)

_NO_META: Final = b"{}"


class _Described(Struct, gc=False, eq=False, kw_only=True):
    """What all drafts have in common: `_meta`, patched by top-level key.

    Its text is parsed for the first patch of a batch and written when the batch ends, so that
    ever more keys cost what they hold and not what is there already.
    """

    meta: wire.JsonObject | None = None
    members: dict[str, Any] | None = None

    def patch_meta(self, patch: wire.JsonObject | wire.UnsetType | None) -> None:
        if patch is UNSET:
            return
        if not isinstance(patch, wire.JsonObject):
            self.members = {}
            return
        if self.members is None:
            self.members = {} if self.meta is None else self.meta.value
        for key, value in patch.value.items():
            if value is None:
                self.members.pop(key, None)
            else:
                self.members[key] = value

    def frozen_meta(self) -> wire.JsonObject | None:
        """Return `_meta` after the batch; an object that became empty is unset."""
        if self.members is None:
            return self.meta
        return wire.JsonObject(self.members) if self.members else None


class InfoDraft(_Described, gc=False, eq=False):
    """A session's title and time in the making."""

    title: str | None = None
    updated_at: str | None = None

    @classmethod
    def opened(cls, base: SessionInfo) -> InfoDraft:
        return cls(meta=base.meta, title=base.title, updated_at=base.updated_at)

    def patch(self, update: wire.SessionInfoUpdate) -> None:
        if update.title is not UNSET:
            self.title = update.title
        if update.updated_at is not UNSET:
            self.updated_at = update.updated_at
        self.patch_meta(update.meta)

    def freeze(self) -> SessionInfo:
        return SessionInfo(self.title, self.updated_at, self.frozen_meta())


class _Growing(_Described, gc=False, eq=False):
    """What most drafts have in common: content that grows, or is replaced and then grows.

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
            self.metas = [] if self.metas is None else self.metas
            self.metas.append((before + len(self.fresh), meta))
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

    @classmethod
    def opened(cls, key: Any, place: int, base: Message | None) -> MessageDraft:
        if base is None:
            return cls(key, place)
        return cls(key, place, base, base.content, meta=base.meta)

    def patch(self, update: wire.UserMessage | wire.AgentMessage | wire.AgentThought) -> None:
        if update.content is not UNSET:
            self.replace([stored_block(block) for block in update.content or ()])
        self.patch_meta(update.meta)

    def freeze(self) -> Message:
        base: Message | None = self.base
        content, meta = self.grown(ContentBlocks), self.frozen_meta()
        if base is not None and content is base.content and meta == base.meta:
            return base
        return Message(self.key[0], self.key[1], content, meta)


class _Patched(_Growing, gc=False, eq=False):
    """An entity with many fields that patches set: a mutable mirror of the frozen class."""

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
        self.patch_meta(update.meta)
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
            self.frozen_meta(),
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
        self.patch_meta(update.meta)
        if update.summary is not UNSET:
            self.replace([stored_block(block) for block in update.summary or ()])

    def freeze(self) -> Compaction:
        summary = self.grown(ContentBlocks)
        entity = Compaction(self.key[1], self.status, summary, self.error, self.frozen_meta())
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
        self.patch_meta(update.meta)

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
            self.frozen_meta(),
            self.dropped_bytes,
        )
        return self.frozen(entity)  # type: ignore[no-any-return]  # of its class
