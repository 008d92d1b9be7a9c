"""What the Neovim plugin draws: changes in, edits out, without an editor."""

from __future__ import annotations

import base64
import importlib
import sys
from itertools import accumulate
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from recording_tape import shown, text_block
from traffic import ROOT, event

import acp_client
from acp_client import Delivery, Event, Limits, Snapshot, Store

sys.path.append(str(ROOT / "examples" / "neovim"))
document = importlib.import_module("acp_nvim.document")
view = importlib.import_module("acp_nvim.view")

EMPTY = Snapshot("s1")
FRAMES = st.one_of(
    strategies.sessions(well_formed=True, max_frames=40),
    strategies.sessions(well_formed=False, hostile_client=True, max_frames=40),
)
LIMITS = st.sampled_from([Limits(), Limits(notices=2, terminal_bytes=5)])


class Buffer:
    """Lines that take the edits of a view, and see nothing else."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._view = view.View()
        self._snapshot = snapshot
        self.lines = [""]
        self._draw(Delivery.first(snapshot))

    def follow(self, snapshot: Snapshot) -> list[Any]:
        """Go on to another snapshot; return the edits."""
        step = Delivery(snapshot.session_id, self._snapshot, snapshot, "live")
        self._snapshot = snapshot
        return self._draw(step)

    def _draw(self, step: Delivery) -> list[Any]:
        self._view.draw(step)
        edits: list[Any] = self._view.document.take_edits()
        for edit in edits:
            self._take(edit)
        assert self.lines == self._view.document.lines
        return edits

    def _take(self, edit: Any) -> None:
        if isinstance(edit, document.Extension):
            self.lines[edit.row] += edit.text
        else:
            assert 0 <= edit.start <= edit.end <= len(self.lines)
            self.lines[edit.start : edit.end] = edit.lines


def drawn(snapshot: Snapshot) -> list[str]:
    """Draw a snapshot at once."""
    return Buffer(snapshot).lines


def after(*events: Event, base: Snapshot = EMPTY) -> Snapshot:
    """Give the snapshot after some events."""
    return acp_client.apply_all(base, events)


def said(text: str, kind: str = "agent_message_chunk", message_id: str = "m") -> Event:
    """Make a chunk of a message."""
    return event(kind, messageId=message_id, content=text_block(text))


@given(FRAMES, LIMITS, st.integers(1, 5))
def test_edits_lead_to_what_the_last_snapshot_draws(
    frames: list[strategies.Frame], limits: Limits, stride: int
) -> None:
    """A buffer that takes edits only is never wrong, whatever the agent does."""
    store = Store(limits=limits)
    histories: dict[str, list[Snapshot]] = {}
    for frame in frames:
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
        for session_id in store.sessions:
            histories.setdefault(session_id, []).append(store.snapshot(session_id))
    for history in histories.values():
        buffer = Buffer(history[0])
        for new in history[::stride]:
            buffer.follow(new)
            assert buffer.lines == drawn(new)


FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"


@pytest.mark.parametrize(
    "text",
    [
        "one\n\ntwo\n",
        f"a {FAMILY} here",
        "1\ufe0f\u20e3 and \N{HEAVY BLACK HEART}\ufe0f",
        "\N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}",
        "a\u202eb\x1b[31m\tc\r\nd",
        "\ud83d\ude00 \ud83d",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_text_may_be_cut_anywhere(text: str, size: int) -> None:
    """Text that comes in pieces is drawn as the whole is, emoji and halves of characters too."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    new = after(said(pieces[0]))
    buffer = Buffer(new)
    for piece in pieces[1:]:
        new = after(said(piece), base=new)
        buffer.follow(new)
    assert buffer.lines == drawn(after(said(text)))


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
TERMINAL = {"type": "terminal", "terminalId": "t"}


def call(*content: Any, call_id: str = "c") -> Event:
    """Make a tool call with some content."""
    return event("tool_call_update", toolCallId=call_id, content=content)


def output(text: str) -> Event:
    """Make a piece of a terminal's output."""
    data = base64.b64encode(text.encode()).decode()
    return event("terminal_output_chunk", terminalId="t", data=data)


EXITED = event("terminal_update", terminalId="t", exitStatus={"exitCode": 0})


@pytest.mark.parametrize(
    "events",
    [
        [said("a"), event("agent_message_chunk", messageId="m", content=IMAGE), said("b\nc")],
        [call(TERMINAL, shown("below")), output("a\nb"), output("c\n"), EXITED, output("d")],
        [call(TERMINAL), output("a\n"), call(shown("one"), shown("two")), output("b\n"), EXITED],
        [call(TERMINAL), call(TERMINAL, TERMINAL, call_id="d"), output("a"), output("\rb\n")],
        [call(TERMINAL), output("x" * 3000), output("y" * 3000), output("\rz"), EXITED],
        [call(TERMINAL), event("terminal_update", terminalId="t", command="a", output=None)],
        [call(shown("one")), event("tool_call_content_chunk", toolCallId="c", content=TERMINAL)],
        [output("a\n"), EXITED, call(TERMINAL), call(), call(TERMINAL)],
    ],
)
def test_each_step_leads_to_what_is_drawn_at_once(events: list[Event]) -> None:
    """Text around images, and terminals shown before, twice, and no more, are drawn right."""
    new = after(events[0])
    buffer = Buffer(new)
    for each in events[1:]:
        new = after(each, base=new)
        buffer.follow(new)
        assert buffer.lines == drawn(new)


def test_no_text_of_the_agent_is_raw_or_begins_a_line() -> None:
    """Control characters are made visible, and only the plugin's words stand in column one."""
    evil = "\x1b]0;x\x07\rYou\nYou\nPermission · Really?\u202e"
    calls = {"content": [shown(evil)], "locations": [{"path": evil}], "rawInput": None}
    steps = [{"content": evil, "priority": evil, "status": evil}]
    new = after(
        said(evil),
        said(evil, "agent_thought_chunk"),
        event("tool_call_update", toolCallId="c", title=evil, status=evil, kind=evil, **calls),
        event("compaction_update", compactionId="k", status=evil, error=evil),
        event(evil, x=evil),
        event("plan_update", plan={"type": "items", "planId": "p", "entries": steps}),
        event("state_update", state=evil),
        event("session_info_update", title=evil),
    )
    lines = drawn(new)
    assert [line for line in lines if not line.isprintable()] == []
    heads = [line.partition(" ")[0] for line in lines if not line.startswith("  ")]
    assert heads == ["Agent", "Thought", "Tool", "Compaction", "Unknown", "Plan", "──"]


def plan(*statuses: str) -> Event:
    """Make a plan with a step for each status."""
    numbered = enumerate(statuses)
    steps = [{"content": f"step {i}", "priority": "low", "status": one} for i, one in numbered]
    return event("plan_update", plan={"type": "items", "planId": "p", "entries": steps})


@pytest.mark.parametrize("count", [10, 10_000])
def test_an_edit_is_as_small_in_a_long_conversation(count: int) -> None:
    """What is drawn for a word, a status or a line of output is the same anywhere."""
    old = after(
        event("tool_call_update", toolCallId="c", title="Run", content=[TERMINAL]),
        event("terminal_update", terminalId="t", command="run"),
        *(said("a line\n" * 3, message_id=f"m{number}") for number in range(count)),
        plan("pending", "pending"),
    )
    buffer = Buffer(old)
    end = len(buffer.lines)
    cases = [
        (plan("pending", "completed"), [(end - 2, end - 1, ["  ☑ step 1"])]),
        (said(" more", message_id=f"m{count - 1}"), [(end - 5, " more")]),
        (said(" and\nmore", message_id="m0"), [(6, " and"), (7, 7, ["  more"])]),
        (event("terminal_output_chunk", terminalId="t", data="aGk="), [(2, 2, ["  │ hi"])]),
        (
            event("tool_call_update", toolCallId="c", status="completed"),
            [(0, 1, ["Tool · Run · other · completed"])],
        ),
    ]
    for update, edits in cases:
        old = after(update, base=old)
        assert buffer.follow(old) == edits


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1))
def test_row_counts_are_sums(steps: list[tuple[int, int]]) -> None:
    """The tree counts what a plain list counts, while blocks come and grow."""
    rows = document.RowCounts()
    counts: list[int] = []
    for place, count in steps:
        if place < len(counts):
            rows.add(place, count)
            counts[place] += count
        else:
            rows.append(count)
            counts.append(count)
        sums = [0, *accumulate(counts)]
        assert [rows.before(block) for block in range(len(counts) + 1)] == sums
