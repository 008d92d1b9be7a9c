"""Drafts: what a batch touches is opened once and frozen once, and nothing changed is the same."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from traffic import chunk, event, text

import acp_client
from acp_client import Limits, SessionInfo, Snapshot, apply_all, wire
from acp_client import _session_draft as drafts
from acp_client._entity_drafts import EntityDraft
from acp_client._patches import INFO
from acp_client._session_draft import Draft

EMPTY = Snapshot("s1")
KEYS = st.sampled_from(["k", "l", "m"])
VALUES: st.SearchStrategy[Any] = st.sampled_from([None, 0, False, "", [], {}, {"a": None}, 1.0])
PATCHES = st.one_of(
    st.just(wire.UNSET),
    st.none(),
    st.dictionaries(KEYS, VALUES, max_size=3).map(wire.JsonObject),
)


def info(meta: wire.JsonObject | None) -> EntityDraft:
    """Open a draft of a session's info."""
    return EntityDraft.opened(INFO, "info", 0, SessionInfo(meta=meta))


@given(st.lists(st.lists(PATCHES, max_size=3), max_size=4))
def test_metadata_is_patched_by_key(batches: list[list[Any]]) -> None:
    """A key set to null is removed, any other replaces that key whole, `null` clears all."""
    meta, expected = None, dict[str, Any]()
    for patches in batches:
        draft = info(meta)
        for patch in patches:
            draft.patch(wire.SessionInfoUpdate(meta=patch))
            if patch is None:
                expected = {}
            elif patch is not wire.UNSET:
                expected |= patch.value
                expected = {key: value for key, value in expected.items() if value is not None}
        meta = draft.freeze().meta
        assert meta == (wire.JsonObject(expected) if expected else None)


def test_metadata_without_a_patch_is_the_same_object() -> None:
    """What is not patched is not copied."""
    draft = info(wire.JsonObject({"k": 1}))
    draft.patch(wire.SessionInfoUpdate(title="t"))
    assert draft.freeze().meta is draft.base.meta


GROWING_META: list[tuple[str, dict[str, Any]]] = [
    ("tool_call_update", {"toolCallId": "c"}),
    ("session_info_update", {}),
    ("agent_message_chunk", {"messageId": "m", "content": {"type": "text", "text": "x"}}),
]


@pytest.mark.parametrize(("name", "fields"), GROWING_META, ids=[name for name, _ in GROWING_META])
def test_ever_more_metadata_in_one_batch_is_linear(name: str, fields: dict[str, Any]) -> None:
    """Thirty times as many take about thirty times, not nine hundred times, as long."""

    def seconds(count: int) -> float:
        events = [event(name, **fields, _meta={f"k{n}": n}) for n in range(count)]
        return min(timed(events) for _ in range(3))

    def timed(events: list[Any]) -> float:
        start = time.process_time()
        apply_all(EMPTY, events)
        return time.process_time() - start

    assert seconds(30_000) < 150 * seconds(1_000)


STEPS = st.tuples(st.sampled_from([0, 1, -1, 2**61, "0", "1", "a"]), st.booleans())


def permission(request_id: Any, title: str) -> acp_client.PermissionAsked:
    """Make a permission request."""
    request = wire.RequestPermissionRequest(
        session_id="s1", title=title, options=(), subject=wire.Unknown({"type": "_x"})
    )
    return acp_client.PermissionAsked(request_id, request)


@given(st.lists(st.lists(STEPS, max_size=9), max_size=4))
def test_permissions_are_kept_as_a_dictionary_would(batches: list[list[tuple[Any, bool]]]) -> None:
    """What is asked again keeps its place; what was closed before comes last."""
    snapshot, expected = EMPTY, dict[Any, str]()
    for number, batch in enumerate(batches):
        events: list[Any] = []
        for index, (request_id, is_asked) in enumerate(batch):
            title = f"{number} {index}"
            if is_asked:
                events.append(permission(request_id, title))
                expected[request_id] = title
            else:
                events.append(acp_client.PermissionClosed(request_id))
                expected.pop(request_id, None)
        snapshot = apply_all(snapshot, events)
        found = [(one.request_id, one.title) for one in snapshot.permissions]
        assert found == list(expected.items())


OPENERS: list[tuple[str, Any]] = [
    ("message", lambda draft: draft.message("agent_message", "x")),
    ("tool call", lambda draft: draft.tool_call("x")),
    ("compaction", lambda draft: draft.compaction("x")),
    ("terminal", lambda draft: draft.terminal("x")),
]


@pytest.mark.parametrize(("name", "opened"), OPENERS, ids=[name for name, _ in OPENERS])
def test_an_entity_is_opened_once(name: str, opened: Any) -> None:
    """Within a batch all updates of an entity work on one draft, which makes it if it is new."""
    draft = Draft.of(EMPTY)
    assert opened(draft) is opened(draft)
    snapshot = draft.freeze()
    assert len(snapshot.entries) + len(snapshot.terminals) == 1
    again = Draft.of(snapshot)
    opened(again)
    assert again.freeze() is snapshot


def test_a_draft_that_nobody_used_is_its_snapshot() -> None:
    """Freezing an untouched draft gives the snapshot it was made of."""
    assert Draft.of(EMPTY).freeze() is EMPTY
    draft = Draft.of(EMPTY)
    draft.set(notices=())
    assert draft.freeze() is EMPTY
    assert draft.get("notices") == ()


def test_a_draft_counts_its_entries() -> None:
    """Entries take their places when they are first seen."""
    draft = Draft.of(apply_all(EMPTY, [chunk("x", "1")]))
    assert draft.entry_count == 1
    draft.message("agent_message", "1")
    draft.tool_call("c")
    draft.unknown(wire.Unknown({"sessionUpdate": "_x"}))
    draft.unknown(wire.Unknown({"sessionUpdate": "_x"}))
    assert draft.entry_count == 4
    assert [one.type for one in draft.freeze().entries] == [
        "agent_message",
        "tool_call",
        "unknown",
        "unknown",
    ]


def test_a_change_that_is_undone_is_no_change() -> None:
    """A batch that ends with the values it began with gives the same snapshot."""
    before = apply_all(
        EMPTY,
        [
            chunk("x"),
            event("tool_call_update", toolCallId="c", title="a", status="failed"),
            event("terminal_update", terminalId="t", output={"data": "YWI="}),
            event("compaction_update", compactionId="k", status="completed", summary=[]),
            event("plan_update", plan={"type": "_gantt", "planId": "p"}),
        ],
    )
    there_and_back = [
        event("agent_message", messageId="m", content=None),
        chunk("x"),
        event("tool_call_update", toolCallId="c", title="b", status=None, _meta={"k": 1}),
        event("tool_call_update", toolCallId="c", title="a", status="failed", _meta={"k": None}),
        event("terminal_update", terminalId="t", output={"data": "YQ=="}),
        event("terminal_output_chunk", terminalId="t", data="Yg=="),
        event("compaction_update", compactionId="k", status="failed"),
        event("compaction_update", compactionId="k", status="completed"),
        event("plan_update", plan={"type": "_gantt", "planId": "p", "x": 1}),
        event("plan_update", plan={"type": "_gantt", "planId": "p"}),
    ]
    assert apply_all(before, there_and_back) is before
    assert all(apply_all(before, there_and_back[:n]) is not before for n in (1, 3, 5, 7, 9))


class Counted:
    """Counts how often the frozen classes are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        for name in ("MESSAGE", "TOOL_CALL", "TERMINAL", "COMPACTION"):
            entity = getattr(drafts, name)
            counted = replace(entity, made=self._counting(entity.made))
            monkeypatch.setattr(drafts, name, counted)
        monkeypatch.setattr(drafts, "Snapshot", self._counting(Snapshot))

    def _counting(self, kind: Any) -> Any:
        def make(*args: Any, **kwargs: Any) -> Any:
            self.made += 1
            return kind(*args, **kwargs)

        return make


def test_a_batch_freezes_each_entity_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a batch is, it makes one frozen object for each entity, and one snapshot."""
    counted = Counted(monkeypatch)
    events = [
        one
        for _ in range(500)
        for one in (
            chunk("x"),
            event("tool_call_content_chunk", toolCallId="c", content={"type": "_x"}),
            event("terminal_output_chunk", terminalId="t", data="YQ=="),
        )
    ]
    apply_all(EMPTY, events)
    assert counted.made == 4


@pytest.mark.parametrize("limit", [0, 3, 100])
def test_limits_reach_the_drafts(limit: int) -> None:
    """The limits of a batch are those of each terminal and of the notices in it."""
    limits = Limits(terminal_bytes=limit, notices=limit)
    data = [event("terminal_output_chunk", terminalId="t", data="YWJj") for _ in range(5)]
    notices = [event("notice", severity="info", title=str(number)) for number in range(5)]
    snapshot = apply_all(EMPTY, [*data, *notices], limits=limits)
    assert len(snapshot.terminals[0].output) == min(limit, 15)
    assert snapshot.terminals[0].dropped_bytes == 15 - min(limit, 15)
    assert len(snapshot.notices) == min(limit, 5)


def test_an_echo_inside_a_batch_is_seen() -> None:
    """A message that begins in the middle of a batch echoes prompts that were settled before."""
    sent = acp_client.PromptSent(1, (text("hi"),))
    events = [chunk("x"), sent, acp_client.PromptAccepted(1, "u"), chunk("y")]
    echo = event("user_message_chunk", messageId="u", content={"type": "text", "text": "hi"})
    assert apply_all(EMPTY, [*events, echo]).prompts[0].echoed
    assert apply_all(EMPTY, [echo, *events]).prompts[0].echoed
    assert not apply_all(EMPTY, events).prompts[0].echoed
