"""The view of one session: changes in, edits of a document out.

The document has a block for each entry, at the entry's place. Below them, in its tail, are the
plans, what the agent asks, prompts that were not echoed, and the state. A `Reset` is drawn from its
snapshot; the other changes look up the entry or terminal that they name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

import acp_client as acp
from acp_client import wire

from . import drawing
from .document import Document


@dataclass
class Item:
    """A content item of a tool call: how many lines it has, and which terminal it shows."""

    count: int
    terminal_id: str | None


@dataclass
class Drawn:
    """What must be known of a drawn entry to change it.

    That is how many lines its head has; of a tool call its items; of others the last line as it
    came, if it is text.
    """

    head: int
    items: list[Item] = field(default_factory=list)
    last: str | None = None


class View:
    """Draws a session into a document.

    `signs` are those that are new, by the places of entries; whoever draws them clears them.
    """

    def __init__(self) -> None:
        self.document = Document()
        self.signs: dict[int, tuple[str, str]] = {}
        self.permissions: tuple[acp.Permission, ...] = ()
        self._drawn: list[Drawn] = []
        self._terminals: dict[str, acp.Terminal] = {}
        self._shown: dict[str, list[tuple[int, int]]] = {}  # places and items that show a terminal
        self._plans = acp.Plans()
        self._prompts: dict[int, Any] = {}
        self._state: Any = None
        self._usage: acp.Usage | None = None
        self._info = acp.SessionInfo()
        self._snapshot = acp.Snapshot("")

    def draw(self, delivery: acp.Delivery) -> None:
        """Apply changes."""
        self._snapshot = delivery.new
        for change in delivery.changes:
            self._draw(change)

    @singledispatchmethod
    def _draw(self, change: Any) -> None:
        """Draw nothing of commands, options and notices."""

    @_draw.register
    def _reset(self, change: acp.Reset) -> None:
        new = change.new
        self.document.clear()
        self._drawn, self.signs, self._shown = [], {}, {}
        self._terminals = {terminal.terminal_id: terminal for terminal in new.terminals}
        for entry in new.entries:
            self._add(entry)
        self._plans, self._prompts = new.plans, dict(enumerate(new.prompts))
        self.permissions, self._info = new.permissions, new.info
        self._state, self._usage = new.state, new.usage
        self._draw_tail()

    # --- Entries ---

    @_draw.register
    def _entry_added(self, change: acp.EntryAdded) -> None:
        self._add(change.new)

    def _add(self, entry: acp.Entry) -> None:
        place, head = len(self._drawn), drawing.head(entry)
        self._drawn.append(Drawn(len(head)))
        self.document.append(head)
        self._draw_sign(place, entry)
        self._draw_content(place, entry)

    def _draw_sign(self, place: int, entry: acp.Entry) -> None:
        if isinstance(entry, acp.ToolCall | acp.Compaction):
            self.signs[place] = drawing.SIGNS.get(entry.status, drawing.UNKNOWN_SIGN)

    @_draw.register
    def _entry_changed(self, change: acp.EntryChanged) -> None:
        drawn, entry = self._drawn[change.place], self._snapshot.entries[change.place]
        head = drawing.head(entry)
        self.document.replace(change.place, 0, drawn.head, head)
        drawn.head = len(head)
        self._draw_sign(change.place, entry)

    @_draw.register
    def _content_replaced(self, change: acp.ContentReplaced) -> None:
        self._draw_content(change.place, self._snapshot.entries[change.place])

    def _draw_content(self, place: int, entry: acp.Entry) -> None:
        if isinstance(entry, acp.ToolCall):
            self._draw_items(place, 0, entry.content)
        elif not isinstance(entry, acp.UnknownEntry):
            drawn = self._drawn[place]
            content = entry.summary if isinstance(entry, acp.Compaction) else entry.content
            lines, drawn.last = drawing.speech(content)
            self.document.replace(place, drawn.head, None, lines)

    @_draw.register
    def _text_appended(self, change: acp.TextAppended) -> None:
        entry = self._snapshot.entries[change.place]
        if isinstance(entry, acp.ToolCall):
            stop = change.index + len(change.items)
            self._draw_items(change.place, change.index, entry.content[change.index : stop])
        elif change.text:
            self._append_text(change.place, change.text)

    @_draw.register
    def _text_replaced(self, change: acp.TextReplaced) -> None:
        entry = self._snapshot.entries[change.place]
        if isinstance(entry, acp.ToolCall):
            self._draw_items(change.place, change.index, entry.content[change.index :])
        else:
            self._draw_content(change.place, entry)

    def _append_text(self, place: int, text: str) -> None:
        """Let the last line grow, and put the lines that follow behind it."""
        drawn, end = self._drawn[place], len(self.document.blocks[place])
        if drawn.last is None:
            self.document.replace(place, end, None, drawing.lines_of(text))
        elif text[0].isascii():
            first, *rest = drawing.lines_of(text, "")
            self.document.extend(place, first)
            self.document.replace(place, end, None, [drawing.INDENT + line for line in rest])
            text = drawn.last + text
        else:  # it may go on with a character that is drawn already, as emoji do
            text = drawn.last + text
            self.document.replace(place, end - 1, None, drawing.lines_of(text))
        drawn.last = text.rpartition("\n")[2]

    @_draw.register
    def _items_appended(self, change: acp.ItemsAppended) -> None:
        if isinstance(self._snapshot.entries[change.place], acp.ToolCall):
            self._draw_items(change.place, change.index, change.items)
        else:
            end = len(self.document.blocks[change.place])
            self.document.replace(change.place, end, None, [*map(drawing.label, change.items)])
            self._drawn[change.place].last = None

    # --- Content items of tool calls, and the terminals among them ---

    def _draw_items(self, place: int, index: int, items: Sequence[Any]) -> None:
        """Draw the content items of a tool call from `index` on."""
        held, start = self._drawn[place].items, self._start(place, index)
        for at, old in enumerate(held[index:], index):
            if old.terminal_id is not None:
                self._shown[old.terminal_id].remove((place, at))
        del held[index:]
        lines: list[str] = []
        for item in items:
            more = drawing.item_lines(item, self._terminals)
            terminal_id = item.terminal_id if isinstance(item, wire.Terminal) else None
            if terminal_id is not None:
                self._shown.setdefault(terminal_id, []).append((place, len(held)))
            held.append(Item(len(more), terminal_id))
            lines += more
        self.document.replace(place, start, None, lines)

    def _start(self, place: int, index: int) -> int:
        """Return where in its block an item begins."""
        below = sum(item.count for item in self._drawn[place].items[index:])
        return len(self.document.blocks[place]) - below

    @_draw.register
    def _terminal_changed(
        self, change: acp.TerminalAdded | acp.OutputReplaced | acp.TerminalChanged
    ) -> None:
        self._draw_terminal(self._snapshot.terminals[change.place])

    def _draw_terminal(self, terminal: acp.Terminal) -> None:
        self._terminals[terminal.terminal_id] = terminal
        for place, index in self._shown.get(terminal.terminal_id, ()):
            self._replace_item(place, index, 0, drawing.terminal_lines(terminal))

    @_draw.register
    def _output_appended(self, change: acp.OutputAppended) -> None:
        terminal = self._snapshot.terminals[change.place]
        if change.start.column:  # it goes on in a row of more columns than are ever looked at
            self._draw_terminal(terminal)
            return
        self._terminals[change.key] = terminal
        lines = drawing.output_lines(terminal, change.text)
        for place, index in self._shown.get(change.key, ()):
            self._replace_item(place, index, 1 + change.start.line, lines)  # behind the command

    def _replace_item(self, place: int, index: int, kept: int, lines: list[str]) -> None:
        """Replace the lines of an item after the first `kept` ones."""
        item, start = self._drawn[place].items[index], self._start(place, index)
        self.document.replace(place, start + kept, start + item.count, lines)
        item.count = kept + len(lines)

    # --- The tail ---

    @property
    def options(self) -> list[tuple[acp.Permission, wire.PermissionOption]]:
        """What can be answered, in the order in which it is numbered."""
        return [(asked, option) for asked in self.permissions for option in asked.options]

    def _draw_tail(self) -> None:
        self._prompts = {place: one for place, one in self._prompts.items() if not one.echoed}
        blocks = [
            *map(drawing.plan, self._plans),
            drawing.permissions(self.permissions),
            *map(drawing.prompt, self._prompts.values()),
            [drawing.state(self._state, self._usage, self._info)],
        ]
        self.document.replace_tail([line for block in blocks for line in block])

    @_draw.register
    def _plan_changed(self, change: acp.PlanChanged) -> None:
        self._plans = self._snapshot.plans
        self._draw_tail()

    @_draw.register
    def _prompt_changed(self, change: acp.PromptChanged) -> None:
        self._prompts[change.place] = change.new
        self._draw_tail()

    @_draw.register
    def _permissions_changed(self, change: acp.PermissionsChanged) -> None:
        self.permissions = change.new
        self._draw_tail()

    @_draw.register
    def _state_changed(self, change: acp.StateChanged) -> None:
        self._state = change.new
        self._draw_tail()

    @_draw.register
    def _usage_changed(self, change: acp.UsageChanged) -> None:
        self._usage = change.new
        self._draw_tail()

    @_draw.register
    def _info_changed(self, change: acp.InfoChanged) -> None:
        self._info = self._snapshot.info
        self._draw_tail()
