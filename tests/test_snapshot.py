"""Snapshots as values: nothing in them can be changed, and everything in them can be found."""

from __future__ import annotations

import copy
import pickle
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import attrs
import msgspec
import pytest
from msgspec.structs import replace
from rich_session import rich_events, rich_snapshot
from traffic import chunk, event

import acp_client
from acp_client import Snapshot, apply, apply_all, dumps, wire
from acp_client._persistent import Version
from acp_client._snapshot import background_tool_calls, entry_key, plan_key

EMPTY = Snapshot("s1")
ATOMS = (str, int, float, bool, bytes, type(None), msgspec.UnsetType)


def parts(value: Any, path: str = "snapshot") -> Iterator[tuple[str, Any]]:
    """Walk all that can be reached by public names, items and slices, with the way there."""
    yield path, value
    if isinstance(value, ATOMS):
        return
    if isinstance(value, tuple | Version):
        for place, item in enumerate(value):
            yield from parts(item, f"{path}[{place}]")
    if isinstance(value, Version):
        yield from parts(value[:1], f"{path}[:1]")
    for name in public_names(value):
        yield from parts(getattr(value, name), f"{path}.{name}")


def public_names(value: Any) -> list[str]:
    """Give the public attributes of a value that are no methods."""
    if isinstance(value, tuple):
        return []
    names = [name for name in dir(value) if not name.startswith("_")]
    if isinstance(value, wire.Json):
        names.remove("value")  # a fresh copy each time, see the tests of Json
    return [name for name in names if not callable(getattr(value, name))]


RICH = rich_snapshot()
PARTS = list(parts(RICH))


def test_the_walk_reaches_everything() -> None:
    """The walk goes through every class of a snapshot and of its wire objects."""
    kinds = {type(value) for _, value in PARTS}
    classes = {getattr(acp_client, name) for name in SNAPSHOT_CLASSES}
    assert classes <= kinds
    assert {wire.TextContent, wire.Diff, wire.DiffMove, wire.Icon, wire.Unknown} <= kinds
    assert {wire.UnknownStateUpdate, wire.PlanItems, wire.SessionConfigSelectGroup} <= kinds
    assert len(PARTS) > 2_000


SNAPSHOT_CLASSES = (
    "Compaction",
    "ContentBlocks",
    "Entries",
    "Message",
    "OutputBytes",
    "Plans",
    "Prompt",
    "SessionInfo",
    "Snapshot",
    "Terminal",
    "Terminals",
    "ToolCall",
    "ToolCallContents",
    "UnknownEntry",
    "Usage",
)


def test_nothing_mutable_can_be_reached() -> None:
    """Every part is an atom, a tuple, a frozen object or one of our immutable sequences."""
    for path, value in PARTS:
        assert isinstance(value, (*ATOMS, tuple, wire.Json, Version)) or is_frozen(value), path


def is_frozen(value: Any) -> bool:
    """Tell whether an object is of a frozen class."""
    if isinstance(value, msgspec.Struct):
        return value.__struct_config__.frozen
    kind: Any = type(value)
    return attrs.has(kind) and kind.__setattr__ is not object.__setattr__


def test_nothing_public_can_be_set() -> None:
    """No public attribute can be set or deleted, no item assigned, and none added."""
    for path, value in PARTS:
        if isinstance(value, (*ATOMS, tuple)):
            continue
        for name in [*public_names(value), "of_my_own"]:
            with pytest.raises((AttributeError, TypeError)):
                setattr(value, name, None)
            with pytest.raises((AttributeError, TypeError)):
                delattr(value, name)
        if isinstance(value, Version):
            with pytest.raises(TypeError):
                value[0] = None  # type: ignore[index]  # that is the point
            assert not hasattr(value, "append"), path


def test_the_walk_changed_nothing() -> None:
    """After all these attempts the snapshot is what it was."""
    assert rich_snapshot() == RICH
    assert dumps(rich_snapshot()) == dumps(RICH)


# --- Finding things ---


def test_entries_are_found_by_kind_and_id() -> None:
    """Each kind of entry has a lookup of its own, and an id of another kind finds nothing."""
    events = [
        event("user_message", messageId="x"),
        event("agent_message", messageId="x"),
        event("tool_call_update", toolCallId="x"),
        event("compaction_update", compactionId="x", status="completed"),
        event("_vendor"),
        event("terminal_update", terminalId="x"),
        event("plan_update", plan={"type": "_gantt", "planId": "x"}),
    ]
    entries = apply_all(EMPTY, events).entries
    assert entries.message("user_message", "x") is entries[0]
    assert entries.message("agent_message", "x") is entries[1]
    assert entries.message("agent_thought", "x") is None
    assert entries.tool_call("x") is entries[2]
    assert entries.compaction("x") is entries[3]
    assert entries.tool_call("y") is None
    assert entries.compaction("y") is None
    assert [one.type for one in entries] == [
        "user_message",
        "agent_message",
        "tool_call",
        "compaction",
        "unknown",
    ]
    assert [entries.get(entry_key(one, place)) for place, one in enumerate(entries)] == [*entries]
    snapshot = apply_all(EMPTY, events)
    assert snapshot.terminals.get("x") is snapshot.terminals[0]
    assert snapshot.plans.get("x") is snapshot.plans[0]
    assert [plan_key(plan) for plan in RICH.plans] == ["p1", "p2"]


def test_an_empty_snapshot_is_a_session_of_which_nothing_is_known() -> None:
    """`Snapshot(id)` has empty sequences, an idle state, and nothing else."""
    assert (len(EMPTY.entries), len(EMPTY.terminals), len(EMPTY.plans)) == (0, 0, 0)
    assert EMPTY.state == wire.StateUpdate("idle")
    assert EMPTY.usage is None
    assert EMPTY.before_replay is None
    assert EMPTY.info == acp_client.SessionInfo()
    assert EMPTY.available_commands == EMPTY.config_options == EMPTY.notices == ()
    assert (EMPTY.prompts, EMPTY.permissions) == ((), ())
    assert EMPTY.replaying is False
    assert Snapshot("s1") == EMPTY != Snapshot("s2")


@pytest.mark.parametrize(
    ("status", "finished"),
    [
        ("pending", False),
        ("in_progress", False),
        ("paused", False),
        ("_odd", False),
        ("completed", True),
        ("failed", True),
        ("cancelled", True),
    ],
)
def test_tool_calls_know_whether_they_are_finished(status: str, finished: bool) -> None:
    """A call is finished by its effective status, which our mark makes `cancelled`."""
    call = acp_client.ToolCall("c", reported_status=status)
    marked = acp_client.ToolCall("c", reported_status=status, cancel_marked=True)
    assert (call.status, call.is_finished) == (status, finished)
    assert (marked.status, marked.is_finished) == ("cancelled", True)


@pytest.mark.parametrize(
    ("fields", "name", "background"),
    [
        ({"state": "running"}, "running", set()),
        ({"state": "idle", "stopReason": "_nap"}, "idle", set()),
        ({"state": "_x"}, "_x", set()),
        ({"state": "running", "background": [{"type": "tool_call", "toolCallId": "c"}]},
         "running", {"c"}),
        ({"state": "running", "background": [{"type": "terminal", "terminalId": "c"}]},
         "running", set()),
        ({"state": "_x", "background": [{"type": "tool_call", "toolCallId": "c"}, 5,
          {"type": "tool_call"}, {"type": "tool_call", "toolCallId": 5}, {"type": "_y"}]},
         "_x", {"c"}),
        ({"state": "_x", "background": 5}, "_x", set()),
    ],
)  # fmt: skip
def test_states_are_read(fields: dict[str, Any], name: str, background: set[str]) -> None:
    """Name and background work are read of known and of unknown states, as far as they go."""
    state = apply(EMPTY, event("state_update", **fields)).state
    assert state.name == name
    assert background_tool_calls(state) == background
    assert background_tool_calls(None) == set()


# --- Versions ---


def test_versions_stay_true_while_threads_go_on() -> None:
    """Snapshots taken on the way stay what they were, while threads continue from all of them."""
    taken = [EMPTY]
    for one in rich_events()[:60]:
        taken.append(apply(taken[-1], one))
    before = [dumps(snapshot) for snapshot in taken]

    def go_on(start: int) -> None:
        for snapshot in taken[start::4]:
            apply_all(snapshot, [chunk("x", "a1"), chunk("y", "new"), *rich_events()[:20]])

    threads = [threading.Thread(target=go_on, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [dumps(snapshot) for snapshot in taken] == before


def test_entries_keep_their_place() -> None:
    """An entry that changes does not move, and neighbours are the same objects."""
    before = apply_all(EMPTY, [chunk("x", str(number)) for number in range(100)])
    after = apply(before, chunk("y", "50"))
    changed = [place for place in range(100) if after.entries[place] is not before.entries[place]]
    assert changed == [50]


@pytest.mark.parametrize(
    ("states", "is_idle"),
    [([], True), (["running"], False), (["running", "idle"], True), (["_resting"], False)],
)
def test_when_the_agent_is_ready_for_a_prompt(states: list[str], is_idle: bool) -> None:
    """A session is idle before any state is reported, and when the last one says so."""
    reported = [event("state_update", state=state) for state in states]
    assert apply_all(EMPTY, reported).is_idle is is_idle


def test_what_is_pickled_is_that_version_alone() -> None:
    """Whoever hands on an old snapshot does not hand on what was said later."""
    early = apply_all(rich_snapshot(), [chunk(f"early {number}") for number in range(40)])
    apply_all(early, [chunk("unheard"), chunk("x", "unheard"), *[chunk("unheard")] * 100])
    data = pickle.dumps(early)
    assert pickle.loads(data) == early
    assert b"early" in data
    assert b"unheard" not in data


def test_copies_share_what_never_changes() -> None:
    """A deep copy of a snapshot costs a few objects."""
    snapshot = rich_snapshot()
    copied = copy.deepcopy(snapshot)
    assert copied == snapshot
    assert copied.entries is snapshot.entries
    assert apply(copied, chunk("x")) == apply(snapshot, chunk("x"))


def test_a_snapshot_is_a_value() -> None:
    """A snapshot is frozen, and equal, copied, pickled and weakly referenced as a value."""
    snapshot = apply(rich_snapshot(), chunk("x"))
    assert weakref.ref(snapshot)() is snapshot
    assert replace(snapshot) == copy.copy(snapshot) == snapshot
    assert pickle.loads(pickle.dumps(Snapshot("s1"))) == Snapshot("s1")
    with pytest.raises(AttributeError):
        snapshot.session_id = "s2"  # type: ignore[misc]  # what is tried
    with pytest.raises(AttributeError):
        snapshot.other = 1  # type: ignore[attr-defined]  # what is tried


# --- What a REPL shows ---


def shown_values() -> Iterator[Any]:
    """Yield every kind of value that a user may look at, with much in it."""
    snapshot = acp_client.Snapshot("s1")
    yield from (part for _, part in PARTS if not isinstance(part, (*ATOMS, tuple)))
    for one in [*rich_events(), chunk("x" * 100_000), chunk("y" * 100_000)]:
        after = apply(snapshot, one)
        yield from acp_client.changes(snapshot, after)
        yield acp_client.Delivery("s1", snapshot, after, "live")
        snapshot = after


def test_values_fit_a_repl() -> None:
    """A value shows its class and what matters in a few hundred characters."""
    for value in shown_values():
        assert len(repr(value)) < 700, type(value)
        assert isinstance(value, wire.Json) or type(value).__name__ in repr(value)


def test_a_snapshot_shows_how_much_is_in_it() -> None:
    """A snapshot shows its session, counts and state; an entry what it says of itself."""
    snapshot = apply_all(Snapshot("s1"), [chunk("hello"), event("state_update", state="running")])
    assert repr(snapshot) == "Snapshot('s1', 1 entries, 0 terminals, state='running')"
    entry = repr(snapshot.entries[0])
    assert entry.startswith("Message(type='agent_message', message_id='m', content=<TextContent")
