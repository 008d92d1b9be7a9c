"""Changes as JSON: read back equal, and applied to the document they lead to the next one."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, get_args

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from rich_session import rich_events
from traffic import chunk

from acp_client import (
    Change,
    InvalidValueError,
    Limits,
    Snapshot,
    Store,
    ToolCallCancelRefused,
    ToolCallCancelSent,
    apply,
    apply_all,
    apply_changes,
    change_from_document,
    change_to_document,
    changes,
    to_document,
    wire,
)
from acp_client._storage.applying import _APPLY
from acp_client._storage.change_documents import _NAMES

FRAMES = st.one_of(
    strategies.sessions(well_formed=True, max_frames=40),
    strategies.sessions(well_formed=False, hostile_client=True, max_frames=40),
)
LIMITS = st.sampled_from([Limits(), Limits(notices=2, terminal_bytes=5)])
EMPTY = Snapshot("s1")


def assert_applied(old: Snapshot, new: Snapshot) -> None:
    """Check the law of changes on documents, for changes and for what was written of them."""
    steps = changes(old, new)
    written = [change_to_document(step) for step in steps]
    before = to_document(old)
    assert apply_changes(before, steps) == to_document(new)
    assert apply_changes(before, written) == to_document(new)
    assert before == to_document(old)
    again = tuple(map(change_from_document, written))
    assert again == steps
    assert [change_to_document(step) for step in again] == written


@given(st.data(), FRAMES, LIMITS)
def test_applying_changes_gives_the_next_document(
    data: st.DataObject, frames: list[strategies.Frame], limits: Limits
) -> None:
    """Frame by frame, and from any snapshot to any other, read back or not."""
    store = Store(limits=limits)
    histories: dict[str, list[Snapshot]] = {}
    for frame in frames:
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
        for session_id in store.sessions:
            history = histories.setdefault(session_id, [Snapshot(session_id)])
            history.append(store.snapshot(session_id))
    for history in histories.values():
        for old, new in pairwise(history):
            assert_applied(old, new)
        old, new = (data.draw(st.sampled_from(history)) for _ in range(2))
        assert_applied(old, new)


def test_a_rich_session_is_followed() -> None:
    """Everything that a session may have is written, read back and applied."""
    old = EMPTY
    for one in rich_events():
        new = apply(old, one)
        assert_applied(old, new)
        assert_applied(EMPTY, new)
        written = json.dumps([change_to_document(step) for step in changes(old, new)])
        assert tuple(map(change_from_document, json.loads(written))) == changes(old, new)
        old = new


def test_a_cancel_request_that_is_withdrawn_leaves_the_document() -> None:
    """A tool call that is no longer asked to stop has no `cancelRequested`."""
    started = wire.ToolCallUpdate("t", title="Run", status="in_progress")
    call = apply(EMPTY, started)
    asked = apply(call, ToolCallCancelSent("t"))
    refused = apply(asked, ToolCallCancelRefused("t"))
    assert_applied(call, asked)
    assert_applied(asked, refused)


def test_every_change_is_written_and_applied() -> None:
    """No class of changes is forgotten."""
    assert set(_NAMES) == set(get_args(Change))
    assert set(_APPLY) == set(_NAMES.values())


def test_text_is_written_as_the_suffix() -> None:
    """A long message is not written again for each chunk."""
    old = apply(EMPTY, chunk("x" * 10_000))
    (step,) = changes(old, apply(old, chunk("yz")))
    document = change_to_document(step)
    assert document["change"] == "textAppended"
    assert (document["place"], document["key"]) == (0, ["agent_message", "m"])
    assert (document["text"], document["start"]["offset"]) == ("yz", 10_000)
    assert document["items"] == [{"type": "text", "text": "yz"}]
    assert len(json.dumps(document)) < 400


@pytest.mark.parametrize(
    "wrong", [None, [], {}, {"change": "x"}, {"change": "entryAdded"}, {"change": "stateChanged"}]
)
def test_other_documents_are_refused(wrong: Any) -> None:
    """What is not the document of a change is misuse."""
    with pytest.raises(InvalidValueError):
        change_from_document(wrong)
    with pytest.raises(InvalidValueError):
        apply_changes(to_document(EMPTY), [wrong])


def test_other_values_are_refused() -> None:
    """Changes do not apply to what is not a document, and only changes are written."""
    wrong: Any = EMPTY
    with pytest.raises(InvalidValueError):
        apply_changes(wrong, [])
    with pytest.raises(InvalidValueError):
        change_to_document(wrong)
    grown = changes(apply(EMPTY, chunk("a")), apply_all(EMPTY, [chunk("a"), chunk("b")]))
    with pytest.raises(InvalidValueError):
        apply_changes(to_document(EMPTY), grown)
