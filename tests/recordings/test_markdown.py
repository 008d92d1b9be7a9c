"""Recorded traffic in the fenced blocks of a Markdown file."""

from __future__ import annotations

import pytest
from recorded_formats import CALL, UPDATE, read

from acp_client import RecordingError


def page(*parts: str) -> bytes:
    """Return a page of these lines, in which `CALL` and `UPDATE` stand for messages."""
    text = "\n".join(parts).replace("CALL", CALL.decode()).replace("UPDATE", UPDATE.decode())
    return text.encode() + b"\n"


@pytest.mark.parametrize(
    ("parts", "lines", "passed_over"),
    [
        (["# Title", "```", "CALL", "```", "words", "~~~json", "UPDATE", "~~~"], [3, 7], 0),
        (["```sh", "agent", "```", "```", "CALL", "UPDATE", "```"], [5, 6], 1),
        (["````", "CALL", "```", "UPDATE", "````"], [2, 3, 4], 0),
        (["> ```", "CALL", "> ```"], [2], 0),
        (["```json", "{", '"jsonrpc": "2.0",', '"method": "session/prompt"', "}", "```"], [2], 0),
        (["text", "```", "CALL"], [3], 0),
        (["CALL in words", "```", "CALL", "```"], [3], 0),
    ],
)
def test_blocks(parts: list[str], lines: list[int], passed_over: int) -> None:
    """Blocks with messages count, at their lines in the file; others are passed over."""
    recording, frames = read(page(*parts))
    assert recording.layout == "fenced blocks of Markdown"
    assert [frame.line for frame in frames] == lines
    assert recording.passed_over == passed_over


def test_logs_and_envelopes_in_blocks() -> None:
    """What is in a block is recognised as in a file of its own."""
    recording, frames = read(page("Log:", "```", ">>> CALL", "<<< UPDATE", "```"))
    assert recording.format == "log"
    assert recording.reason.startswith("the fenced line 3 is a log entry")
    assert [frame.sent for frame in frames] == [True, False]


def test_a_fence_behind_messages_is_a_line() -> None:
    """A raw stream in which an agent prints a fence stays a raw stream."""
    recording, frames = read(page("UPDATE", "```", "UPDATE"))
    assert recording.layout == "lines"
    assert len(frames) == 3


def test_a_page_without_messages_is_no_recording() -> None:
    """Code in blocks makes no recording."""
    with pytest.raises(RecordingError):
        read(page("# Settings", "```json", '{"a": 1}', "```"))
