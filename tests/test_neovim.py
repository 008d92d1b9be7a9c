"""The Neovim plugin in a headless Neovim.

Everything is real but the agent, which plays a recording. Keys go in, the buffer is looked at.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from recording_tape import Recording, Session, connect, new_session, text_block
from test_neovim_drawing import drawn
from traffic import BUNDLED, ROOT, replayed

import acp_client
from acp_client._recordings.reading import read_recording

if shutil.which("nvim") is None or importlib.util.find_spec("pynvim") is None:
    pytest.skip("there is no Neovim, or no pynvim", allow_module_level=True)

EXAMPLES = ROOT / "examples"
CODING = BUNDLED / "coding-session.ndjson"
PATIENCE = 30  # seconds until a wait for what never comes is given up


class Editor:
    """A headless Neovim with one conversation, and an agent that plays a recording."""

    def __init__(self, nvim: Any, agent: list[str]) -> None:
        self.nvim = nvim
        package = str(Path(acp_client.__file__).parents[1])
        setup = """
            local plugin, python, path = ...
            vim.opt.runtimepath:prepend(plugin)
            vim.g.acp_python, vim.env.PYTHONPATH = python, path
            vim.cmd("runtime plugin/acp.lua")
        """
        nvim.exec_lua(setup, str(EXAMPLES / "neovim"), sys.executable, package)
        nvim.command("set columns=100 lines=40")
        nvim.exec_lua("require('acp').open(...)", agent)
        self.buffer = nvim.current.buffer

    @property
    def lines(self) -> list[str]:
        lines: list[str] = self.buffer[:]
        return lines

    @property
    def state(self) -> str:
        return self.lines[-1]

    def messages(self) -> str:
        messages: str = self.nvim.funcs.execute("messages")
        return messages

    def wait(self, is_enough: Callable[[], bool]) -> None:
        """Wait until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_enough():
            assert time.monotonic() < end, "\n".join([*self.lines, self.messages()])
            time.sleep(0.01)

    def wait_for(self, start: str) -> None:
        """Wait for a line that starts so."""
        self.wait(lambda: any(line.startswith(start) for line in self.lines))

    def wait_for_state(self, start: str) -> None:
        """Wait for a state that starts so."""
        self.wait(lambda: self.state.startswith(f"── {start}"))

    def prompt(self, text: str) -> None:
        """Type a prompt."""
        self.nvim.command(f"AcpPrompt {text}")

    def press(self, keys: str) -> None:
        """Press keys."""
        self.nvim.input(keys)

    def signs(self) -> list[tuple[str, str]]:
        """Give what is drawn in the sign column, and the line behind it."""
        found = self.nvim.exec_lua(
            """
            local signs = {}
            for line = 1, vim.fn.line("$") do
              vim.fn.cursor(line, 1)
              vim.cmd("redraw")
              local place = vim.fn.screenpos(0, line, 1)
              table.insert(signs, vim.fn.screenstring(place.row, 1))
            end
            return signs
            """
        )
        return [(sign, line) for sign, line in zip(found, self.lines, strict=True) if sign != " "]


Play = Callable[..., Editor]


@contextmanager
def running_editor() -> Iterator[Any]:
    """Run a headless Neovim and attach to it."""
    with TemporaryDirectory() as directory:  # the path of a socket must be short
        path = str(Path(directory, "nvim"))
        command = ["nvim", "--clean", "--headless", "--listen", path]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            while not listens(path):
                time.sleep(0.01)
            nvim = importlib.import_module("pynvim").attach("socket", path=path)
            try:
                yield nvim
            finally:
                with suppress(EOFError, OSError):
                    nvim.command("qa!")
                nvim.close()
                process.wait(PATIENCE)


def listens(path: str) -> bool:
    """Tell whether somebody listens at a socket."""
    with socket.socket(socket.AF_UNIX) as trial, suppress(OSError):
        trial.connect(path)
        return True
    return False


@pytest.fixture
def converse() -> Iterator[Callable[[list[str]], Editor]]:
    """Give a function that opens a conversation with an agent, given as a command."""
    with ExitStack() as editors:
        yield lambda agent: Editor(editors.enter_context(running_editor()), agent)


@pytest.fixture
def play(converse: Callable[[list[str]], Editor], tmp_path: Path) -> Play:
    """Give a function that opens a conversation with an agent that plays a recording."""

    def open_editor(recording: bytes, speed: float = 1.0) -> Editor:
        path = tmp_path / "recording.ndjson"
        path.write_bytes(recording)
        agent = [sys.executable, str(EXAMPLES / "scripted_agent.py"), str(path)]
        return converse([*agent, "--speed", str(speed)])

    return open_editor


def begun() -> tuple[Recording, Session]:
    """Begin a recording."""
    recording = Recording(seed=1)
    connect(recording)
    return recording, new_session(recording, "sess_test")


def test_a_whole_coding_session(play: Play) -> None:
    """Streamed, answered and cancelled by keys, it ends with what the last snapshot draws."""
    editor = play(CODING.read_bytes(), 20)
    editor.wait_for_state("idle")
    for answer, state in ("1", "idle · end_turn"), ("3", "idle · end_turn"), ("<C-c>", "running"):
        editor.prompt("Go on.")
        editor.wait_for("Permission")
        editor.press(answer)
        editor.wait(lambda: not any(line.startswith("Permission") for line in editor.lines))
        editor.wait_for_state(state)
    assert "Tool · Install pyperf · execute · cancelled" in editor.lines
    editor.prompt("Leave the measurement out, please.")
    editor.wait_for_state("idle · cancelled")
    with CODING.open("rb") as stream:
        store = replayed(read_recording(stream))
    editor.wait(lambda: editor.lines == drawn(store.snapshot("sess_tidydates")))
    refused = "You · refused · The session is stopping"
    assert editor.lines[-3:-1] == [refused, "  Leave the measurement out, please."]
    signs = {"completed": "✓", "failed": "✗", "cancelled": "⊘"}
    statuses = [line.rpartition(" · ")[2] for line in editor.lines]
    assert [sign for sign, _ in editor.signs()] == [signs[one] for one in statuses if one in signs]
    assert "The context is 82 % full" in editor.messages()


def test_a_prompt_is_pending_sent_and_then_echoed(play: Play) -> None:
    """A prompt is drawn once: below the conversation until its echo comes, and then in it."""
    recording, session = begun()
    prompt = session.prompt(text_block("Hello."))
    before_the_answer = session.ask("Shall I answer?")
    recording.reply(before_the_answer, "once")
    recording.answer(prompt, result={"messageId": "u"})
    before_the_echo = session.ask("Shall I echo it?")
    recording.reply(before_the_echo, "once")
    session.update("user_message", messageId="u", content=[text_block("Hello.")])
    session.state("running")

    editor = play(recording.data())
    editor.wait_for_state("idle")
    editor.prompt("Hello.")
    editor.wait_for("Permission · Shall I answer?")
    assert editor.lines[-3:-1] == ["You · sending …", "  Hello."]
    editor.press("1")
    editor.wait_for("Permission · Shall I echo it?")
    assert editor.lines[-3:-1] == ["You · sent", "  Hello."]
    editor.press("1")
    editor.wait_for_state("running")
    assert editor.lines == ["You", "  Hello.", "── running"]


def test_digits_answer_what_is_asked_and_count_otherwise(play: Play) -> None:
    """A digit is the answer with that number while something is asked, and else a count."""
    recording, session = begun()
    session.prompt(text_block("Hello."))
    session.say("m", "\n".join("abcdefgh"))
    questions = session.ask("One?"), session.ask("Two?")
    for question in questions:
        recording.reply(question, "once")
    session.state("running")

    editor = play(recording.data())
    editor.wait_for_state("idle")
    editor.prompt("Hello.")
    editor.wait_for("Permission · Two?")
    editor.press("6")  # the last option of the second question
    editor.wait(lambda: "Permission · Two?" not in editor.lines)
    assert "Permission · One?" in editor.lines
    editor.press("9")  # no option
    editor.press("<C-c>")
    editor.wait(lambda: "Permission · One?" not in editor.lines)
    editor.press("gg3j")
    editor.wait(lambda: editor.nvim.current.window.cursor[0] == 4)
    editor.wait_for_state("idle · cancelled")


def stream(recording: Recording, session: Session, count: int) -> None:
    """Let text, a status and output come in small steps."""
    for number in range(count):
        recording.wait(1, 3)
        session.update("agent_message_chunk", messageId="last", content=text_block(f" {number}\n"))
        session.output("term", f"line {number}\r\n")
        session.tool("call", status="in_progress" if number % 2 else "pending")


@pytest.mark.parametrize("method", ["manual", "indent"])
def test_cursors_and_folds_stay_while_text_streams_in(play: Play, method: str) -> None:
    """What is looked at in two windows stays where it is, with text coming above and below."""
    recording, session = begun()
    session.prompt(text_block("Go."))
    session.command("call", "term", "make")
    session.output("term", "begun\r\nand\r\n")
    session.update("agent_thought", messageId="t", content=[text_block("hm\n" * 9)])
    middle = "\n".join(f"middle {number}" for number in range(30))
    session.update("agent_message", messageId="m", content=[text_block(middle)])
    session.update("agent_message", messageId="last", content=[text_block("end")])
    recording.reply(session.ask("Now?"), "once")
    stream(recording, session, 30)
    session.state("idle", stopReason="end_turn")

    editor = play(recording.data())
    nvim = editor.nvim
    editor.wait_for_state("idle")
    editor.prompt("Go.")
    editor.wait_for("Permission")
    nvim.command("split | resize 8")
    upper, lower = nvim.windows[:2]
    upper.options["foldmethod"] = lower.options["foldmethod"] = method
    lines = editor.lines
    lower.cursor = lines.index("  end") + 1, 4
    upper.cursor = lines.index("  middle 12") + 1, 5
    nvim.current.window = upper
    if method == "manual":
        nvim.command(f"{lines.index('  middle 20') + 1},{lines.index('  middle 25') + 1}fold")
        nvim.command(f"{lines.index('Thought') + 1},{lines.index('  hm') + 1}fold")
    else:
        nvim.command(f"{lines.index('  hm') + 1}foldclose")

    def looks() -> list[Any]:
        """Give what is looked at: texts under cursors and at the top, and the closed folds."""
        seen = nvim.exec_lua(
            """
            local seen = {}
            for _, window in ipairs({...}) do
              vim.api.nvim_win_call(window, function()
                local folds = {}
                for line = 1, vim.fn.line("$") do
                  if vim.fn.foldclosed(line) == line then
                    table.insert(folds, {line, vim.fn.foldclosedend(line)})
                  end
                end
                table.insert(seen, {vim.fn.line("."), vim.fn.col("."), vim.fn.line("w0"), folds})
              end)
            end
            return seen
            """,
            upper.handle,
            lower.handle,
        )
        now = editor.lines
        return [
            (
                now[line - 1],
                column,
                now[top - 1] if is_upper else None,
                [now[a - 1 : b] for a, b in folds],
            )
            for (line, column, top, folds), is_upper in zip(seen, (True, False), strict=True)
        ]

    before = looks()
    assert before[0][3]
    editor.press("1")
    editor.wait_for_state("idle · end_turn")
    (text, *rest), *others = before[1:]
    assert looks() == [before[0], (f"{text} 0", *rest), *others]


def test_a_cursor_on_the_last_line_follows(play: Play) -> None:
    """The state stays the last line, so whoever stands on it sees what comes."""
    recording, session = begun()
    session.prompt(text_block("Go."))
    session.command("call", "term", "make")
    stream(recording, session, 30)
    session.update("plan_update", plan={"type": "items", "planId": "p", "entries": []})
    session.state("idle", stopReason="end_turn")

    editor = play(recording.data())
    editor.wait_for_state("idle")
    editor.nvim.command("split | wincmd j")
    editor.prompt("Go.")
    editor.wait_for_state("idle · end_turn")
    assert len(editor.lines) > 60
    assert [window.cursor[0] for window in editor.nvim.windows[:2]] == [len(editor.lines)] * 2
    assert editor.nvim.funcs.line("w$") == len(editor.lines)


@pytest.mark.parametrize("count", [10, 10_000])
def test_edits_are_as_many_as_updates(play: Play, count: int) -> None:
    """A conversation of 10,000 entries is touched as often, and as narrowly, as one of ten."""
    recording, session = begun()
    session.prompt(text_block("Tell me all."))
    for number in range(count - 2):
        content = [text_block(f"message {number}\nof many")]
        session.update("agent_message", messageId=f"m{number}", content=content)
    session.command("call", "term", "make")
    session.update("agent_message", messageId="last", content=[text_block("end")])
    session.state("idle", stopReason="refusal")
    session.prompt(text_block("And now?"))
    stream(recording, session, 40)
    session.state("idle", stopReason="end_turn")

    editor = play(recording.data(), 10)
    editor.wait_for_state("idle")
    editor.prompt("Tell me all.")
    editor.wait_for_state("idle · refusal")
    assert sum(line == "Agent" for line in editor.lines) == count - 1
    editor.nvim.exec_lua(
        """
        edits, touched = 0, 0
        vim.api.nvim_buf_attach(0, false, {on_lines = function(_, _, _, first, last, new)
          edits, touched = edits + 1, touched + math.max(last, new) - first
        end})
        """
    )
    editor.prompt("And now?")
    editor.wait_for_state("idle · end_turn")
    edits, touched = editor.nvim.exec_lua("return {edits, touched}")
    updates = 3 * 40
    assert 0 < edits <= 2 * updates
    assert edits <= touched <= 3 * updates


AGENT_THAT_ENDS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "session/prompt":
        break
    result = {"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "sessionId": "s"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
AGENT_THAT_REFUSES = """
import json, sys
for line in sys.stdin:
    error = {"code": -32000, "message": "Log in first"}
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}), flush=True)
"""


def test_what_is_lost_is_said(converse: Callable[[list[str]], Editor]) -> None:
    """When the agent ends, what was on its way is drawn as lost, and nothing waits for ever."""
    editor = converse([sys.executable, "-c", AGENT_THAT_ENDS])
    editor.wait_for_state("idle")
    editor.prompt("Hello.")
    editor.wait_for("You · it is not known whether this arrived · the agent has ended")
    editor.prompt("Are you there?")
    editor.wait(lambda: "there is no session" in editor.messages())


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ([sys.executable, "-c", AGENT_THAT_REFUSES], "Log in first"),
        ([sys.executable, "-c", ""], "the agent has ended"),
        (["/nonexistent/agent"], "the agent cannot be started"),
    ],
)
def test_an_agent_that_cannot_start_is_said(
    converse: Callable[[list[str]], Editor], agent: list[str], message: str
) -> None:
    """A command that is not found, and an agent that ends or opens no session, are told."""
    editor = converse(agent)
    editor.wait(lambda: message in editor.messages())
