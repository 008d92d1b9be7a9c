"""The examples run: against an agent that plays a recording, and against agents that go wrong."""

from __future__ import annotations

import base64
import errno
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
from traffic import BUNDLED, ROOT, chunk_line, line, update_line

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
    assert "the agent refused: refused \\x1b with -32601" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("example", "words"), CONVERSATIONS)
def test_an_agent_that_ends_is_told(example: str, words: list[str]) -> None:
    """An agent that is gone before it has answered ends the example as well."""
    pytest.importorskip("rich")
    done = run(example, *words, sys.executable, "-c", "")
    assert done.returncode == 1
    assert "the agent refused: the agent's output ended" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("example", "words"), CONVERSATIONS)
def test_a_lost_connection_is_told(example: str, words: list[str]) -> None:
    """An agent that is gone before it has answered a prompt leaves it uncertain, and ends."""
    pytest.importorskip("rich")
    done = run(example, *words, sys.executable, "-c", AGENT_THAT_DIES, told="Hello?\n")
    assert (done.returncode, done.stderr) == (0, "")
    if example != "rich_live.py":
        assert "uncertain: the agent's output ended" in done.stdout


@pytest.mark.parametrize(("example", "words"), CONVERSATIONS)
def test_an_agent_that_does_not_start_is_told(example: str, words: list[str]) -> None:
    """A command that does not exist ends the example with one line."""
    pytest.importorskip("rich")
    done = run(example, *words, "./no-such-agent", "--acp")
    reason = os.strerror(errno.ENOENT)
    assert (done.returncode, done.stderr) == (1, f"./no-such-agent: {reason}\n")


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
        views.setdefault(delivery.session_id, live.View()).draw(delivery)

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
            new.draw(acp_client.Delivery.first(store.snapshot(session_id)))
            assert shown(view) == shown(new)
    for session_id, view in views().items():
        new = live.View()
        new.draw(acp_client.Delivery.first(store.snapshot(session_id)))
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


# --- emulated_terminal.py ---


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the module `emulated_terminal`."""
    pytest.importorskip("pyte")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("emulated_terminal")


def output_line(data: bytes, terminal_id: str = "t", session: str = "s1") -> bytes:
    """Write a chunk of a terminal's output as a line."""
    encoded = base64.b64encode(data).decode()
    return update_line("terminal_output_chunk", session, terminalId=terminal_id, data=encoded)


def size_line(columns: int, rows: int) -> bytes:
    """Write the size of the terminal as a line."""
    return update_line("terminal_update", terminalId="t", size={"cols": columns, "rows": rows})


def screens_of(emulated: Any, store: acp_client.Store, *lines: bytes) -> dict[str, str]:
    """Give what the terminals of a session show after some lines, each a read of its own."""
    screens = emulated.Screens()
    store.subscribe(screens.draw)
    for data in lines:
        store.receive(data)
    terminals = store.snapshot("s1").terminals
    return {terminal.terminal_id: screens.text("s1", terminal) for terminal in terminals}


def screen_of(emulated: Any, *lines: bytes, limit: int | None = None) -> str:
    """Give what one terminal shows after some lines; the store may keep so many bytes of it."""
    limits = acp_client.Limits(terminal_bytes=limit)
    return screens_of(emulated, acp_client.Store(limits=limits), *lines)["t"]


MARK = "\N{HEAVY CHECK MARK}"
SCREENS = {
    "a progress bar": (b"10 %\r 50 %\r100 %\r\ndone", "100 %\ndone"),
    "lines above": (b"a: 0\r\nb: 0\r\n\x1b[2Aa: 9\r\nb: 9\r\n", "a: 9\nb: 9"),
    "lines below": (b"a\r\n\r\nc\x1b[1;1Hb\x1b[2Bd", "b\n\ncd"),
    "a place on the screen": (b"x\x1b[2J\x1b[3;5Hhere", "\n\n    here"),
    "colours": (b"\x1b[1;31mred\x1b[0m", "red"),
    "line feeds alone": (b"one\ntwo\n", "one\ntwo"),
    "more than fits": (
        b"\r\n".join(b"%d" % number for number in range(25)),
        "\n".join(map(str, range(1, 25))),
    ),
    "another screen": (b"$ vim\r\n\x1b[?1049h\x1b[Htext\x1b[?1049l$ ls", "$ vim\n$ ls"),
    "another screen that stays": (b"$ vim\r\n\x1b[?1049h\x1b[Htext", "text"),
    "another screen that scrolls": (
        b"a\r\nb\x1b[?47h\x1b[2;5r\x1b[9L\x1bM\x1b[?47l\x1b[r\x1b[3Hc",
        "a\nb\nc",
    ),
    "half a wide character": ("日本\r|".encode(), "| 本"),
    "an emoji": (f"{MARK}\N{VARIATION SELECTOR-16} done".encode(), f"{MARK} done"),
    "bytes that are no text": (b"a\xff\xc3\xe2\x82b\x00c", "a\ufffd\ufffd\ufffdbc"),
}


@pytest.mark.parametrize(("data", "text"), SCREENS.values(), ids=SCREENS)
@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_a_screen_shows(emulated: Any, data: bytes, text: str, piece: int) -> None:
    """A terminal shows what its bytes mean, wherever they were cut."""
    pieces = [data[start : start + piece] for start in range(0, len(data), piece)]
    assert screen_of(emulated, *map(output_line, pieces)) == f"[t, 80 x 24]\n{text}"


def test_the_transcript_knows_no_rows() -> None:
    """`terminal.text` has no cursor that moves up: that is what the example is for."""
    store = acp_client.Store()
    store.receive(output_line(SCREENS["lines above"][0]))
    (terminal,) = store.snapshot("s1").terminals
    assert terminal.text == "a: 0\nb: 0\na: 9\nb: 9\n"


UNREADABLE = [
    b"\x1b[?5A",
    b"\x1b[1;2;3A",
    b"\x1b[7K",
    b"\x1b[7J",
    b"\x1b[?6h\x1b[9999d",
    "\x1b[²A".encode(),
    b"\x1b[" + b"9" * 5000 + b"A",
]
"""What pyte 0.8.2 raises for."""

HARMLESS = [
    b"\x1b[?1;2;3q",
    b"\x1b[>0q",
    b"\x1b[999999999L",
    b"\x1b[9999999999999b",
    b"\x1b[9999999999C\x1b[9999999999B\x1b[9999999999P\x1b[9999999999X\x1b[9999999999@",
    b"\x1b[" + b";" * 5000 + b"m",
    b"\x1b[38;5;999m\x1b[38;2m",
    b"\x1b[?1;6;7;25;1000;1049;2004;65535h\x1b[?6l",
    b"\x1b[?3h\x1b[?3l",
    b"\x1b[5;2r\x1b[0;99999r",
    b"\x1b#8\x1bc",
    b"\x1b8\x1b7\x1b8",
    b"\x1b]0;title\x07\x1b]52;c;AAAA\x1b\\",
    "\x9b5A\x9d0;x\x9c\x85\x8d\x90".encode(),
    b"\x00\x01\x7f\x18\x1a\x0e",
    b"\xff\xfe\xc0\xaf\xed\xa0\x80\xf5",
    ("a" + "\u0301" * 500).encode(),
    "\u202e\u200b\u00ad\ufeff\U000e0041".encode(),
    ("日" * 41).encode(),
    b"\x1b[80G\xe6\x97\xa5\x1b[D\xe6\x97\xa5\x1b[1P",
]


@pytest.mark.parametrize(
    ("data", "unreadable"), [(data, 1) for data in UNREADABLE] + [(data, 0) for data in HARMLESS]
)
@pytest.mark.parametrize("size", [(80, 24), (1, 1), (65535, 65535)])
def test_no_output_is_too_much(
    emulated: Any, data: bytes, unreadable: int, size: tuple[int, int]
) -> None:
    """Whatever a terminal is told, what follows is shown, and nothing that another would act on."""
    columns, rows = min(size[0], 200), min(size[1], 60)
    shown = screen_of(emulated, size_line(*size), output_line(data + b"\x1b[r\x1b[?7h\x1b[H$"))
    note = f", unreadable sequences: {unreadable}" if unreadable else ""
    head, first, *_ = shown.split("\n")
    assert re.fullmatch(rf"\[t, ({columns}|132) x {rows}{note}\]", head)
    assert first.startswith("$")
    assert shown == acp_client.escape(shown)


def test_a_row_below_the_last_is_the_last(emulated: Any) -> None:
    """Where pyte raises in the middle of its work, the cursor stays on the screen."""
    shown = screen_of(emulated, size_line(9, 2), output_line(b"\x1b[?6h\x1b[99d$"))
    assert shown == "[t, 9 x 2, unreadable sequences: 1]\n\n$"


def test_few_places_are_remembered(emulated: Any) -> None:
    """A terminal that saves its cursor for ever takes no more memory for it."""
    screen = emulated.Screen()
    for byte in b"\x1b7" * 1000:
        screen.feed(bytes([byte]))
    assert len(screen.savepoints) < 10


def test_a_title_without_an_end_is_no_text(emulated: Any) -> None:
    """What an unfinished sequence swallows is not shown until it is finished."""
    lines = [output_line(b"\x1b]0;title" + b"x" * 100_000), output_line(b"\x07$")]
    assert screen_of(emulated, lines[0]) == "[t, 80 x 24]\n"
    assert screen_of(emulated, *lines) == "[t, 80 x 24]\n$"


def test_the_name_of_a_terminal_is_one_line(emulated: Any) -> None:
    """A command is named without what could pass for output, or act on a terminal."""
    shown = screen_of(emulated, update_line("terminal_update", terminalId="t", command="a\n\x1bc"))
    assert shown == "[a\\n\\x1bc, 80 x 24]\n"


RESIZES: dict[str, tuple[list[bytes | tuple[int, int] | None], str]] = {
    "fewer rows, all below the cursor": ([b"1\r\n2\r\n3", (80, 4)], "[t, 80 x 4]\n1\n2\n3"),
    "fewer rows": ([b"1\r\n2\r\n3\r\n4", (80, 2), b"\r\n5"], "[t, 80 x 2]\n4\n5"),
    "more rows": ([(80, 2), b"1\r\n2\r\n3", (80, 3), b"\r\n4"], "[t, 80 x 3]\n2\n3\n4"),
    "fewer columns": ([b"123456", (3, 2), b"\r\n789x"], "[t, 3 x 2]\n789\nx"),
    "more columns": (
        [(3, 2), b"123", (99, 2), b"\r\n" + b"\t" * 12 + b"x"],
        f"[t, 99 x 2]\n123\n{' ' * 96}x",
    ),
    "a region that scrolls": (
        [b"top\x1b[2;20r\x1b[20Hend", (80, 5), b"\r\n."],
        "[t, 80 x 5]\n\n\n\nend\n.",
    ),
    "on another screen": (
        [b"1\r\n2\r\n3", b"\x1b[?1049h", (80, 2), b"\x1b[?1049l."],
        "[t, 80 x 2]\n2\n3.",
    ),
    "no size any more": ([(3, 2), b"123", None, b"456"], "[t, 80 x 24]\n123456"),
}


@pytest.mark.parametrize(("steps", "text"), RESIZES.values(), ids=RESIZES)
def test_a_screen_is_resized(
    emulated: Any, steps: list[bytes | tuple[int, int] | None], text: str
) -> None:
    """A new size keeps what is around the cursor, and counts for what comes then."""
    lines = []
    for step in steps:
        if isinstance(step, bytes):
            lines.append(output_line(step))
        elif step is None:
            lines.append(update_line("terminal_update", terminalId="t", size=None))
        else:
            lines.append(size_line(*step))
    assert screen_of(emulated, *lines) == text


OLD = [b"\x1b[2J\x1b[H", b"first\r\n", b"second\r\n", b"third"]


def test_a_screen_needs_no_old_output(emulated: Any) -> None:
    """A screen that was fed all along shows what the store has forgotten, and no other does."""
    store = acp_client.Store(limits=acp_client.Limits(terminal_bytes=8))
    whole = screens_of(emulated, store, *map(output_line, OLD))
    assert whole == {"t": "[t, 80 x 24]\nfirst\nsecond\nthird"}
    (terminal,) = store.snapshot("s1").terminals
    assert terminal.dropped_bytes == 19
    assert screens_of(emulated, store) == {"t": "[t, 80 x 24]\nd\nthird"}


@pytest.mark.parametrize(
    ("newer", "text"),
    [
        (output_line(b"0123456789"), "23456789"),
        (update_line("terminal_update", terminalId="t", output={"data": "bmV3"}), "new"),
        (update_line("terminal_update", terminalId="t", output=None), ""),
    ],
)
def test_output_that_does_not_continue_begins_anew(emulated: Any, newer: bytes, text: str) -> None:
    """More than the store keeps in one read is shown as it is, and so is what replaces output."""
    shown = screen_of(emulated, output_line(b"\x1b[5;5Hold"), newer, limit=8)
    assert shown == f"[t, 80 x 24]\n{text}"


def test_time_is_bounded(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """When there is no time left, terminals show their transcript, those to come too."""
    monkeypatch.setattr(emulated, "MOST_SECONDS", 0.05)
    slow, late = output_line(b"slow\r\n" + b"\x1b#8" * 1000), output_line(b"late", "u")
    shown = screens_of(emulated, acp_client.Store(), size_line(65535, 65535), slow, late)
    assert shown == {
        "t": "[t, not emulated: this is its transcript]\nslow",
        "u": "[u, not emulated: this is its transcript]\nlate",
    }


def test_screens_are_bounded(emulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many terminals the newest have screens."""
    monkeypatch.setattr(emulated, "MOST_SCREENS", 2)
    store = acp_client.Store()
    begun = screens_of(emulated, store, *(output_line(b"hi\x1b[A", name) for name in "abc"))
    assert [text.partition(", ")[2] for text in begun.values()] == [
        "not emulated: this is its transcript]\nhi",
        "80 x 24]\nhi",
        "80 x 24]\nhi",
    ]


@pytest.mark.parametrize("name", RECORDINGS)
def test_screens_follow_changes(emulated: Any, name: str) -> None:
    """Screens that saw nothing but changes show what new ones show."""
    store, followed, new = acp_client.Store(), emulated.Screens(), emulated.Screens()
    store.subscribe(followed.draw)
    with (BUNDLED / f"{name}.ndjson").open("rb") as stream:
        acp_client.feed(store, acp_client.read_recording(stream))
    store.subscribe(new.draw)
    for session_id in store.sessions:
        for terminal in store.snapshot(session_id).terminals:
            assert followed.text(session_id, terminal) == new.text(session_id, terminal)


def test_terminals_of_sessions_are_apart(emulated: Any) -> None:
    """A session that begins anew loses its own screens, and nobody else's."""
    store, screens = acp_client.Store(), emulated.Screens()
    store.subscribe(screens.draw)
    store.receive(output_line(b"one") + output_line(b"two", session="s2"))
    replay = {"sessionId": "s1", "cwd": "/", "replayFrom": {"type": "start"}}
    store.sent(line(id=1, method="session/resume", params=replay))
    store.receive(output_line(b"again"))
    store.receive(line(id=1, result={}))
    texts = [screens.text(name, store.snapshot(name).terminals[0]) for name in ("s1", "s2")]
    assert texts == ["[t, 80 x 24]\nagain", "[t, 80 x 24]\ntwo"]


def test_emulation_of_a_recording() -> None:
    """The program prints the screens of a recording, one below the other."""
    pytest.importorskip("pyte")
    done = run("emulated_terminal.py", str(CODING))
    assert (done.returncode, done.stderr) == (0, "")
    heads = re.findall(r"^\[(.*), 100 x 30\]$", done.stdout, re.M)
    assert heads[:2] == ["pytest -v", "pytest -v"]
    assert "\n146,097 days, 3 ways: all came back" in done.stdout
    assert "3 ways: 25 %" not in done.stdout


def test_emulation_of_what_an_agent_writes() -> None:
    """Lines of the standard input are told one by one: what came before a new size has the old."""
    pytest.importorskip("pyte")
    lines = [size_line(20, 3), output_line(b"x" * 12), size_line(8, 3), output_line(b"\n123456789")]
    done = run("emulated_terminal.py", told=b"".join(lines).decode())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[t, 8 x 3]\nxxxxxxxx\n12345678\n9\n\n"


@pytest.mark.parametrize(
    ("arguments", "told"), [(["./no-such-recording"], ""), ([], "no recording\n"), (["a", "b"], "")]
)
def test_emulation_says_what_is_wrong(arguments: list[str], told: str) -> None:
    """What cannot be read ends the program with one line."""
    pytest.importorskip("pyte")
    done = run("emulated_terminal.py", *arguments, told=told)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


# --- The list of them ---


def test_the_list_is_whole() -> None:
    """Every example is in the list, and what is in the list is there."""
    listed = re.findall(r"^\| \[[^]]*\]\(([^)]*)\)", (EXAMPLES / "README.md").read_text(), re.M)
    there = {
        path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".mjs") or path.is_dir()
    }
    assert set(listed) == there - {"__pycache__"}
