"""Logs are taken apart: any prefix, a mark for the direction, a message in JSON or Python."""

from __future__ import annotations

import json

import pytest
from recorded_formats import CALL, UPDATE, read

from acp_client import RecordingError
from acp_client._recordings.log_lines import entries, entry_of, is_label


def log(*lines: str) -> bytes:
    """Return a log of these lines, in which `CALL` and `UPDATE` stand for messages."""
    text = "\n".join(lines).replace("CALL", CALL.decode()).replace("UPDATE", UPDATE.decode())
    return text.encode() + b"\n"


@pytest.mark.parametrize(
    ("prefix", "side"),
    [
        (">>> ", True),
        ("<<<", False),
        ("-> ", True),
        ("<-- ", False),
        ("\N{RIGHTWARDS ARROW} ", True),
        ("\N{LEFTWARDS ARROW} ", False),
        ("[client] ", True),
        ("[Agent]: ", False),
        ("sent: ", True),
        ("received message: ", False),
        ("stdin ", True),
        ("2026-01-02 10:00:00,123 [worker] DEBUG acp.pipe: client -> agent: ", True),
        ("[10:00:00] from agent ", False),
        ("to the agent: ", False),
        ("Agent \N{RIGHTWARDS ARROW} Client: ", False),
        ("\x1b[32m<<<\x1b[0m ", False),
        ("acp{session=1}: sending ", True),
        ("sent and then received ", False),
        ("DEBUG ", None),
        ("", None),
    ],
)
def test_marks(prefix: str, side: bool | None) -> None:
    """The last mark before a message says whose it is, in many words and arrows."""
    entry = entry_of(prefix.encode() + CALL)
    assert (entry.side, entry.payload) == (side, CALL)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Sent:", True),
        ("  Received", True),
        ("### Client \N{RIGHTWARDS ARROW} Agent", True),
        ("**Agent -> Client:**", True),
        ("[10:00:00] acp.lua received:", True),
        ("2026-01-02T10:00:00Z <<<", True),
        ("what the client sent", False),
        ("Answer:", False),
        ("", False),
        ("sent " + "x" * 500 + ":", False),
        ('Sent: {"a": 1}', False),
    ],
)
def test_labels(line: str, expected: bool) -> None:
    """A label is a mark that stands alone, or before a colon."""
    assert is_label(line.encode()) is expected


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        (["Sent:", "CALL", "Received:", "UPDATE"], [2, 4]),
        (["Sent:", "", "CALL"], [3]),
        (["Sent:", "Received:", "UPDATE"], [1, 3]),
        (["Sent:", "words", "CALL"], [2, 3]),
        (['>>> {', '"jsonrpc": "2.0",', '"params": {"]": "}"}', "}", "<<< UPDATE"], [1, 5]),
        (['>>> {"jsonrpc": "2.0", "meth', "<<< UPDATE"], [1, 2]),
        (['>>> {"jsonrpc": "2.0", "meth', "UPDATE", "end"], [1, 2, 3]),
        (["ready: {", "UPDATE"], [1, 2]),
        (["{", "'jsonrpc': '}{',", "}", "CALL"], [1, 4]),
        (["Sent:"], [1]),
        ([], []),
    ],
)  # fmt: skip  # a table
def test_lines_of_an_entry_are_joined(lines: list[str], numbers: list[int]) -> None:
    """A label goes with the message below it, a message goes on to its end, and no further."""
    given = enumerate(log(*lines).split(b"\n"), 1)
    found = list(entries((number, line) for number, line in given if line))
    assert [number for number, _ in found] == numbers
    joined = b"".join(data for _, data in found)
    assert joined.replace(b"\n", b"") == log(*lines).replace(b"\n", b"")


def test_a_message_over_several_lines() -> None:
    """A message that is printed over several lines is one frame, compact."""
    pretty = json.dumps(json.loads(CALL), indent=2).splitlines()
    recording, frames = read(log("Sent:", *pretty, ">>>", *pretty, "<<< UPDATE"))
    assert recording.format == "log"
    assert [(frame.sent, frame.data) for frame in frames] == [
        (True, CALL),
        (True, CALL),
        (False, UPDATE),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<<< {'id': 1, 'result': None}", b'{"jsonrpc":"2.0","id":1,"result":null}'),
        ("<<< UPDATE (3 ms)", UPDATE),
        ('<<< {"jsonrpc": "2.0", "meth', b'{"jsonrpc": "2.0", "meth'),
        ('<<< {"sessionUpdate": "plan"}', None),
        ('<<< {"level": "info"}', None),
        ("<<< {'a': {1, 2}}", b"{'a': {1, 2}}"),
        ("<<< starting", None),
        ("DEBUG UPDATE", None),
        ("[UPDATE]", None),
    ],
)
def test_messages_of_entries(line: str, expected: bytes | None) -> None:
    """What a mark stands before is a message, a broken one, or passed over and counted."""
    recording, frames = read(log(">>> CALL", line))
    if line == '<<< {"sessionUpdate": "plan"}':
        assert b'"update":{"sessionUpdate": "plan"}' in frames[1].data
        return
    assert [frame.data for frame in frames] == [CALL, *([expected] if expected else [])]
    assert recording.passed_over == (expected is None)


def test_a_log_without_marks() -> None:
    """Where entries begin with times alone, who wrote a message is inferred."""
    recording, frames = read(log("2026-01-01T00:00:00Z CALL", "2026-01-01T00:00:01Z x UPDATE"))
    assert recording.format == "log"
    assert [(frame.sent, frame.time) for frame in frames] == [
        (True, 1767225600.0),
        (False, 1767225601.0),
    ]


def test_the_log_of_an_agent_is_turned_round() -> None:
    """Where the agent wrote the log, what it received is the client's."""
    _, frames = read(log("received CALL", "sent UPDATE"))
    assert [frame.sent for frame in frames] == [True, False]


def test_a_batch_is_one_frame() -> None:
    """A batch behind a mark stays together."""
    _, frames = read(log(">>> CALL", "<<< [UPDATE,UPDATE]"))
    assert frames[1].data == b"[" + UPDATE + b"," + UPDATE + b"]"


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("2026-01-01T00:00:00.25Z", 1767225600.25),
        ("[2026/01/01 02:00:00,250 +0200]", 1767225600.25),
        ("1767225600.250", 1767225600.25),
        ("1767225600250", 1767225600.25),
        ("[00:01:40.5]", 100.5),
        ("17672256002501", None),
        ("2026-13-45T00:00:00Z", None),
        ("", None),
    ],
)
def test_times_of_entries(stamp: str, time: float | None) -> None:
    """Dates, counts since 1970 and times of day are found anywhere before the message."""
    _, frames = read(log(f"INFO {stamp} acp >>> CALL"))
    assert frames[0].time == (None if time is None else pytest.approx(time))


def test_prose_is_no_log() -> None:
    """A page of prose that quotes a message is no recording."""
    with pytest.raises(RecordingError):
        read(b"Agents write lines.\n" * 30 + b"For example: " + UPDATE)
