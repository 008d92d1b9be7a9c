"""Prompts of ACP v1: each is settled by its own answer, and together they make the state."""

from __future__ import annotations

import pytest
from v1_traffic import (
    CANCEL,
    SESSION,
    Frame,
    Json,
    agent,
    call,
    chunk,
    conversation,
    document,
    echo,
    ended,
    link,
    only_call,
    patch,
    play,
    prompt,
    text,
    told,
)

from acp_client import wire


def test_a_prompt_is_an_entry_from_sending_on() -> None:
    """A prompt is a user message at once, and the session runs until the result."""
    sent = told(prompt(1, "hello", link("a")))
    assert conversation(sent) == [("user_message", "hello")]
    assert document(sent)["prompts"] == [
        {"requestId": 1, "status": "pending", "messageId": "inferred:1", "echoed": True}
    ]
    assert document(sent)["state"] == {"state": "running"}
    assert told(prompt(1, "hello"), ended(1, "refusal")).state == wire.StateUpdate(
        "idle", stop_reason="refusal"
    )


def test_the_id_that_a_client_gives_its_message_is_kept() -> None:
    """A `messageId` in the prompt is the message's id, which an echo may name."""
    snapshot = told(prompt(1, "hello", messageId="u1"), echo("hello", messageId="u1"))
    assert [entry.message_id for entry in snapshot.entries] == ["u1"]  # type: ignore[union-attr]  # a message


ERROR = {"code": -32603, "message": "overloaded", "data": {"k": 1}}
ENDS: dict[str, tuple[Json, Json]] = {
    "a reason": ({"result": {"stopReason": "max_tokens"}}, {"stopReason": "max_tokens"}),
    "another reason": ({"result": {"stopReason": "_nap"}}, {"stopReason": "_nap"}),
    "no reason": ({"result": {}}, {}),
    "nothing": ({"result": None}, {}),
    "an error": ({"error": ERROR}, {"stopReason": "error", "error": ERROR}),
    "a reason beside no error": (
        {"result": {"stopReason": "end_turn"}, "error": None},
        {"stopReason": "end_turn"},
    ),
    "a reason with meta": (
        {"result": {"stopReason": "end_turn", "_meta": {"k": 1}}},
        {"stopReason": "end_turn", "_meta": {"k": 1}},
    ),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_answer_ends_the_foreground_work(case: str) -> None:
    """Whatever the answer says, the session is idle then, with what is known of the reason."""
    answer, state = ENDS[case]
    snapshot = told(prompt(1, "hello"), agent(id=1, **answer))
    assert document(snapshot)["state"] == {"state": "idle", **state}


def test_a_malformed_answer_ends_it_too() -> None:
    """An answer that is none is a problem, and the end of the work."""
    store = play([prompt(1, "hello"), agent(id=1)])
    assert document(store.snapshot(SESSION))["state"] == {"state": "idle"}
    assert store.problem_counts["invalid_message"] == 1


def test_work_goes_on_while_a_prompt_waits() -> None:
    """With two prompts open, the answer to either is not the end."""
    queued = [prompt(1, "a"), prompt(2, "b"), ended(1, "cancelled")]
    assert told(*queued).state == wire.StateUpdate("running")
    assert told(*queued, ended(2)).state == wire.StateUpdate("idle", stop_reason="end_turn")
    early = told(prompt(1, "a"), prompt(2, "b"), ended(2))
    assert early.state == wire.StateUpdate("running")


def test_updates_after_the_result_are_applied() -> None:
    """What comes late is applied like anything else, and the state stays."""
    snapshot = told(prompt(1, "q"), chunk("a"), call(), ended(1), patch(status="completed"))
    assert only_call(snapshot).status == "completed"
    late = told(prompt(1, "q"), chunk("a"), ended(1), chunk("b"))
    assert conversation(late)[-1] == ("agent_message", "ab")
    assert document(late)["state"] == {"state": "idle", "stopReason": "end_turn"}


def test_a_cancel_marks_the_calls_of_this_turn() -> None:
    """A cancel covers unfinished tool calls since the prompt, until the agent reports again."""
    frames = [call("old"), prompt(1, "q"), call(status="in_progress"), call("done")]
    frames += [patch("done", status="completed"), CANCEL]
    cancelled = told(*frames)
    assert [only_call(cancelled, name).status for name in ("old", "c", "done")] == [
        "pending",
        "cancelled",
        "completed",
    ]
    assert only_call(told(*frames, patch(status="failed"))).status == "failed"


def test_a_reason_to_stop_ends_a_turn_that_was_not_seen() -> None:
    """In a recording of the agent alone, a reason to stop belongs to the last session."""
    alone = told(chunk("a"), call(), ended(1), chunk("c"), ended(2, "refusal"))
    assert alone.state == wire.StateUpdate("idle", stop_reason="refusal")
    other = agent(
        method="session/update",
        params={
            "sessionId": "t",
            "update": {"sessionUpdate": "agent_message_chunk", "content": text("x")},
        },
    )
    store = play([chunk("a"), other, ended(1), agent(id=2, result={}), chunk("b")])
    assert "stopReason" not in document(store.snapshot(SESSION))["state"]
    assert document(store.snapshot("t"))["state"] == {"state": "idle", "stopReason": "end_turn"}
    busy = told(prompt(1, "q"), chunk("a"), ended(2), chunk("b"))
    assert conversation(busy)[1:] == [("agent_message", "ab")]
    assert busy.state == wire.StateUpdate("running")


REFUSED = {"code": -32600, "message": "Prompt already in progress"}
OUTCOMES: dict[str, tuple[list[Frame], list[Json], Json]] = {
    "a refused prompt ends nothing": (
        [prompt(1, "a"), call(), prompt(2, "b"), agent(id=2, error=REFUSED)],
        [{"status": "pending"}, {"status": "rejected", "error": REFUSED}],
        {"state": "running"},
    ),
    "the other one has its own end": (
        [prompt(1, "a"), prompt(2, "b"), agent(id=2, error=REFUSED), ended(1)],
        [{"status": "accepted"}, {"status": "rejected", "error": REFUSED}],
        {"state": "idle", "stopReason": "end_turn"},
    ),
    "a failed prompt leaves one that waits": (
        [prompt(1, "a"), prompt(2, "b"), agent(id=1, error=ERROR)],
        [{"status": "rejected", "error": ERROR}, {"status": "pending"}],
        {"state": "running"},
    ),
    "an early answer": (
        [prompt(1, "a"), prompt(2, "b"), ended(2, "refusal"), ended(1)],
        [{"status": "accepted"}, {"status": "accepted"}],
        {"state": "idle", "stopReason": "end_turn"},
    ),
    "ids of two kinds": (
        [prompt(1, "a"), prompt("1", "b"), ended("1")],
        [{"status": "pending"}, {"status": "accepted"}],
        {"state": "running"},
    ),
    "an answer to nothing": (
        [prompt(1, "a"), ended(7)],
        [{"status": "pending"}],
        {"state": "running"},
    ),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_each_answer_is_that_of_its_own_prompt(case: str) -> None:
    """Prompts are known by the ids of their requests, whatever the order of the answers."""
    frames, prompts, state = OUTCOMES[case]
    found = document(told(*frames))
    kept = [
        {key: one[key] for key in ("status", "error") if key in one} for one in found["prompts"]
    ]
    assert (kept, found["state"]) == (prompts, state)


def test_a_cancel_marks_what_a_refused_prompt_left_running() -> None:
    """The refusal of a second prompt does not hide the work of the first."""
    frames = [prompt(1, "a"), call(status="in_progress"), prompt(2, "b")]
    frames += [agent(id=2, error=REFUSED), CANCEL]
    assert only_call(told(*frames)).status == "cancelled"


def test_a_lost_connection_leaves_prompts_uncertain() -> None:
    """What was not answered may have been done or not, and nothing runs any more."""
    error = wire.Error(-32603, "gone")
    store = play([prompt(1, "a"), ended(1), prompt(2, "b"), chunk("the whole answer")])
    store.disconnect(error)
    snapshot = store.snapshot(SESSION)
    assert [(one.status, one.error) for one in snapshot.prompts] == [
        ("accepted", None),
        ("uncertain", error),
    ]
    assert snapshot.state == wire.StateUpdate("idle")
