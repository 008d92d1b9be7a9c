"""The tape that the bundled recordings are written on: lines, a clock, and seeded chances.

`Recording` holds the lines between a client and an agent, `Session` tells what the agent reports
about one session, and the functions below build what ACP nests inside. Chance decides where text
is cut into chunks and how long anybody takes. It comes from a seed and only through `random()`,
because that method alone is promised to give the same numbers in every Python.
"""

import base64
import difflib
import json
import random
import re
from collections.abc import Iterator, Sequence

Fields = dict[str, object]

BEGIN = 1773307800000  # 2026-03-12T09:30:00Z
HOME = "/home/user/tidydates"


class Recording:
    """The lines of one recording between a client and an agent."""

    def __init__(self, seed: int) -> None:
        """Begin an empty recording; the same seed gives the same cuts and times."""
        self._chance = random.Random(seed)
        self._now = BEGIN
        self._requests = self._questions = 0
        self._lines: list[str] = []

    def data(self) -> bytes:
        """Join all lines, as a file holds them."""
        return "".join(f"{line}\n" for line in self._lines).encode()

    def wait(self, low: int, high: int) -> None:
        """Let between `low` and `high` milliseconds pass."""
        self._now += self.between(low, high)

    def between(self, low: int, high: int) -> int:
        """Choose a whole number from `low` to `high`."""
        return low + int(self._chance.random() * (high - low + 1))

    def literal(self, direction: str, text: str) -> None:
        """Record JSON text exactly as it is written."""
        self._lines.append(f'{{"dir":"{direction}","ts":{self._now},"message":{text}}}')

    def junk(self, data: bytes) -> None:
        """Record a line from the agent that no strict reader takes for JSON."""
        raw, encoded = data.decode(errors="replace"), base64.b64encode(data).decode()
        fields = {"dir": "recv", "ts": self._now, "message": None, "raw": raw}
        self._lines.append(to_json(fields | {"rawBase64": encoded}))

    def send(self, **message: object) -> None:
        """Record a message from the client."""
        self.wait(1, 4)
        self.literal("send", to_json({"jsonrpc": "2.0"} | message))

    def recv(self, **message: object) -> None:
        """Record a message from the agent."""
        self.wait(1, 4)
        self.literal("recv", to_json({"jsonrpc": "2.0"} | message))

    def request(self, method: str, **params: object) -> int:
        """Record a request from the client; its id is the next number."""
        number, self._requests = self._requests, self._requests + 1
        self.send(id=number, method=method, params=params)
        return number

    def answer(self, request: int, **outcome: object) -> None:
        """Record the agent's answer: `result=…` or `error=…`."""
        self.recv(id=request, **outcome)

    def ask(self, session: str, **params: object) -> int:
        """Record a permission request from the agent; its ids are counted apart."""
        number, self._questions = self._questions, self._questions + 1
        params = {"sessionId": session} | params | {"options": PERMISSION_OPTIONS}
        self.recv(id=number, method="session/request_permission", params=params)
        return number

    def reply(self, question: int, option: str | None) -> None:
        """Record the client's answer to a permission request; None for a cancelled one."""
        chosen = {"outcome": "selected", "optionId": option}
        self.send(id=question, result={"outcome": chosen if option else {"outcome": "cancelled"}})

    def pieces(self, text: str) -> Iterator[str]:
        """Cut text the way that language models stream it: a few words, or only blanks."""
        words = re.findall(r"\n+|[^\S\n]*\S+|[^\S\n]+", text)
        while words:
            count = self.between(1, 3)
            yield "".join(words[:count])
            del words[:count]

    def slices(self, data: bytes) -> Iterator[bytes]:
        """Cut bytes the way that a pipe does: anywhere."""
        while data:
            count = self.between(16, 64)
            yield data[:count]
            data = data[count:]


class Session:
    """What the agent tells about one session."""

    def __init__(self, recording: Recording, session_id: str) -> None:
        """Tell about the session `session_id` in `recording`."""
        self.recording = recording
        self.session_id = session_id

    def update(self, kind: str, /, **fields: object) -> None:
        """Record a `session/update`."""
        update = {"sessionUpdate": kind} | fields
        params = {"sessionId": self.session_id, "update": update}
        self.recording.recv(method="session/update", params=params)

    def state(self, state: str, **fields: object) -> None:
        """Record a `state_update`."""
        self.update("state_update", state=state, **fields)

    def think(self, message_id: str, text: str) -> None:
        """Stream a thought."""
        self._stream("agent_thought_chunk", text, messageId=message_id)

    def say(self, message_id: str, text: str) -> None:
        """Stream a message."""
        self._stream("agent_message_chunk", text, messageId=message_id)

    def summarise(self, compaction_id: str, text: str) -> None:
        """Stream the summary of a compaction."""
        self._stream("compaction_summary_chunk", text, compactionId=compaction_id)

    def _stream(self, kind: str, text: str, **names: object) -> None:
        self.recording.wait(300, 900)
        for piece in self.recording.pieces(text):
            self.recording.wait(12, 55)
            self.update(kind, **names, content=text_block(piece))

    def tool(self, call_id: str, **fields: object) -> None:
        """Record a `tool_call_update`."""
        self.update("tool_call_update", toolCallId=call_id, **fields)

    def quick(self, call_id: str, result: Sequence[Fields], **fields: object) -> None:
        """Record a tool call from its first sight to its completion."""
        self.tool(call_id, status="pending", **fields)
        self.recording.wait(5, 30)
        self.tool(call_id, status="in_progress")
        self.recording.wait(20, 120)
        self.tool(call_id, status="completed", content=result)

    def command(self, call_id: str, terminal_id: str, command: str) -> None:
        """Record the start of a tool call that runs a command in a terminal."""
        self.tool(
            call_id,
            title=f"Run {command}",
            name="run_command",
            kind="execute",
            status="in_progress",
            content=[{"type": "terminal", "terminalId": terminal_id}],
            rawInput={"command": command},
        )
        self.update(
            "terminal_update",
            terminalId=terminal_id,
            command=command,
            cwd=HOME,
            size={"cols": 100, "rows": 30},
            capabilities={"cancel": {}},
        )

    def output(self, terminal_id: str, text: str) -> None:
        """Stream what a command prints."""
        for data in self.recording.slices(text.encode()):
            self.recording.wait(10, 90)
            encoded = base64.b64encode(data).decode()
            self.update("terminal_output_chunk", terminalId=terminal_id, data=encoded)

    def exited(self, terminal_id: str, **exit_status: object) -> None:
        """Record that a command ended."""
        fields: Fields = {"exitStatus": exit_status, "capabilities": None}
        self.update("terminal_update", terminalId=terminal_id, **fields)

    def prompt(self, *content: Fields) -> int:
        """Record a `session/prompt` request."""
        return self.recording.request(
            "session/prompt", sessionId=self.session_id, prompt=list(content)
        )

    def ask(self, title: str, **params: object) -> int:
        """Record a permission request in this session."""
        return self.recording.ask(self.session_id, title=title, **params)


def to_json(value: object) -> str:
    """Write compact JSON: UTF-8 as it is, escapes only where half a surrogate pair needs them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    whole = text.isascii() or not re.search("[\ud800-\udfff]", text)
    return text if whole else json.dumps(value, separators=(",", ":"))


def text_block(text: str) -> Fields:
    """Build a content block of text."""
    return {"type": "text", "text": text}


def shown(text: str) -> Fields:
    """Build an item of a tool call's content that shows text."""
    return {"type": "content", "content": text_block(text)}


def git_patch(path: str, old: str, new: str) -> str:
    """Build a patch as ACP wants it: absolute paths, no prefixes; without `old`, a new file."""
    before = path if old else "/dev/null"
    header = f"diff --git {path} {path}\n" + ("" if old else "new file mode 100644\n")
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), before, path)
    return header + "".join(lines)


def file_changes(*files: tuple[str, str, str]) -> Fields:
    """Build a diff of files, each given as (path, old, new)."""
    changes = [
        {"operation": "modify" if old else "add", "path": path, "fileType": "text"}
        for path, old, _ in files
    ]
    patch = {"format": "git_patch", "text": "".join(git_patch(*file) for file in files)}
    return {"type": "diff", "changes": changes, "patch": patch}


def plan(plan_id: str, *entries: tuple[str, str, str]) -> Fields:
    """Build a plan of items, each given as (content, priority, status)."""
    names = ("content", "priority", "status")
    items = [dict(zip(names, entry, strict=True)) for entry in entries]
    return {"type": "items", "planId": plan_id, "entries": items}


def select(config_id: str, name: str, value: str, **names: str) -> Fields:
    """Build a configuration option with the choices `value=name`."""
    choices = [{"value": key, "name": label} for key, label in names.items()]
    fields: Fields = {"configId": config_id, "name": name, "category": config_id, "type": "select"}
    return fields | {"currentValue": value, "options": choices}


def config_options(mode: str) -> list[Fields]:
    """List the configuration options of a session."""
    return [
        select("mode", "Mode", mode, ask="Ask before edits", code="Edit freely"),
        select("model", "Model", "large", small="Small", large="Large"),
        {"configId": "thinking", "name": "Show thoughts", "type": "boolean", "currentValue": True},
    ]


PERMISSION_OPTIONS: list[Fields] = [
    {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow in this session", "kind": "allow_always"},
    {"optionId": "no", "name": "Decline", "kind": "reject_once"},
]
COMMANDS: list[Fields] = [
    {"type": "command", "name": "test", "description": "Run the tests of the project"},
    {
        "type": "command",
        "name": "review",
        "description": "Review a change",
        "input": {"type": "text", "hint": "commit or branch"},
    },
]


def connect(recording: Recording) -> None:
    """Record the handshake that every connection begins with."""
    editor = {"name": "example-editor", "title": "Example Editor", "version": "0.3.0"}
    agent = {"name": "example-agent", "title": "Example Agent", "version": "2.1.0"}
    capabilities: Fields = {"session": {"prompt": {"embeddedContext": {}}, "mcp": {"stdio": {}}}}
    number = recording.request("initialize", protocolVersion=2, info=editor, capabilities={})
    recording.wait(80, 250)
    result = {"protocolVersion": 2, "info": agent, "capabilities": capabilities}
    recording.answer(number, result=result)


def new_session(recording: Recording, session_id: str, **lists: object) -> Session:
    """Record `session/new` and its result."""
    number = recording.request("session/new", cwd=HOME, mcpServers=[])
    recording.wait(5, 40)
    recording.answer(number, result={"sessionId": session_id} | lists)
    return Session(recording, session_id)
