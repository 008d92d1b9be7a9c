"""Transcripts of whole sessions: what each part looks like, and that nothing unsafe is printed."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable
from typing import Any
from unicodedata import category

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from traffic import line, permission_line, replayed, snapshots, update_line

from acp_client import Limits, Problem, Store
from acp_client._cli.contents import size_words
from acp_client._cli.layout import Layout, Page
from acp_client._cli.session_state import session_sections
from acp_client._cli.transcript import Closing, closing_lines, counted, print_transcript
from acp_client._errors import PROBLEM_KINDS
from acp_client._recordings.frames import Frame
from acp_client._recordings.playback import Feeder
from acp_client._text import escape


def page_of(stream: io.StringIO, *, full: bool = False) -> Page:
    """Make a page of 80 columns that is no terminal."""
    page = Page(stream, full=full)
    page.layout = Layout(full=full)
    return page


def transcript(store: Store, *, full: bool = False) -> str:
    """Print the sessions of a store."""
    stream = io.StringIO()
    print_transcript(page_of(stream, full=full), snapshots(store))
    return stream.getvalue()


def store_of(*lines: bytes, limits: Limits | None = None) -> Store:
    """Give a store these lines of the agent."""
    store = Store(limits=limits or Limits())
    store.receive(b"".join(lines))
    return store


def shown(*lines: bytes, full: bool = False, limits: Limits | None = None) -> str:
    """Print the one session that these lines of the agent are about, without the heading."""
    heading, _, rest = transcript(store_of(*lines, limits=limits), full=full).partition("\n\n")
    assert heading.endswith(" s1 ──")
    return rest.removesuffix("\nState     idle\n")


def block(value: str) -> dict[str, str]:
    """Make a text block."""
    return {"type": "text", "text": value}


def message(kind: str, *content: Any, message_id: str = "m") -> bytes:
    """Report a message."""
    return update_line(kind, messageId=message_id, content=list(content))


def tool_call(*content: Any, **fields: Any) -> bytes:
    """Report a tool call."""
    fields = {"title": "Do it", "status": "completed", "toolCallId": "c", **fields}
    return update_line("tool_call_update", content=list(content), **fields)


def encoded(value: str) -> str:
    """Write text as base64."""
    return base64.b64encode(value.encode()).decode()


PATCH = """\
diff --git a/x b/x
--- a/x
+++ b/x
@@ -1 +1 @@
-old
+new
"""

SUMMARY = [block("S")]

ENTRIES = [
    (message("user_message", block("Hello, you.")), "You\n  Hello, you.\n"),
    (message("agent_message", block("Hi"), block("!")), "Agent\n  Hi!\n"),
    (message("agent_thought", block("Hm.")), "Thought\n  Hm.\n"),
    (message("agent_message"), "Agent (empty)\n"),
    (
        message(
            "user_message",
            {"type": "resource_link", "name": "a.py", "uri": "file:///a.py", "size": 2048},
            {"type": "image", "data": "QUJDRA==", "mimeType": "image/png", "uri": "file:///b"},
            {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///c", "text": "one\ntwo"}},
            {"type": "resource", "resource": {"uri": "file:///d", "blob": "QUJD"}},
            {"type": "_smell", "note": "coffee"},
        ),
        "You\n"
        "  [link] a.py · file:///a.py · 2.0 kB\n"
        "  [image] image/png · 6 B · file:///b\n"
        "  [audio] audio/wav · 3 B\n"
        "  [resource] file:///c\n  │ one\n  │ two\n"
        "  [resource] file:///d · 3 B\n"
        '  [unknown content] {"type": "_smell", "note": "coffee"}\n',
    ),
    (
        tool_call(kind="read", locations=[{"path": "/a  b", "line": 3}, {"path": "/b"}]),
        "✓ Do it · read · completed\n  at /a  b:3\n  at /b\n",
    ),
    (tool_call(title=None, name="tool", status="failed"), "✗ tool · other · failed\n"),
    (tool_call(title=None, status=None), "○ c · other · pending\n"),
    (tool_call(status="in_progress"), "▸ Do it · other · in_progress\n"),
    (tool_call(status="paused"), "‖ Do it · other · paused\n"),
    (tool_call(status="_waiting"), "• Do it · other · _waiting\n"),
    (
        tool_call(title="A title that goes on " + "and on " * 9, status="cancelled"),
        "⊘ A title that goes on and on and on and on and on and on and on and on and on\n"
        "  and on\n  other · cancelled\n",
    ),
    (
        tool_call(rawInput={"path": "/a"}, rawOutput={"bytes": 3}),
        '✓ Do it · other · completed\n  input {"path": "/a"}\n  output {"bytes": 3}\n',
    ),
    (
        tool_call(rawOutput={"text": "one\ntwo\n"}),
        "✓ Do it · other · completed\n  │ one\n  │ two\n",
    ),
    (tool_call(rawOutput="one"), '✓ Do it · other · completed\n  output "one"\n'),
    (
        tool_call({"type": "content", "content": block("out\n")}, rawInput={"a": 1}),
        "✓ Do it · other · completed\n  │ out\n",
    ),
    (
        tool_call(
            {"type": "content", "content": block(" \n")},
            {"type": "content", "content": {"type": "audio", "data": "", "mimeType": "a/b"}},
            {"type": "_new", "x": 1},
        ),
        "✓ Do it · other · completed\n  [audio] a/b · 0 B\n"
        '  [unknown content] {"type": "_new", "x": 1}\n',
    ),
    (
        tool_call(
            {
                "type": "diff",
                "changes": [
                    {"operation": "modify", "path": "/x"},
                    {"operation": "add", "path": "/a"},
                    {"operation": "delete", "path": "/d"},
                    {"operation": "move", "oldPath": "/o", "path": "/n"},
                    {"operation": "copy", "oldPath": "/o", "path": "/c"},
                    {"operation": "_swap", "paths": []},
                ],
                "patch": {"format": "git_patch", "text": PATCH},
            }
        ),
        "✓ Do it · other · completed\n"
        "  modified /x\n  added /a\n  deleted /d\n  moved /o → /n\n  copied /o → /c\n"
        '  [unknown change] {"operation": "_swap", "paths": []}\n'
        "  │ diff --git a/x b/x\n  │ --- a/x\n  │ +++ b/x\n  │ @@ -1 +1 @@\n  │ -old\n  │ +new\n",
    ),
    (
        tool_call({"type": "diff", "changes": [{"operation": "add", "path": "/a"}]}),
        "✓ Do it · other · completed\n  added /a\n",
    ),
    (
        tool_call(
            {
                "type": "content",
                "content": block("\x1b[0m\x1b[01;34mdir\x1b[0m\n10%\r100%\nplain"),
            }
        ),
        "✓ Do it · other · completed\n  │ dir\n  │ 100%\n  │ plain\n",
    ),
    (
        tool_call({"type": "terminal", "terminalId": "t"}, rawOutput="built ok\n"),
        "✓ Do it · other · completed\n  [terminal] t: nothing known of it\n"
        '  output "built ok\\n"\n',
    ),
    (
        tool_call({"type": "terminal", "terminalId": "t"}),
        "✓ Do it · other · completed\n  [terminal] t: nothing known of it\n",
    ),
    (
        update_line(
            "compaction_update", compactionId="k", status="completed", summary=[block("S")]
        ),
        "✓ Context compaction · completed\n  S\n",
    ),
    (
        update_line("compaction_update", compactionId="k", status="failed", error="No room."),
        "✗ Context compaction · failed\n  No room.\n",
    ),
    (
        update_line("_vendor", any="thing"),
        '• _vendor · unknown update\n  {"sessionUpdate": "_vendor", "any": "thing"}\n',
    ),
]


@pytest.mark.parametrize(("reported", "expected"), ENTRIES)
def test_each_kind_of_entry_has_its_look(reported: bytes, expected: str) -> None:
    """An entry tells what it is in words, so that it reads the same without colours."""
    assert shown(reported) == expected


TERMINALS: list[tuple[dict[str, Any], str]] = [
    ({}, "  $ (terminal t) · running\n"),
    (
        {"command": "ls -l", "cwd": "/w", "exitStatus": {"exitCode": 0}},
        "  $ ls -l · /w · exit 0\n",
    ),
    ({"command": "ls", "exitStatus": {"exitCode": 2}}, "  $ ls · exit 2\n"),
    ({"command": "ls", "exitStatus": {"signal": "SIGINT"}}, "  $ ls · ended by SIGINT\n"),
    ({"command": "ls", "exitStatus": {}}, "  $ ls · exited\n"),
    (
        {"command": "ls", "output": {"data": encoded("10 %\r20 %\n\x1b[31mred\x1b[0m\n")}},
        "  $ ls · running\n  │ 20 %\n  │ red\n",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), TERMINALS)
def test_terminals_are_shown_where_tool_calls_embed_them(
    fields: dict[str, Any], expected: str
) -> None:
    """A terminal shows its command, how it ended, and what a screen would show of the output."""
    terminal = update_line("terminal_update", terminalId="t", **fields)
    call = tool_call({"type": "terminal", "terminalId": "t"})
    assert shown(call, terminal) == "✓ Do it · other · completed\n" + expected


def test_terminals_that_nothing_embeds_are_not_lost() -> None:
    """A terminal by itself stands after the entries, with what a limit made it lose."""
    terminal = update_line(
        "terminal_update", terminalId="t", command="ls", output={"data": encoded("0123456789")}
    )
    text = shown(terminal, limits=Limits(terminal_bytes=4))
    assert text == "Terminal\n  $ ls · 6 B dropped · running\n  │ 6789\n"


def test_a_cancelled_tool_call_tells_what_was_reported() -> None:
    """Our mark is shown as the status, with the agent's own word beside it."""
    store = store_of(update_line("state_update", state="running"), tool_call(status="pending"))
    store.cancel("s1")
    assert "⊘ Do it · other · cancelled (reported: pending)\n" in transcript(store)


def test_raw_values_are_cut_to_two_lines() -> None:
    """Long raw values end early, unless everything is to be shown."""
    call = tool_call(rawInput={"words": "word " * 100})
    assert shown(call).count("\n") == 3
    assert shown(call).endswith("…\n")
    assert shown(call, full=True).split("words")[-1].count("word") == 100


def test_everything_includes_the_raw_values() -> None:
    """`full` shows the input and the output also of a tool call that has content."""
    call = tool_call({"type": "content", "content": block("out")}, rawInput={"a": 1})
    assert shown(call, full=True).endswith('  │ out\n  input {"a": 1}\n')


def test_raw_values_that_cannot_be_laid_out_are_shown_as_they_are() -> None:
    """A raw value that nests too deep for the formatter is text all the same."""
    deep = b'{"a":' + b"[" * 250 + b"]" * 250 + b"}"
    assert '{"a":[[[[' in shown(tool_call(rawInput={"a": None}).replace(b'{"a": null}', deep))


def test_short_entries_stand_together() -> None:
    """Entries of one line follow each other without a blank line."""
    calls = [tool_call(toolCallId=name) for name in ("a", "b")]
    text = shown(*calls, message("agent_message", block("x")))
    assert text == "✓ Do it · other · completed\n" * 2 + "\nAgent\n  x\n"


# --- What stands beside the entries ---


def prompted(*answers: bytes) -> Store:
    """Make a store with a prompt that got answers."""
    store = Store()
    prompt = {"sessionId": "s1", "prompt": [block("Please.")]}
    store.sent(line(id=7, method="session/prompt", params=prompt))
    store.receive(b"".join(answers))
    return store


PROMPTS: list[tuple[list[bytes], str]] = [
    ([], "You · pending, not answered yet\n  Please.\n"),
    ([line(id=7, result={"messageId": "m"})], "You · accepted, not echoed yet\n  Please.\n"),
    (
        [line(id=7, error={"code": -32000, "message": "Busy."})],
        "You · refused: Busy. (-32000)\n  Please.\n",
    ),
    ([line(id=7, result={})], "You · uncertain, it may or may not have arrived\n  Please.\n"),
]


@pytest.mark.parametrize(("answers", "expected"), PROMPTS)
def test_prompts_that_are_no_entries_yet_stand_behind(answers: list[bytes], expected: str) -> None:
    """A prompt shows what became of it until its echo is an entry."""
    assert expected in transcript(prompted(*answers))


def test_prompts_that_were_echoed_are_entries_alone() -> None:
    """The echo of a prompt is shown, and the prompt no more."""
    text = transcript(
        prompted(line(id=7, result={"messageId": "m"}), message("user_message", block("Please.")))
    )
    assert text.count("Please.") == 1


PERMISSIONS: list[tuple[dict[str, Any], str]] = [
    ({}, "Permission · May I?\n  options Yes (allow_once) · No (reject_once)\n"),
    (
        {
            "description": "Because.",
            "subject": {"type": "command", "command": "rm -r /w", "cwd": "/w"},
        },
        "Permission · May I?\n  Because.\n  $ rm -r /w · /w\n  options Yes (allow_once) · "
        "No (reject_once)\n",
    ),
    (
        {"subject": {"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Do"}}},
        "Permission · May I?\n  tool call Do\n  options Yes (allow_once) · No (reject_once)\n",
    ),
    (
        {"subject": {"type": "tool_call", "toolCall": {"toolCallId": "c"}}},
        "Permission · May I?\n  tool call c\n  options Yes (allow_once) · No (reject_once)\n",
    ),
    (
        {"subject": {"type": "_new"}},
        'Permission · May I?\n  subject {"type": "_new"}\n  options Yes (allow_once) · '
        "No (reject_once)\n",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), PERMISSIONS)
def test_open_permissions_are_shown(fields: dict[str, Any], expected: str) -> None:
    """A permission request shows what it is about and what may be answered."""
    assert expected in transcript(store_of(permission_line(5, **fields)))


def entry(content: str, status: str, priority: str = "medium") -> dict[str, str]:
    """Make a plan entry."""
    return {"content": content, "status": status, "priority": priority}


def plan(*entries: dict[str, str], plan_id: str = "p") -> bytes:
    """Report a plan."""
    return update_line(
        "plan_update", plan={"type": "items", "planId": plan_id, "entries": list(entries)}
    )


def test_plans_have_check_marks() -> None:
    """An entry of a plan shows its status as a sign, and in words where the sign is not enough."""
    entries = [
        entry("a", "completed", "high"),
        entry("b", "pending"),
        entry("c", "in_progress", "low"),
        entry("d", "_later"),
    ]
    assert shown(plan(*entries)) == (
        "Plan\n  ✓ a · high priority\n  ○ b\n  ▸ c · low priority · in_progress\n  • d · _later\n"
    )


def test_several_plans_are_told_apart() -> None:
    """Plans have their ids when there is more than one; an unknown kind is shown raw."""
    unknown = update_line("plan_update", plan={"type": "_chart", "planId": "q", "bars": 2})
    assert shown(plan(entry("a", "pending")), unknown) == (
        'Plan · p\n  ○ a\n\nPlan · q\n  {"type": "_chart", "planId": "q", "bars": 2}\n'
    )


ROWS = [
    (update_line("state_update", state="running"), "State     running\n"),
    (
        update_line("state_update", state="idle", stopReason="end_turn"),
        "State     idle · end_turn\n",
    ),
    (
        update_line(
            "state_update",
            state="idle",
            stopReason="error",
            error={"code": 1, "message": "Lost it."},
        ),
        "State     idle · error · Lost it. (1)\n",
    ),
    (
        update_line(
            "state_update",
            state="running",
            background=[
                {"type": "terminal", "terminalId": "t"},
                {"type": "tool_call", "toolCallId": "c"},
                {"type": "_x"},
            ],
        ),
        "State     running · in the background: t, c, unknown work\n",
    ),
    (update_line("state_update", state="_dreaming"), "State     _dreaming\n"),
    (
        update_line("usage_update", used=1500, size=6000),
        "Usage     1,500 of 6,000 tokens (25 %)\n",
    ),
    (
        update_line("usage_update", used=1, size=0, cost={"amount": 0.1, "currency": "EUR"}),
        "Usage     1 of 0 tokens · 0.10 EUR\n",
    ),
    (
        update_line("session_info_update", updatedAt="2026-01-02T03:04:05Z"),
        "Changed   2026-01-02T03:04:05Z\n",
    ),
    (
        update_line(
            "available_commands_update",
            availableCommands=[
                {"type": "command", "name": "test", "description": "Test"},
                {"type": "_x", "name": "x", "description": ""},
            ],
        ),
        "Commands  /test (unknown)\n",
    ),
    (
        update_line(
            "config_option_update",
            configOptions=[
                {
                    "type": "select",
                    "configId": "m",
                    "name": "Mode",
                    "currentValue": "ask",
                    "options": [{"value": "ask", "name": "Ask"}],
                },
                {"type": "boolean", "configId": "b", "name": "Fast", "currentValue": True},
                {"type": "boolean", "configId": "c", "name": "Loud", "currentValue": False},
                {"type": "_x", "configId": "d", "name": "D"},
            ],
        ),
        "Options   Mode: ask · Fast: on · Loud: off · (unknown)\n",
    ),
    (
        update_line("notice", severity="warning", title="Careful", description="It is late."),
        "Notice    warning · Careful: It is late.\n",
    ),
    (update_line("notice", severity="info", title="Hm"), "Notice    info · Hm\n"),
]


@pytest.mark.parametrize(("reported", "expected"), ROWS)
def test_the_table_tells_how_a_session_stands(reported: bytes, expected: str) -> None:
    """State, usage, options and the rest have a row each, when there is something to say."""
    assert expected in transcript(store_of(reported)).partition("\n\n")[2]


def test_of_many_commands_some_are_shown() -> None:
    """A long list of commands ends in how many more there are, unless everything is shown."""
    commands = [
        {"type": "command", "name": f"c{number}", "description": ""} for number in range(25)
    ]
    reported = update_line("available_commands_update", availableCommands=commands)
    assert "/c19 and 5 more\n" in " ".join(shown(reported).split(" ")).replace("\n  ", "")
    assert "/c24" in shown(reported, full=True)


def test_a_replay_that_goes_on_is_told() -> None:
    """While a session is replayed the table tells what there was before."""
    store = store_of(message("agent_message", block("x")))
    resume = {"sessionId": "s1", "replayFrom": {"type": "start"}, "cwd": "/", "mcpServers": []}
    store.sent(line(id=1, method="session/resume", params=resume))
    assert "Replay    going on; there were 1 entries before\n" in transcript(store)


# --- Headings and the end ---


def test_headings_have_the_title_and_the_id() -> None:
    """A heading is a rule of the width of the page, or two lines where the title is long."""
    title = update_line("session_info_update", title="A\x1b title")
    assert transcript(store_of(title)).splitlines()[0] == r"── A\x1b title " + "─" * 59 + " s1 ──"
    long = update_line("session_info_update", title="word " * 20)
    assert transcript(store_of(long)).splitlines()[:3] == [
        "── " + " ".join(["word"] * 15),
        "   " + " ".join(["word"] * 5),
        "   s1",
    ]


def test_sessions_follow_each_other_under_their_headings() -> None:
    """Each session has a heading, with a blank line before it but the first."""
    text = transcript(store_of(update_line("_a", "s1"), update_line("_b", "s2")))
    assert [row[-5:] for row in text.splitlines() if row.startswith("──")] == ["s1 ──", "s2 ──"]
    assert "\n\n── Session" in text
    assert not text.startswith("\n")


def problems(count: int) -> list[Problem]:
    """Make some problems."""
    return [Problem(number, "skipped", "$", "is odd") for number in range(1, count + 1)]


def closing(count: int, *, full: bool = False, **fields: Any) -> str:
    """Write the end of a transcript with some problems."""
    counts: Any = dict.fromkeys(PROBLEM_KINDS, 0) | ({"skipped": count} if count else {})
    told = Closing(3, 1, problems(count), counts, **fields)
    return "".join(text for text, _ in closing_lines(told, Layout(full=full)))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (closing(0), "\n3 messages · 1 session · no problems\n"),
        (
            closing(0, passed_over=2, torn=True),
            "\n3 messages · 1 session · 2 values passed over · the recording ends in the middle\n"
            "· no problems\n",
        ),
        (
            closing(1),
            "\nline 1 · skipped · $ is odd\n\n3 messages · 1 session · 1 problem: 1 skipped\n",
        ),
    ],
)
def test_the_last_line_counts_the_problems(written: str, expected: str) -> None:
    """The closing line tells of the recording as a whole, and how many problems it has by kind."""
    assert written == expected


def test_of_many_problems_some_are_shown() -> None:
    """Ten problems are listed, or all if everything is to be shown."""
    assert closing(12).splitlines()[-3:] == [
        "… 2 more problems, --full shows them",
        "",
        "3 messages · 1 session · 12 problems: 12 skipped",
    ]
    assert closing(12, full=True).count("is odd") == 12


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2_000_000, "2.0 MB"), (3e9, "3.0 GB")],
)
def test_sizes_are_short(count: int, words: str) -> None:
    """Sizes are written in the largest unit that fits."""
    assert size_words(count) == words


def test_numbers_of_things_are_words() -> None:
    """One thing is singular."""
    assert [counted(count, "line") for count in (0, 1, 2000)] == [
        "0 lines",
        "1 line",
        "2,000 lines",
    ]


# --- Safety ---

ATTACK = "\x1b[2J\x9b31m\x07\x08\r\x7f\u202e\u200b\ud800[red]x[/red]"


def assert_is_safe(text: str) -> None:
    """Check that there is nothing in a text that a terminal acts on, or that hides."""
    assert {category(character) for character in text if character != "\n"}.isdisjoint(UNSAFE)
    assert escape(text) == text


UNSAFE = {"Cc", "Cs", "Zl", "Zp"}
"""Categories of Unicode: controls, surrogates, and what separates lines."""


def attacked(value: Any) -> Any:
    """Put control characters into every string but tags and ids that must be known."""
    if isinstance(value, dict):
        return {key: inner if key in KEPT else attacked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [attacked(inner) for inner in value]
    return value + ATTACK if isinstance(value, str) else value


KEPT = {
    *("jsonrpc", "method", "sessionUpdate", "type", "operation", "format"),
    *("state", "stopReason", "updatedAt", "data", "blob"),
}
"""Members that make a message what it is."""

HOSTILE = [attacked(json.loads(reported)) for reported, _ in ENTRIES + ROWS] + [
    attacked(json.loads(part))
    for part in [
        *[update_line("terminal_update", terminalId="t", **fields) for fields, _ in TERMINALS],
        tool_call({"type": "terminal", "terminalId": "t"}),
        permission_line(5, **PERMISSIONS[1][0]),
        permission_line(6, **PERMISSIONS[2][0]),
        permission_line("x", **PERMISSIONS[4][0]),
        plan(entry("a", "b", "c")),
        update_line("session_info_update", title="title"),
        update_line("terminal_output_chunk", terminalId="u", data=encoded(ATTACK[:-13])),
        line(id=7, error={"code": 1, "message": "no"}),
    ]
]


@pytest.mark.parametrize("full", [False, True])
def test_no_text_of_the_peer_reaches_the_terminal_as_it_is(full: bool) -> None:
    """Control characters in every field of every message are made visible or dropped."""
    store = Store()
    session = attacked("s1")
    prompt = attacked({"sessionId": "s1", "prompt": [block("Please.")]})
    store.sent(line(id=7, method="session/prompt", params=prompt))
    for told in HOSTILE:
        store.receive(json.dumps(told).encode() + b"\n")
    assert store.sessions == (session,)
    assert store.problem_counts["rejected"] == 0
    text = transcript(store, full=full)
    assert_is_safe(text)
    assert "[red]x[/red]" in text


def frames(given: Iterable[strategies.Frame]) -> list[Frame]:
    """Give generated frames the numbers of lines."""
    return [Frame(number, frame.sent, frame.data) for number, frame in enumerate(given, 1)]


@given(strategies.sessions(well_formed=False, hostile_client=True), st.booleans())
def test_every_session_can_be_printed(given_frames: list[strategies.Frame], full: bool) -> None:
    """Whatever a session holds, its transcript is text that is safe to print."""
    store = replayed(given_frames)
    text = transcript(store, full=full)
    assert_is_safe(text)
    assert len(text.split("\n── ")) >= len(store.sessions)


@given(strategies.sessions(well_formed=False, hostile_client=True))
def test_runs_of_frames_give_what_single_frames_give(given_frames: list[strategies.Frame]) -> None:
    """Joining frames changes neither sessions nor problems."""
    store, single = Store(protocol="v2"), replayed(given_frames, protocol="v2")
    feeder = Feeder(store)
    for frame in frames(given_frames):
        feeder.take(frame)
    feeder.end()
    single.end()
    assert snapshots(store) == snapshots(single)
    assert store.problems == single.problems


def test_sections_that_say_nothing_are_empty() -> None:
    """An empty session has one section, the table."""
    store = store_of(update_line("notice", severity="info", title="x"))
    sections = session_sections(store.snapshot("s1"), Layout())
    assert [bool(section) for section in sections] == [True]
