"""The mutable draft of a session on which one batch of events is reduced.

Building frozen objects is the largest cost of an update, so a batch is reduced on drafts of the
entities that it touches, and each draft is frozen once at the end. `Draft.freeze` returns the next
snapshot; whatever did not change in value is the same object as before, up to the snapshot itself
and down to the items of lists that an agent replaces whole.

A draft lives for one batch and one thread, and only the reducer's handlers use it. A batch may be a
single event, so a draft builds its parts on demand, and all drafts are Structs, which are cheaper
to make than objects of other classes. Frozen objects are made by calling their class, which is much
faster than `attrs.evolve` (benchmark "one apply per update").
"""

from __future__ import annotations

from typing import Any, Final

import attrs
from msgspec import Struct, field
from msgspec.structs import replace

from . import wire
from ._client_state import Permission, SessionState, Turn, is_idle, step_turns
from ._entity_drafts import Entity, EntityDraft, TerminalDraft
from ._keyed import Keyed
from ._lifecycles import Foreground, TurnStep
from ._limits import DEFAULT_LIMITS, Limits
from ._patches import COMPACTION, MESSAGE, TERMINAL, TOOL_CALL
from ._prompts import echoed
from ._sequence_diff import common_length
from ._snapshot import (
    MessageType,
    SessionFields,
    Snapshot,
    UnknownEntry,
)

_FIELDS: Final = tuple(item.name for item in attrs.fields(SessionFields))
_LISTS: Final = frozenset({"available_commands", "config_options"})


def changed(base: SessionFields, changes: dict[str, Any]) -> SessionFields:
    """Return the object with some fields changed, or itself if every value is equal."""
    real = {name: value for name, value in changes.items() if _differs(base, name, value)}
    if not real:
        return base
    for name in _LISTS & real.keys():
        real[name] = _reusing(getattr(base, name), real[name])
    before = {name: getattr(base, name) for name in _FIELDS}
    return SessionFields(**{**before, **real})


def _differs(base: SessionFields, name: str, value: Any) -> bool:
    """Return whether a field's value differs; equal plans are the same object."""
    before = getattr(base, name)
    return before is not value and (name == "plans" or bool(before != value))


def _reusing(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a new list that reuses the equal items of the old one."""
    start = common_length(old, new)
    known = {item: item for item in old[start:]}
    return (*old[:start], *(known.get(item, item) for item in new[start:]))


class _WholeDraft(Struct, gc=False, eq=False):
    """An entity that is always replaced whole: a plan, or an update of an unknown variant."""

    key: Any
    place: int
    base: Any = None
    value: Any = None

    def freeze(self) -> Any:
        base, value = self.base, self.value
        if base is None:
            return value
        if value == base:
            return base
        if type(value) is type(base) is wire.PlanItems:
            return replace(value, entries=_reusing(base.entries, value.entries))
        return value


class _Places(Struct, gc=False, eq=False):
    """The drafts of one keyed sequence by key, new ones in the order of their places."""

    base: Keyed[Any]
    count: int
    drafts: dict[Any, Any] = field(default_factory=dict)

    def entity(self, key: Any, entity: Entity, kind: type[EntityDraft] = EntityDraft) -> Any:
        """Return the draft of an entity."""
        draft = self.drafts.get(key)
        if draft is None:
            place, base = self.find(key)
            draft = self.drafts[key] = kind.opened(entity, key, place, base)
        return draft

    def whole(self, key: Any) -> _WholeDraft:
        """Return the draft of an entity that is always replaced whole."""
        draft: _WholeDraft | None = self.drafts.get(key)
        if draft is None:
            draft = self.drafts[key] = _WholeDraft(key, *self.find(key))
        return draft

    def find(self, key: Any) -> tuple[int, Any]:
        """Return the place and the value of a key; a new key takes the next place."""
        place = self.base._place(key)
        if place >= 0:
            return place, self.base._at(place)
        self.count += 1
        return self.count - 1, None

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
        return base._changed(replaced, keys, values) if replaced or keys else base


class _PlanPlaces(_Places, gc=False, eq=False):
    """The drafts of the plans, which are the only entities that an agent can remove."""

    removed: set[str] = field(default_factory=set)

    def remove(self, plan_id: str) -> None:
        self.drafts.pop(plan_id, None)
        if self.base._place(plan_id) >= 0:
            self.removed.add(plan_id)

    def find(self, key: Any) -> tuple[int, Any]:
        """Return the place and the value of a plan; one that was removed is new."""
        return (self.count, None) if key in self.removed else super().find(key)

    def freeze(self) -> Keyed[Any]:
        if not self.removed:
            return super().freeze()
        plans = dict(zip(self.base._keys(), self.base, strict=True))
        for key in self.removed:
            del plans[key]
        plans.update((key, draft.freeze()) for key, draft in self.drafts.items())
        return type(self.base)()._changed({}, list(plans), list(plans.values()))


class Draft(Struct, gc=False, eq=False):
    """The mutable draft of a session."""

    base: Snapshot
    limits: Limits
    _entries: _Places
    is_lost: bool
    _terminals: _Places | None = None
    _plans: _PlanPlaces | None = None
    _parts: dict[str, EntityDraft] | None = None
    _notices: list[wire.Notice] | None = None
    _permissions: dict[wire.RequestId, Permission] | None = None
    _echoes: set[str] | None = None
    _turns: list[Turn] | None = None
    info_updates: list[wire.SessionInfoUpdate] | None = None
    _changes: dict[str, Any] | None = None

    @classmethod
    def of(cls, base: Snapshot, limits: Limits = DEFAULT_LIMITS) -> Draft:
        """Begin the draft of the snapshot after `base`."""
        entries = base.entries
        is_lost = base._fields.connection_lost is not None
        return cls(base, limits, _Places(entries, len(entries)), is_lost)

    def hear(self) -> None:
        """Clear the loss of the connection: the agent has reported something again."""
        self.is_lost = False
        self.set(connection_lost=None)

    @property
    def entry_count(self) -> int:
        """The number of entries, including new ones."""
        return self._entries.count

    def message(self, type: MessageType, message_id: str) -> EntityDraft:  # noqa: A002  # the protocol's word
        key = (type, message_id)
        known: EntityDraft | None = self._entries.drafts.get(key)
        if known is not None:
            return known
        draft: EntityDraft = self._entries.entity(key, MESSAGE)
        if draft.base is None and type == "user_message":
            self._echo(message_id)
        return draft

    def tool_call(self, tool_call_id: str) -> EntityDraft:
        draft: EntityDraft = self._entries.entity(("tool_call", tool_call_id), TOOL_CALL)
        return draft

    def compaction(self, compaction_id: str) -> EntityDraft:
        draft: EntityDraft = self._entries.entity(("compaction", compaction_id), COMPACTION)
        return draft

    def unknown(self, update: wire.Unknown) -> None:
        entries = self._entries
        place = entries.count
        entries.drafts[place] = _WholeDraft(place, place, None, UnknownEntry(update))
        entries.count = place + 1

    def terminal(self, terminal_id: str) -> TerminalDraft:
        terminals = self._terminals
        if terminals is None:
            terminals = self._terminals = _Places(self.base.terminals, len(self.base.terminals))
        draft: TerminalDraft = terminals.entity(terminal_id, TERMINAL, TerminalDraft)
        draft.limit = self.limits.terminal_bytes
        return draft

    def plan(self, plan_id: str, plan: wire.PlanUpdateContent) -> None:
        self._open_plans().whole(plan_id).value = plan

    def remove_plan(self, plan_id: str) -> None:
        self._open_plans().remove(plan_id)

    def _open_plans(self) -> _PlanPlaces:
        if self._plans is None:
            self._plans = _PlanPlaces(self.base.plans, len(self.base.plans))
        return self._plans

    def part(self, name: str, entity: Entity) -> EntityDraft:
        """Return the draft of a patched field of the session: its usage or its info."""
        if self._parts is None:
            self._parts = {}
        draft = self._parts.get(name)
        if draft is None:
            draft = EntityDraft.opened(entity, name, 0, getattr(self.base, name))
            self._parts[name] = draft
        return draft

    def note_info(self, update: wire.SessionInfoUpdate) -> None:
        """Record an update of the info, which also concerns the list of sessions."""
        if self.info_updates is None:
            self.info_updates = []
        self.info_updates.append(update)

    def notice(self, notice: wire.Notice) -> None:
        if self._notices is None:
            self._notices = []
        self._notices.append(notice)

    def permissions(self) -> dict[wire.RequestId, Permission]:
        """Return the pending permission requests by id, as a mutable dict."""
        if self._permissions is None:
            self._permissions = {one.request_id: one for one in self.base.permissions}
        return self._permissions

    @property
    def foreground(self) -> Foreground:
        """The phase of the foreground work now."""
        if is_idle(self.get("state")):
            return "idle"
        return "cancelling" if self.get("cancelling") else "working"

    def step_turn(self, step: TurnStep, outcome: SessionState | None) -> None:
        """Begin or end a turn at the current entry; `outcome` is the outcome of one that ends."""
        if self._turns is None:
            self._turns = list(self.base.turns)
        details = {"outcome": outcome} if step == "reported idle" else {"cost_before": self._cost}
        step_turns(self._turns, step, self.entry_count, **details)

    @property
    def _cost(self) -> wire.Cost | None:
        part = None if self._parts is None else self._parts.get("usage")
        usage = self.base.usage
        before = None if usage is None else usage.cost
        return before if part is None else part.current("cost", None)

    def get(self, name: str) -> Any:
        """Return the present value of a field of the session."""
        base = getattr(self.base._fields, name)
        return base if self._changes is None else self._changes.get(name, base)

    def set(self, **values: Any) -> None:
        """Set fields of the session."""
        if self._changes is None:
            self._changes = values
        else:
            self._changes.update(values)

    def _echo(self, message_id: str) -> None:
        """Record a user message; those of a batch are matched with the prompts at its end."""
        if self.base.prompts:
            if self._echoes is None:
                self._echoes = set()
            self._echoes.add(message_id)

    def freeze(self) -> Snapshot:
        """Return the next snapshot; `base` itself if nothing changed."""
        base = self.base
        entries: Any = self._entries.freeze()
        terminals: Any = base.terminals if self._terminals is None else self._terminals.freeze()
        fields = self._freeze_fields()
        unchanged = entries is base.entries and terminals is base.terminals
        if unchanged and fields is base._fields:
            return base
        return Snapshot(base.session_id, entries, terminals, fields)

    def _freeze_fields(self) -> SessionFields:
        base = self.base._fields
        if self._plans is not None:
            self.set(plans=self._plans.freeze())
        if self._parts is not None:
            self.set(**{name: part.freeze() for name, part in self._parts.items()})
        if self._notices:
            limit = self.limits.notices
            kept = (*base.notices, *self._notices)
            self.set(notices=kept[-limit:] if limit else ())
        if self._permissions is not None:
            self.set(permissions=tuple(self._permissions.values()))
        if self._echoes is not None:
            replaying = base.before_replay is not None
            self.set(prompts=echoed(base.prompts, self._echoes, replaying))
        if self._turns is not None:
            self.set(turns=tuple(self._turns))
        if self._changes is None:
            return base
        return changed(base, self._changes)
