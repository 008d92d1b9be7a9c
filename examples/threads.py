r"""A chat with an agent in a terminal, with threads: `python threads.py AGENT [ARGUMENT ...]`.

Each line that you type is a prompt, or the answer to what the agent asks. Ctrl-C cancels the work
in hand, Ctrl-D ends the conversation. To try it without an agent, from the root of the checkout:

    python examples/threads.py python examples/scripted_agent.py \
        examples/recordings/coding-session.ndjson

Four threads, each with one job:

- *read* takes what the agent writes and gives it to the store;
- *write* writes what is in the outbox, so that nobody else ever waits for the agent;
- *draw* takes steps from a reader, at its own pace, and prints them;
- the main thread waits for the user.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

import acp_client
from acp_client import wire

PICTURES_A_SECOND = 30
NOT_FOUND = -32601
ENDED = wire.Error(-32000, "the agent's output ended")


def message(**members: Any) -> bytes:
    """Make one line of JSON-RPC."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


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


class Connection:
    """An agent's process, the store that follows it, and the two threads that serve its pipes."""

    def __init__(self, command: list[str]) -> None:
        self.store = acp_client.Store()
        self.outbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._waiting: dict[wire.RequestId, queue.SimpleQueue[wire.Response]] = {}
        self._readers: list[acp_client.Reader] = []
        self.has_ended = False
        self.process = start(command)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        threading.Thread(target=self._write, args=(self.process.stdin,), daemon=True).start()
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request of our own and wait for the result. Raises `RuntimeError` without one."""
        number = next(self._numbers)
        answer = self._waiting[number] = queue.SimpleQueue()
        data = message(id=number, method=method, params=params)
        self.store.sent(data)  # before it is written: the answer must find its request
        self.outbox.put(data)
        if self.has_ended:  # perhaps before the request was among those that wait
            self._give_up()
        response = answer.get()
        if response.result is None:
            reason = response.error.message if response.error else "the answer is malformed"
            raise RuntimeError(f"{method}: {acp_client.escape(reason, keep_newlines=False)}")
        return response.result.value

    def reader(self, session_id: str) -> acp_client.Reader:
        """Return a reader of a session that is closed when the connection is."""
        reader = self.store.reader(session_id)
        self._readers.append(reader)
        if self.has_ended:
            reader.close()
        return reader

    def close(self) -> None:
        """End the agent: by closing its input, or by force if that does not help."""
        self.outbox.put(b"")
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.terminate()

    def _write(self, pipe: IO[bytes]) -> None:
        with suppress(OSError), pipe:  # the agent is gone: the reading thread finds that out too
            while data := self.outbox.get():
                pipe.write(data)
                pipe.flush()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self.store.receive(line)
                if b'"session/update"' not in line:  # those are the store's business alone
                    self._look_at(line)
        self.store.end()
        self.store.disconnect(ENDED)
        self.has_ended = True
        self._give_up()
        self.outbox.put(b"")
        for reader in self._readers:
            reader.close()

    def _give_up(self) -> None:
        """Answer all requests that nobody else will answer."""
        with suppress(KeyError):  # there is none left
            while True:
                number, answer = self._waiting.popitem()
                answer.put(wire.Response(number, error=ENDED))

    def _look_at(self, line: bytes) -> None:
        """Take answers to our own requests, and refuse requests that we know nothing of."""
        match acp_client.decode(line)[0]:
            case wire.Response() as response if response.id in self._waiting:
                self._waiting.pop(response.id).put(response)
            case wire.Request(method=method) as request if method != "session/request_permission":
                error = {"code": NOT_FOUND, "message": f"{method} is not offered"}
                self.outbox.put(message(id=request.id, error=error))


def open_session(connection: Connection) -> str:
    """Begin a conversation; return the id of its session. Ends the program if that fails."""
    info = {"name": "threads-example", "version": "1"}
    try:
        connection.ask("initialize", protocolVersion=2, info=info, capabilities={})
        opened = connection.ask("session/new", cwd=os.getcwd(), mcpServers=[])
    except RuntimeError as error:
        connection.close()
        sys.exit(str(error))
    session_id: str = opened["sessionId"]
    return session_id


# --- The thread that draws ---


def name_of(entry: acp_client.Entry, *, with_status: bool = False) -> str:
    """Say in a few words what an entry is."""
    if isinstance(entry, acp_client.ToolCall):
        title = entry.title or entry.name or entry.tool_call_id
        return f"{title}: {entry.status}" if with_status else title
    return entry.type.replace("_", " ")


class Roll:
    """Prints changes below what is printed already."""

    def __init__(self) -> None:
        self._last_place = -1
        self._entries = acp_client.Entries()

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
            self._tell_of(prompt)
        for permission in change.new.permissions:
            self._ask(permission)

    def add_entry(self, change: acp_client.EntryAdded) -> None:
        """Print a new entry."""
        self._begin(change.place, change.new)

    def append_text(self, change: acp_client.TextAppended | acp_client.TextReplaced) -> None:
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
        """Tell what became of a prompt."""
        self._tell_of(change.new)

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

    def _tell_of(self, prompt: acp_client.Prompt) -> None:
        """Tell of what went wrong. Other prompts need no word: their echo is an entry."""
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


HANDLERS: dict[type, Callable[[Roll, Any], None]] = {
    acp_client.Reset: Roll.reset,
    acp_client.EntryAdded: Roll.add_entry,
    acp_client.TextAppended: Roll.append_text,
    acp_client.TextReplaced: Roll.append_text,
    acp_client.EntryChanged: Roll.change_entry,
    acp_client.PermissionsChanged: Roll.change_permissions,
    acp_client.PromptChanged: Roll.change_prompt,
    acp_client.NoticesAdded: Roll.add_notices,
    acp_client.StateChanged: Roll.change_state,
}


def draw(reader: acp_client.Reader) -> None:
    """Draw until the agent has ended, at most so many times a second but for what is urgent."""
    roll = Roll()
    while reader.wait():
        reader.wait(1 / PICTURES_A_SECOND, urgent=True)
        if delivery := reader.take():
            roll.draw(delivery)
    print("\n(the agent has ended)")


# --- The thread that waits for the user ---


def obey(connection: Connection, session_id: str, line: str) -> None:
    """Take a line for the answer to the oldest question, or else for a prompt."""
    store, words = connection.store, line.strip()
    for asked in store.snapshot(session_id).permissions:
        options = {str(number): option for number, option in enumerate(asked.options, 1)}
        chosen = options[words].option_id if words in options else None
        with suppress(acp_client.UnknownPermissionError):  # the agent does not ask any more
            connection.outbox.put(
                store.answer_permission(session_id, asked.request_id, chosen).data
            )
        return
    if words:
        content = [wire.TextContent(text=words)]
        connection.outbox.put(store.prompt(session_id, content).data)


def listen(connection: Connection, session_id: str) -> None:
    """Do what the user says, until Ctrl-D or the end of the agent."""
    while True:
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            connection.outbox.put(connection.store.cancel(session_id).data)
            continue
        if not line or connection.has_ended:
            return
        obey(connection, session_id, line)


def main() -> None:
    """Run an agent and talk to it."""
    if len(sys.argv) < 2:
        sys.exit("usage: python threads.py AGENT [ARGUMENT ...]")
    connection = Connection(sys.argv[1:])
    session_id = open_session(connection)
    drawing = threading.Thread(target=draw, args=(connection.reader(session_id),))
    drawing.start()
    listen(connection, session_id)
    connection.close()
    drawing.join()


if __name__ == "__main__":
    main()
