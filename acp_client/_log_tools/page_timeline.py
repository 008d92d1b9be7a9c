"""How a conversation came to be, at a few hundred moments: what a slider needs.

At each moment the entries, terminals and plans that changed since the one before are noted: how
much of its text an entry had, how many items, which status. A text that was only appended to is a
length; one that was replaced is noted as it was, while it is short.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from .._recordings import Feeder, Frame
from .._snapshot import Snapshot
from .._storage import to_document
from .._store import Store
from .._text import escape, utf16_length
from .._versions import Protocol

MOMENTS: Final = 300
_LONGEST_OLD_TEXT: Final = 4_000
Fields = dict[str, Any]


@attrs.define
class SessionTimeline:
    """What changed when in one session: entries and plans by place, terminals by id."""

    first: int
    entries: dict[int, list[list[Any]]] = attrs.field(factory=dict)
    terminals: dict[str, list[list[Any]]] = attrs.field(factory=dict)
    plans: dict[int, int] = attrs.field(factory=dict)
    states: list[list[Any]] = attrs.field(factory=list)


@attrs.define
class Timeline:
    """The moments of a recording, as line and time, and what changed in each session."""

    store: Store
    moments: list[tuple[int, float | None]] = attrs.field(factory=list)
    sessions: dict[str, SessionTimeline] = attrs.field(factory=dict)
    frames: int = 0


def timeline_of(frames: Iterable[Frame], count: int, protocol: Protocol | None) -> Timeline:
    """Reduce frames, of which the count is known, and note what changed at each moment."""
    store = Store(protocol=protocol)
    feeder, timeline = Feeder(store), Timeline(store)
    before: dict[str, Snapshot] = {}
    step = max(1, -(-count // MOMENTS))
    for number, frame in enumerate(frames, 1):
        feeder.take(frame)
        if number % step == 0 or number == count:
            feeder.flush()
            if number == count:
                feeder.end()
            _note(timeline, before, frame)
    timeline.frames = count
    return timeline


def _note(timeline: Timeline, before: dict[str, Snapshot], frame: Frame) -> None:
    moment, store = len(timeline.moments), timeline.store
    timeline.moments.append((frame.line, frame.time))
    for session_id in store.sessions:
        old, new = before.get(session_id), store.snapshot(session_id)
        if new is old:
            continue
        session = timeline.sessions.setdefault(session_id, SessionTimeline(moment))
        _note_session(session, moment, old or Snapshot(session_id), new)
        before[session_id] = new


def _note_session(session: SessionTimeline, moment: int, old: Snapshot, new: Snapshot) -> None:
    for place, entry in enumerate(new.entries):
        if place >= len(old.entries) or old.entries[place] is not entry:
            session.entries.setdefault(place, []).append([moment, *_shown(entry)])
    for terminal in new.terminals:
        if old.terminals.get(terminal.terminal_id) is not terminal:
            text = escape(terminal.text)
            ends = terminal.exit_status is not None
            session.terminals.setdefault(terminal.terminal_id, []).append([moment, text, ends])
    if new.plans is not old.plans:
        for place in range(len(new.plans)):
            session.plans.setdefault(place, moment)
    state = new.state
    name = getattr(state, "name", None) or getattr(state, "state", "")
    if not session.states or session.states[-1][1] != name:
        session.states.append([moment, str(name)])


def _shown(entry: Any) -> tuple[str, int, str]:
    """Return the text, the count of items and the status that an entry shows."""
    content = getattr(entry, "content", ())
    text = getattr(entry, "text", "") if entry.type != "tool_call" else ""
    return escape(text), len(content), getattr(entry, "status", "")


def plain(snapshot: Snapshot) -> Fields:
    """Return the snapshot document as plain JSON values."""
    document: Fields = to_document(snapshot)
    return document


def lengths(versions: list[list[Any]], final: str) -> list[list[Any]]:
    """Turn the texts of versions into lengths where they are beginnings of the final one."""
    return [[moment, _length(text, final), *rest] for moment, text, *rest in versions]


def _length(text: str, final: str) -> int | str:
    if final.startswith(text):
        return utf16_length(text)
    return text if len(text) <= _LONGEST_OLD_TEXT else utf16_length(final)
