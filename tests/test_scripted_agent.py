"""The agent that plays a recording: what it waits for, what it answers, how it is cancelled."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from recording_tape import PERMISSION_OPTIONS, Recording, Session, connect, new_session, text_block
from traffic import BUNDLED, ROOT, replayed

from acp_client import Snapshot, Store, wire
from acp_client._recordings.reading import read_recording

AGENT = ROOT / "examples" / "scripted_agent.py"
PATIENCE = 30  # seconds until an agent that says nothing is ended
Json = dict[str, Any]


class Client:
    """A client that writes and reads line by line, and keeps all in a store."""

    def __init__(self, recording: Path, *options: str) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-W", "error", str(AGENT), str(recording), *options]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self.guard = threading.Timer(PATIENCE, self.process.kill)
        self.guard.start()
        self.store = Store()

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, **members: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"
        self.store.sent(data)
        self.write(data)

    def read_line(self) -> bytes:
        """Read one line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the agent has ended"
        self.store.receive(line)
        return line

    def read(self) -> Json:
        """Read one message."""
        message: Json = json.loads(self.read_line())
        return message

    def read_until(self, is_last: Callable[[Json], object]) -> list[Json]:
        """Read up to a certain message."""
        read = [self.read()]
        while not is_last(read[-1]):
            read.append(self.read())
        return read

    def ask(self, request_id: Any, method: str, **params: Any) -> Json:
        """Make a request and return the answer."""
        self.send(id=request_id, method=method, params=params)
        return self.read_until(lambda message: message.get("id") == request_id)[-1]

    def open(self) -> str:
        """Begin a session."""
        self.ask("a", "initialize", protocolVersion=2)
        answer = self.ask("b", "session/new", cwd="/", mcpServers=[])
        session_id: str = answer["result"]["sessionId"]
        return session_id

    def prompt(self, words: str) -> None:
        content = [wire.TextContent(text=words)]
        self.write(self.store.prompt(self.store.sessions[0], content).data)

    @property
    def snapshot(self) -> Snapshot:
        return self.store.snapshot(self.store.sessions[0])


Run = Callable[..., Client]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Give a function that runs the agent with a recording."""
    clients: list[Client] = []

    def start(recording: Recording | Path, *options: str) -> Client:
        path = tmp_path / "recording.ndjson"
        if isinstance(recording, Path):
            path = recording
        else:
            path.write_bytes(recording.data())
        clients.append(Client(path, *(options or ("--speed", "0"))))
        return clients[-1]

    yield start
    for client in clients:
        client.process.communicate(timeout=PATIENCE)
        client.guard.cancel()
        assert client.process.returncode == 0


def begun() -> tuple[Recording, Session]:
    """Begin a recording."""
    recording = Recording(seed=1)
    connect(recording)
    return recording, new_session(recording, "sess_test")


def kind(message: Json) -> Any:
    """Tell which update a message brings, or which state."""
    update = message.get("params", {}).get("update", {})
    return update.get("state") or update.get("sessionUpdate")


def test_a_coding_session_becomes_what_was_recorded(run: Run) -> None:
    """A client that does what was recorded ends with the recorded session."""
    path = BUNDLED / "coding-session.ndjson"
    client = run(path)
    client.open()
    session_id = client.store.sessions[0]
    for option in "once", "no", None:
        client.prompt("Go on.")
        client.read_until(lambda message: message.get("method") == "session/request_permission")
        (asked,) = client.snapshot.permissions
        if option is None:
            client.write(client.store.cancel(session_id).data)
            break
        client.write(client.store.answer_permission(session_id, asked.request_id, option).data)
        client.read_until(lambda message: kind(message) == "idle")
    client.prompt("Leave it.")
    client.read_until(lambda message: kind(message) == "idle")
    client.read_until(lambda message: kind(message) == "idle")
    with path.open("rb") as stream:
        recorded = replayed(read_recording(stream)).snapshot(session_id)
    assert client.snapshot.entries == recorded.entries
    assert client.snapshot.terminals == recorded.terminals
    assert client.snapshot.state == recorded.state
    statuses = [prompt.status for prompt in client.snapshot.prompts]
    assert statuses == [prompt.status for prompt in recorded.prompts]


def test_nothing_comes_before_its_prompt(run: Run) -> None:
    """What follows a recorded prompt waits for one, and its answer has the client's own id."""
    recording, session = begun()
    prompt = session.prompt(text_block("Hello."))
    session.state("running")
    recording.answer(prompt, result={"messageId": "u"})
    client = run(recording)
    assert client.open() == "sess_test"
    refused = client.ask("x", "session/list")
    assert refused["error"]["message"] == "session/list is not played"
    client.prompt("Something else.")
    (running, answer) = client.read_until(lambda message: "result" in message)
    assert kind(running) == "running"
    (sent,) = client.snapshot.prompts
    assert (answer["id"], sent.status, sent.message_id) == (sent.request_id, "accepted", "u")


def test_a_permission_request_waits_for_its_answer(run: Run) -> None:
    """What is recorded behind an answer comes when the client has answered, whatever it says."""
    recording, session = begun()
    session.prompt(text_block("Hello."))
    questions = session.ask("One?"), session.ask("Two?")
    recording.reply(questions[1], "once")
    session.update("agent_message", messageId="m2")
    recording.reply(questions[0], "once")
    session.update("agent_message", messageId="m1")
    client = run(recording)
    client.open()
    client.prompt("Hello.")
    one, two = client.read(), client.read()
    client.send(id=one["id"], result={"outcome": {"outcome": "cancelled"}})
    client.send(id=two["id"], result={"outcome": {"outcome": "selected", "optionId": "no"}})
    ids = [client.read()["params"]["update"]["messageId"] for _ in range(2)]
    assert ids == ["m2", "m1"]


def test_an_id_may_be_asked_under_again(run: Run) -> None:
    """A second permission request waits for its own answer, though it has the same id."""
    recording, session = begun()
    session.prompt(text_block("Hello."))
    for number in range(2):
        params = {"sessionId": "sess_test", "title": str(number), "options": PERMISSION_OPTIONS}
        recording.recv(id=7, method="session/request_permission", params=params)
        recording.reply(7, "once")
        session.update("agent_message", messageId=f"m{number}")
    client = run(recording)
    client.open()
    client.prompt("Hello.")
    for number in range(2):
        assert client.read()["params"]["title"] == str(number)
        client.send(id="nothing", result={})
        assert client.ask("x", "session/list")["error"]  # by then an answer would have come
        client.write(client.store.answer_permission("sess_test", 7, "no").data)
        assert client.read()["params"]["update"]["messageId"] == f"m{number}"


def test_a_cancel_ends_the_work_in_hand(run: Run) -> None:
    """After a cancel come open answers and the idle state, and then the next prompt is played."""
    recording, session = begun()
    first = session.prompt(text_block("One."))
    session.state("running")
    recording.wait(3_600_000, 3_600_000)
    recording.answer(first, result={"messageId": "u1"})
    session.update("user_message", messageId="u1")
    session.update("agent_message", messageId="never")
    recording.reply(session.ask("Never?"), "once")
    session.prompt(text_block("Two."))
    session.update("agent_message", messageId="m2")
    client = run(recording, "--speed", "1")
    client.open()
    client.prompt("One.")
    assert kind(client.read()) == "running"
    client.write(client.store.cancel("sess_test").data)
    idle, answer, echo = client.read(), client.read(), client.read()
    assert idle["params"]["update"]["stopReason"] == "cancelled"
    assert answer["result"] == {"messageId": "u1"}
    assert kind(echo) == "user_message"
    client.prompt("Two.")
    assert client.read()["params"]["update"]["messageId"] == "m2"
    client.prompt("Three.")
    assert client.read()["error"]["message"] == "The recording is over"


@pytest.mark.parametrize("answers", [True, False])
def test_a_recorded_cancel_is_waited_for(run: Run, answers: bool) -> None:
    """What follows a recorded cancel comes after one, or after the answer to what is asked then."""
    recording, session = begun()
    session.prompt(text_block("Hello."))
    question = session.ask("Shall I?")
    recording.send(method="session/cancel", params={"sessionId": "sess_test"})
    recording.reply(question, None)
    session.tool("call", status="cancelled")
    session.state("idle", stopReason="cancelled")
    client = run(recording)
    client.open()
    client.prompt("Hello.")
    asked = client.read()
    if answers:
        client.write(client.store.answer_permission("sess_test", asked["id"], "no").data)
    else:
        client.write(client.store.cancel("sess_test").data)
    assert [kind(client.read()) for _ in range(2)] == ["tool_call_update", "idle"]


def test_a_stream_without_a_client_is_played_as_it_is(run: Run, tmp_path: Path) -> None:
    """Handshakes that were not recorded are answered, and lines that are no JSON are sent too."""
    recording = Recording(seed=1)
    session = Session(recording, "sess_raw")
    session.prompt(text_block("Hello."))
    recording.junk(b"not \xff JSON")
    client = run(recording)
    assert client.open() == "sess_raw"
    client.prompt("Hello.")
    assert client.read_line() == b"not \xff JSON\n"


def test_malformed_lines_are_played_as_they_were(run: Run) -> None:
    """What is no JSON, or no message, reaches the client to the letter."""
    path = BUNDLED / "malformed.ndjson"
    client = run(path)
    client.send(id=0, method="initialize", params={"protocolVersion": 2})
    client.send(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
    for number in 2, 3:
        params = {"sessionId": "sess_rough", "prompt": [text_block("Hello.")]}
        client.send(id=number, method="session/prompt", params=params)
    while b"The recording is over" not in client.read_line():
        pass
    with path.open("rb") as stream:
        recorded = replayed(read_recording(stream))
    assert client.snapshot.entries == recorded.snapshot("sess_rough").entries
    assert client.store.problem_counts["not_json"] == recorded.problem_counts["not_json"] > 0


def test_time_passes_as_recorded(run: Run) -> None:
    """What took a second takes a second at speed 1, but the user's own pauses are left out."""
    recording, session = begun()
    recording.wait(3_600_000, 3_600_000)
    session.prompt(text_block("Hello."))
    session.state("running")
    recording.wait(1000, 1000)
    session.state("idle")
    client = run(recording, "--speed", "1")
    client.open()
    begin = time.monotonic()
    client.prompt("Hello.")
    client.read_until(lambda message: kind(message) == "idle")
    assert time.monotonic() - begin > 1
