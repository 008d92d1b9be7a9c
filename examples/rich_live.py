r"""A live view of a conversation: `python rich_live.py AGENT [ARGUMENT ...] < PROMPTS`.

A prompt is a line of the standard input; the next one is sent when the agent has come to rest.
What the agent asks for is answered with its first option, so take an agent that you trust, or a
recording, from the root of the checkout:

    printf 'Fix it.\nAnd now?\n' | python examples/rich_live.py \
        python examples/scripted_agent.py examples/recordings/coding-session.ndjson

Ctrl-C ends it. The view sees changes only, and renders again only the entries that they name.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text
from threads import Client, open_session

import acp_client
from acp_client import wire

HEADS = {"user_message": "You", "agent_message": "Agent", "agent_thought": "Thought"}
STYLES = {"user_message": "cyan", "agent_thought": "dim italic", "tool_call": "yellow"}


def picture(entry: acp_client.Entry) -> Text:
    """Draw an entry: a line that says what it is, and its text."""
    head = HEADS.get(entry.type, entry.type.title())
    if isinstance(entry, acp_client.ToolCall):
        head = f"{entry.title or entry.name} · {entry.status}"
    text = "" if isinstance(entry, acp_client.UnknownEntry) else entry.text
    head, text = acp_client.escape(head, keep_newlines=False), acp_client.escape(text)
    style = STYLES.get(entry.type, "")
    return Text.assemble((head, "bold"), "\n" if text else "", text, style=style)


class View:
    """The end of the conversation, as much as fits on the screen, and the state of the session."""

    def __init__(self) -> None:
        self._pictures: list[Text] = []
        self._lines: dict[int, list[list[Segment]]] = {}  # by place, as they were last rendered
        self._width = 0
        self._state: wire.StateUpdate | wire.UnknownStateUpdate = wire.StateUpdate("idle")

    def draw(self, delivery: acp_client.Delivery) -> None:
        """Follow changes."""
        for change in delivery.changes:
            match change:
                case acp_client.Reset():
                    self._pictures = [picture(entry) for entry in change.new.entries]
                    self._lines, self._state = {}, change.new.state
                case acp_client.EntryAdded():
                    self._pictures.append(picture(change.new))
                case acp_client.TextAppended() if change.offset and change.text[:1].isascii():
                    more = acp_client.escape(change.text)
                    self._put(change.place, self._pictures[change.place].append(more))
                case (
                    acp_client.TextAppended()
                    | acp_client.TextReplaced()
                    | acp_client.ContentReplaced()
                    | acp_client.EntryChanged()
                ):
                    self._put(change.place, picture(delivery.new.entries[change.place]))
                case acp_client.StateChanged():
                    self._state = change.new

    def _put(self, place: int, drawn: Text) -> None:
        self._pictures[place] = drawn
        self._lines.pop(place, None)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the newest lines, for as many rows as there are."""
        if self._width != options.max_width:
            self._width, self._lines = options.max_width, {}
        room, shown = options.size.height - 2, list[list[Segment]]()
        for place in reversed(range(len(self._pictures))):
            if place not in self._lines:
                self._lines[place] = [*console.render_lines(self._pictures[place], options), []]
            shown = self._lines[place] + shown
            if len(shown) >= room:
                break
        for line in shown[-room:]:
            yield from (*line, Segment.line())
        known = self._state if isinstance(self._state, wire.StateUpdate) else None
        yield Text(f"— {known.stop_reason or known.state if known else 'busy'}", "reverse")


def main() -> None:
    """Send the prompts of the standard input to an agent, and show what comes of them."""
    if len(sys.argv) < 2:
        sys.exit("usage: python rich_live.py AGENT [ARGUMENT ...] < PROMPTS")
    client = Client(sys.argv[1:])
    store, view = client.store, View()
    session_id = open_session(client)
    reader = client.reader(session_id)
    rest = threading.Event()

    def watch(delivery: acp_client.Delivery) -> None:  # a reader might have all of it in one step
        for change in delivery.changes:
            match change:
                case acp_client.StateChanged(new=wire.StateUpdate(state="idle")):
                    rest.set()
                case acp_client.PromptChanged(new=prompt) if prompt.error:
                    rest.set()

    store.subscribe(watch, session=session_id)
    with suppress(KeyboardInterrupt), Live(view, auto_refresh=False) as live:
        for words in filter(None, map(str.strip, sys.stdin)):
            rest.clear()
            store.prompt(session_id, [wire.TextContent(text=words)])
            while reader.pending or not (rest.is_set() or reader.closed):
                reader.wait(0.05, urgent=True)
                if delivery := reader.take():
                    view.draw(delivery)
                    live.refresh()
                    for asked in delivery.new.permissions:
                        first = asked.options[0].option_id
                        with suppress(acp_client.UnknownPermissionError):  # it was withdrawn
                            store.answer_permission(session_id, asked.request_id, first)
    client.close()


if __name__ == "__main__":
    main()
