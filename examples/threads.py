r"""A chat with an agent in a terminal, with threads: `python threads.py AGENT [ARGUMENT ...]`.

Each line that you type is a prompt, or the answer to what the agent asks. Ctrl-C cancels what the
agent does, Ctrl-D ends the conversation. To try it without an agent, from the root of the checkout:

    python examples/threads.py python examples/scripted_agent.py \
        examples/recordings/coding-session.ndjson

Four threads, each with one job:

- *read* passes what the agent writes to the store;
- *write* writes what the store has queued, so that no other thread ever waits for the agent;
- *draw* takes steps from a reader, at its own pace, and prints them;
- the main thread waits for the user.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import acp_client
from acp_client import wire

PICTURES_A_SECOND = 30
ENDED = wire.Error(-32000, "the agent's output ended")


def start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start an agent. Ends the program if that fails."""
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us, not for the agent
        )
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


class Client:
    """An agent's process, the store that follows it, and the two threads that serve its pipes."""

    def __init__(self, command: list[str]) -> None:
        self.process = start(command)
        self.store = acp_client.Store()
        self.has_ended = False
        self._is_closing = False
        self._something_to_send = threading.Event()
        self.store.on_data_to_send = self._something_to_send.set
        self._readers: list[acp_client.Reader] = []
        for task in (self._read, self._write):
            threading.Thread(target=task, daemon=True).start()

    def ask(self, call: Callable[..., object], *arguments: Any) -> Any:
        """Make a call of the store and wait for its answer. Raises `RuntimeError` for an error."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        call(*arguments, on_answer=answers.put)
        answer = answers.get()
        if isinstance(answer, wire.Error):
            raise RuntimeError(acp_client.escape(answer.message, keep_newlines=False))
        return answer

    def reader(self, session_id: str) -> acp_client.Reader:
        """Return a reader of a session that is closed when the agent ends."""
        reader = self.store.reader(session_id)
        self._readers.append(reader)
        if self.has_ended:
            reader.close()
        return reader

    def close(self) -> None:
        """End the agent: by closing its input, or by force if that does not help."""
        self._is_closing = True
        self._something_to_send.set()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.terminate()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            while data := os.read(pipe.fileno(), 65536):
                self.store.receive(data)
        self.store.end()
        self.has_ended = True
        self.store.disconnect(ENDED)
        self._something_to_send.set()
        for reader in self._readers:
            reader.close()

    def _write(self) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        with suppress(OSError), pipe:  # an error: the agent is gone, which `_read` notices too
            while not (self.has_ended or self._is_closing):
                self._something_to_send.wait()
                self._something_to_send.clear()
                pipe.write(self.store.data_to_send())
                pipe.flush()


def open_session(client: Client) -> str:
    """Begin a conversation; return the id of its session. Ends the program if that fails."""
    try:
        client.ask(client.store.initialize, "threads-example", "1")
        opened: wire.NewSessionResponse = client.ask(client.store.new_session, os.getcwd())
    except RuntimeError as error:
        client.close()
        sys.exit(f"the agent refused: {error}")
    return opened.session_id


# --- The thread that draws ---


def name_of(entry: acp_client.Entry, *, with_status: bool = False) -> str:
    """Say in a few words what an entry is."""
    if isinstance(entry, acp_client.ToolCall):
        title = entry.title or entry.name or entry.tool_call_id
        return f"{title}: {entry.status}" if with_status else title
    return entry.type.replace("_", " ")


class Printer:
    """Prints changes below what is printed already."""

    def __init__(self) -> None:
        self._last_place = -1
        self._entries: Sequence[acp_client.Entry] = ()

    def draw(self, delivery: acp_client.Delivery) -> None:
        """Print changes; those that are not in the table below are passed over."""
        self._entries = delivery.new.entries
        for change in delivery.changes:
            if handle := HANDLERS.get(type(change)):
                handle(self, change)
        sys.stdout.flush()

    def reset(self, change: acp_client.Reset) -> None:
        """Print a whole session."""
        for place, entry in enumerate(change.new.entries):
            self._begin(place, entry)
        for prompt in change.new.prompts:
            self._report(prompt)
        for permission in change.new.permissions:
            self._ask(permission)

    def add_entry(self, change: acp_client.EntryAdded) -> None:
        """Print a new entry."""
        self._begin(change.place, change.new)

    def append_text(self, change: acp_client.TextAppended) -> None:
        """Go on with an entry, under its name if something else was printed meanwhile."""
        if change.place != self._last_place:
            self._head(change.place, name_of(self._entries[change.place]))
        self._say(change.text)

    def change_entry(self, change: acp_client.EntryChanged) -> None:
        """Print a new status."""
        if "status" in change.fields:
            self._head(change.place, name_of(self._entries[change.place], with_status=True))

    def change_permissions(self, change: acp_client.PermissionsChanged) -> None:
        """Ask the user."""
        for place in change.added:
            self._ask(change.new[place])

    def change_prompt(self, change: acp_client.PromptChanged) -> None:
        """Print what became of a prompt."""
        self._report(change.new)

    def add_notices(self, change: acp_client.NoticesAdded) -> None:
        """Print notices."""
        for notice in change.new:
            self._line(f"({notice.severity}: {notice.title})")

    def change_state(self, change: acp_client.StateChanged) -> None:
        """Say that the agent rests."""
        if isinstance(change.new, wire.StateUpdate) and change.new.state == "idle":
            self._line(f"--- {change.new.stop_reason or 'idle'}")

    def _begin(self, place: int, entry: acp_client.Entry) -> None:
        self._head(place, name_of(entry, with_status=True))
        if not isinstance(entry, acp_client.UnknownEntry):
            self._say(entry.text)

    def _report(self, prompt: acp_client.Prompt) -> None:
        """Print what went wrong; any other prompt has its echo among the entries."""
        if prompt.status in ("rejected", "uncertain"):
            reason = prompt.error.message if prompt.error else "no reason was given"
            self._line(f"(your prompt is {prompt.status}: {reason})")

    def _ask(self, permission: acp_client.Permission) -> None:
        self._line(permission.title)
        for number, option in enumerate(permission.options, 1):
            self._say(f"  {number} {option.name}\n")
        self._say("Your answer: ")

    def _head(self, place: int, words: str) -> None:
        self._line(f"[{words}]")
        self._last_place = place

    def _line(self, text: str) -> None:
        self._last_place = -1
        self._say(f"\n{text}\n")

    def _say(self, text: str) -> None:
        sys.stdout.write(acp_client.escape(text))  # what the agent sent may hold control characters


HANDLERS: dict[type, Callable[[Printer, Any], None]] = {
    acp_client.Reset: Printer.reset,
    acp_client.EntryAdded: Printer.add_entry,
    acp_client.TextAppended: Printer.append_text,
    acp_client.EntryChanged: Printer.change_entry,
    acp_client.PermissionsChanged: Printer.change_permissions,
    acp_client.PromptChanged: Printer.change_prompt,
    acp_client.NoticesAdded: Printer.add_notices,
    acp_client.StateChanged: Printer.change_state,
}


def draw(reader: acp_client.Reader) -> None:
    """Draw until the agent has ended, at most so many times a second unless a change is urgent."""
    printer = Printer()
    while reader.wait():
        reader.wait(1 / PICTURES_A_SECOND, urgent=True)
        if delivery := reader.take():
            printer.draw(delivery)
    print("\n(the agent has ended)")


# --- The thread that waits for the user ---


def obey(store: acp_client.Store, session_id: str, line: str) -> None:
    """Take a line as the answer to the oldest question, or else as a prompt."""
    words = line.strip()
    for asked in store.snapshot(session_id).permissions:
        options = {str(number): option for number, option in enumerate(asked.options, 1)}
        chosen = options[words].option_id if words in options else None
        with suppress(acp_client.UnknownPermissionError):  # the agent withdrew it
            store.answer_permission(session_id, asked.request_id, chosen)
        return
    if words:
        store.prompt(session_id, [wire.TextContent(text=words)])


def listen(client: Client, session_id: str) -> None:
    """Do what the user says, until Ctrl-D or the end of the agent."""
    while True:
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            client.store.cancel(session_id)
            continue
        if not line or client.has_ended:
            return
        obey(client.store, session_id, line)


def main() -> None:
    """Run an agent and talk to it."""
    if len(sys.argv) < 2:
        sys.exit("usage: python threads.py AGENT [ARGUMENT ...]")
    client = Client(sys.argv[1:])
    session_id = open_session(client)
    drawing = threading.Thread(target=draw, args=(client.reader(session_id),))
    drawing.start()
    listen(client, session_id)
    client.close()
    drawing.join()


if __name__ == "__main__":
    main()
