"""The life of a prompt: the transition table walked pair by pair, and the mark of the echo."""

from __future__ import annotations

import time
from itertools import permutations, product
from typing import Any, get_args

import pytest
from traffic import document, event, text

import acp_client
from acp_client import Prompt, Snapshot, apply, apply_all, wire
from acp_client._client_state import PromptStatus
from acp_client._prompts import (
    TRANSITIONS,
    Answer,
    answered,
    echoed,
    lost,
    request_key,
    restored,
)

STATUSES: tuple[PromptStatus, ...] = get_args(PromptStatus)
ANSWERS: tuple[Answer, ...] = get_args(Answer)
ERROR = wire.Error(1, "no")
CONTENT = (text("hi"),)

# From every status, what each answer makes of it.
EXPECTED: dict[PromptStatus, dict[Answer, PromptStatus]] = {
    "pending": {
        "result": "accepted",
        "error": "rejected",
        "cancelled": "withdrawn",
        "malformed": "uncertain",
        "lost": "uncertain",
    },
    "accepted": dict.fromkeys(ANSWERS, "accepted"),
    "rejected": dict.fromkeys(ANSWERS, "rejected"),
    "withdrawn": dict.fromkeys(ANSWERS, "withdrawn"),
    "uncertain": dict.fromkeys(ANSWERS, "uncertain"),
}


def nobody(_: str) -> bool:
    """Say that no message exists."""
    return False


@pytest.mark.parametrize(("status", "answer"), list(product(STATUSES, ANSWERS)))
def test_every_pair_of_status_and_answer(status: PromptStatus, answer: Answer) -> None:
    """Only a pending prompt moves, and a settled one is left as it is, to the object."""
    prompts = (Prompt(1, CONTENT, status),)
    after = answered(prompts, 1, answer, message_id="m", error=ERROR, is_echoed=nobody)
    assert after[0].status == EXPECTED[status][answer]
    assert (after is prompts) == (status != "pending")
    assert TRANSITIONS.get((status, answer), status) == EXPECTED[status][answer]


@pytest.mark.parametrize("status", STATUSES)
def test_a_lost_connection_settles_what_is_pending(status: PromptStatus) -> None:
    """A lost connection makes pending prompts uncertain, says why, and touches no other."""
    prompts = (Prompt(1, CONTENT, status), Prompt(2, CONTENT, "accepted", "m"))
    after = lost(prompts, ERROR)
    assert after[0].status == EXPECTED[status]["lost"]
    assert after[0].error == (ERROR if status == "pending" else None)
    assert after[1] is prompts[1]
    assert (after is prompts) == (status != "pending")


def test_an_answer_finds_its_prompt_among_many() -> None:
    """Wherever the prompt of an answer stands, it is the only one that is settled."""
    prompts = tuple(Prompt(number) for number in range(1_000))
    for place in (0, 255, 256, 500, 743, 744, 999):
        after = answered(prompts, place, "error", is_echoed=nobody)
        assert [n for n in range(1_000) if after[n] is not prompts[n]] == [place]
        assert after[place].status == "rejected"


def test_an_answer_settles_the_last_pending_prompt_of_its_id() -> None:
    """Ids are compared exactly; of two open prompts with one id the newer is meant."""
    prompts = (Prompt(1), Prompt("1"), Prompt(1), Prompt(1, status="accepted"))
    after = answered(prompts, 1, "result", message_id="m", is_echoed=nobody)
    assert [prompt.status for prompt in after] == ["pending", "pending", "accepted", "accepted"]
    assert answered(prompts, 2, "result", message_id="m", is_echoed=nobody) is prompts
    assert answered((), 1, "result", message_id="m", is_echoed=nobody) == ()


@pytest.mark.parametrize(
    ("prompt", "is_marked"),
    [
        (Prompt(1, CONTENT), False),
        (Prompt(1, CONTENT, "accepted", "m"), True),
        (Prompt(1, CONTENT, "accepted", "n"), False),
        (Prompt(1, CONTENT, "rejected", None), False),
        (Prompt(1, (), "accepted", "m", True), False),
    ],
)
def test_an_echo_marks_by_id_alone(prompt: Prompt, is_marked: bool) -> None:
    """A message that has come marks the prompts of its id, whose content is then dropped."""
    prompts = (prompt,)
    after = echoed(prompts, {"m"})
    assert restored(prompts, prompts, lambda message_id: message_id == "m") == after
    assert (after is not prompts) == is_marked
    if is_marked:
        assert (after[0].echoed, after[0].content) == (True, ())
        assert echoed(after, {"m"}) is after


IDS: tuple[Any, ...] = (
    0, 1, -1, -2, 2**61 - 1, 2**61, "", "0", "1", "-1", "number 1", "text 1",
    1.0, 1.5, 1e300, float("inf"), float("-inf"),
)  # fmt: skip  # a table


@pytest.mark.parametrize(("one", "other"), list(product(IDS, IDS)))
def test_keys_are_as_equal_as_ids(one: Any, other: Any) -> None:
    """Two ids have one key if they are equal, and those of equal hashes have keys of their own."""
    assert (request_key(one) == request_key(other)) == (one == other)


def test_a_whole_number_has_one_key() -> None:
    """`1.0` is `1`, as JSON-RPC has it."""
    floating: Any = 1.0
    assert request_key(floating) == request_key(1)


# --- The same through the reducer ---

SENT = acp_client.PromptSent(1, CONTENT)
ACCEPTED = acp_client.PromptAccepted(1, "m")
ECHO = event("user_message", messageId="m", content=[{"type": "text", "text": "other words"}])
CHUNK = event("user_message_chunk", messageId="m", content={"type": "text", "text": "hi"})


def prompts_after(*events: acp_client.Event) -> list[Any]:
    """Give the prompts of the document after some events."""
    shown: list[Any] = document(apply_all(Snapshot("s1"), events))["prompts"]
    return shown


@pytest.mark.parametrize("order", list(permutations([ACCEPTED, ECHO, CHUNK])))
def test_response_and_echo_in_every_order(order: tuple[acp_client.Event, ...]) -> None:
    """The prompt is accepted and echoed once, and its message is there once."""
    snapshot = apply_all(Snapshot("s1"), [SENT, *order])
    assert document(snapshot)["prompts"] == [
        {"requestId": 1, "status": "accepted", "messageId": "m", "echoed": True}
    ]
    assert len(snapshot.entries) == 1


def test_content_and_order_match_nothing() -> None:
    """A message with the words of the prompt and another id is no echo."""
    other = event("user_message", messageId="x", content=[{"type": "text", "text": "hi"}])
    (shown,) = prompts_after(SENT, other, ACCEPTED)
    assert (shown["echoed"], shown["content"]) == (False, [{"type": "text", "text": "hi"}])


def test_only_user_messages_are_echoes() -> None:
    """Messages and thoughts of the agent may have the same id."""
    same = [event(kind, messageId="m") for kind in ("agent_message", "agent_thought")]
    assert prompts_after(SENT, ACCEPTED, *same)[0]["echoed"] is False


def test_an_echo_is_never_taken_back() -> None:
    """A replay that starts from empty does not unmark a prompt."""
    (shown,) = prompts_after(SENT, ACCEPTED, ECHO, acp_client.ReplayBegun())
    assert shown["echoed"] is True


def test_two_prompts_may_cross() -> None:
    """Answers and echoes of overlapping prompts each find their own."""
    second = acp_client.PromptSent(2, CONTENT)
    shown = prompts_after(SENT, second, acp_client.PromptAccepted(2, "n"), ECHO, ACCEPTED)
    assert [(one["messageId"], one["echoed"]) for one in shown] == [("m", True), ("n", False)]


@pytest.mark.parametrize(
    ("settled", "expected"),
    [
        (acp_client.PromptRejected(1, ERROR), {"status": "rejected"}),
        (acp_client.PromptUncertain(1, ERROR), {"status": "uncertain"}),
        (acp_client.ConnectionLost(ERROR), {"status": "uncertain"}),
    ],
)
def test_a_prompt_that_failed_says_why(settled: acp_client.Event, expected: Any) -> None:
    """A refused or uncertain prompt keeps its content and its error."""
    (shown,) = prompts_after(SENT, settled)
    assert shown == {
        "requestId": 1,
        "echoed": False,
        "content": [{"type": "text", "text": "hi"}],
        "error": {"code": 1, "message": "no"},
        **expected,
    }


def test_a_settled_prompt_is_a_no_op() -> None:
    """An answer to a settled prompt, or to none, gives the same snapshot."""
    snapshot = apply_all(Snapshot("s1"), [SENT, ACCEPTED])
    for late in (ACCEPTED, acp_client.PromptRejected(1, ERROR), acp_client.PromptUncertain(7)):
        assert apply(snapshot, late) is snapshot


def test_messages_of_one_batch_look_at_the_prompts_once() -> None:
    """Thousands of user messages cost about the same beside thousands of prompts as beside none."""
    messages = [
        event("user_message_chunk", messageId=f"u{number}", content={"type": "text", "text": "x"})
        for number in range(2_000)
    ]

    def seconds(prompts: int) -> float:
        before = apply_all(
            Snapshot("s1"), map(acp_client.PromptSent, range(prompts), [()] * prompts)
        )
        start = time.process_time()
        apply_all(before, messages)
        return time.process_time() - start

    least = [min(seconds(count) for _ in range(3)) for count in (0, 2_000)]
    assert least[1] < 3 * least[0]
