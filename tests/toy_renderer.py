"""A renderer that keeps plain strings, lists and dicts, and after its first draw sees changes only.

What it keeps of an entry shows the content in three ways, as three kinds of clients draw it: as one
text, as runs of text with other items between, and as the list of content items. `drawn` is what a
renderer makes of a whole snapshot; the law is that `apply` leads from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
from msgspec.structs import replace

from acp_client import (
    Compaction,
    ContentBlocks,
    Entry,
    Snapshot,
    Terminal,
    ToolCallContents,
    UnknownEntry,
    wire,
)
from acp_client._changes import (
    AvailableCommandsChanged,
    CancellingChanged,
    Change,
    ConfigOptionsChanged,
    ConnectionLostChanged,
    ContentReplaced,
    ElicitationsChanged,
    EntryAdded,
    EntryChanged,
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
from acp_client._text import join_text, position

Drawn = dict[str, Any]

ENTRY_FIELDS = {
    "user_message": ("meta",),
    "agent_message": ("meta",),
    "agent_thought": ("meta",),
    "tool_call": (
        *("name", "title", "kind", "status", "reported_status", "cancel_marked", "locations"),
        *("raw_input", "raw_output", "capabilities", "meta", "cancel_requested"),
    ),
    "compaction": ("status", "error", "meta"),
    "unknown": ("update",),
}
TERMINAL_FIELDS = (
    *("command", "cwd", "output_meta", "exit_status", "size", "capabilities", "meta"),
    "dropped_bytes",
    "cancel_requested",
)


# --- What is drawn of a snapshot ---


def drawn(snapshot: Snapshot) -> Drawn:
    """Draw a whole snapshot."""
    return {
        "session": snapshot.session_id,
        "entries": [drawn_entry(entry) for entry in snapshot.entries],
        "terminals": [drawn_terminal(terminal) for terminal in snapshot.terminals],
        "plans": [drawn_plan(plan) for plan in snapshot.plans],
        "state": snapshot.state,
        "usage": snapshot.usage,
        "info": attrs.asdict(snapshot.info, recurse=False),
        "commands": list(snapshot.available_commands),
        "options": list(snapshot.config_options),
        "notices": list(snapshot.notices),
        "prompts": list(snapshot.prompts),
        "permissions": list(snapshot.permissions),
        "elicitations": list(snapshot.elicitations),
        "turns": list(snapshot.turns),
        "cancelling": snapshot.cancelling,
        "connection_lost": snapshot.connection_lost,
        "before_replay": snapshot.before_replay,
    }


def drawn_entry(entry: Entry) -> Drawn:
    """Draw an entry: its fields, and its content in all three ways."""
    fields = {name: getattr(entry, name) for name in ENTRY_FIELDS[entry.type]}
    if isinstance(entry, UnknownEntry):
        return {"fields": fields}
    content = entry.summary if isinstance(entry, Compaction) else entry.content
    return {"fields": fields, **drawn_content(content)}


def drawn_content(content: ContentBlocks | ToolCallContents) -> Drawn:
    """Draw the content of an entry."""
    items: list[Any] = list(content)
    metas = dict(content.metas)
    return {"text": content.text, "runs": drawn_runs(items), "items": items, "metas": metas}


def drawn_runs(items: Iterable[Any]) -> list[Any]:
    """Draw content as texts, with other items between."""
    runs: list[Any] = []
    pieces: list[str] = []
    for item in [*items, None]:
        piece = text_of(item)
        if piece is not None:
            pieces.append(piece)
            continue
        put_text(runs, join_text(pieces))
        pieces = []
        if item is not None:
            runs.append(item)
    return runs


def drawn_terminal(terminal: Terminal) -> Drawn:
    """Draw a terminal: its fields, its bytes and its text."""
    fields = {name: getattr(terminal, name) for name in TERMINAL_FIELDS}
    return {"fields": fields, "output": terminal.output, "text": terminal.text}


def drawn_plan(plan: wire.PlanUpdateContent) -> Drawn:
    """Draw a plan: its entries, and what is around them."""
    if isinstance(plan, wire.PlanItems):
        return {"entries": list(plan.entries), "around": (plan.plan_id, plan.meta)}
    return {"entries": [], "around": plan}


def text_of(item: Any) -> str | None:
    """Give the text of a text item."""
    block = item.content if isinstance(item, wire.Content) else item
    return block.text if isinstance(block, wire.TextContent) else None


def with_text(item: Any, new: str) -> Any:
    """Give a text item another text."""
    if isinstance(item, wire.Content):
        return replace(item, content=with_text(item.content, new))
    return replace(item, text=new)


def put_text(runs: list[Any], text: str) -> None:
    """Put text behind the last run."""
    if runs and isinstance(runs[-1], str):
        runs[-1] += text
    elif text:
        runs.append(text)


# --- What changes do to it ---


class ToyRenderer:
    """Draws a snapshot once, and from then on applies changes."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.drawn = drawn(snapshot)

    def apply(self, steps: Iterable[Change]) -> None:
        """Apply changes one by one."""
        for step in steps:
            HANDLERS[type(step)](self, step)

    def reset(self, change: Reset) -> None:
        self.drawn = drawn(change.new)

    def entry_added(self, change: EntryAdded) -> None:
        assert change.place == len(self.drawn["entries"])
        self.drawn["entries"].append(drawn_entry(change.new))

    def text_appended(self, change: TextAppended) -> None:
        held = self.drawn["entries"][change.place]
        assert change.offset == len(held["text"])
        self.splice_text(change)
        put_text(held["runs"], change.text)

    def text_replaced(self, change: TextReplaced) -> None:
        held = self.drawn["entries"][change.place]
        assert change.removed == len(held["text"]) - change.offset
        before = held["items"][: change.index]
        start = len(join_text(text_of(item) or "" for item in before))
        runs = drawn_runs(before)
        if change.offset < start:  # half a character
            runs[-1] = runs[-1][: change.offset - start]
        put_text(runs, held["text"][start : change.offset] + change.text)
        held["runs"] = runs
        self.splice_text(change)

    def splice_text(self, change: TextAppended | TextReplaced) -> None:
        held = self.drawn["entries"][change.place]
        assert change.start == position(held["text"], change.offset)
        held["text"] = held["text"][: change.offset] + change.text
        assert change.end == position(held["text"], len(held["text"]))
        items = list(change.items)
        if change.kept:
            begun = text_of(held["items"][change.index]) or ""
            items[0] = with_text(items[0], begun[: change.kept] + (text_of(items[0]) or ""))
        held["items"][change.index :] = items
        kept = {index: meta for index, meta in held["metas"].items() if index < change.index}
        held["metas"] = {**kept, **dict(change.metas)}

    def items_appended(self, change: ItemsAppended) -> None:
        held = self.drawn["entries"][change.place]
        assert change.index == len(held["items"])
        assert change.start == position(held["text"], len(held["text"]))
        held["items"] += change.items
        held["runs"] += change.items
        held["metas"] |= dict(change.metas)

    def content_replaced(self, change: ContentReplaced) -> None:
        self.drawn["entries"][change.place] |= drawn_content(change.new)

    def entry_changed(self, change: EntryChanged) -> None:
        change_fields(self.drawn["entries"][change.place]["fields"], change)

    def terminal_added(self, change: TerminalAdded) -> None:
        assert change.place == len(self.drawn["terminals"])
        self.drawn["terminals"].append(drawn_terminal(change.new))

    def output_appended(self, change: OutputAppended) -> None:
        held = self.drawn["terminals"][change.place]
        kept = held["output"][change.dropped :]
        assert change.offset == len(kept)
        held["output"] = kept + change.data
        assert change.start == position(held["text"], change.start.offset)
        held["text"] = held["text"][: change.start.offset] + change.text

    def output_replaced(self, change: OutputReplaced) -> None:
        new = {"output": change.new.data, "text": change.text}
        self.drawn["terminals"][change.place] |= new

    def terminal_changed(self, change: TerminalChanged) -> None:
        change_fields(self.drawn["terminals"][change.place]["fields"], change)

    def plan_changed(self, change: PlanChanged) -> None:
        plans = self.drawn["plans"]
        if change.new is None:
            del plans[change.place]
            return
        if change.old is None:
            plans.insert(change.place, {"entries": []})
        new = drawn_plan(change.new)
        edit(plans[change.place]["entries"], new["entries"], change)
        plans[change.place]["around"] = new["around"]

    def commands_changed(self, change: AvailableCommandsChanged) -> None:
        edit(self.drawn["commands"], change.new, change)

    def options_changed(self, change: ConfigOptionsChanged) -> None:
        edit(self.drawn["options"], change.new, change)

    def permissions_changed(self, change: PermissionsChanged) -> None:
        edit(self.drawn["permissions"], change.new, change)

    def elicitations_changed(self, change: ElicitationsChanged) -> None:
        edit(self.drawn["elicitations"], change.new, change)

    def turn_changed(self, change: TurnChanged) -> None:
        turns = self.drawn["turns"]
        assert (change.old is None) == (change.place == len(turns))
        turns[change.place : change.place + 1] = [change.new]

    def cancelling_changed(self, change: CancellingChanged) -> None:
        assert self.drawn["cancelling"] is change.old
        self.drawn["cancelling"] = change.new

    def connection_lost_changed(self, change: ConnectionLostChanged) -> None:
        assert self.drawn["connection_lost"] == change.old
        self.drawn["connection_lost"] = change.new

    def prompt_changed(self, change: PromptChanged) -> None:
        prompts = self.drawn["prompts"]
        assert (change.old is None) == (change.place == len(prompts))
        prompts[change.place : change.place + 1] = [change.new]

    def notices_added(self, change: NoticesAdded) -> None:
        self.drawn["notices"] = [*self.drawn["notices"][change.dropped :], *change.new]

    def state_changed(self, change: StateChanged) -> None:
        assert change.old == self.drawn["state"]
        self.drawn["state"] = change.new

    def usage_changed(self, change: UsageChanged) -> None:
        assert change.old == self.drawn["usage"]
        self.drawn["usage"] = change.new

    def info_changed(self, change: InfoChanged) -> None:
        change_fields(self.drawn["info"], change)


def change_fields(held: Drawn, change: Any) -> None:
    """Change the fields that a change names, and see that they differed."""
    assert set(change.fields) == set(change.old) == set(change.new)
    assert {name: held[name] for name in change.fields} == change.old
    assert all(change.old[name] != change.new[name] for name in change.fields)
    held.update(change.new)


def edit(held: list[Any], new: Any, change: Any) -> None:
    """Edit a list by the places that a change names, taking only those items from the new one."""
    for place in reversed(change.removed):
        del held[place]
    for place in change.added:
        held.insert(place, new[place])
    for place in change.changed:
        assert held[place] != new[place]
        held[place] = new[place]


HANDLERS: dict[type, Callable[[ToyRenderer, Any], None]] = {
    Reset: ToyRenderer.reset,
    EntryAdded: ToyRenderer.entry_added,
    TextAppended: ToyRenderer.text_appended,
    TextReplaced: ToyRenderer.text_replaced,
    ItemsAppended: ToyRenderer.items_appended,
    ContentReplaced: ToyRenderer.content_replaced,
    EntryChanged: ToyRenderer.entry_changed,
    TerminalAdded: ToyRenderer.terminal_added,
    OutputAppended: ToyRenderer.output_appended,
    OutputReplaced: ToyRenderer.output_replaced,
    TerminalChanged: ToyRenderer.terminal_changed,
    PlanChanged: ToyRenderer.plan_changed,
    AvailableCommandsChanged: ToyRenderer.commands_changed,
    ConfigOptionsChanged: ToyRenderer.options_changed,
    PermissionsChanged: ToyRenderer.permissions_changed,
    PromptChanged: ToyRenderer.prompt_changed,
    ElicitationsChanged: ToyRenderer.elicitations_changed,
    TurnChanged: ToyRenderer.turn_changed,
    CancellingChanged: ToyRenderer.cancelling_changed,
    ConnectionLostChanged: ToyRenderer.connection_lost_changed,
    NoticesAdded: ToyRenderer.notices_added,
    StateChanged: ToyRenderer.state_changed,
    UsageChanged: ToyRenderer.usage_changed,
    InfoChanged: ToyRenderer.info_changed,
}
