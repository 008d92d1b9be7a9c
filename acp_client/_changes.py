"""The steps from one snapshot to the next, as a small closed set of frozen classes: `Change`.

`changes(old, new)` gives them. The law that defines them: a renderer that holds what it drew of
`old` and applies the changes, in order, ends with exactly what it would draw from `new`. The
docstring of each class says what a renderer does.

What holds for all of them:

- A change names what it is about by `place` and by key, and carries what a renderer needs. Where
  it carries a whole entity (`entry`, `terminal`, `new`), that is the one in `new`: it has what
  later changes of the same list are about as well.
- Entries and terminals never move and never go. Those that were there are changed first, in
  ascending order, what grew before the fields; then come the added ones, whole.
- Text is *spliced*: cut what is held at `start`, and put `text` there. `start` counts in every unit
  that editors use, see `Position`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal, TypeAlias

import attrs
from msgspec import Struct

from . import wire
from ._content import ContentBlocks, ToolCallContents
from ._continuation import appended_transcript
from ._snapshot import (
    Compaction,
    Entry,
    Message,
    Permission,
    Prompt,
    SessionInfo,
    SessionState,
    Snapshot,
    Terminal,
    ToolCall,
    Usage,
)
from ._terminal_output import OutputBytes
from ._text import Position

ContentItem: TypeAlias = wire.ContentBlock | wire.ToolCallContent
GrowingEntry: TypeAlias = Message | ToolCall | Compaction


def content_of(entry: GrowingEntry) -> ContentBlocks | ToolCallContents:
    """Return what grows in an entry: its content, or its summary."""
    return entry.summary if isinstance(entry, Compaction) else entry.content


class Reset(Struct, frozen=True):
    """Forget what was drawn and draw `snapshot`.

    The session is another, a replay began, ended or failed, or what was there is not continued. A
    reset is the only change of its list.
    """

    snapshot: Snapshot


# --- Entries ---


class EntryAdded(Struct, frozen=True):
    """Draw `entry` behind the last one: its place is the number of entries so far."""

    place: int
    key: Hashable
    entry: Entry


class TextAppended(Struct, frozen=True):
    """Put `text` behind the text of an entry (`entry.text`).

    `start` is where it begins in the text of the entry. That is the end of what is drawn, but where
    that ended with half a character (a lone high surrogate) which is whole now: then `replaced` is
    1, and the half goes. An entry that only cuts its text otherwise appends an empty text.

    Whoever draws content items one by one replaces those from `index` on by `items`.
    """

    place: int
    key: Hashable
    entry: GrowingEntry
    start: Position
    text: str
    replaced: int
    index: int
    stop: int

    @property
    def offset(self) -> int:
        """Where the text begins, in characters."""
        return self.start.offset

    @property
    def end(self) -> Position:
        """Where the text ends: the end of the text of the entry so far."""
        return self.start.after(self.text)

    @property
    def items(self) -> tuple[ContentItem, ...]:
        """The content items from `index` to `stop`, in which the text came."""
        return content_of(self.entry)[self.index : self.stop]


class ItemsAppended(Struct, frozen=True):
    """Draw `items`, which are not text, behind the content of an entry.

    `index` is the first one's place among all content items, text included. `start` is where they
    stand in the text of the entry: its end so far.
    """

    place: int
    key: Hashable
    entry: GrowingEntry
    start: Position
    index: int
    items: tuple[ContentItem, ...]


class ContentReplaced(Struct, frozen=True):
    """Draw the content (or summary) of `entry` anew: it does not continue what was drawn."""

    place: int
    key: Hashable
    entry: GrowingEntry


EntryField: TypeAlias = Literal[
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
    "error",
    "update",
    "meta",
    "chunk_meta",
]
"""A field of an entry; `chunk_meta` is the `metas` of its content."""


class EntryChanged(Struct, frozen=True):
    """Draw the fields `names` of an entry anew, as they are in `new`; its content is not meant."""

    place: int
    key: Hashable
    names: tuple[EntryField, ...]
    old: Entry
    new: Entry


# --- Terminals ---


class TerminalAdded(Struct, frozen=True):
    """Draw `terminal`, a new one."""

    place: int
    terminal_id: str
    terminal: Terminal


@attrs.frozen
class OutputAppended:
    r"""Put `data` behind the output of a terminal, at `offset` bytes.

    First, `dropped` bytes go from the beginning, where a limit made the store forget them; `offset`
    counts without them.

    Whoever draws the text of the terminal (`terminal.text`) splices: programs rewrite their last
    line, so `start` is where that begins, and `text` is all from there on. Both are worked out when
    first asked for.
    """

    place: int
    terminal_id: str
    terminal: Terminal
    offset: int
    data: bytes
    dropped: int
    _older: OutputBytes = attrs.field(eq=False, repr=False)
    _cached: tuple[Position, str] | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def start(self) -> Position:
        """Where the text of the terminal changes."""
        return self._spliced[0]

    @property
    def text(self) -> str:
        """The text of the terminal from `start` on."""
        return self._spliced[1]

    @property
    def _spliced(self) -> tuple[Position, str]:
        if self._cached is None:  # without a lock: two threads at once work out the same
            object.__setattr__(self, "_cached", self._computed())
        return self._cached  # type: ignore[return-value]  # set by now

    def _computed(self) -> tuple[Position, str]:
        return appended_transcript(self._older, self.terminal, self.dropped, self.data)


class OutputReplaced(Struct, frozen=True):
    """Draw the output of `terminal` anew: it does not continue what was drawn."""

    place: int
    terminal_id: str
    terminal: Terminal


TerminalField: TypeAlias = Literal[
    "command", "cwd", "output_meta", "exit_status", "size", "capabilities", "meta", "dropped_bytes"
]


class TerminalChanged(Struct, frozen=True):
    """Draw the fields `names` of a terminal anew, as they are in `new`; its output is not meant."""

    place: int
    terminal_id: str
    names: tuple[TerminalField, ...]
    old: Terminal
    new: Terminal


# --- Lists that are replaced whole ---
#
# `removed` are places in the old list, `added` and `changed` are places in the new one. Whoever
# deletes the removed ones, inserts the added ones in ascending order and replaces the changed ones,
# has the new list. An item that moved is removed and added.


class PlanChanged(Struct, frozen=True):
    """Draw a plan that is new (`old` is `None`), or draw anew what changed in it.

    `removed`, `added` and `changed` are places of plan entries: delete the removed ones from those
    of `old`, insert the added ones in ascending order, replace the changed ones by those of `new`.
    A plan of an unknown type has no plan entries.
    """

    place: int
    plan_id: str
    old: wire.PlanUpdateContent | None
    new: wire.PlanUpdateContent
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class AvailableCommandsChanged(Struct, frozen=True):
    """Offer the slash commands `new`.

    `removed` (places in `old`), `added` and `changed` (places in `new`) name what differs.
    """

    old: tuple[wire.AvailableCommand, ...]
    new: tuple[wire.AvailableCommand, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class ConfigOptionsChanged(Struct, frozen=True):
    """Draw the configuration options `new`.

    `removed` (places in `old`), `added` and `changed` (places in `new`) name what differs.
    """

    old: tuple[wire.SessionConfigOption, ...]
    new: tuple[wire.SessionConfigOption, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class PermissionsChanged(Struct, frozen=True):
    """Ask the user `new[place]` for each place in `added`; take back what is at `removed` in `old`.

    Permissions at `changed` (places in `new`) were asked again under the same id.
    """

    old: tuple[Permission, ...]
    new: tuple[Permission, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


# --- The rest of the session ---


class PromptChanged(Struct, frozen=True):
    """Draw a prompt that is new (`old` is `None`), or draw it anew as it is now.

    An echoed prompt is drawn no more: its message is among the entries. `place` is its place among
    the prompts, which never move and never go.
    """

    place: int
    old: Prompt | None
    new: Prompt


class NoticesAdded(Struct, frozen=True):
    """Tell the user `notices`.

    Whoever keeps a list of them forgets the `dropped` oldest first, as the snapshot did.
    """

    dropped: int
    notices: tuple[wire.Notice, ...]


class StateChanged(Struct, frozen=True):
    """Draw the state of the session's work anew."""

    old: SessionState
    new: SessionState


class UsageChanged(Struct, frozen=True):
    """Draw the usage anew, `None` if none was reported."""

    old: Usage | None
    new: Usage | None


InfoField: TypeAlias = Literal["title", "updated_at", "meta"]


class InfoChanged(Struct, frozen=True):
    """Draw the fields `names` of the session's info anew, as they are in `new`."""

    names: tuple[InfoField, ...]
    old: SessionInfo
    new: SessionInfo


Change: TypeAlias = (
    Reset
    | EntryAdded
    | TextAppended
    | ItemsAppended
    | ContentReplaced
    | EntryChanged
    | TerminalAdded
    | OutputAppended
    | OutputReplaced
    | TerminalChanged
    | PlanChanged
    | AvailableCommandsChanged
    | ConfigOptionsChanged
    | PermissionsChanged
    | PromptChanged
    | NoticesAdded
    | StateChanged
    | UsageChanged
    | InfoChanged
)
"""One step from a snapshot to the next: all classes there are."""
