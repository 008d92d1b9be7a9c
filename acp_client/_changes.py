"""The steps from one snapshot to the next, as a small closed set of frozen classes: `Change`.

`changes(old, new)` returns them. The law that defines them: a renderer that holds what it drew of
`old` and applies the changes, in order, ends with exactly what it would draw from `new`. The
docstring of each class says what a renderer does.

What all of them have in common:

- `place` is the index of the entry, terminal, plan or prompt in its sequence, and `key` finds it:
  `delivery.new.entries[change.place]` is the entry itself. `old` and `new` are the value before and
  after, `None` if there is no such value.
- A change has only what differs. Whatever grows (text, items, output) comes as its new part; if
  some `fields` of an entry or a terminal changed, `old` and `new` have only those fields. So
  `change_to_document` can write every change as JSON, and `change_from_document` reads an equal one
  back.
- Entries and terminals never move and are never removed. Existing ones are changed first, in
  ascending order, growth before fields; the added ones follow, whole.
- Text is *spliced*: cut the text at `start`, and put `text` there. `start` counts in every unit
  that editors use, see `Position`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from . import wire
from ._client_state import ConnectionLoss, Elicitation, Permission, Prompt, SessionState, Turn
from ._content import ChunkMeta, ContentBlocks, ToolCallContents
from ._continuation import appended_transcript
from ._snapshot import Entry, Snapshot, Terminal, Usage
from ._terminal_output import OutputBytes
from ._text import Position
from ._value import short_repr

ContentItem: TypeAlias = wire.ContentBlock | wire.ToolCallContent
Fields: TypeAlias = Mapping[str, Any]
"""Some fields of a frozen object, by the names of its attributes."""


class _Step(Struct, frozen=True):
    """A change; most hold unhashable values, so no change can be hashed."""

    __hash__ = None  # type: ignore[assignment]
    __repr__ = short_repr


class Reset(_Step, frozen=True):
    """Forget what was drawn and draw `new`.

    The session is another one, a replay began, ended or failed, or `new` does not continue `old`. A
    reset is the only change of its list.
    """

    new: Snapshot


# --- Entries ---


class EntryAdded(_Step, frozen=True):
    """Draw `new` after the last entry: its place is the number of entries so far."""

    place: int
    key: Hashable
    new: Entry


class TextAppended(_Step, frozen=True):
    """Append `text` to the text of an entry; `start` is the end of the text so far.

    A renderer that draws content items one by one replaces those from `index` on by `items`. The
    first of them begins with the first `kept` characters of the text item that was at `index`;
    `kept` is 0 if there was none. `metas` are the `_meta` of the chunks that brought these items.
    """

    place: int
    key: Hashable
    start: Position
    text: str
    index: int
    items: tuple[ContentItem, ...]
    kept: int = 0
    metas: tuple[ChunkMeta, ...] = ()

    @property
    def offset(self) -> int:
        """The offset at which the text begins, in characters."""
        return self.start.offset

    @property
    def end(self) -> Position:
        """The position after `text`: the end of the entry's text."""
        return self.start.after(self.text)


class TextReplaced(_Step, frozen=True):
    """Cut the text of an entry at `start`, and put `text` there.

    Up to `start` the text is unchanged; the `removed` characters after it are removed. So an agent
    that sends all of its text again with each update costs a renderer only the difference.

    A renderer that draws content items one by one replaces those from `index` on by `items`, as for
    `TextAppended`. Content other than text is removed too, from `index` on.
    """

    place: int
    key: Hashable
    start: Position
    text: str
    removed: int
    index: int
    items: tuple[ContentItem, ...]
    kept: int = 0
    metas: tuple[ChunkMeta, ...] = ()

    @property
    def offset(self) -> int:
        """The offset at which the text begins, in characters."""
        return self.start.offset

    @property
    def end(self) -> Position:
        """The position after `text`: the end of the entry's text."""
        return self.start.after(self.text)


class ItemsAppended(_Step, frozen=True):
    """Append `items`, which are not text, to the content of an entry.

    `index` is the place of the first one among all content items, text included. `start` is their
    position in the text of the entry: its end so far. `metas` are the `_meta` of their chunks.
    """

    place: int
    key: Hashable
    start: Position
    index: int
    items: tuple[ContentItem, ...]
    metas: tuple[ChunkMeta, ...] = ()


class ContentReplaced(_Step, frozen=True):
    """Draw the content (or summary) of an entry again: `new` does not continue the old one."""

    place: int
    key: Hashable
    new: ContentBlocks | ToolCallContents


class EntryChanged(_Step, frozen=True):
    """Draw the `fields` of an entry again: `new["title"]` is the new title.

    `old` and `new` have these fields and no others; the content is unchanged.
    """

    place: int
    key: Hashable
    fields: tuple[str, ...]
    old: Fields
    new: Fields


# --- Terminals ---


class TerminalAdded(_Step, frozen=True):
    """Draw `new`, a terminal, after the last one."""

    place: int
    key: str
    new: Terminal


class OutputAppended(_Step, frozen=True, eq=False):
    r"""Append `data` to the output of a terminal, at `offset` bytes.

    First remove `dropped` bytes from the beginning, which a limit made the store drop; `offset`
    counts without them.

    A renderer that draws the text of the terminal (`terminal.text`) splices: programs rewrite their
    last line, so `start` is the beginning of that line, and `text` is everything from there on.
    Both are computed on first access.
    """

    place: int
    key: str
    offset: int
    data: bytes
    dropped: int
    _pieces: tuple[OutputBytes, Terminal] | None = None
    _spliced: tuple[Position, str] | None = None

    @property
    def start(self) -> Position:
        """The position at which the text of the terminal changes."""
        return self._splice()[0]

    @property
    def text(self) -> str:
        """The text of the terminal from `start` on."""
        return self._splice()[1]

    def _splice(self) -> tuple[Position, str]:
        if self._spliced is None and self._pieces is not None:
            spliced = appended_transcript(*self._pieces, self.dropped, self.data)
            force_setattr(self, "_spliced", spliced)  # two threads at once compute the same
        return self._spliced or (Position(), "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputAppended) and self._said == other._said

    def __ne__(self, other: object) -> bool:  # a Struct's own would compare identity
        return not self == other

    @property
    def _said(self) -> tuple[Any, ...]:
        return (self.place, self.key, self.offset, self.data, self.dropped)


class OutputReplaced(_Step, frozen=True):
    """Draw the output of a terminal again: `new` does not continue what was drawn.

    `dropped_bytes` counts the bytes before it that a limit made the store drop; `text` is the text
    to show.
    """

    place: int
    key: str
    new: OutputBytes
    dropped_bytes: int = 0

    @property
    def text(self) -> str:
        """The text of the terminal now."""
        return Terminal(self.key, pieces=self.new, dropped_bytes=self.dropped_bytes).text


class TerminalChanged(_Step, frozen=True):
    """Draw the `fields` of a terminal again: `new["cwd"]` is the new directory.

    `old` and `new` have these fields and no others; the output is unchanged.
    """

    place: int
    key: str
    fields: tuple[str, ...]
    old: Fields
    new: Fields


# --- Lists that are replaced whole ---
#
# `removed` are places in the old list, `added` and `changed` are places in the new one. To get the
# new list, delete the removed items, insert the added ones in ascending order, and replace the
# changed ones. An item that moved is removed and added.


class PlanChanged(_Step, frozen=True):
    """Draw a new plan (`old` is `None`), or draw the changed parts of a plan again.

    If `new` is `None`, the plan was removed, and those after it move up. `removed`, `added` and
    `changed` are places of plan entries: delete the removed ones from those of `old`, insert the
    added ones in ascending order, replace the changed ones by those of `new`. A plan of an unknown
    type has no plan entries.
    """

    place: int
    key: str
    old: wire.PlanUpdateContent | None
    new: wire.PlanUpdateContent | None
    removed: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()


class AvailableCommandsChanged(_Step, frozen=True):
    """Offer the slash commands `new`.

    `removed` (places in `old`), `added` and `changed` (places in `new`) name what differs.
    """

    old: tuple[wire.AvailableCommand, ...]
    new: tuple[wire.AvailableCommand, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class ConfigOptionsChanged(_Step, frozen=True):
    """Draw the configuration options `new`.

    `removed` (places in `old`), `added` and `changed` (places in `new`) name what differs.
    """

    old: tuple[wire.SessionConfigOption, ...]
    new: tuple[wire.SessionConfigOption, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class PermissionsChanged(_Step, frozen=True):
    """Ask the user `new[place]` for each place in `added`; withdraw those at `removed` in `old`.

    Permissions at `changed` (places in `new`) were asked again under the same id.
    """

    old: tuple[Permission, ...]
    new: tuple[Permission, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class ElicitationsChanged(_Step, frozen=True):
    """Ask the user `new[place]` for each place in `added`; withdraw those at `removed` in `old`.

    Elicitations at `changed` (places in `new`) were asked again under the same id, accepted, or
    completed.
    """

    old: tuple[Elicitation, ...]
    new: tuple[Elicitation, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


# --- The rest of the session ---


class PromptChanged(_Step, frozen=True):
    """Draw a new prompt (`old` is `None`), or draw a prompt again.

    An echoed prompt is no longer drawn: its message is among the entries. `key` is the id of the
    request. Prompts never move and are never removed.
    """

    place: int
    key: wire.RequestId
    old: Prompt | None
    new: Prompt


class TurnChanged(_Step, frozen=True):
    """Draw a turn that began (`old` is `None`), or draw a turn again when it ended.

    Turns never move and are never removed.
    """

    place: int
    old: Turn | None
    new: Turn


class CancellingChanged(_Step, frozen=True):
    """Draw whether the foreground work is being cancelled."""

    old: bool
    new: bool


class ConnectionLostChanged(_Step, frozen=True):
    """Draw that the connection is lost, or, if `new` is `None`, that it no longer is."""

    old: ConnectionLoss | None
    new: ConnectionLoss | None


class NoticesAdded(_Step, frozen=True):
    """Show the user the notices `new`.

    A renderer that keeps a list of notices first removes the `dropped` oldest, as the snapshot did.
    """

    dropped: int
    new: tuple[wire.Notice, ...]


class StateChanged(_Step, frozen=True):
    """Draw the state of the session's work again."""

    old: SessionState
    new: SessionState


class UsageChanged(_Step, frozen=True):
    """Draw the usage again; `new` is `None` if no usage was reported."""

    old: Usage | None
    new: Usage | None


class InfoChanged(_Step, frozen=True):
    """Draw the `fields` of the session's info again: `new["title"]` is the new title.

    `old` and `new` have these fields and no others.
    """

    fields: tuple[str, ...]
    old: Fields
    new: Fields


Change: TypeAlias = (
    Reset
    | EntryAdded
    | TextAppended
    | TextReplaced
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
    | ElicitationsChanged
    | PromptChanged
    | TurnChanged
    | CancellingChanged
    | ConnectionLostChanged
    | NoticesAdded
    | StateChanged
    | UsageChanged
    | InfoChanged
)
"""One step from a snapshot to the next: the union of all change classes."""
