"""Transcripts that are printed while a recording goes on."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
import strategies
from cli.test_transcript import (
    assert_is_safe,
    block,
    entry,
    message,
    page_of,
    plan,
    prompted,
    tool_call,
)
from hypothesis import given
from traffic import chunk_line, line, permission_line, snapshots, update_line

from acp_client import Message, Store
from acp_client._cli.live import Live


class Screen:
    """A live transcript of one store, seen piece by piece."""

    def __init__(self, store: Store | None = None, chosen: str | None = None) -> None:
        self.store = store or Store()
        self.stream = io.StringIO()
        self.live = Live(page_of(self.stream), self.store, chosen)
        self.seen = 0

    def after(self, *lines: bytes) -> str:
        """Give what is printed when these lines of the agent have come."""
        self.store.receive(b"".join(lines))
        return self.news(self.live.update)

    def end(self) -> str:
        """Give what is printed at the end, without the heading and the state."""
        return self.news(self.live.finish)

    def news(self, act: Callable[[], None]) -> str:
        """Give what is printed when something is done, without headings."""
        act()
        text = self.stream.getvalue()[self.seen :]
        self.seen += len(text)
        return re.sub(r"\n?── \w+ ─+ s1 ──\n", "", text)


IDLE = update_line("state_update", state="idle", stopReason="end_turn")
RUNNING = update_line("state_update", state="running")
RESTED = "\n── idle · end_turn\n"
STANDS = "\nState     idle · end_turn\n"


def test_the_newest_message_is_printed_word_by_word() -> None:
    """Words come when they are whole, the last one when something follows."""
    screen = Screen()
    assert screen.after(chunk_line("Hel")) == ""
    assert screen.after(chunk_line("lo, wor")) == "\nAgent\n  Hello,"
    assert screen.after(chunk_line("ld.\nNew")) == " world.\n"
    assert screen.after(message("user_message", block("And?"))) == "  New\n"
    assert screen.after(IDLE) == "\nYou\n  And?\n" + RESTED
    assert screen.end() == STANDS


def test_a_message_whose_end_comes_with_the_next_entry_is_not_torn() -> None:
    """What is new of a message is printed before the entry that follows it."""
    screen = Screen()
    assert screen.after(chunk_line("One two ")) == "\nAgent\n  One two"
    assert screen.after(chunk_line("three."), tool_call()) == (
        " three.\n\n✓ Do it · other · completed\n"
    )


def test_tool_calls_are_printed_when_they_have_ended() -> None:
    """One that goes on is not printed, unless something follows: then its title is, once."""
    screen = Screen()
    assert screen.after(tool_call(status="in_progress")) == ""
    assert screen.after(chunk_line("Meanwhile ")) == (
        "\n▸ Do it · other · in_progress\n\nAgent\n  Meanwhile"
    )
    assert screen.after(chunk_line("I think.")) == " I"
    assert screen.after(tool_call({"type": "content", "content": block("out")})) == (
        " think.\n\n✓ Do it · other · completed\n  │ out\n"
    )
    assert screen.after(tool_call(title="Did it")) == ""
    assert screen.after(IDLE) == "\n✓ Did it · other · completed\n── idle · end_turn\n"


def test_what_has_not_ended_is_printed_at_the_end() -> None:
    """Entries that were still going on are not lost."""
    screen = Screen()
    compaction = update_line("compaction_update", compactionId="k", status="in_progress")
    assert screen.after(tool_call(status="pending"), compaction) == "\n○ Do it · other · pending\n"
    assert screen.end() == (
        "○ Do it · other · pending\n▸ Context compaction · in_progress\n\nState     idle\n"
    )


def test_other_entries_are_printed_at_once() -> None:
    """Unknown updates and ended compactions have nothing to wait for."""
    screen = Screen()
    assert screen.after(update_line("_x")).startswith("\n• _x · unknown update\n")
    compaction = update_line("compaction_update", compactionId="k", status="completed")
    assert screen.after(compaction) == "\n✓ Context compaction · completed\n"
    assert screen.after(compaction) == ""


def test_our_cancel_mark_is_printed_when_nothing_else_comes() -> None:
    """After a cancel the agent's own last word is awaited until the session is idle."""
    screen = Screen()
    screen.after(RUNNING, tool_call(status="pending"))
    screen.store.cancel("s1")
    assert screen.after() == ""
    assert screen.after(IDLE) == (
        "\n⊘ Do it · other · cancelled (reported: pending)\n── idle · end_turn\n"
    )


def test_messages_that_grow_later_go_on_where_they_were() -> None:
    """What came to an older message is printed when the session rests."""
    screen = Screen()
    screen.after(chunk_line("One two", "m1"), chunk_line("Other.", "m2"))
    assert screen.after(chunk_line(" and a half", "m1")) == ""
    assert screen.after(IDLE) == ("\nAgent\n  Other.\n\nAgent (continued)\n  and a half\n" + RESTED)


@pytest.mark.parametrize(
    ("content", "printed"),
    [
        ([block("One two three.")], " two three.\n"),
        ([block("One two")], " two\n"),
        ([block("Two.")], " two\n\nAgent (changed)\n  Two.\n"),
        (
            [block("One two"), {"type": "_x"}],
            ' two\n\nAgent (changed)\n  One two\n  [unknown content] {"type": "_x"}\n',
        ),
        ([], " two\n"),
    ],
)
def test_a_replaced_message_is_printed_again_unless_it_only_grew(
    content: list[Any], printed: str
) -> None:
    """When the whole text comes after its pieces, only what is new of it is printed."""
    screen = Screen()
    assert screen.after(chunk_line("One "), chunk_line("two")) == "\nAgent\n  One"
    news = screen.after(message("agent_message", *content)) + screen.after(IDLE)
    assert news == printed + RESTED


def test_a_session_that_comes_to_rest_says_so_once() -> None:
    """The line of the state follows what changed, and is not repeated."""
    screen = Screen()
    usage = update_line("usage_update", used=1, size=4)
    assert screen.after(usage, RUNNING) == ""
    assert screen.after(IDLE, plan(entry("a", "pending"))) == (
        "\nPlan\n  ○ a\n\n── idle · end_turn · 1 of 4 tokens (25 %)\n"
    )
    screen.after(RUNNING)
    assert screen.after(IDLE) == ""
    screen.after(RUNNING, plan(entry("a", "completed")))
    assert screen.after(IDLE) == ("\nPlan\n  ✓ a\n\n── idle · end_turn · 1 of 4 tokens (25 %)\n")


def test_terminals_that_went_on_are_printed_again() -> None:
    """A terminal that changed after its tool call was printed is printed when the session rests."""
    screen = Screen()
    call = tool_call({"type": "terminal", "terminalId": "t"})
    other = tool_call({"type": "terminal", "terminalId": "none"}, toolCallId="d")
    ended = update_line("terminal_update", terminalId="t", exitStatus={"exitCode": 0})
    screen.after(update_line("terminal_update", terminalId="t", command="ls"), call, other)
    assert screen.after(ended) == ""
    assert screen.after(IDLE) == "\nTerminal\n  $ ls · exit 0\n" + RESTED
    assert screen.end() == STANDS


def test_permissions_notices_and_bad_prompts_are_printed_at_once() -> None:
    """Whatever somebody should see now is printed now, and once."""
    screen = Screen(prompted())
    assert screen.after(permission_line(5)).startswith("\nPermission · May I?\n")
    notice = update_line("notice", severity="info", title="Hm")
    assert screen.after(notice) == "\nNotice    info · Hm\n"
    assert screen.after(notice, notice) == "Notice    info · Hm\n" * 2
    refused = line(id=7, error={"code": 1, "message": "No."})
    assert screen.after(refused) == "\nYou · refused: No. (1)\n  Please.\n"
    assert screen.after(RUNNING) == ""
    assert screen.end().count("Please.") == 0


def test_prompts_that_wait_are_printed_at_the_end() -> None:
    """A prompt that was never answered is told with how the session stands."""
    screen = Screen(prompted())
    assert screen.after() == ""
    assert "\nYou · pending, not answered yet\n  Please.\n" in screen.end()


def test_terminals_that_nothing_embeds_are_printed_at_the_end() -> None:
    """A terminal by itself is told with how the session stands."""
    screen = Screen()
    assert screen.after(update_line("terminal_update", terminalId="t", command="ls")) == ""
    assert "\nTerminal\n  $ ls · running\n" in screen.end()


def resume(store: Store) -> None:
    """Begin a replay."""
    params = {"sessionId": "s1", "replayFrom": {"type": "start"}, "cwd": "/", "mcpServers": []}
    store.sent(line(id=1, method="session/resume", params=params))


def test_a_replay_is_not_printed_but_what_is_new_of_it() -> None:
    """While the history is told again nothing is printed; afterwards only what differs."""
    screen = Screen()
    screen.after(chunk_line("One.", "m1"), tool_call(), chunk_line("Two.", "m2"), IDLE)
    resume(screen.store)
    replayed = [message("agent_message", block("One."), message_id="m1"), tool_call(), IDLE]
    assert screen.after(*replayed) == ""
    done = line(id=1, result={})
    new = message("agent_message", block("New."), message_id="m3")
    assert screen.after(done, new) == "\nAgent\n  New.\n" + RESTED


def test_sessions_take_turns_under_headings() -> None:
    """A heading comes where another session goes on, and no message is cut by another's."""
    store = Store()
    stream = io.StringIO()
    live = Live(page_of(stream), store)
    for text in ("one ", "two ", "three"):
        for session in ("s1", "s2"):
            store.receive(chunk_line(text, session=session))
            live.update()
    live.finish()
    assert re.sub(r"── Session ─+ (s\d) ──", r"== \1", stream.getvalue()) == (
        "== s1\n\nAgent\n  one two three\n\n== s1\n\nState     idle\n"
        "\n== s2\n\nAgent\n  one two three\n\n== s2\n\nState     idle\n"
    )


def test_one_session_can_be_chosen() -> None:
    """Other sessions than the chosen one are not printed."""
    screen = Screen(chosen="s1")
    assert screen.after(update_line("_a", "s2"), update_line("_b", "s1")).startswith("\n• _b")
    assert "_a" not in screen.end()


@given(strategies.sessions(well_formed=False, hostile_client=True))
def test_nothing_is_lost(frames: list[strategies.Frame]) -> None:
    """Whatever comes, what is printed is safe, and has all of every message in the end."""
    screen = Screen()
    for frame in frames:
        (screen.store.sent if frame.sent else screen.store.receive)(frame.data + b"\n")
        screen.live.update()
    screen.live.finish()
    text = screen.stream.getvalue()
    assert_is_safe(text)
    settled = [snapshot for snapshot in snapshots(screen.store) if not snapshot.replaying]
    entries = [entry for snapshot in settled for entry in snapshot.entries]
    messages = [entry for entry in entries if isinstance(entry, Message)]
    assert all(is_within(letters(message.text), letters(text)) for message in messages)


def letters(text: str) -> str:
    """Give the letters of a text that are printed as they are."""
    return "".join(re.findall("[a-z]", text))


def is_within(part: str, whole: str) -> bool:
    """Tell whether all of a text is in another one, in order."""
    rest = iter(whole)
    return all(character in rest for character in part)
