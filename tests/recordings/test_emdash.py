"""Transcripts of callbacks become the messages that they stand for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_formats import (
    fixture,
    read,
    said,
)


def test_transcript_of_callbacks() -> None:
    """Each callback gives the messages that it stands for; the head tells how it began."""
    recording, frames = read(fixture("emdash.json"))
    assert recording.format == "emdash"
    calls = [
        (frame.line, frame.sent, message.get("method") or message["result"])
        for frame, (_, message) in zip(frames, said(frames), strict=True)
    ]
    created = {
        "sessionId": "sess_1",
        "modes": {"currentModeId": "code", "availableModes": []},
        "configOptions": [],
    }
    selected = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    output = {
        "output": "a\nb\n",
        "truncated": False,
        "exitStatus": {"exitCode": 0, "signal": None},
    }
    assert calls == [
        (0, True, "session/new"),
        (0, False, created),
        (0, False, "session/update"),
        (1, True, "session/prompt"),
        (2, False, "session/update"),
        (3, False, "session/update"),
        (4, False, "session/request_permission"),
        (4, True, selected),
        (5, False, "session/request_permission"),
        (5, True, {"outcome": {"outcome": "cancelled"}}),
        (6, False, "fs/read_text_file"),
        (7, False, "fs/write_text_file"),
        (8, False, "terminal/create"),
        (8, True, {"terminalId": "t1"}),
        (11, False, "terminal/wait_for_exit"),
        (11, True, {"exitCode": 0, "signal": None}),
        (11, False, "terminal/output"),
        (11, True, output),
        (12, False, "terminal/release"),
        (12, True, {}),
        (13, False, {"stopReason": "end_turn"}),
        (14, True, "session/set_mode"),
        (14, False, {}),
        (15, True, "session/set_config_option"),
        (15, False, {"configOptions": []}),
    ]


def test_ids_of_a_transcript_match() -> None:
    """Made-up ids pair requests with responses, and no two requests share one."""
    _, frames = read(fixture("emdash.json"))
    messages = [message for _, message in said(frames) if "id" in message]
    asked = [message["id"] for message in messages if "method" in message]
    answered = [message["id"] for message in messages if "method" not in message]
    assert len(set(asked)) == len(asked)
    assert set(answered) <= set(asked)
    permission = next(m for m in messages if m.get("method") == "session/request_permission")
    assert permission["params"]["sessionId"] == "sess_1"


@pytest.mark.parametrize(
    ("event", "methods"),
    [
        ({"kind": "prompt_result", "sessionId": "s", "stopReason": "end_turn"}, []),
        ({"kind": "prompt", "sessionId": "s"}, []),
        ({"kind": "terminal_released", "terminalId": "t"}, ["terminal/release", None]),
        ({"kind": 5}, []),
    ],
)
def test_callbacks_that_lack_something(event: dict[str, Any], methods: list[str | None]) -> None:
    """A callback without what its messages need is passed over, one out of order is not."""
    known = {"event": {"kind": "mode_set", "sessionId": "s", "modeId": "m"}}
    document = {"meta": {"sessionId": None}, "events": [known, {"event": event}]}
    recording, frames = read(json.dumps(document).encode())
    assert recording.format == "emdash"
    assert [message.get("method") for _, message in said(frames[2:])] == methods
    assert recording.passed_over == (not methods)


def test_prompts_that_overlap() -> None:
    """Results of one session answer its prompts in the order in which they were sent."""
    kinds = [("prompt", "a"), ("prompt", "b"), ("prompt", "a")]
    kinds += [("prompt_result", "a"), ("prompt_result", "b"), ("prompt_result", "a")]
    events = [{"event": {"kind": k, "sessionId": s, "content": []}} for k, s in kinds]
    _, frames = read(json.dumps({"events": events}).encode())
    assert [message["id"] for _, message in said(frames)] == [1, 2, 3, 1, 2, 3]


def test_head_without_lists() -> None:
    """What a head does not tell is left out of how the session began."""
    known = {"event": {"kind": "mode_set", "sessionId": "s", "modeId": "m"}}
    meta: dict[str, Any] = {"sessionId": "s", "initialModes": [], "initialConfigOptions": None}
    _, frames = read(json.dumps({"meta": meta, "events": [known]}).encode())
    assert said(frames[:2]) == [
        (True, {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"mcpServers": []}}),
        (False, {"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}),
    ]
