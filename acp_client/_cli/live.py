"""A transcript that is printed while the recording goes on.

Lines that were printed stay. So a tool call or a compaction is printed when it has ended. Two
things come sooner: the newest message, word by word, and the title of a tool call that still goes
on when something follows it. What changed after it was printed is printed again when the session
comes to rest (it turned idle, or the recording ended); of a message that only grew, what is new.
While a session is replayed nothing of it is printed, and afterwards what differs is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from .. import wire
from .._client_state import Permission
from .._sequence_diff import overlap
from .._snapshot import (
    FINISHED,
    Compaction,
    Entry,
    Message,
    Snapshot,
    Terminal,
    ToolCall,
    entry_key,
    plan_key,
)
from .._store import Store
from .contents import embedded_terminals
from .entries import entry_lines, tool_call_title
from .layout import Page, Span, paragraph
from .live_page import Roll
from .session_state import (
    loose_terminals,
    notice_row,
    permission_section,
    plan_section,
    prompt_section,
    state_words,
    table_section,
    terminal_section,
    usage_words,
)

_IN_PROGRESS: Final = "in_progress"
_BAD_ENDINGS: Final = ("rejected", "uncertain")


class Live:
    """Prints what happens in the sessions of a store, or in the chosen one."""

    def __init__(self, page: Page, store: Store, chosen: str | None = None) -> None:
        self._roll = Roll(page)
        self._store = store
        self._chosen = chosen
        self._views: dict[str, _View] = {}

    def update(self) -> None:
        """Print what has settled since the last time."""
        for session_id in self._store.sessions:
            if self._chosen in (None, session_id):
                view = self._views.setdefault(session_id, _View(session_id, self._roll))
                view.update(self._store.snapshot(session_id))

    def finish(self) -> None:
        """Print what is left, and how each session stands."""
        self.update()
        for view in self._views.values():
            view.finish()


class _View:
    """What was printed of one session."""

    def __init__(self, session_id: str, roll: Roll) -> None:
        self._roll = roll
        self._layout = roll.layout
        self._snapshot = Snapshot(session_id)
        self._printed: dict[Hashable, Entry] = {}
        self._titled: set[Hashable] = set()
        self._open: set[int] = set()
        self._next = 0
        self._terminals: dict[str, Terminal] = {}
        self._plans: dict[str, wire.PlanUpdateContent] = {}
        self._permissions: dict[wire.RequestId, Permission] = {}
        self._prompts: set[wire.RequestId] = set()

    def update(self, snapshot: Snapshot) -> None:
        """Print what has settled in a newer snapshot."""
        old = self._snapshot
        if snapshot is old or snapshot.replaying:
            return
        self._snapshot = snapshot
        if len(snapshot.entries) < self._next:  # it was replayed
            self._next = 0
            self._open.clear()
        self._print_entries()
        self._print_around(old)
        if snapshot.state is not old.state and snapshot.is_idle:
            self._rest()

    def finish(self) -> None:
        """Print what is left and how the session stands."""
        self._reprint(range(len(self._snapshot.entries)))
        self._print_plans_and_terminals()
        for terminal in loose_terminals(self._snapshot):
            self._begin(terminal_section(terminal, self._layout))
        for prompt in self._snapshot.prompts:
            if prompt.request_id not in self._prompts:
                self._begin(prompt_section(prompt, self._layout))
        self._roll.head(self._snapshot)
        self._begin(table_section(self._snapshot, self._layout))

    # --- Entries ---

    def _print_entries(self) -> None:
        """Look at the entries that are open or new, and at the one that was the newest."""
        entries = self._snapshot.entries
        end = len(entries)
        newest, self._next = max(self._next - 1, 0), end
        for place in sorted(self._open | set(range(newest, end))):
            entry, is_last = entries[place], place == end - 1
            if isinstance(entry, Message):
                if not is_last or self._roll.is_free(self._snapshot):
                    self._say(entry_key(entry, place), entry)
            else:
                self._look_at(entry, place, is_last=is_last)

    def _look_at(self, entry: Entry, place: int, *, is_last: bool) -> None:
        """Print an entry if it is time; what is printed and changed waits until the rest."""
        key = entry_key(entry, place)
        if key in self._printed:
            self._open.discard(place)
        elif _is_settled(entry):
            self._open.discard(place)
            self._print(key, entry)
        else:
            self._open.add(place)
            if not is_last:
                self._print_title(key, entry)

    def _print(self, key: Hashable, entry: Entry) -> None:
        self._printed[key] = entry
        if isinstance(entry, ToolCall):
            self._note_terminals(entry)
        self._begin(entry_lines(entry, self._snapshot, self._layout))

    def _print_title(self, key: Hashable, entry: Entry) -> None:
        if isinstance(entry, ToolCall) and key not in self._titled:
            self._titled.add(key)
            self._begin(tool_call_title(entry, self._layout))

    def _say(self, key: Hashable, message: Message) -> None:
        before = self._printed.get(key)
        if before is not message:
            self._printed[key] = message
            earlier = before if isinstance(before, Message) else None
            self._roll.say(self._snapshot, key, earlier, message)

    # --- What stands beside the entries ---

    def _print_around(self, old: Snapshot) -> None:
        snapshot = self._snapshot
        for permission in snapshot.permissions:
            if self._permissions.get(permission.request_id) is not permission:
                self._permissions[permission.request_id] = permission
                self._begin(permission_section(permission, snapshot, self._layout))
        for notice in snapshot.notices[overlap(old.notices, snapshot.notices) :]:
            self._begin(notice_row(notice, self._layout))
        for prompt in snapshot.prompts:
            if prompt.status in _BAD_ENDINGS and prompt.request_id not in self._prompts:
                self._prompts.add(prompt.request_id)
                self._begin(prompt_section(prompt, self._layout))

    def _rest(self) -> None:
        """Print what changed, and how things stand."""
        entries = self._snapshot.entries
        self._reprint(place for place, entry in enumerate(entries) if _has_ended(entry))
        self._print_plans_and_terminals()
        layout = self._layout
        words = layout.joined(words(self._snapshot, layout) for words in (state_words, usage_words))
        spans = paragraph([(f"{layout.glyphs.rule * 2} {words}", "faint")], layout, first="")
        if not self._roll.repeats(spans):
            self._begin(spans)

    def _reprint(self, places: Iterable[int]) -> None:
        """Print the entries that changed since they were printed, or never were."""
        for place in places:
            entry = self._snapshot.entries[place]
            key = entry_key(entry, place)
            if isinstance(entry, Message):
                self._say(key, entry)
            elif self._printed.get(key) != entry:
                self._open.discard(place)
                self._print(key, entry)
        self._roll.interrupt()

    def _print_plans_and_terminals(self) -> None:
        named = len(self._snapshot.plans) > 1
        for plan in self._snapshot.plans:
            if self._plans.get(plan_key(plan)) != plan:
                self._plans[plan_key(plan)] = plan
                self._begin(plan_section(plan, self._layout, named=named))
        for terminal_id, printed in list(self._terminals.items()):
            terminal = self._snapshot.terminals.get(terminal_id)
            if terminal is not None and terminal != printed:
                self._terminals[terminal_id] = terminal
                self._begin(terminal_section(terminal, self._layout))

    def _note_terminals(self, call: ToolCall) -> None:
        """Remember the terminals that are printed with a tool call as they are."""
        for terminal_id in embedded_terminals(call.content):
            terminal = self._snapshot.terminals.get(terminal_id)
            if terminal is not None:
                self._terminals[terminal_id] = terminal

    def _begin(self, spans: list[Span]) -> None:
        self._roll.begin(self._snapshot, spans)


def _is_settled(entry: Entry) -> bool:
    """Return whether the agent has reported the end of an entry; our cancel mark does not count."""
    if isinstance(entry, ToolCall):
        return entry.reported_status in FINISHED
    return _has_ended(entry)


def _has_ended(entry: Entry) -> bool:
    """Return whether an entry is at its end, as far as is known."""
    match entry:
        case ToolCall():
            return entry.is_finished
        case Compaction():
            return entry.status != _IN_PROGRESS
        case _:
            return True
