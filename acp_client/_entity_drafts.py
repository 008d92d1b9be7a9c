"""The mutable draft of an entity: a message, a tool call, a compaction, a terminal, ...

A batch of updates works on the draft of each entity that it touches. `patch` and chunks change the
draft as often as the batch wants; `freeze` builds the frozen object once, or returns the one from
before the batch if nothing changed in value. One class does this for every entity, guided by an
`Entity`, which says what the entity is made of. The table of them is in `_patches`.

Drafts are Structs because they are cheaper to make than other objects (benchmark "one apply per
update").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from . import wire
from ._content import ChunkMeta
from ._json import with_members

_NO_META: Final = b"{}"


class Effect(Protocol):
    """The effect of one field of an update on an entity."""

    def apply(self, draft: EntityDraft, name: str, value: Any) -> None:
        """Change the draft by the value of the field `name`, which is not `UNSET`."""


class Entity(Struct, frozen=True, eq=False, kw_only=True):
    """The structure of entities of one class, and the effects of updates on them.

    `made` is the frozen class, `identity` returns the fields of a new entity that follow from its
    key, and `evolve` returns an entity with some fields changed. `growing` names the field to which
    chunks append, a container of the class `container`. `patches` maps each field of an update to
    its effect.
    """

    made: Callable[..., Any]
    patches: tuple[tuple[str, Effect], ...]
    identity: Callable[[Any], dict[str, Any]]
    growing: str | None = None
    container: Any = None
    evolve: Callable[..., Any] = replace


class EntityDraft(Struct, gc=False, eq=False):
    """The mutable draft of an entity.

    `key` and `place` are those of the entity in its sequence. `base` is the entity before the
    batch, `None` for a new one; `content` is its content at that time. `fresh` has the items that
    the batch appends, or puts in place of the content (`replaced`).

    The first patch of a batch is joined to the text of `_meta` if it has only new keys. Otherwise
    `_meta` is parsed once, and written when the batch ends. So the cost of many patches is that of
    their own size, in one batch or in many.
    """

    entity: Entity
    key: Any
    place: int
    base: Any = None
    content: Any = None
    changes: dict[str, Any] = field(default_factory=dict)
    fresh: list[Any] = field(default_factory=list)
    metas: list[ChunkMeta] | None = None
    replaced: bool = False
    members: dict[str, Any] | None = None

    @classmethod
    def opened(cls, entity: Entity, key: Any, place: int, base: Any) -> EntityDraft:
        """Open the draft of an entity that exists, or with `base=None` of a new one."""
        if base is None or entity.growing is None:
            return cls(entity, key, place, base)
        return cls(entity, key, place, base, getattr(base, entity.growing))

    def patch(self, update: Any) -> None:
        """Apply every field of an update; an omitted field changes nothing."""
        for name, effect in self.entity.patches:
            value = getattr(update, name)
            if value is not UNSET:
                effect.apply(self, name, value)

    def patch_meta(self, patch: wire.JsonObject | None) -> None:
        """Patch `_meta` by top-level key; `null` clears it, and as a member removes that key."""
        if patch is None:
            self.members = {}
            return
        if self.members is None:
            meta = self.changes.get("meta", getattr(self.base, "meta", None))
            if meta is not None and "meta" not in self.changes:
                more = with_members(meta.text, patch)
                if more is not None:
                    self.changes["meta"] = wire.JsonObject.from_text(more)
                    return
            self.members = {} if meta is None else meta.value
        members: Any = self.members
        for key, value in patch.value.items():
            if value is None:
                members.pop(key, None)
            else:
                members[key] = value

    def replace(self, items: Sequence[Any]) -> None:
        """Put stored items in the place of all content so far."""
        self.replaced = True
        self.fresh[:] = items
        self.metas = None

    def add(self, item: Any, meta: wire.JsonObject | None) -> None:
        """Append a stored item, and the `_meta` of the chunk that brought it."""
        if meta is not None and meta.text != _NO_META:
            before = 0 if self.replaced or self.base is None else len(self.content)
            self.metas = [] if self.metas is None else self.metas
            self.metas.append((before + len(self.fresh), meta))
        self.fresh.append(item)

    def current(self, name: str, default: Any) -> Any:
        """Return the present value of a field; `default` if a new entity has none."""
        return self.changes.get(name, getattr(self.base, name, default))

    def freeze(self) -> Any:
        """Return the entity after the batch: `base` itself if nothing changed in value."""
        entity, base, changes = self.entity, self.base, self.changes
        if self.members is not None:
            changes["meta"] = wire.JsonObject(self.members) if self.members else None
        grown = None if entity.growing is None else self._grown(entity.container)
        if base is None:
            if entity.growing is not None:
                changes[entity.growing] = grown
            return entity.made(**entity.identity(self.key), **changes)
        real = {name: value for name, value in changes.items() if _differs(base, name, value)}
        if entity.growing is not None and grown is not self.content:
            real[entity.growing] = grown
        return entity.evolve(base, **real) if real else base

    def _grown(self, kind: Any) -> Any:
        """Return the content after the batch; the same object if it is unchanged."""
        before = self.content
        if before is None:
            return kind._made(self.fresh, self.metas)
        if not self.replaced:
            return before._appended(self.fresh, self.metas) if self.fresh else before
        return kind._replacing(before, self.fresh, self.metas)


class TerminalDraft(EntityDraft, gc=False, eq=False):
    """The mutable draft of a terminal; `limit` is the number of output bytes to keep."""

    limit: int | None = None

    def _grown(self, kind: Any) -> Any:
        data = b"".join(self.fresh)
        self.fresh[:] = [data] if data else ()  # one piece per batch: cuts do not matter
        pieces = super()._grown(kind)
        if self.limit is not None:
            pieces, surplus = pieces._limited(self.limit)
            if surplus:
                self.changes["dropped_bytes"] = surplus + self.current("dropped_bytes", 0)
            if self.replaced and pieces == self.content:
                return self.content
        return pieces


def _differs(base: Any, name: str, value: Any) -> bool:
    before = getattr(base, name)
    return before is not value and bool(before != value)
