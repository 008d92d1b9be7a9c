"""`changes(old, new)`: two snapshots compared, part by part.

What both snapshots share is the same object and is not looked at, so a comparison costs what
differs: the entries of a session are compared by walking two tries, past every part that is in
both. Snapshots that share nothing (one was loaded from a file) are compared by value, for the same
changes at a higher price.

One rule decides between steps and `Reset`: entries, terminals, plans and prompts only ever come
behind those that are there. Where `new` does not have all keys of `old`, in order, at its
beginning, it is no continuation. Neither is the beginning or the end of a replay: which snapshot a
client shows changes there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, TypeVar

from . import wire
from ._changes import (
    AvailableCommandsChanged,
    Change,
    ConfigOptionsChanged,
    ContentReplaced,
    EntryAdded,
    EntryChanged,
    GrowingEntry,
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
    UsageChanged,
    content_of,
)
from ._continuation import Run, appended_output, appended_runs
from ._keyed import Keyed
from ._sequence_diff import Matching, common_length, differing, matched, overlap
from ._snapshot import (
    Compaction,
    Entry,
    Message,
    Permission,
    Prompt,
    Snapshot,
    Terminal,
    ToolCall,
    UnknownEntry,
    entry_key,
    plan_key,
)

V = TypeVar("V")


def changes(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """Return what a renderer that drew `old` does to have drawn `new`; nothing for equal ones.

    Terminals come before the entries that show them, the state of the session last. The cost is
    that of what differs if `new` came of `old`, and that of both for any two snapshots.
    """
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
        steps += _changes_around(old, new)
    return tuple(steps)


def _is_reset(old: Snapshot, new: Snapshot) -> bool:
    if old.session_id != new.session_id:
        return True
    if not (_continues(old.entries, new.entries) and _continues(old.terminals, new.terminals)):
        return True
    if old._fields is new._fields:
        return False
    return (
        len(old.prompts) > len(new.prompts)
        or not _continues(old.plans, new.plans)
        or not _is_same(old.before_replay, new.before_replay)
    )


def _continues(old: Keyed[Any], new: Keyed[Any]) -> bool:
    """Tell whether the keys of `old` are those with which `new` begins."""
    if new._grew_from(old):
        return True
    return len(old) <= len(new) and old._keys() == new._keys()[: len(old)]


def _is_same(old: object, new: object) -> bool:
    return old is new or old == new


def _differing(old: Keyed[V], new: Keyed[V]) -> Iterator[int]:
    """Yield the places of `old` whose value is another one in `new`."""
    if new._grew_from(old):
        places: Iterator[int] = new._differing(old)
    else:
        places = iter(range(len(old)))
    return (place for place in places if not _is_same(old._at(place), new._at(place)))


def _differing_names(names: Sequence[Any], old: object, new: object) -> tuple[Any, ...]:
    """Return the names of the attributes that differ."""
    return tuple(name for name in names if not _is_same(getattr(old, name), getattr(new, name)))


# --- Entries ---

_ENTRY_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    Message: ("meta",),
    ToolCall: (
        "name",
        "title",
        "kind",
        "status",
        "reported_status",
        "cancel_marked",
        "locations",
        "raw_input",
        "raw_output",
        "capabilities",
        "meta",
    ),
    Compaction: ("status", "error", "meta"),
    UnknownEntry: ("update",),
}


def _entry_changes(old: Keyed[Entry], new: Keyed[Entry]) -> Iterator[Change]:
    for place in _differing(old, new):
        was, now = old._at(place), new._at(place)
        key = entry_key(now, place)
        if not isinstance(now, UnknownEntry) and not isinstance(was, UnknownEntry):
            yield from _content_changes(place, key, was, now)
        names = _names_of_entry(was, now)
        if names:
            yield EntryChanged(place, key, names, was, now)
    for place in range(len(old), len(new)):
        entry = new._at(place)
        yield EntryAdded(place, entry_key(entry, place), entry)


def _names_of_entry(was: Entry, now: Entry) -> tuple[Any, ...]:
    names = _differing_names(_ENTRY_FIELDS[type(now)], was, now)
    if isinstance(now, UnknownEntry | Compaction) or isinstance(was, UnknownEntry | Compaction):
        return names
    return names if was.content._has_metas_of(now.content) else (*names, "chunk_meta")


def _content_changes(
    place: int, key: Hashable, was: GrowingEntry, now: GrowingEntry
) -> Iterator[Change]:
    old, new = content_of(was), content_of(now)
    runs = () if old is new else appended_runs(old, new)
    if runs is None:
        yield ContentReplaced(place, key, now)
        return
    for run in runs:
        yield _appended(place, key, now, run)


def _appended(place: int, key: Hashable, entry: GrowingEntry, run: Run) -> Change:
    first, stop, start, text, replaced, _ = run
    if text is None:
        return ItemsAppended(place, key, entry, start, first, content_of(entry)[first:stop])
    return TextAppended(place, key, entry, start, text, replaced, first, stop)


# --- Terminals ---

_TERMINAL_FIELDS: Final = (
    "command",
    "cwd",
    "output_meta",
    "exit_status",
    "size",
    "capabilities",
    "meta",
    "dropped_bytes",
)


def _terminal_changes(old: Keyed[Terminal], new: Keyed[Terminal]) -> Iterator[Change]:
    for place in _differing(old, new):
        was, now = old._at(place), new._at(place)
        if was.pieces is not now.pieces:
            yield from _output_changes(place, was, now)
        names = _differing_names(_TERMINAL_FIELDS, was, now)
        if names:
            yield TerminalChanged(place, now.terminal_id, names, was, now)
    for place in range(len(old), len(new)):
        terminal = new._at(place)
        yield TerminalAdded(place, terminal.terminal_id, terminal)


def _output_changes(place: int, was: Terminal, now: Terminal) -> Iterator[Change]:
    dropped = max(now.dropped_bytes - was.dropped_bytes, 0)
    appended = appended_output(was.pieces, now.pieces, dropped)
    if appended is None:
        yield OutputReplaced(place, now.terminal_id, now)
        return
    offset, data = appended
    if data or dropped:
        yield OutputAppended(place, now.terminal_id, now, offset, data, dropped, was.pieces)


# --- The rest ---


def _changes_around(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    if old.plans is not new.plans:
        yield from _plan_changes(old.plans, new.plans)
    if not _is_same(old.usage, new.usage):
        yield UsageChanged(old.usage, new.usage)
    names = _differing_names(("title", "updated_at", "meta"), old.info, new.info)
    if names:
        yield InfoChanged(names, old.info, new.info)
    yield from _list_changes(old, new)
    if old.prompts is not new.prompts:
        yield from _prompt_changes(old.prompts, new.prompts)
    if not _is_same(old.state, new.state):
        yield StateChanged(old.state, new.state)


def _list_changes(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    commands = old.available_commands, new.available_commands
    if not _is_same(*commands):
        yield AvailableCommandsChanged(*commands, *matched(*commands, _command_key))
    options = old.config_options, new.config_options
    if not _is_same(*options):
        yield ConfigOptionsChanged(*options, *matched(*options, _option_key))
    permissions = old.permissions, new.permissions
    if not _is_same(*permissions):
        yield PermissionsChanged(*permissions, *_matched_permissions(*permissions))
    notices = old.notices, new.notices
    if not _is_same(*notices):
        kept = overlap(*notices)
        yield NoticesAdded(len(old.notices) - kept, new.notices[kept:])


def _prompt_changes(old: Sequence[Prompt], new: Sequence[Prompt]) -> Iterator[Change]:
    for place in differing(old, new):
        yield PromptChanged(place, old[place], new[place])
    for place in range(len(old), len(new)):
        yield PromptChanged(place, None, new[place])


def _matched_permissions(old: Sequence[Permission], new: Sequence[Permission]) -> Matching:
    """Match only what lies between the ends that both lists share: mostly one is asked or gone."""
    start = common_length(old, new)
    was, now = old[start:], new[start:]
    end = common_length(was[::-1], now[::-1])
    was, now = was[: len(was) - end], now[: len(now) - end]
    found = matched(was, now, _permission_key)
    return Matching(*(tuple(start + place for place in places) for places in found))


def _plan_changes(old: Keyed[Any], new: Keyed[Any]) -> Iterator[Change]:
    for place in [*_differing(old, new), *range(len(old), len(new))]:
        was = old._at(place) if place < len(old) else None
        now = new._at(place)
        yield PlanChanged(place, plan_key(now), was, now, *_matched_plan_entries(was, now))


def _matched_plan_entries(
    was: wire.PlanUpdateContent | None, now: wire.PlanUpdateContent
) -> Matching:
    old = was.entries if isinstance(was, wire.PlanItems) else ()
    new = now.entries if isinstance(now, wire.PlanItems) else ()
    return matched(old, new, _plan_entry_key, in_place=True)


def _plan_entry_key(entry: wire.PlanEntry) -> Hashable:
    return entry.content


def _command_key(command: wire.AvailableCommand) -> Hashable:
    return command.name if isinstance(command, wire.Command) else _raw_key(command, "name")


def _option_key(option: wire.SessionConfigOption) -> Hashable:
    return _raw_key(option, "configId") if isinstance(option, wire.Unknown) else option.config_id


def _raw_key(item: wire.Unknown, name: str) -> Hashable:
    """Return the id of an item of an unknown type, if it has one, or all of its text."""
    found = item.value.get(name)
    return found if isinstance(found, str) else item.text


def _permission_key(permission: Permission) -> Hashable:
    return permission.request_id
