"""Who wrote a message is inferred from what it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_client._recordings.directions import Directions, word_sent


def answer(**result: Any) -> dict[str, Any]:
    """Give a response to request 1."""
    return {"jsonrpc": "2.0", "id": 1, "result": result}


ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32800, "message": "cancelled"}}


PROMPT = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt"}


ASK = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission"}


CANCEL = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}


HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize"}


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        ([HELLO], True),
        ([{"method": "auth/login"}], True),
        ([{"method": "session/cancel"}], True),
        ([{"method": "terminal/cancel"}], True),
        ([{"method": "terminal/create"}], False),
        ([{"method": "fs/read_text_file"}], False),
        ([{"method": "elicitation/create"}], False),
        ([{"method": "_vendor/thing"}], False),
        ([{"method": 5}], False),
        ([{"id": 1}], False),
        ([answer(outcome={})], True),
        ([answer(stopReason="end_turn")], False),
        ([answer()], False),
        ([ERROR], False),
        ([PROMPT, answer()], False),
        ([HELLO, ASK, answer()], True),
        ([HELLO, ASK, ERROR], True),
        ([ASK, ERROR], False),
        ([HELLO, PROMPT, ASK, ERROR], False),
        ([HELLO, PROMPT, ASK, answer(outcome={})], True),
        ([HELLO, PROMPT, ASK, answer(messageId="m")], False),
        ([HELLO, ASK, answer(messageId="m")], False),
        ([HELLO, PROMPT, ASK, answer(outcome={}), ERROR], False),
        ([HELLO, PROMPT, ASK, answer(messageId="m"), ERROR], True),
        ([HELLO, ASK, answer(outcome={}), answer()], False),
        ([HELLO, {**ASK, "id": 1.0}, ERROR], True),
        ([HELLO, {**ASK, "id": "1"}, ERROR], False),
        ([HELLO, {**ASK, "id": [1]}, {**ERROR, "id": [1]}], True),
        ([HELLO, {**ASK, "id": 0.0}, {**ERROR, "id": False}], False),
        ([HELLO, ASK, {**ERROR, "id": None}], False),
        ([{"jsonrpc": "2.0", "result": 1}], False),
        ([CANCEL], False),
        ([PROMPT, CANCEL], True),
        ([HELLO, ASK, CANCEL], False),
        ([PROMPT, ASK, CANCEL], False),
        ([PROMPT, {"method": "$/cancel_request"}], False),
        ([PROMPT, {"method": "$/cancel_request", "params": {}}], False),
        ([[HELLO, {"method": "session/update"}]], True),
        ([[5, {"id": 1}, answer(outcome={})]], True),
        ([[]], False),
        ([5], False),
    ],
)
def test_direction_of_a_raw_message(messages: list[Any], sent: bool) -> None:
    """Who wrote the last message is inferred from method, shape and open ids."""
    directions = Directions()
    inferred = [directions.sent(json.dumps(message).encode()) for message in messages]
    assert inferred[-1] is sent


def test_direction_of_what_is_no_json() -> None:
    """Everything that is no JSON is the agent's output."""
    assert Directions().sent(b'{"method":"initialize"') is False
    assert Directions().sent(b"[1,") is False


@pytest.mark.parametrize(
    ("word", "sent"),
    [("send", True), ("recv", False), ("Editor-To-Agent", True), ("client→agent", True),
     ("agent -> client", False), ("fromAgent", False), ("C2A", True), ("stderr", None), ("", None),
     ("incoming", False), ("<--", False)],
)  # fmt: skip  # a table
def test_words_for_directions(word: str, sent: bool | None) -> None:
    """The vocabulary of recorders is told apart whatever its case and punctuation."""
    assert word_sent(word) is sent
