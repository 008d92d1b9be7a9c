"""`changes(old, new)`: two snapshots compared, part by part.

Whatever both snapshots share is the same object and is skipped, so a comparison costs only the
difference: the entries of a session are compared by walking two tries and skipping shared parts.
Snapshots that share nothing (one was loaded from a file) are compared by value, with the same
result at a higher cost.

One rule decides between steps and `Reset`: entries, terminals and prompts are only ever added after
those that exist. If `new` does not begin with all keys of `old`, in order, it does not continue
`old`. A replay that begins or ends is no continuation either: the client then shows another
snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

import attrs
from msgspec import Struct
from msgspec.structs import replace

from . import wire
from ._changes import (
    AvailableCommandsChanged,
    CancellingChanged,
    Change,
    ConfigOptionsChanged,
    ConnectionLostChanged,
    ContentReplaced,
    ElicitationsChanged,
    EntryAdded,
    EntryChanged,
    Fields,
    InfoChanged,
    ItemsAppended,
    NoticesAdded,
    OutputAppended,
    OutputReplaced,
    PermissionsChanged,
    PlanChanged,
    PromptChanged,
    Reset,
    StateChanged,
    TerminalAdded,
    TerminalChanged,
    TextAppended,
    TextReplaced,
    TurnChanged,
    UsageChanged,
)
from ._client_state import Elicitation, Prompt, Turn
from ._content import ChunkMeta
from ._continuation import Content, Run, appended_output, appended_runs
from ._errors import checked
from ._keyed import Keyed
from ._sequence_diff import Matching, differing, matched, overlap
from ._snapshot import (
    Compaction,
    Entry,
    Message,
    Plans,
    SessionInfo,
    Snapshot,
    Terminal,
    ToolCall,
    UnknownEntry,
    entry_key,
    plan_key,
)

V = TypeVar("V")


def changes(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """Return the changes that lead a renderer from `old` to `new`; an empty list for equal ones.

    Terminals come before the entries that show them, the state of the session last. If `new` was
    reduced from `old`, the cost is that of the difference; otherwise it is that of both snapshots.
    Raises `InvalidValueError` for a value that is not a snapshot.
    """
    checked(old, Snapshot, "a snapshot")
    checked(new, Snapshot, "a snapshot")
    if old is new:
        return ()
    if _is_reset(old, new):
        return (Reset(new),)
    steps: list[Change] = []
    if old.terminals is not new.terminals:
        steps += _terminal_changes(old.terminals, new.terminals)
    if old.entries is not new.entries:
        steps += _entry_changes(old.entries, new.entries)
    if old._fields is not new._fields:
        steps += _session_changes(old, new)
    return tuple(steps)


def _is_reset(old: Snapshot, new: Snapshot) -> bool:
    if old.session_id != new.session_id:
        return True
    if not (_continues(old.entries, new.entries) and _continues(old.terminals, new.terminals)):
        return True
    if old._fields is new._fields:
        return False
    if len(old.prompts) > len(new.prompts) or len(old.turns) > len(new.turns):
        return True
    return not _is_same(old.before_replay, new.before_replay)


def _continues(old: Keyed[Any], new: Keyed[Any]) -> bool:
    """Return whether `new` begins with the keys of `old`."""
    if new._grew_from(old):
        return True
    return len(old) <= len(new) and old._keys() == new._keys()[: len(old)]


def _is_same(old: object, new: object) -> bool:
    return old is new or old == new


def _differing(old: Keyed[V], new: Keyed[V]) -> Iterator[int]:
    """Yield the places of `old` whose value differs in `new`."""
    if new._grew_from(old):
        places: Iterator[int] = new._differing(old)
    else:
        places = iter(range(len(old)))
    return (place for place in places if not _is_same(old._at(place), new._at(place)))


_NOT_FIELDS: Final = frozenset({"type", "content", "summary", "pieces"})
"""Fields that are no part of `EntryChanged`: they identify a message, or grow."""


@cache
def field_names(kind: type) -> tuple[str, ...]:
    """Return the fields that changes of a class name; for a tool call, the effective `status`."""
    names = _names(kind)
    shown = ("status",) if kind is ToolCall else ()
    return (*shown, *(name for name in names if name not in _NOT_FIELDS))


def _names(kind: Any) -> tuple[str, ...]:
    if issubclass(kind, Struct):
        return tuple(kind.__struct_fields__)
    return tuple(item.name for item in attrs.fields(kind))


def _differing_fields(old: Any, new: Any) -> tuple[tuple[str, ...], Fields, Fields] | None:
    """Return the names of the fields that differ, with their old and their new values."""
    kind: Any = type(new)
    names = field_names(kind)
    found = tuple(name for name in names if not _is_same(getattr(old, name), getattr(new, name)))
    if not found:
        return None
    was, now = ({name: getattr(one, name) for name in found} for one in (old, new))
    return found, MappingProxyType(was), MappingProxyType(now)


# --- Entries ---


def _entry_changes(old: Keyed[Entry], new: Keyed[Entry]) -> Iterator[Change]:
    for place in _differing(old, new):
        was, now = old._at(place), new._at(place)
        key = entry_key(now, place)
        if not isinstance(now, UnknownEntry) and not isinstance(was, UnknownEntry):
            yield from _content_changes(place, key, _content_of(was), _content_of(now))
        found = _differing_fields(was, now)
        if found:
            yield EntryChanged(place, key, *found)
    for place in range(len(old), len(new)):
        entry = new._at(place)
        yield EntryAdded(place, entry_key(entry, place), entry)


def _content_of(entry: Message | ToolCall | Compaction) -> Content:
    return entry.summary if isinstance(entry, Compaction) else entry.content


def _content_changes(place: int, key: Hashable, old: Content, new: Content) -> Iterator[Change]:
    if old is new:
        return
    runs = appended_runs(old, new)
    metas = None if runs is None else _brought_metas(old, new, runs[0].first if runs else len(new))
    if runs is None or metas is None:
        yield ContentReplaced(place, key, new)
        return
    for run in runs:
        yield _appended(place, key, new, run, tuple(one for one in metas if one[0] in run.places))


def _brought_metas(old: Content, new: Content, cut: int) -> Sequence[ChunkMeta] | None:
    """Return the `_meta` of chunks from place `cut` on; `None` if those before it differ."""
    if new._metas is None and old._metas is None:
        return ()
    if new._grew_from(old) and old._metas is not None:
        return new._metas._stored(len(old._metas))  # type: ignore[no-any-return]  # pairs
    were = [one for one in old.metas if one[0] < cut]
    kept = [one for one in new.metas if one[0] < cut]
    return new.metas[len(kept) :] if were == kept else None


def _appended(
    place: int, key: Hashable, content: Content, run: Run, metas: tuple[ChunkMeta, ...]
) -> Change:
    items: tuple[Any, ...] = content[run.first : run.stop]
    if run.text is None:
        return ItemsAppended(place, key, run.start, run.first, items, metas)
    if run.kept:
        items = (_without_beginning(items[0], run.kept), *items[1:])
    said = (run.first, items, run.kept, metas)
    if run.removed or run.cuts_items:
        return TextReplaced(place, key, run.start, run.text, run.removed, *said)
    return TextAppended(place, key, run.start, run.text, *said)


def _without_beginning(item: Any, kept: int) -> Any:
    """Return a text item without its first characters."""
    if isinstance(item, wire.Content):
        return replace(item, content=_without_beginning(item.content, kept))
    return replace(item, text=item.text[kept:])


# --- Terminals ---


def _terminal_changes(old: Keyed[Terminal], new: Keyed[Terminal]) -> Iterator[Change]:
    for place in _differing(old, new):
        was, now = old._at(place), new._at(place)
        if was.pieces is not now.pieces:
            yield from _output_changes(place, was, now)
        found = _differing_fields(was, now)
        if found:
            yield TerminalChanged(place, now.terminal_id, *found)
    for place in range(len(old), len(new)):
        terminal = new._at(place)
        yield TerminalAdded(place, terminal.terminal_id, terminal)


def _output_changes(place: int, was: Terminal, now: Terminal) -> Iterator[Change]:
    dropped = max(now.dropped_bytes - was.dropped_bytes, 0)
    appended = appended_output(was.pieces, now.pieces, dropped)
    if appended is None:
        yield OutputReplaced(place, now.terminal_id, now.pieces, now.dropped_bytes)
        return
    offset, data = appended
    if data or dropped:
        pieces = (was.pieces, now)
        yield OutputAppended(place, now.terminal_id, offset, data, dropped, pieces)


# --- The rest of the session ---


def _session_changes(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    for name, compare in _SESSION_FIELDS.items():
        was, now = getattr(old, name), getattr(new, name)
        if not _is_same(was, now):
            yield from compare(was, now)


def _value(kind: Callable[[Any, Any], Change]) -> _Compare:
    """Return the comparison of a value that is replaced whole."""
    return lambda old, new: [kind(old, new)]


def _list(kind: Callable[..., Change], key: Callable[[Any], Hashable]) -> _Compare:
    """Return the comparison of a list whose items are found by a key."""
    return lambda old, new: [kind(old, new, *matched(old, new, key))]


def _plan_changes(old: Plans, new: Plans) -> Iterator[Change]:
    if new._grew_from(old):
        kept = {place: old._at(place) for place in new._differing(old)}
        places: Iterable[int] = [*kept, *range(len(old), len(new))]
    else:
        found = matched(tuple(old), tuple(new), plan_key)
        for place in reversed(found.removed):
            yield PlanChanged(place, plan_key(old[place]), old[place], None)
        kept = {place: old[old._place(plan_key(new[place]))] for place in found.changed}
        places = sorted((*found.added, *found.changed))
    for place in places:
        was, now = kept.get(place), new._at(place)
        if not _is_same(was, now):
            yield PlanChanged(place, plan_key(now), was, now, *_matched_plan_entries(was, now))


def _matched_plan_entries(
    was: wire.PlanUpdateContent | None, now: wire.PlanUpdateContent
) -> Matching:
    old = was.entries if isinstance(was, wire.PlanItems) else ()
    new = now.entries if isinstance(now, wire.PlanItems) else ()
    return matched(old, new, attrgetter("content"), in_place=True)


def _info_changes(old: SessionInfo, new: SessionInfo) -> Iterator[Change]:
    found = _differing_fields(old, new)
    if found:
        yield InfoChanged(*found)


def _prompt_changes(old: Sequence[Prompt], new: Sequence[Prompt]) -> Iterator[Change]:
    for place in differing(old, new):
        yield PromptChanged(place, new[place].request_id, old[place], new[place])
    for place in range(len(old), len(new)):
        yield PromptChanged(place, new[place].request_id, None, new[place])


def _turn_changes(old: Sequence[Turn], new: Sequence[Turn]) -> Iterator[Change]:
    for place in differing(old, new):
        yield TurnChanged(place, old[place], new[place])
    for place in range(len(old), len(new)):
        yield TurnChanged(place, None, new[place])


def _elicitation_key(elicitation: Elicitation) -> Hashable:
    """Return the id of the interaction at a URL, or else that of the request."""
    found = elicitation.elicitation_id
    return ("request", elicitation.request_id) if found is None else ("url", found)


def _notice_changes(old: Sequence[wire.Notice], new: Sequence[wire.Notice]) -> Iterator[Change]:
    kept = overlap(old, new)
    yield NoticesAdded(len(old) - kept, tuple(new[kept:]))


def _command_key(command: wire.AvailableCommand) -> Hashable:
    return command.name if isinstance(command, wire.Command) else _raw_key(command, "name")


def _option_key(option: wire.SessionConfigOption) -> Hashable:
    return _raw_key(option, "configId") if isinstance(option, wire.Unknown) else option.config_id


def _raw_key(item: wire.Unknown, name: str) -> Hashable:
    """Return the id of an item of an unknown type, or its whole text if it has no id."""
    found = item.value.get(name)
    return found if isinstance(found, str) else item.text


_Compare: TypeAlias = Callable[[Any, Any], Iterable[Change]]

_SESSION_FIELDS: Final[dict[str, _Compare]] = {
    "plans": _plan_changes,
    "usage": _value(UsageChanged),
    "info": _info_changes,
    "available_commands": _list(AvailableCommandsChanged, _command_key),
    "config_options": _list(ConfigOptionsChanged, _option_key),
    "permissions": _list(PermissionsChanged, attrgetter("request_id")),
    "elicitations": _list(ElicitationsChanged, _elicitation_key),
    "notices": _notice_changes,
    "prompts": _prompt_changes,
    "turns": _turn_changes,
    "state": _value(StateChanged),
    "cancelling": _value(CancellingChanged),
    "connection_lost": _value(ConnectionLostChanged),
}
"""The comparison of each field of a snapshot, in the order of the changes."""
