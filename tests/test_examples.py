"""The examples run: against an agent that plays a recording, and against agents that go wrong."""

from __future__ import annotations

import base64
import importlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from traffic import BUNDLED, ROOT, chunk_line, update_line

import acp_client

EXAMPLES = ROOT / "examples"
CODING = BUNDLED / "coding-session.ndjson"
SCRIPTED = [sys.executable, str(EXAMPLES / "scripted_agent.py"), str(CODING), "--speed", "0"]
PATIENCE = 60  # seconds until a program that hangs is ended


def environment() -> dict[str, str]:
    """Give an environment in which the package is found, wherever it is."""
    paths = [str(Path(acp_client.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    more = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONIOENCODING": "utf-8"}
    return os.environ | more


def command(example: str, *arguments: str) -> list[str]:
    """Give the command of an example, warnings being errors."""
    return [sys.executable, "-W", "error", str(EXAMPLES / example), *arguments]


def run(example: str, *arguments: str, told: str = "") -> subprocess.CompletedProcess[str]:
    """Run an example to its end."""
    return subprocess.run(
        command(example, *arguments),
        input=told,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )


# --- asyncio_loop.py ---


def test_asyncio_prints_the_answer() -> None:
    """One question gives what the agent says, with the permission that was granted in between."""
    done = run("asyncio_loop.py", "--allow", "What is wrong?", *SCRIPTED)
    assert (done.returncode, done.stderr) == (0, "")
    asked, said = "(Change tidydates/parser.py? -> Allow once)", "The parser **goes by position**"
    assert asked in done.stdout
    assert said in done.stdout
    assert "All eight tests pass now." in done.stdout
    assert "Three tests fail" not in done.stdout  # a thought


def test_asyncio_declines() -> None:
    """Without `--allow` a permission is declined."""
    done = run("asyncio_loop.py", "What is wrong?", *SCRIPTED)
    assert "(Change tidydates/parser.py? -> Decline)" in done.stdout
    assert done.returncode == 0


# --- threads.py ---


class Chat:
    """A run of `threads.py`, talked to line by line."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            command("threads.py", *SCRIPTED),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
        )
        self.printed = ""

    def say(self, words: str) -> None:
        """Type a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{words}\n".encode())
        self.process.stdin.flush()

    def read_until(self, end: str) -> str:
        """Return what is printed up to some words; it is an error if the program ends before."""
        assert self.process.stdout is not None
        printed = b""
        while not printed.endswith(end.encode()):
            byte = self.process.stdout.read(1)
            assert byte, printed.decode()
            printed += byte
        return printed.decode()

    def end(self) -> tuple[int, str]:
        """Type Ctrl-D; return the status and what is left."""
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, rest.decode()


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Give a run of `threads.py` that Ctrl-C reaches, even if the tests run in the background."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    begun = Chat()
    signal.signal(signal.SIGINT, handler)
    guard = signal.signal(signal.SIGALRM, lambda *_: begun.process.kill())
    signal.alarm(PATIENCE)
    yield begun
    signal.alarm(0)
    signal.signal(signal.SIGALRM, guard)
    begun.process.kill()
    begun.process.communicate()


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs POSIX signals")
def test_threads_hold_a_conversation(chat: Chat) -> None:
    """A prompt, an answer to a question, a prompt that is cancelled by Ctrl-C, and the end."""
    chat.say("Fix it.")
    first = chat.read_until("Your answer: ")
    assert "[user message]\nThree tests of the date parser fail" in first
    assert "Change tidydates/parser.py?\n  1 Allow once\n" in first
    chat.say("1")
    second = chat.read_until("--- end_turn\n")
    assert "[Edit tidydates/parser.py: completed]" in second
    assert "All eight tests pass now." in second
    chat.say("Push it.")
    chat.read_until("Your answer: ")
    chat.process.send_signal(signal.SIGINT)
    assert "git push: cancelled]" in chat.read_until("--- cancelled\n")
    status, rest = chat.end()
    assert (status, rest.strip()) == (0, "(the agent has ended)")


# --- Agents that go wrong ---

AGENT_THAT_ASKS = """
import json, sys

def write(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)

request = json.loads(input())
write(id=7, method="fs/read_text_file", params={"path": "/etc/passwd"})
code = json.loads(input())["error"]["code"]
write(id=request["id"], error={"code": 1, "message": f"refused \\x1b with {code}"})
sys.stdin.read()
"""

AGENT_THAT_DIES = """
import json

for result in ({"protocolVersion": 2, "info": {"name": "x", "version": "1"}}, {"sessionId": "s"}):
    request = json.loads(input())
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
input()
"""

CONVERSATIONS = [("threads.py", []), ("asyncio_loop.py", ["Hello?"]), ("rich_live.py", [])]


@pytest.mark.parametrize(("example", "words"), CONVERSATIONS)
def test_refusals_are_told(example: str, words: list[str]) -> None:
    """A request that nobody offered is refused, and an agent that refuses ends the example."""
    pytest.importorskip("rich")
    done = run(example, *words, sys.executable, "-c", AGENT_THAT_ASKS)
    assert done.returncode == 1
    assert "initialize: refused \\x1b with -32601" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("example", "words"), CONVERSATIONS)
def test_an_agent_that_ends_is_told(example: str, words: list[str]) -> None:
    """An agent that is gone before it has answered ends the example as well."""
    pytest.importorskip("rich")
    done = run(example, *words, sys.executable, "-c", "")
    assert done.returncode == 1
    assert "initialize: the agent's output ended" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("example", "words"), CONVERSATIONS)
def test_a_lost_connection_is_told(example: str, words: list[str]) -> None:
    """An agent that is gone before it has answered a prompt leaves it uncertain, and ends."""
    pytest.importorskip("rich")
    done = run(example, *words, sys.executable, "-c", AGENT_THAT_DIES, told="Hello?\n")
    assert (done.returncode, done.stderr) == (0, "")
    if example != "rich_live.py":
        assert "uncertain: the agent's output ended" in done.stdout


# --- rich_live.py ---


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the module `rich_live`."""
    pytest.importorskip("rich")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("rich_live")


def shown(view: Any, height: int = 1000) -> str:
    """Give what a view shows on a screen of a height."""
    from rich.console import Console

    console = Console(width=80, height=height, color_system="truecolor", force_terminal=True)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def followed(live: Any, store: acp_client.Store) -> Callable[[], dict[str, Any]]:
    """Follow all sessions of a store by their changes; return what gives the views."""
    views: dict[str, Any] = {}

    def draw(delivery: acp_client.Delivery) -> None:
        views.setdefault(delivery.session_id, live.View()).draw(delivery.changes)

    store.subscribe(draw)
    return lambda: views


RECORDINGS = ["coding-session", "two-sessions", "resume-replay", "malformed"]


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_view_follows_changes(live: Any, name: str) -> None:
    """A view that saw nothing but changes shows what a new one shows, all the way."""
    store = acp_client.Store()
    views = followed(live, store)
    for number, text in enumerate((BUNDLED / f"{name}.ndjson").read_text().splitlines()):
        frame = json.loads(text)
        raw = frame.get("rawBase64")
        data = base64.b64decode(raw) if raw else json.dumps(frame["message"]).encode()
        (store.receive if frame["dir"] == "recv" else store.sent)(data + b"\n")
        for session_id, view in views().items() if number % 25 == 0 else ():
            shown(view, 12)
            new = live.View()
            new.draw([acp_client.Reset(store.snapshot(session_id))])
            assert shown(view) == shown(new)
    for session_id, view in views().items():
        new = live.View()
        new.draw([acp_client.Reset(store.snapshot(session_id))])
        assert shown(view) == shown(new)


def test_the_view_renders_only_what_changed(live: Any) -> None:
    """A word at the end of a long conversation makes one entry be rendered again."""
    from rich.console import Console

    rendered: list[str] = []

    class Watched(Console):
        def render_lines(self, renderable: Any, *arguments: Any, **options: Any) -> Any:
            rendered.append(str(renderable))
            return super().render_lines(renderable, *arguments, **options)

    store, console = acp_client.Store(), Watched(width=80, height=25)
    views = followed(live, store)
    for number in range(20):
        store.receive(chunk_line("some words", f"m{number}"))
    list(console.render(views()["s1"]))
    rendered.clear()
    store.receive(chunk_line(" and more", "m19"))
    list(console.render(views()["s1"]))
    assert rendered == ["Agent\nsome words and more"]


def test_the_view_joins_what_was_cut(live: Any) -> None:
    """Characters and emoji that come in two chunks are drawn as if they had come in one."""
    store = acp_client.Store()
    views = followed(live, store)
    for piece in ["a \ud83d", "\ude00 \N{HEAVY BLACK HEART}", "\N{VARIATION SELECTOR-16}", " z"]:
        store.receive(chunk_line(piece))
    assert "a \N{GRINNING FACE} \N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16} z" in shown(
        views()["s1"]
    )


def test_the_view_escapes(live: Any) -> None:
    """Nothing that an agent says reaches the terminal as a control sequence."""
    store = acp_client.Store()
    views = followed(live, store)
    store.receive(update_line("tool_call_update", toolCallId="c", title="\x1b[2J\n\u202e"))
    store.receive(chunk_line("one") + chunk_line("\x1b]0;title\x07"))
    (text,) = (re.sub(r"\x1b\[[\d;]*m", "", shown(view)) for view in views().values())
    assert "\\x1b[2J\\n\\u202e · pending" in text
    assert "one\\x1b]0;title\\x07" in text
    assert "\x1b" not in text


def test_the_view_is_short() -> None:
    """The example is what it says: a live view in well under 150 lines."""
    assert len((EXAMPLES / "rich_live.py").read_text(encoding="utf-8").splitlines()) < 140


def test_rich_draws_on_a_terminal() -> None:
    """On a terminal the first picture gives way to others, and the last one stays."""
    pytest.importorskip("rich")
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        command("rich_live.py", *SCRIPTED),
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env=environment() | {"TERM": "xterm-256color"},
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(b"Fix it.\n")
    process.stdin.close()
    printed = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    os.close(ours)
    assert process.wait(PATIENCE) == 0
    first, *_, last = printed.split("\x1b[2K")
    assert "— idle" in first
    assert "All eight tests pass now." in last
    assert "— end_turn" in last


def read_terminal(descriptor: int) -> bytes:
    """Read what was printed, nothing when the terminal is closed."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


# --- The list of them ---


def test_the_list_is_whole() -> None:
    """Every example is in the list, and what is in the list is there."""
    listed = re.findall(r"^\| \[[^]]*\]\(([^)]*)\)", (EXAMPLES / "README.md").read_text(), re.M)
    there = {path.name for path in EXAMPLES.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert set(listed) == there - {"__pycache__"}
