"""Every format of the table gives the same conversation, however its values lie in the file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_formats import (
    CONVERSATION,
    EVERY,
    PASSED_OVER,
    UPDATES,
    WHOLE,
    fixture,
    read,
    said,
)
from traffic import SHARED

from acp_client._recordings.formats import FORMAT_NAMES
from acp_client._recordings.recorder import write_envelope


def test_conversation_is_what_the_fixtures_are_about() -> None:
    """The conversation that the other tests compare with has both sides and all kinds."""
    assert [sent for sent, _ in CONVERSATION].count(True) == 5
    assert len(CONVERSATION) == 14
    assert CONVERSATION[5][1]["params"]["update"]["content"]["text"] == "One\nmoment"
    assert "error" in CONVERSATION[-1][1]


@pytest.mark.parametrize("name", WHOLE)
def test_format_is_recognised_and_read(name: str) -> None:
    """Each format is recognised by content and gives the conversation with its time."""
    format_name, start = WHOLE[name]
    recording, frames = read(fixture(name))
    assert recording.format == format_name
    assert said(frames) == CONVERSATION
    assert frames[0].time == start
    assert frames[-1].time == (None if start is None else start + 13)
    assert not recording.torn


@pytest.mark.parametrize("name", WHOLE)
def test_format_can_be_forced(name: str) -> None:
    """The name of its format reads a fixture as recognising it does."""
    assert read(fixture(name), WHOLE[name][0])[1] == read(fixture(name))[1]


@pytest.mark.parametrize("name", UPDATES)
def test_updates_become_notifications(name: str) -> None:
    """Updates without frame are put into notifications of one session, all of them received."""
    recording, frames = read(fixture(name))
    assert recording.format == UPDATES[name]
    own = [message for _, message in CONVERSATION if message.get("method") == "session/update"]
    session = "recording" if name == "updates.json" else "sess_1"
    for message in own:
        message = {**message, "params": {**message["params"], "sessionId": session}}
        assert (False, message) in said(frames)
    first = said(frames)[0]
    assert first[1]["params"]["update"]["sessionUpdate"] == "user_message_chunk"
    assert not any(frame.sent for frame in frames)


def test_every_row_of_the_table_has_a_fixture() -> None:
    """A format without a recording to read it from is not in the table."""
    covered = {name for name, _ in WHOLE.values()} | set(UPDATES.values())
    covered |= {"emdash", "sdk-calls"}
    assert covered == set(FORMAT_NAMES)


@pytest.mark.parametrize("name", EVERY)
def test_headers_and_unknown_values_are_counted(name: str) -> None:
    """Headers, other loggers' lines, inner hops and unknown callbacks are counted, no more."""
    recording, _ = read(fixture(name))
    assert recording.passed_over == PASSED_OVER.get(name, 0)


def test_lines_are_numbered_as_in_the_file() -> None:
    """A frame knows its line; blank lines and headers count as lines."""
    lines = fixture("crucible.jsonl").split(b"\n")
    _, frames = read(b"\n".join([*lines[:3], b"", b" \t\r", *lines[3:]]))
    assert [frame.line for frame in frames[:4]] == [2, 3, 6, 7]


def test_messages_of_a_document_are_numbered() -> None:
    """In a document the line of a frame is the place of its message."""
    _, frames = read(fixture("zed.json"))
    assert [frame.line for frame in frames] == list(range(1, 15))


OF_LINES = [name for name in WHOLE if name.endswith(("l", "ndjson", "jsons"))]


@pytest.mark.parametrize("name", OF_LINES)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("layout", ["array", "texts", "document"])
def test_lines_may_be_laid_out_otherwise(name: str, indent: int | None, layout: str) -> None:
    """Lines that were pretty-printed, or made an array or a document, are the same recording."""
    values = [json.loads(line) for line in fixture(name).splitlines()]
    whole: dict[str, Any] = {
        "array": [values],
        "texts": values,
        "document": [{"version": "[{", "head": {"messages": {}}, "messages": values}],
    }
    data = "\n".join(json.dumps(value, indent=indent) for value in whole[layout])
    assert said(read(data.encode())[1]) == CONVERSATION


@pytest.mark.parametrize("name", ["zed.json", "acp-devtools.json", "json-array.json"])
def test_document_may_be_one_line(name: str) -> None:
    """A document without line breaks is recognised as well."""
    data = json.dumps(json.loads(fixture(name))).encode()
    for end in (b"", b"\n", b"\n\n"):
        assert said(read(data + end)[1]) == CONVERSATION


@pytest.mark.parametrize("name", WHOLE)
def test_converted_recordings_say_the_same(name: str) -> None:
    """Every format survives being written as envelopes, direction, bytes and time."""
    _, frames = read(fixture(name))
    recording, again = read(b"".join(map(write_envelope, frames)))
    assert recording.format == "envelope"
    assert [(f.sent, f.data, f.time) for f in again] == [(f.sent, f.data, f.time) for f in frames]


REAL = {
    "crucible-claude.jsonl": ("crucible", 11, 3, 1),
    "crucible-opencode.jsonl": ("crucible", 11, 3, 1),
    "devtools-goose.json": ("acp-devtools", 571, 16, 0),
    "devtools-zed-claude.json": ("acp-devtools", 18, 4, 0),
    "emdash-codex.json": ("emdash", 3723, 16, 0),
    "jetbrains-transport.log": ("jetbrains", 132, 3, 0),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", REAL)
def test_recordings_of_real_tools(name: str) -> None:
    """Recordings that real tools wrote are read whole, and inferring directions agrees."""
    recording, frames = read((SHARED / "recordings" / "v1" / name).read_bytes())
    counts = (recording.format, len(frames), sum(f.sent for f in frames), recording.passed_over)
    assert counts == REAL[name]
    assert not recording.torn
    _, raw = read(b"".join(frame.data + b"\n" for frame in frames))
    assert [(f.sent, f.data) for f in raw] == [(f.sent, f.data) for f in frames]


@pytest.mark.shared
def test_recordings_of_the_reference() -> None:
    """Both forms of each reference recording agree on what the agent said."""
    folder = SHARED / "recordings" / "v2"
    for path in sorted(folder.glob("*.agent.ndjson")):
        agent, raw = read(path.read_bytes())
        both, frames = read(path.with_name(path.name.replace(".agent", "")).read_bytes())
        assert (agent.format, both.format) == ("ndjson", "envelope")
        assert (agent.passed_over, both.passed_over, agent.torn, both.torn) == (0, 0, False, False)
        assert [f.sent for f in raw] == [False] * len(raw)
        assert [json.loads(f.data) for f in frames if not f.sent] == [
            json.loads(f.data) for f in raw
        ]
        mixed = read(b"".join(frame.data + b"\n" for frame in frames))[1]
        assert [frame.sent for frame in mixed] == [frame.sent for frame in frames]
