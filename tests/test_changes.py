"""Changes: the law that defines them, over whole sessions, and what each of them says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any, get_args

import attrs
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace
from toy_renderer import HANDLERS, ToyRenderer, drawn
from traffic import chunk, chunk_line, event, permission_line, text, update_line

import acp_client
from acp_client import (
    Compaction,
    ContentBlocks,
    Entries,
    Event,
    Limits,
    Message,
    OutputBytes,
    Snapshot,
    Store,
    Terminal,
    Terminals,
    ToolCall,
    ToolCallContents,
    _continuation,
    wire,
)
from acp_client._changes import (
    AvailableCommandsChanged,
    Change,
    ConfigOptionsChanged,
    ContentReplaced,
    EntryAdded,
    EntryChanged,
    InfoChanged,
    ItemsAppended,
    NoticesAdded,
    OutputAppended,
    OutputReplaced,
    PermissionsChanged,
    PlanChanged,
    PromptChanged,
    Reset,
    StateChanged,
    TerminalAdded,
    TerminalChanged,
    TextAppended,
    TextReplaced,
    TurnChanged,
    UsageChanged,
)
from acp_client._compare import changes
from acp_client._content import stored_block, stored_item
from acp_client._items import Items, measured
from acp_client._keyed import Keyed
from acp_client._sequence_diff import matched
from acp_client._text import Position, heal_surrogates

EMPTY = Snapshot("s1")
KEEP_ALL = Limits()
FRAMES = st.one_of(
    strategies.sessions(well_formed=True, max_frames=40),
    strategies.sessions(well_formed=False, hostile_client=True, max_frames=40),
)
LIMITS = st.sampled_from([KEEP_ALL, Limits(notices=2, terminal_bytes=5)])


def after(*events: Event, base: Snapshot = EMPTY, limits: Limits = KEEP_ALL) -> Snapshot:
    """Give the snapshot after some events."""
    return acp_client.apply_all(base, events, limits=limits)


def copied(snapshot: Snapshot) -> Snapshot:
    """Give a snapshot that is equal and shares nothing."""
    return acp_client.loads(acp_client.dumps(snapshot))


def assert_led(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """Check the law for two snapshots, and give the changes."""
    renderer = ToyRenderer(old)
    steps = changes(old, new)
    renderer.apply(steps)
    assert renderer.drawn == drawn(new)
    return steps


def kinds(steps: Iterable[Change]) -> list[type]:
    """Give the classes of changes."""
    return [type(step) for step in steps]


def histories(frames: Iterable[Any], limits: Limits) -> dict[str, list[Snapshot]]:
    """Give all snapshots of each session, from the empty one on, a frame at a time."""
    store = Store(limits=limits)
    found: dict[str, list[Snapshot]] = {}
    for frame in frames:
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
        for session_id in store.sessions:
            history = found.setdefault(session_id, [Snapshot(session_id)])
            history.append(store.snapshot(session_id))
    return found


# --- The law ---


@given(FRAMES, LIMITS)
def test_a_renderer_that_sees_changes_only_draws_every_snapshot(
    frames: list[strategies.Frame], limits: Limits
) -> None:
    """One renderer per session follows whole connections frame by frame and is never wrong."""
    for history in histories(frames, limits).values():
        renderer = ToyRenderer(history[0])
        for old, new in pairwise(history):
            steps = changes(old, new)
            renderer.apply(steps)
            assert renderer.drawn == drawn(new)
            assert drawn(old) != drawn(new) or steps == ()


@given(st.data(), FRAMES, LIMITS)
def test_changes_lead_from_any_snapshot_to_any_other(
    data: st.DataObject, frames: list[strategies.Frame], limits: Limits
) -> None:
    """The law holds for pairs any distance apart, either way, and for copies from a file."""
    every = [one for history in histories(frames, limits).values() for one in history] or [EMPTY]
    for _ in range(5):
        old, new = (data.draw(st.sampled_from(every)) for _ in range(2))
        assert_led(old, new)
        assert_led(copied(old), new)
        assert_led(old, copied(new))


@given(FRAMES, LIMITS)
def test_equal_snapshots_need_no_changes(frames: list[strategies.Frame], limits: Limits) -> None:
    """Neither a snapshot itself nor an equal copy of it gives any change."""
    for history in histories(frames, limits).values():
        assert changes(history[-1], history[-1]) == ()
        assert changes(history[-1], copied(history[-1])) == ()
        assert changes(copied(history[-1]), history[-1]) == ()


# --- The law for what grows, where it is thorny ---

TEXTS = st.text(alphabet=[*"ab\n\u00e9\ud83d\ud83d\ude80", "\U0001f680"], max_size=3)
STYLES = st.sampled_from([None, None, None, wire.Annotations(priority=1.0)])
BLOCKS: st.SearchStrategy[wire.ContentBlock] = st.one_of(
    st.builds(wire.TextContent, TEXTS),
    st.builds(wire.TextContent, TEXTS, STYLES),
    st.just(wire.ResourceLink("n", "u")),
)
BLOCK_LISTS = st.lists(BLOCKS, max_size=5)
Blocks = list[wire.ContentBlock]


def one_entry(kind: str, blocks: Blocks, metas: Sequence[int] = ()) -> Snapshot:
    """Make a snapshot of one entry with some content."""
    told = [
        (index, wire.JsonObject({"k": 1})) for index in sorted(set(metas)) if index < len(blocks)
    ]
    entry: acp_client.Entry
    if kind == "compaction":
        entry = Compaction("m", summary=ContentBlocks.of(blocks))
    elif kind == "tool_call":
        entry = ToolCall("m", content=ToolCallContents.of(map(wire.Content, blocks), told))
    else:
        entry = Message("agent_message", "m", ContentBlocks.of(blocks, told))
    return Snapshot("s1", Entries.of([entry]))


def grown(old: Snapshot, blocks: Blocks) -> Snapshot:
    """Append blocks to the only entry of a snapshot."""
    entry = old.entries[0]
    if isinstance(entry, Compaction):
        now = entry.summary._appended([stored_block(block) for block in blocks])
        return replace(old, entries=old.entries._changed({0: replace(entry, summary=now)}))
    assert isinstance(entry, Message | ToolCall)
    stored: Any = [
        stored_item(wire.Content(block)) if isinstance(entry, ToolCall) else stored_block(block)
        for block in blocks
    ]
    now_content = entry.content._appended(stored)
    changed = {0: replace(entry, content=now_content)}
    return replace(old, entries=old.entries._changed(changed))


def recut(data: st.DataObject, blocks: Blocks) -> Blocks:
    """Cut the last text block in two, and let the second go on."""
    if not blocks or not isinstance(blocks[-1], wire.TextContent):
        return blocks
    last = blocks[-1]
    cut = data.draw(st.integers(0, len(last.text)))
    rest = last.text[cut:] + data.draw(TEXTS)
    parts = [heal_surrogates(last.text[:cut]), heal_surrogates(rest)]
    return [*blocks[:-1], *(wire.TextContent(part, last.annotations) for part in parts)]


@given(st.data(), st.sampled_from(["agent_message", "tool_call", "compaction"]), BLOCK_LISTS)
def test_content_grows_is_cut_otherwise_and_is_replaced(
    data: st.DataObject, kind: str, blocks: Blocks
) -> None:
    """Whatever content follows on whatever content, with halves of characters on every edge."""
    old = one_entry(kind, blocks, data.draw(st.lists(st.integers(0, 3))))
    more: Any = data.draw(BLOCK_LISTS)
    begun = data.draw(st.sampled_from([blocks, blocks[:-1], []])) + more
    other = one_entry(kind, begun, data.draw(st.lists(st.integers(0, 3))))
    for new in (grown(old, more), other, one_entry(kind, recut(data, blocks) + more)):
        assert_led(old, new)
        assert_led(new, old)
        assert_led(new, grown(new, blocks))


PIECES = st.binary(max_size=4) | st.sampled_from(
    [
        b"ab\r",
        b"c\r\nd",
        "\u00e9\u6f22".encode(),
        b"\x1b[2",
        b"K",
        b"\x1b]0;",
        b"a\b",
        b"\t",
        b"x" * 9,
    ]
)


@given(st.lists(PIECES, max_size=6), st.sampled_from([None, 0, 5, 12]), st.data())
def test_output_grows_under_a_limit_and_is_replaced(
    pieces: list[bytes], limit: int | None, data: st.DataObject
) -> None:
    """Bytes and text follow output that is cut anywhere, forgets its beginning, or starts again."""
    limits = Limits(terminal_bytes=limit)
    history = [after(event("terminal_update", terminalId="t"))]
    for piece in pieces:
        again = data.draw(st.integers(0, 5)) == 0
        now: Event = wire.TerminalOutputChunk("t", piece)
        if again:
            now = wire.TerminalUpdate("t", output=wire.TerminalOutput(piece))
        history.append(acp_client.apply(history[-1], now, limits=limits))
    renderer = ToyRenderer(history[0])
    for old, new in pairwise(history):
        renderer.apply(changes(old, new))
        assert renderer.drawn == drawn(new)
    for old, new in combinations(history, 2):
        assert_led(old, new)
        assert_led(copied(old), new)


# --- Entries ---


def test_added_text_is_the_suffix_alone() -> None:
    """A chunk is told as its text, where it begins, and the item that it came in."""
    old = after(chunk("one\ntw\u00f6"))
    new = after(chunk(" \U0001f680"), base=old)
    (step,) = changes(old, new)
    assert isinstance(step, TextAppended)
    assert (step.place, step.key) == (0, ("agent_message", "m"))
    assert (step.text, step.offset) == (" \U0001f680", 7)
    assert step.start == Position(7, 8, 7, 1, 3, 4, 3)
    assert step.end == Position(9, 13, 10, 1, 5, 9, 6)
    assert step.items == (text(" \U0001f680"),)


@pytest.mark.parametrize("first", ["\ud83d", "ab\ud83d", "a\n\ud83d"])
def test_a_half_character_is_replaced_by_the_whole(first: str) -> None:
    """The chunk that brings the second half of a character begins at the first half."""
    old = after(chunk(first))
    (step,) = assert_led(old, after(chunk("\ude80!"), base=old))
    assert isinstance(step, TextReplaced)
    assert (step.text, step.offset, step.removed) == ("\U0001f680!", len(first) - 1, 1)


def test_halves_with_something_between_are_drawn_anew() -> None:
    """A character whose halves an image divides cannot be told as an append."""
    link = {"type": "resource_link", "name": "n", "uri": "u"}
    old = after(chunk("\ud83d"), event("agent_message_chunk", messageId="m", content=link))
    assert kinds(assert_led(old, after(chunk("\ude80"), base=old))) == [ContentReplaced]


def message(*texts: str, **fields: Any) -> wire.SessionUpdate:
    """Make an update that replaces the content of a message."""
    blocks = [{"type": "text", "text": one} for one in texts]
    return event("agent_message", messageId="m", content=blocks, **fields)


@pytest.mark.parametrize(
    ("first", "second", "suffix", "items"),
    [
        (["Hel"], ["Hello"], "lo", 1),
        (["Hel"], ["Hel", "lo"], "lo", 1),
        (["H", "el"], ["Hello", "!"], "lo!", 2),
        (["x", "Hel"], ["x", "Hello"], "lo", 1),
        ([], ["Hello"], "Hello", 1),
        (["", "H"], ["", "H", "el"], "el", 1),
        (["Hello"], ["Hel", "lo"], "", 2),
    ],
)
def test_a_longer_message_that_begins_with_the_old_is_an_append(
    first: list[str], second: list[str], suffix: str, items: int
) -> None:
    """An agent that sends the whole message each time only appends, however it cuts the text."""
    old, new = after(message(*first)), after(message(*second))
    for step in (*assert_led(old, new), *assert_led(old, after(message(*second), base=old))):
        assert isinstance(step, TextAppended)
        assert (step.text, len(step.items)) == (suffix, items)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["Hello"], []),
        (["\ud83d"], ["\U0001f680"]),
        (["Hello"], ["hello!"]),
        (["a", "b"], ["b"]),
        (["\ud83d"], ["\U00010000"]),
    ],
)
def test_content_that_is_not_continued_is_replaced(first: list[str], second: list[str]) -> None:
    """Text that does not begin with the old text is drawn anew."""
    old = after(message(*first))
    assert kinds(assert_led(old, after(message(*second), base=old))) == [ContentReplaced]


LINK = wire.ResourceLink("n", "u")
BOLD = wire.TextContent("xyz", wire.Annotations(priority=1.0))


@pytest.mark.parametrize(
    ("first", "second", "start", "new", "removed"),
    [
        ([text("Hello")], [text("Hel")], 3, "", 2),
        ([text("Hello")], [text("Help!")], 3, "p!", 2),
        ([text("a\n```")], [text("a\nb\n```")], 2, "b\n```", 3),
        ([text("x"), text("Hello")], [text("x"), text("hello!")], 1, "hello!", 5),
        ([text("Hello"), LINK], [text("Hello!"), LINK], 5, "!", 0),
        ([LINK, text("\u00e9a"), text("b")], [LINK, text("\u00e9c")], 1, "c", 2),
        ([text("a\ud83d")], [text("a\U0001f680")], 1, "\U0001f680", 1),
        ([BOLD, text("b")], [replace(BOLD, text="xyy")], 2, "y", 2),
    ],
)
def test_replaced_text_is_told_from_the_first_character_that_differs(
    first: Blocks, second: Blocks, start: int, new: str, removed: int
) -> None:
    """What both texts begin with stays as it is drawn; what follows in the content is appended."""
    for kind in ("agent_message", "tool_call", "compaction"):
        step, *rest = assert_led(one_entry(kind, first), one_entry(kind, second))
        assert isinstance(step, TextReplaced)
        assert (step.offset, step.text, step.removed) == (start, new, removed)
        assert kinds(rest) == [ItemsAppended] * (second[-1] is LINK)


@pytest.mark.parametrize("ending", ["", "\n```", "\n" + "=" * 200])
def test_output_that_is_sent_whole_each_time_costs_the_difference(ending: str) -> None:
    """Changes tell each line once with the ending, and the versions share the text."""
    lines = [f"line {number} of some output\n" for number in range(2_000)]
    old, texts, history = EMPTY, list[str](), list[Snapshot]()
    for count in range(1, len(lines), 2):
        whole = "```\n" + "".join(lines[:count]) + ending
        content = [{"type": "content", "content": {"type": "text", "text": whole}}]
        new = after(event("tool_call_update", toolCallId="c", content=content), base=old)
        texts += [
            step.text for step in changes(old, new) if isinstance(step, TextReplaced | TextAppended)
        ]
        history.append(new)
        old = new
    assert sum(map(len, texts)) <= 3 * (len("".join(lines)) + len(ending) * len(history))
    entry = old.entries[0]
    assert isinstance(entry, ToolCall)
    assert entry.text == "```\n" + "".join(lines[:1_999]) + ending


def test_text_of_another_style_is_no_continuation_of_old_text() -> None:
    """Old text whose annotations changed is drawn anew, though it reads the same."""
    plain, annotated = (
        event(
            "agent_message",
            messageId="m",
            content=[{"type": "text", "text": "Hello", **more}],
        )
        for more in ({}, {"annotations": {"priority": 1}})
    )
    old = after(plain)
    assert kinds(assert_led(old, after(annotated, base=old))) == [ContentReplaced]


def test_text_and_items_come_in_their_order() -> None:
    """A batch of text, a link and text is told as three changes in that order."""
    link = {"type": "resource_link", "name": "n", "uri": "u"}
    old = after(chunk("a"))
    between = event("agent_message_chunk", messageId="m", content=link)
    steps = assert_led(old, after(chunk("b"), chunk("c"), between, chunk("d"), base=old))
    assert kinds(steps) == [TextAppended, ItemsAppended, TextAppended]
    first, second, third = steps
    assert isinstance(first, TextAppended)
    assert isinstance(second, ItemsAppended)
    assert isinstance(third, TextAppended)
    assert (first.text, first.offset, first.items) == ("bc", 1, (text("b"), text("c")))
    assert (second.index, second.start.offset) == (3, 3)
    assert second.items == (wire.ResourceLink("n", "u"),)
    assert (third.text, third.offset, third.index) == ("d", 3, 4)


def test_annotated_text_is_text() -> None:
    """A text block with annotations is told as text, like in `text`, and is among the items."""
    old = after(chunk("a"))
    block = {"type": "text", "text": "b", "annotations": {"priority": 1}}
    (step,) = assert_led(
        old, after(event("agent_message_chunk", messageId="m", content=block), base=old)
    )
    assert isinstance(step, TextAppended)
    assert (step.text, step.items) == (
        "b",
        (wire.TextContent("b", wire.Annotations(None, None, 1)),),
    )


def test_content_and_fields_are_two_changes() -> None:
    """A tool call whose content and status changed gives both, content first, names in order."""
    old = after(event("tool_call_update", toolCallId="c", title="Old"))
    output = {"type": "content", "content": {"type": "text", "text": "out"}}
    update = event(
        "tool_call_update", toolCallId="c", title="New", status="completed", content=[output]
    )
    new = after(update, base=old)
    first, second = assert_led(old, new)
    assert isinstance(first, TextAppended)
    assert isinstance(second, EntryChanged)
    assert second.fields == ("status", "title", "reported_status")
    assert second.old == {"title": "Old", "status": "pending", "reported_status": "pending"}
    assert second.new["status"] == "completed"


def test_a_cancel_changes_the_status_that_is_shown() -> None:
    """The mark of a cancel is told as the status it gives, the reported one being as it was."""
    old = after(event("tool_call_update", toolCallId="c", status="in_progress"))
    (step,) = assert_led(old, after(acp_client.CancelSent(), base=old))
    assert isinstance(step, EntryChanged)
    assert step.fields == ("status", "cancel_marked")


def test_meta_of_chunks_comes_with_their_items() -> None:
    """The `_meta` beside a chunk is told with its text; where it goes, the content is replaced."""
    old = after(chunk("a"))
    new = after(chunk("b", _meta={"k": 1}), base=old)
    (step,) = assert_led(old, new)
    assert isinstance(step, TextAppended)
    assert step.metas == ((1, wire.JsonObject({"k": 1})),)
    assert kinds(assert_led(new, after(message("a", "b"), base=new))) == [ContentReplaced]


def test_entries_are_changed_in_order_and_then_added_whole() -> None:
    """Entries that were there come first, in ascending order; new ones have all their content."""
    old = after(chunk("a", "one"), chunk("b", "two"))
    more = [chunk("c", "new"), chunk("B", "two"), chunk("A", "one"), chunk("d", "new"), chunk("e")]
    steps = assert_led(old, after(*more, base=old))
    assert kinds(steps) == [TextAppended, TextAppended, EntryAdded, EntryAdded]
    assert [getattr(step, "place", None) for step in steps] == [0, 1, 2, 3]
    added = steps[2]
    assert isinstance(added, EntryAdded)
    assert added.key == ("agent_message", "new")
    assert isinstance(added.new, Message)
    assert added.new.text == "cd"


def test_an_unknown_entry_has_its_payload_as_a_field() -> None:
    """In snapshots that share nothing an unknown entry may be another in the same place."""
    old, new = (after(event("_vendor", any=value)) for value in (1, 2))
    (step,) = assert_led(old, new)
    assert isinstance(step, EntryChanged)
    assert step.fields == ("update",)


# --- Terminals ---


def test_output_tells_bytes_and_text() -> None:
    """Output is told as its bytes and, on request, as what it does to the terminal's text."""
    old = after(wire.TerminalOutputChunk("t", b"one\n10%\r"))
    new = after(wire.TerminalOutputChunk("t", b"20%\n\xc3"), base=old)
    (step,) = assert_led(old, new)
    assert isinstance(step, OutputAppended)
    assert (step.offset, step.data, step.dropped) == (8, b"20%\n\xc3", 0)
    assert (step.start, step.text) == (Position(4, 4, 4, 1), "20%\n")
    again = after(wire.TerminalOutputChunk("t", b"\xa9"), base=new)
    (second,) = assert_led(new, again)
    assert isinstance(second, OutputAppended)
    assert (second.start.line, second.text) == (2, "\u00e9")


def test_output_that_a_limit_forgets_is_still_an_append() -> None:
    """Where the oldest bytes go, the change says how many, and what came behind the rest."""
    limits = Limits(terminal_bytes=5)
    old = after(wire.TerminalOutputChunk("t", b"abcd"), limits=limits)
    new = after(wire.TerminalOutputChunk("t", b"efg"), base=old, limits=limits)
    first, second = assert_led(old, new)
    assert isinstance(first, OutputAppended)
    assert (first.dropped, first.offset, first.data) == (2, 2, b"efg")
    assert (first.start.offset, first.text) == (0, "cdefg")
    assert isinstance(second, TerminalChanged)
    assert second.fields == ("dropped_bytes",)


def test_replaced_output_that_goes_on_is_an_append() -> None:
    """An agent that sends all output each time only appends; other output replaces."""

    def told(data: bytes) -> Event:
        return wire.TerminalUpdate("t", output=wire.TerminalOutput(data))

    old = after(told(b"ab"))
    (step,) = assert_led(old, after(told(b"abc"), base=old))
    assert isinstance(step, OutputAppended)
    assert (step.offset, step.data) == (2, b"c")
    assert kinds(assert_led(old, after(told(b"b"), base=old))) == [OutputReplaced]


def test_a_terminal_comes_before_the_tool_call_that_shows_it() -> None:
    """A new terminal is told before entries, its fields when they change."""
    shown = event(
        "tool_call_update", toolCallId="c", content=[{"type": "terminal", "terminalId": "t"}]
    )
    new = after(shown, event("terminal_update", terminalId="t", command="ls"))
    assert kinds(assert_led(EMPTY, new)) == [TerminalAdded, EntryAdded]
    gone = after(event("terminal_update", terminalId="t", exitStatus={"exitCode": 0}), base=new)
    (step,) = assert_led(new, gone)
    assert isinstance(step, TerminalChanged)
    assert step.fields == ("exit_status",)


def test_output_cut_otherwise_is_no_change() -> None:
    """The same bytes in other pieces need no change."""
    one, two = (
        Snapshot("s1", terminals=Terminals.of([Terminal("t", pieces=OutputBytes._made(p))]))
        for p in ([b"ab", b"c"], [b"a", b"bc"])
    )
    assert changes(one, two) == ()


# --- Lists ---


def plan(*steps: str) -> Event:
    """Make an update of a plan; each step is its content and its status."""
    entries = [
        {"content": step.split(":")[0], "priority": "high", "status": step.split(":")[1]}
        for step in steps
    ]
    return event("plan_update", plan={"type": "items", "planId": "p", "entries": entries})


@pytest.mark.parametrize(
    ("first", "second", "removed", "added", "changed"),
    [
        (["a:pending", "b:pending"], ["a:done", "b:pending"], (), (), (0,)),
        (["a:pending"], ["z:pending", "a:pending"], (), (0,), ()),
        (["a:x", "b:x", "c:x"], ["a:x", "c:y"], (1,), (), (1,)),
        (["a:x", "b:x", "c:x"], ["a:x", "B:x", "c:x"], (), (), (1,)),
        (["a:x", "b:x"], ["b:x", "a:x"], (1,), (0,), ()),
        (["a:x", "a:x"], ["a:x", "a:y"], (), (), (1,)),
        (["a:x"], [], (0,), (), ()),
    ],
)
def test_a_plan_names_what_changed(
    first: list[str],
    second: list[str],
    removed: tuple[int, ...],
    added: tuple[int, ...],
    changed: tuple[int, ...],
) -> None:
    """A replaced plan says which entries went, came and changed, their text included."""
    old = after(plan(*first))
    (step,) = assert_led(old, after(plan(*second), base=old))
    assert isinstance(step, PlanChanged)
    assert (step.removed, step.added, step.changed) == (removed, added, changed)


def test_a_new_plan_and_one_of_an_unknown_type() -> None:
    """A new plan has nothing old; one of an unknown type has no entries that can be named."""
    old = after(plan("a:x"))
    unknown = event("plan_update", plan={"type": "_tree", "planId": "p", "root": 1})
    (first,) = assert_led(EMPTY, old)
    (second,) = assert_led(old, after(unknown, base=old))
    assert isinstance(first, PlanChanged)
    assert (first.old, first.added) == (None, (0,))
    assert isinstance(second, PlanChanged)
    assert (second.removed, second.added) == ((0,), ())


def commands(**described: str) -> Event:
    """Make an update of the slash commands."""
    listed = [{"name": name, "description": said} for name, said in described.items()]
    return event(
        "available_commands_update",
        availableCommands=[{"type": "command", **one} for one in listed],
    )


def test_commands_are_matched_by_name() -> None:
    """A replaced list of commands names what went, came, and is described otherwise."""
    old = after(commands(a="A", b="B", c="C"))
    (step,) = assert_led(old, after(commands(a="A", c="See", d="D"), base=old))
    assert isinstance(step, AvailableCommandsChanged)
    assert (step.removed, step.added, step.changed) == ((1,), (2,), (1,))


@pytest.mark.parametrize("kind", ["boolean", "_slider"])
def test_options_are_matched_by_id(kind: str) -> None:
    """A replaced list of options names the one that changed, of a known type or not."""

    def told(value: bool) -> Event:
        options = [
            {"type": "boolean", "configId": "x", "name": "X", "currentValue": True},
            {"type": kind, "configId": "y", "name": "Y", "currentValue": value},
        ]
        return event("config_option_update", configOptions=options)

    old = after(told(True))
    (step,) = assert_led(old, after(told(False), base=old))
    assert isinstance(step, ConfigOptionsChanged)
    assert (step.removed, step.added, step.changed) == ((), (), (1,))


def test_equal_items_of_replaced_lists_stay_the_same_objects() -> None:
    """What an agent repeats within a new list is what was there, so `is` tells what changed."""
    options = [
        {"type": "boolean", "configId": name, "name": name, "currentValue": True} for name in "xy"
    ]
    told = event("config_option_update", configOptions=options)
    fewer = event("config_option_update", configOptions=options[1:])
    old = after(plan("a:x", "b:x"), commands(a="A", b="B"), told)
    new = after(plan("a:y", "b:x"), commands(b="B", a="a"), fewer, base=old)
    old_plan, new_plan = old.plans[0], new.plans[0]
    assert isinstance(old_plan, wire.PlanItems)
    assert isinstance(new_plan, wire.PlanItems)
    assert new_plan.entries[1] is old_plan.entries[1]
    assert new.available_commands[0] is old.available_commands[1]
    assert new.config_options[0] is old.config_options[1]
    renamed = after(event("session_info_update", title="T"), told, base=old)
    assert renamed.config_options is old.config_options


# --- The rest of the session ---


def test_prompts_are_told_one_by_one() -> None:
    """A prompt is told when it is sent, answered and echoed."""
    sent = after(acp_client.PromptSent(1, (text("hi"),)))
    (step,) = assert_led(EMPTY, sent)
    assert isinstance(step, PromptChanged)
    assert (step.place, step.old) == (0, None)
    accepted = after(acp_client.PromptAccepted(1, "m1"), base=sent)
    echoed = after(event("user_message", messageId="m1"), base=accepted)
    (second,) = assert_led(sent, accepted)
    assert isinstance(second, PromptChanged)
    assert second.new.status == "accepted"
    assert kinds(assert_led(accepted, echoed)) == [EntryAdded, PromptChanged]


def asked(count: int) -> Snapshot:
    """Give a session with some permission requests."""
    store = Store(protocol="v2")
    store.receive(b"".join(map(permission_line, range(count))))
    return store.snapshot("s1")


def without(snapshot: Snapshot, *places: int) -> Snapshot:
    """Close the permission requests at some places."""
    ids = [snapshot.permissions[place].request_id for place in places]
    return acp_client.apply_all(snapshot, map(acp_client.PermissionClosed, ids))


def seconds(run: Callable[[], object]) -> float:
    """Time a call, the quickest of a few."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("place", [0, 500, 999], ids=["first", "middle", "last"])
def test_one_permission_among_many_costs_little(place: int) -> None:
    """One that is asked or goes takes less than a fifth of matching all of them."""
    old = asked(1_000)
    new = without(old, place)
    turned = [*old.permissions[1:], old.permissions[0]], [*reversed(new.permissions)]
    whole = seconds(lambda: matched(*turned, lambda one: one.request_id))
    assert seconds(lambda: changes(old, new)) < whole / 5
    assert seconds(lambda: changes(new, old)) < whole / 5


def test_permissions_are_asked_asked_again_and_taken_back() -> None:
    """Pending permissions are matched by the id of their request; `1` and `"1"` are two."""
    store = Store()
    store.receive(permission_line(1) + permission_line("1"))
    first = store.snapshot("s1")
    (step,) = assert_led(EMPTY, first)
    assert isinstance(step, PermissionsChanged)
    assert (step.removed, step.added, step.changed) == ((), (0, 1), ())
    store.receive(permission_line("1", description="again"))
    store.answer_permission("s1", 1, "yes")
    (step,) = assert_led(first, store.snapshot("s1"))
    assert isinstance(step, PermissionsChanged)
    assert (step.removed, step.added, step.changed) == ((0,), (), (0,))


def test_notices_are_new_ones_and_how_many_were_forgotten() -> None:
    """Notices of a full list push the oldest out, equal ones among them."""

    def notice(title: str) -> Event:
        return event("notice", severity="info", title=title)

    limits = Limits(notices=2)
    old = after(notice("a"), notice("b"), limits=limits)
    new = after(notice("b"), base=old, limits=limits)
    (step,) = assert_led(old, new)
    assert isinstance(step, NoticesAdded)
    assert (step.dropped, step.new) == (1, new.notices[1:])
    assert changes(copied(old), new) == (step,)
    again = after(notice("b"), notice("b"), base=new, limits=Limits(notices=3))
    (step,) = assert_led(new, again)
    assert isinstance(step, NoticesAdded)
    assert (step.dropped, step.new) == (1, again.notices[1:])
    far = after(notice("c"), notice("d"), notice("e"), base=old, limits=limits)
    (step,) = assert_led(old, far)
    assert isinstance(step, NoticesAdded)
    assert (step.dropped, step.new) == (2, far.notices)


def test_state_usage_and_info_have_their_own_changes() -> None:
    """State, usage and info say what they were and are; info names its fields."""
    usage = event("usage_update", used=1, size=2)
    info = event("session_info_update", title="T")
    new = after(usage, info, event("state_update", state="running"))
    steps = assert_led(EMPTY, new)
    assert kinds(steps) == [UsageChanged, InfoChanged, TurnChanged, StateChanged]
    assert steps[0] == UsageChanged(None, acp_client.Usage(1, 2))
    assert steps[1] == InfoChanged(("title",), {"title": None}, {"title": "T"})
    assert steps[2] == TurnChanged(0, None, acp_client.Turn(0))
    assert steps[3] == StateChanged(wire.StateUpdate("idle"), wire.StateUpdate("running"))


def test_bookkeeping_is_nothing_to_draw() -> None:
    """Snapshots that differ in nothing that can be seen need no change."""
    new = after(event("available_commands_update", availableCommands=[]))
    assert new is not EMPTY
    assert changes(EMPTY, new) == ()
    idle = after(event("state_update", state="idle"))
    assert changes(EMPTY, idle) == ()


# --- Reset ---

BEFORE = after(chunk("a", "one"), chunk("b", "two"))
REPLAYING = after(acp_client.ReplayBegun(), base=BEFORE)
REPLAYED = after(chunk("a", "one"), base=REPLAYING)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(EMPTY, Snapshot("s2"), id="another session"),
        pytest.param(BEFORE, REPLAYING, id="replay begun"),
        pytest.param(REPLAYED, after(acp_client.ReplayEnded(), base=REPLAYED), id="ended"),
        pytest.param(REPLAYED, after(acp_client.ReplayFailed(), base=REPLAYED), id="failed"),
        pytest.param(BEFORE, after(chunk("a", "one")), id="entries are missing"),
        pytest.param(after(chunk("b", "two")), BEFORE, id="entries are others"),
        pytest.param(after(wire.TerminalUpdate("t")), EMPTY, id="a terminal is missing"),
        pytest.param(after(acp_client.PromptSent(1, ())), EMPTY, id="a prompt is missing"),
    ],
)
def test_what_does_not_continue_is_drawn_again(old: Snapshot, new: Snapshot) -> None:
    """A reset is the only change, for snapshots that share and for copies."""
    assert assert_led(old, new) == (Reset(new),)
    assert assert_led(copied(old), new) == (Reset(new),)


def test_a_replay_is_followed_while_it_goes_on() -> None:
    """Between its beginning and its end a replay is told like anything else."""
    assert kinds(assert_led(REPLAYING, REPLAYED)) == [EntryAdded]
    more = after(chunk("!", "one"), base=REPLAYED)
    assert kinds(assert_led(copied(REPLAYED), more)) == [TextAppended]


def test_a_finished_replay_of_the_same_is_no_reset_from_afar() -> None:
    """Who slept through a replay goes on from what it drew, if that is how the session begins."""
    replayed = after(
        *(chunk("a", "one"), chunk("b", "two"), acp_client.ReplayEnded(), chunk("!", "two")),
        base=REPLAYING,
    )
    assert kinds(assert_led(BEFORE, replayed)) == [TextAppended]


# --- What it costs, and what it is made of ---


@pytest.mark.parametrize("count", [100, 1056, 100_000])
def test_shared_entries_are_not_looked_at(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small batch looks at the entries that it changed, however many there are."""
    old = after(*(wire.AgentMessage(f"m{number}") for number in range(count)))
    new = after(chunk("a", "m0"), chunk("b", f"m{count // 2}"), chunk("c", "new"), base=old)
    looked_at: list[int] = []
    found = Keyed._at

    def counted(self: Any, place: int) -> Any:
        looked_at.append(place)
        return found(self, place)

    monkeypatch.setattr(Keyed, "_at", counted)
    monkeypatch.setattr(Keyed, "_keys", None)
    assert len(changes(old, new)) == 3
    assert set(looked_at) == {0, count // 2, count}


def test_text_that_was_there_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk of a long message costs that chunk, for a reader of any stride."""
    history = [after(chunk("one "))]
    changes(history[0], after(chunk("two "), base=history[0]))
    read: list[int] = []
    walked = _continuation._walked

    def counted(ending: Any, items: Sequence[Any], index: int = 0) -> Any:
        read.append(len(items))
        return walked(ending, items, index)

    monkeypatch.setattr(_continuation, "_walked", counted)
    for number in range(60):
        history.append(after(chunk(f"{number} "), base=history[-1]))
        changes(history[-2], history[-1])
        if number % 10 == 9:
            changes(history[-11], history[-1])
    assert sum(read) <= 1 + 60 + 60


def test_output_that_was_there_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chunk of a long output is parsed once, if every text is asked for."""
    old = after(wire.TerminalOutputChunk("t", b"one\n" * 10))
    fed: list[int] = []
    joined = OutputBytes.data

    def counted(self: OutputBytes) -> bytes:
        fed.append(len(self))
        data: bytes = joined.__get__(self)
        return data

    monkeypatch.setattr(OutputBytes, "data", property(counted))
    for _ in range(5):
        new = after(wire.TerminalOutputChunk("t", b"two\n"), base=old)
        (step,) = changes(old, new)
        assert isinstance(step, OutputAppended)
        assert step.text == "two\n"
        old = new
    assert fed == [1]


@pytest.mark.parametrize("kind", get_args(Change), ids=lambda kind: kind.__name__)
def test_every_change_is_frozen_and_says_what_to_do(kind: Any) -> None:
    """Each class of the closed set is frozen, and says what a renderer does."""
    is_struct = issubclass(kind, Struct)
    assert kind.__struct_config__.frozen if is_struct else attrs.has(kind)
    assert kind.__setattr__ is not object.__setattr__
    assert kind.__doc__
    assert not kind.__doc__.startswith("Method generated")


def test_no_other_change_is_known_to_the_renderer() -> None:
    """The renderer of the tests handles the closed set and nothing else."""
    assert set(HANDLERS) == set(get_args(Change))


def test_the_store_knows_a_line_that_its_changes_tell() -> None:
    """Bytes to changes, from end to end: a chunk on a line is a suffix in a change."""
    store = Store()
    store.receive(chunk_line("a") + update_line("state_update", state="running"))
    old = store.snapshot("s1")
    store.receive(chunk_line("b"))
    (step,) = changes(old, store.snapshot("s1"))
    assert isinstance(step, TextAppended)
    assert (step.text, step.offset) == ("b", 1)


def test_items_keep_what_was_measured_of_them() -> None:
    """What is measured of a version is kept with it, and with no other."""
    items: Items[Any] = Items._made([1, 2])
    more = items._appended([3])
    assert (measured(items, lambda: "two"), measured(items, lambda: "")) == (
        "two",
        "two",
    )
    assert measured(more, lambda: "three") == "three"
