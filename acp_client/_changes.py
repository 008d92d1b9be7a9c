"""The steps from one snapshot to the next, as a small closed set of frozen classes: `Change`.

`changes(old, new)` returns them. The law that defines them: a renderer that holds what it drew of
`old` and applies the changes, in order, ends with exactly what it would draw from `new`. The
docstring of each class says what a renderer does.

What all of them have in common:

- `place` is where the entry, terminal, plan or prompt stands among its like, and `key` finds it:
  `delivery.new.entries[change.place]` is the entry itself. `old` and `new` are what was there and
  what is there now, `None` for what was not or is no longer.
- A change carries what differs and nothing else. What grows (text, items, output) comes as the part
  that is new; of an entry or a terminal of which some `fields` changed, `old` and `new` have those
  fields alone. So `change_to_document` can write every change as JSON, and
  `change_from_document` reads an equal one back.
- Entries and terminals never move and never go. Those that were there are changed first, in
  ascending order, what grew before the fields; then come the added ones, whole.
- Text is *spliced*: cut what is held at `start`, and put `text` there. `start` counts in every unit
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
    """A change; most hold what cannot be hashed, so none can."""

    __hash__ = None  # type: ignore[assignment]
    __repr__ = short_repr


class Reset(_Step, frozen=True):
    """Forget what was drawn and draw `new`.

    The session is another, a replay began, ended or failed, or what was there is not continued. A
    reset is the only change of its list.
    """

    new: Snapshot


# --- Entries ---


class EntryAdded(_Step, frozen=True):
    """Draw `new` behind the last entry: its place is the number of entries so far."""

    place: int
    key: Hashable
    new: Entry


class TextAppended(_Step, frozen=True):
    """Put `text` behind the text of an entry; `start` is where that ends.

    Whoever draws content items one by one replaces those from `index` on by `items`. The first of
    them goes on with the first `kept` characters of the text item that was at `index`; mostly there
    was none, and `kept` is 0. `metas` are the `_meta` of the chunks that brought these items.
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
        """Where the text begins, in characters."""
        return self.start.offset

    @property
    def end(self) -> Position:
        """Where the text ends: the end of the text of the entry so far."""
        return self.start.after(self.text)


class TextReplaced(_Step, frozen=True):
    """Cut the text of an entry at `start`, and put `text` there.

    Up to `start` the text is as it was; the `removed` characters behind that go. So an agent that
    sends all of its text again with each update costs a renderer the difference.

    Whoever draws content items one by one replaces those from `index` on by `items`, as for
    `TextAppended`. Content that is not text goes too, from `index` on.
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
        """Where the text begins, in characters."""
        return self.start.offset

    @property
    def end(self) -> Position:
        """Where the text ends: the end of the text of the entry so far."""
        return self.start.after(self.text)


class ItemsAppended(_Step, frozen=True):
    """Draw `items`, which are not text, behind the content of an entry.

    `index` is the first one's place among all content items, text included. `start` is where they
    stand in the text of the entry: its end so far. `metas` are the `_meta` of their chunks.
    """

    place: int
    key: Hashable
    start: Position
    index: int
    items: tuple[ContentItem, ...]
    metas: tuple[ChunkMeta, ...] = ()


class ContentReplaced(_Step, frozen=True):
    """Draw the content (or summary) of an entry again: `new` does not begin as the old one did."""

    place: int
    key: Hashable
    new: ContentBlocks | ToolCallContents


class EntryChanged(_Step, frozen=True):
    """Draw the `fields` of an entry again: `new["title"]` is the title now.

    `old` and `new` have these fields and no others; the content is as it was.
    """

    place: int
    key: Hashable
    fields: tuple[str, ...]
    old: Fields
    new: Fields


# --- Terminals ---


class TerminalAdded(_Step, frozen=True):
    """Draw `new`, a terminal, behind the last one."""

    place: int
    key: str
    new: Terminal


class OutputAppended(_Step, frozen=True, eq=False):
    r"""Put `data` behind the output of a terminal, at `offset` bytes.

    First, `dropped` bytes go from the beginning, where a limit made the store forget them; `offset`
    counts without them.

    Whoever draws the text of the terminal (`terminal.text`) splices: programs rewrite their last
    line, so `start` is where that begins, and `text` is all from there on. Both are worked out when
    first asked for.
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
        """Where the text of the terminal changes."""
        return self._splice()[0]

    @property
    def text(self) -> str:
        """The text of the terminal from `start` on."""
        return self._splice()[1]

    def _splice(self) -> tuple[Position, str]:
        if self._spliced is None and self._pieces is not None:
            spliced = appended_transcript(*self._pieces, self.dropped, self.data)
            force_setattr(self, "_spliced", spliced)  # two threads at once work out the same
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

    `dropped_bytes` counts what a limit made the store forget before it, and `text` is what to show.
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
    """Draw the `fields` of a terminal again: `new["cwd"]` is the directory now.

    `old` and `new` have these fields and no others; the output is as it was.
    """

    place: int
    key: str
    fields: tuple[str, ...]
    old: Fields
    new: Fields


# --- Lists that are replaced whole ---
#
# `removed` are places in the old list, `added` and `changed` are places in the new one. Whoever
# deletes the removed ones, inserts the added ones in ascending order and replaces the changed ones,
# has the new list. An item that moved is removed and added.


class PlanChanged(_Step, frozen=True):
    """Draw a plan that is new (`old` is `None`), or draw again what changed in it.

    Where `new` is `None` the plan is gone, and those behind it move up. `removed`, `added` and
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
    """Ask the user `new[place]` for each place in `added`; take back what is at `removed` in `old`.

    Permissions at `changed` (places in `new`) were asked again under the same id.
    """

    old: tuple[Permission, ...]
    new: tuple[Permission, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


class ElicitationsChanged(_Step, frozen=True):
    """Ask the user `new[place]` for each place in `added`; take back what is at `removed` in `old`.

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
    """Draw a prompt that is new (`old` is `None`), or draw it again as it is now.

    An echoed prompt is no longer drawn: its message is among the entries. `key` is the id of the
    request. Prompts never move and never go.
    """

    place: int
    key: wire.RequestId
    old: Prompt | None
    new: Prompt


class TurnChanged(_Step, frozen=True):
    """Draw a turn that began (`old` is `None`), or draw it again as it ended.

    Turns never move and never go.
    """

    place: int
    old: Turn | None
    new: Turn


class CancellingChanged(_Step, frozen=True):
    """Draw whether the foreground work is being cancelled."""

    old: bool
    new: bool


class ConnectionLostChanged(_Step, frozen=True):
    """Draw that the connection is lost, or, where `new` is `None`, that it is not any more."""

    old: ConnectionLoss | None
    new: ConnectionLoss | None


class NoticesAdded(_Step, frozen=True):
    """Show the user the notices `new`.

    Whoever keeps a list of them forgets the `dropped` oldest first, as the snapshot did.
    """

    dropped: int
    new: tuple[wire.Notice, ...]


class StateChanged(_Step, frozen=True):
    """Draw the state of the session's work again."""

    old: SessionState
    new: SessionState


class UsageChanged(_Step, frozen=True):
    """Draw the usage again, `None` if none was reported."""

    old: Usage | None
    new: Usage | None


class InfoChanged(_Step, frozen=True):
    """Draw the `fields` of the session's info again: `new["title"]` is the title now.

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
"""One step from a snapshot to the next: all classes there are."""
