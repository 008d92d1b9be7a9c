"""Every recorded format gives the same frames, whole or damaged, and nothing else is taken."""

from __future__ import annotations

import base64
import gzip
import io
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._errors import RecordingError
from acp_client._recordings.directions import Directions, word_sent
from acp_client._recordings.formats import FORMAT_NAMES
from acp_client._recordings.frames import Frame, Tally
from acp_client._recordings.json_slices import (
    NotJson,
    compact,
    elements,
    is_json,
    members,
    string,
    value,
)
from acp_client._recordings.json_texts import ARRAY, TEXTS, Nesting, texts
from acp_client._recordings.reading import Recording, read_recording
from acp_client._recordings.recorder import write_envelope
from acp_client._recordings.times import date_and_time, seconds

FORMATS = Path(__file__).parents[1] / "recordings" / "formats"
SHARED = Path(__file__).parents[2].parent / "shared"

START = 1767225600.25
"""When the conversation of the fixtures began."""

WHOLE = {
    "acp-devtools.json": ("acp-devtools", START),
    "acp-inspector.jsonl": ("acp-inspector", START),
    "acp-payload.jsonl": ("acp-payload", START),
    "agent-shell.traffic": ("agent-shell", None),
    "conductor.jsons": ("conductor", 0.25),
    "crucible.jsonl": ("crucible", 0.25),
    "dir-line.jsonl": ("dir-line", None),
    "dir-raw.jsonl": ("dir-raw", 0.25),
    "direction-frame.jsonl": ("direction-frame", START),
    "envelope.ndjson": ("envelope", START),
    "enveloped-payload.jsonl": ("enveloped-payload", START),
    "events.txt": ("ndjson", None),
    "jetbrains.log": ("jetbrains", START),
    "json-array.json": ("json", None),
    "json.json": ("json", None),
    "log-arrows.log": ("log", None),
    "log-brackets.txt": ("log", None),
    "log-labels.log": ("log", None),
    "log-times.log": ("log", START),
    "markdown.md": ("ndjson", None),
    "marked.jsonl": ("marked", START),
    "ndjson.ndjson": ("ndjson", None),
    "to-runtime.jsonl": ("to-runtime", START),
    "zed.json": ("zed", None),
}
"""The fixtures that hold the whole conversation: their format, and the time of the first frame."""

UPDATES = {
    "notifications.jsonl": "notifications",
    "updates.json": "updates",
    "updates-params.json": "updates",
}
"""The fixtures that hold its updates only, with the prompt as one of them."""

CALL = b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{}}'
UPDATE = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}'


def read(data: bytes, format: str | None = None) -> tuple[Recording, list[Frame]]:  # noqa: A002  # as the function under test
    """Read a recording to its end."""
    recording = read_recording(io.BytesIO(data), format=format)
    return recording, list(recording)


def fixture(name: str) -> bytes:
    """Give the bytes of a fixture."""
    return (FORMATS / name).read_bytes()


def said(frames: Iterable[Frame]) -> list[tuple[bool, Any]]:
    """Return who wrote what, as JSON values, without a key that some tools add.

    No capabilities are an empty object, or `nil` of Lisp, which is null.
    """
    values = [(frame.sent, json.loads(frame.data)) for frame in frames]
    for _, message in values:
        message.pop("type", None)
        for part in (message.get("params"), message.get("result")):
            for key in {"clientCapabilities", "agentCapabilities"} & (part or {}).keys():
                part[key] = part[key] or {}
    return values


CONVERSATION = said(read(fixture("envelope.ndjson"))[1])


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


PASSED_OVER = {
    "acp-payload.jsonl": 1,
    "conductor.jsons": 16,
    "crucible.jsonl": 1,
    "direction-frame.jsonl": 2,
    "emdash.json": 1,
    "jetbrains.log": 1,
    "log-times.log": 1,
    "markdown.md": 1,
}


@pytest.mark.parametrize("name", [*WHOLE, *UPDATES, "emdash.json"])
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


def zed(**members: Any) -> str:
    """Give one entry of Zed's copied log."""
    return json.dumps({"_direction": "incoming", **members})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (zed(_type="response", id=1, params=None), {"id": 1, "result": None}),
        (zed(_type="response", id=1, params={"code": 1, "message": "m"}),
         {"id": 1, "error": {"code": 1, "message": "m"}}),
        (zed(_type="response", id=1, params={"code": 1}), {"id": 1, "result": {"code": 1}}),
        (zed(_type="notification", id=None, method="m", params=None), {"method": "m"}),
        (zed(_type="stderr", params="listening"), None),
        (zed(_type="request", method="m"), None),
        (zed(_type=5), None),
        ('{"_direction":"sideways","_type":"request","id":1,"method":"m"}', None),
        ("[]", None),
    ],
)  # fmt: skip  # a table
def test_entries_of_a_copied_log(entry: str, expected: dict[str, Any] | None) -> None:
    """Results and errors are told apart, null parameters left out, other entries passed over."""
    known = zed(_type="request", id=0, method="session/update")
    recording, frames = read(f"[{known},{entry}]".encode())
    assert recording.format == "zed"
    messages = [message for _, message in said(frames[1:])]
    assert messages == ([{"jsonrpc": "2.0", **expected}] if expected else [])
    assert recording.passed_over == (expected is None)


def test_trace_without_client() -> None:
    """In a trace where the client has another name it is who sends the first request of one."""
    lines = [
        {"type": "notification", "from": "agent", "to": "ide", "method": "_x", "params": {}},
        {"type": "request", "from": "ide", "to": "agent", "id": 1, "method": "session/prompt"},
        {"type": "response", "from": "agent", "to": "ide", "id": 1, "is_error": False,
         "payload": {}},
        {"type": "response", "from": "agent", "to": "ide"},
    ]  # fmt: skip  # a table
    recording, frames = read("\n".join(map(json.dumps, lines)).encode())
    assert recording.format == "conductor"
    assert [frame.sent for frame in frames] == [True, False]
    assert recording.passed_over == 2


def test_recorder_beside_the_agent_is_turned_round() -> None:
    """Where a client's request is marked as received, all marks are the agent's."""
    text = fixture("direction-frame.jsonl").replace(b'"sent"', b'"x"')
    text = text.replace(b'"received"', b'"sent"').replace(b'"x"', b'"received"')
    assert said(read(text)[1]) == CONVERSATION


def test_what_is_no_json_does_not_settle_the_sides() -> None:
    """Noise before the first call is kept, and says nothing about where the recorder sat."""
    noise = b'{"dir":"received","t":1,"raw":"listening"}\n'
    _, frames = read(noise + fixture("dir-raw.jsonl"))
    assert (frames[0].data, frames[0].sent) == (b"listening", False)
    assert said(frames[1:]) == CONVERSATION


def test_own_format_is_never_turned_round() -> None:
    """An agent that sends a client's request is believed to have sent it."""
    _, frames = read(b'{"dir":"recv","message":%s}\n' % CALL)
    assert [frame.sent for frame in frames] == [False]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (CALL + b"\n" + UPDATE + b"\n", [CALL, UPDATE]),
        (json.dumps(json.loads(CALL), indent=2).encode(), [CALL]),
        (b" not json", [b" not json"]),
        (b"first\n\nsecond\r\n", [b"first", b"second\r"]),
    ],
)
def test_string_of_several_lines(raw: bytes, expected: list[bytes]) -> None:
    """What a recorder read at once is split into lines, unless it is one message."""
    known = json.dumps({"dir": "sent", "t": 1, "raw": CALL.decode()}).encode()
    line = json.dumps({"dir": "received", "t": 2, "raw": raw.decode()}).encode()
    _, frames = read(known + b"\n" + line)
    assert [frame.data for frame in frames[1:]] == expected
    assert not any(frame.sent for frame in frames[1:])


@pytest.mark.parametrize(
    "line",
    [b"not json", b"[]", b'{"dir":"send"}', b'{"message":{}}', b'{"dir":5,"message":{}}',
     b'{"dir":"meta","message":{}}'],
)  # fmt: skip  # a table
def test_unknown_lines_between(line: bytes) -> None:
    """A line that is none of its format is passed over and counted; what follows is read."""
    known = b'{"dir":"send","message":%s}' % CALL
    recording, frames = read(known + b"\n" + line + b"\n" + known + b"\n")
    assert [frame.data for frame in frames] == [CALL, CALL]
    assert recording.passed_over == 1
    assert not recording.torn


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"dir":"recv","message":null,"raw":"oops","rawBase64":"b29wcw=="}', b"oops"),
        (b'{"dir":"recv","message":null,"raw":"?","rawBase64":"//8="}', b"\xff\xff"),
        (b'{"dir":"recv","message":null,"raw":"text","rawBase64":"*"}', b"text"),
        (b'{"dir":"recv","message":null,"raw":"text","rawBase64":5}', b"text"),
        (b'{"dir":"recv","message":null}', b"null"),
        (b'{"dir":"recv","message":"text"}', b'"text"'),
        (b'{"dir":"recv","message":[ 1,2 ]}', b"[ 1,2 ]"),
    ],
)
def test_envelope_of_what_is_no_message(line: bytes, expected: bytes) -> None:
    """What was no JSON comes back as its bytes, other JSON as it is."""
    _, frames = read(line + b"\n")
    assert [frame.data for frame in frames] == [expected]


DEEP = b"[" * 90000 + b"]" * 90000

UNUSUAL = {
    "lone surrogate": b'{"jsonrpc":"2.0","method":"x","params":"\\ud83d"}',
    "invalid UTF-8": b'{"jsonrpc":"2.0","method":"x","params":"\xff\xfe"}',
    "huge numbers": b'{"jsonrpc":"2.0","method":"x","params":[1e400,' + b"9" * 5000 + b"]}",
    "duplicate keys": b'{"jsonrpc":"2.0","method":"x","method":"y"}',
    "deep": b'{"jsonrpc":"2.0","method":"x","params":' + DEEP + b"}",
    "brackets in text": b'{"jsonrpc":"2.0","method":"\\"}],{:","params":"\\ud83d"}',
    "escaped key": b'{"\\u006asonrpc":"2.0","method":"\\ud83d"}',
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("layout", ["envelope", "line", "array", "raw"])
def test_messages_come_out_as_recorded(name: str, layout: str) -> None:
    """Messages that strict parsers refuse are sliced out of their wrapping byte for byte."""
    message = UNUSUAL[name]
    envelope = b'{"dir":"recv","ts":1,"message":%s}'
    wrapping = {
        "envelope": envelope % CALL + b"\n" + envelope % message + b"\n",
        "line": b'{"ts":1,"direction":"meta","frame":1}\n{"ts":1,"direction":"received","frame":%s}'
        % message,
        "array": b"[" + CALL + b",\n" + message + b"]",
        "raw": CALL + b"\n" + message + b"\n",
    }
    recording, frames = read(wrapping[layout])
    assert frames[-1].data == message
    assert not recording.torn


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_messages_round_trip(name: str) -> None:
    """A message that strict parsers refuse comes back from an envelope as it was."""
    line = write_envelope(Frame(1, False, UNUSUAL[name]))
    assert [frame.data for frame in read(line)[1]] == [UNUSUAL[name]]
    assert (b'"message":null' in line) == (name == "invalid UTF-8")


FRAMES = st.builds(
    Frame,
    line=st.just(0),
    sent=st.booleans(),
    data=st.one_of(
        st.binary(max_size=40),
        st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ).map(lambda found: json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")),
    ).map(lambda data: data.replace(b"\n", b"").strip()),
    time=st.none() | st.integers(0, 10**13).map(lambda stamp: stamp / 1000),
)


@given(st.lists(FRAMES, min_size=1, max_size=5))
def test_envelopes_give_back_what_was_written(frames: list[Frame]) -> None:
    """Reading what `write_envelope` wrote gives the same frames, on lines of their own."""
    _, again = read(b"".join(map(write_envelope, frames)))
    assert [(frame.sent, frame.data, frame.time) for frame in again] == [
        (frame.sent, frame.data, frame.time) for frame in frames
    ]
    assert [frame.line for frame in again] == list(range(1, len(frames) + 1))


def test_envelope_is_one_line_of_json() -> None:
    """An envelope is one line that any JSON parser reads, also where the data was no text."""
    line = write_envelope(Frame(9, True, b"\xff{", 1.5))
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "dir": "send",
        "ts": 1500,
        "message": None,
        "raw": "\ufffd{",
        "rawBase64": base64.b64encode(b"\xff{").decode(),
    }


@pytest.mark.parametrize("name", WHOLE)
def test_converted_recordings_say_the_same(name: str) -> None:
    """Every format survives being written as envelopes, direction, bytes and time."""
    _, frames = read(fixture(name))
    recording, again = read(b"".join(map(write_envelope, frames)))
    assert recording.format == "envelope"
    assert [(f.sent, f.data, f.time) for f in again] == [(f.sent, f.data, f.time) for f in frames]


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._rest = data
        self._size = size

    def read(self, size: int = -1) -> bytes:
        size = min(size, self._size) if size >= 0 else self._size
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


@pytest.mark.parametrize("name", [*WHOLE, *UPDATES, "emdash.json"])
@pytest.mark.parametrize("packed", [False, True])
def test_blocks_do_not_matter(name: str, packed: bool) -> None:
    """However few bytes a stream gives at a time, packed or not, the frames are the same."""
    data = gzip.compress(fixture(name)) if packed else fixture(name)
    for size in (1, 7, 1000):
        recording = read_recording(cast("BinaryIO", Trickle(data, size)))
        assert list(recording) == read(fixture(name))[1]


def test_frames_come_before_the_stream_ends() -> None:
    """A recording that is still being written is read as far as it is there."""
    asked = []

    class Growing(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            asked.append(size)
            return {1: CALL + b"\n", 2: UPDATE[:20], 3: UPDATE[20:] + b"\n"}.get(len(asked), b"")

    frames = iter(read_recording(cast("BinaryIO", Growing())))
    assert next(frames).data == CALL
    assert len(asked) == 1
    assert next(frames).data == UPDATE
    assert len(asked) == 3
    assert list(frames) == []


@pytest.mark.parametrize("blank", [b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf"])
def test_nothing_is_an_empty_recording(blank: bytes) -> None:
    """Empty and blank input is a raw stream of no frames."""
    recording, frames = read(blank)
    assert (recording.format, frames, recording.torn) == ("ndjson", [], False)


PROSE = b"The client sends a message, and the agent answers it.\n"

NO_RECORDINGS = {
    "image": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8,
    "prose": PROSE * 100,
    "prose with a message": PROSE * 30 + UPDATE + b"\n",
    "source": b"import json\n\nmessage = {\n    'jsonrpc': '2.0',\n}\n",
    "settings": json.dumps({"name": "x", "scripts": {"test": "vitest"}}, indent=2).encode(),
    "other lines": b'{"level":"info","msg":"started"}\n' * 50,
    "other array": b'[{"a":1},\n{"a":2}]',
    "numbers": b"1\n2\n3\n",
    "zeros": bytes(5000),
    "broken": b'{"a": [1, 2',
    "other calls": b'{"id": 7, "method": "GET", "url": "/"}\n',
    "deep": b'{"dir":' + b"[" * 200000,
    "odd direction": b'{"dir":5,"message":{}}',
    "odd method": b'{"id":1,"method":{},"params":{}}',
}


@pytest.mark.parametrize("name", NO_RECORDINGS)
def test_what_is_no_recording_is_refused(name: str) -> None:
    """Files of other kinds are refused with one clear line."""
    with pytest.raises(RecordingError) as caught:
        read(NO_RECORDINGS[name])
    assert str(caught.value).startswith("not a recording")
    assert "\n" not in str(caught.value)


def test_search_for_a_format_ends() -> None:
    """A long file that is no recording is not read to its end."""
    read_bytes = 0

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            nonlocal read_bytes
            read_bytes += 60000
            return b'{"level":"info","text":"%s"}\n' % (b"x" * 59972)

    with pytest.raises(RecordingError):
        read_recording(cast("BinaryIO", Endless()))
    assert read_bytes < 4_000_000


def test_unknown_format_name() -> None:
    """The name of no format is an error that tells the names."""
    with pytest.raises(RecordingError, match=r"unknown format 'csv': it must be one of envelope,"):
        read(b"", "csv")


def test_forced_format_is_not_second_guessed() -> None:
    """What is read as a format that it is not gives no frames, and its end tells so."""
    for data, name in ((fixture("ndjson.ndjson"), "crucible"), (PROSE, "marked")):
        with pytest.raises(RecordingError, match=name):
            read(data, name)
    assert read(PROSE, "ndjson")[1] == [Frame(1, False, PROSE.strip())]


@pytest.mark.parametrize(
    ("line", "format_name"),
    [
        (b'{"jsonrpc":"2.0","method":"x","params":{"dir":"send","message":{}}}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x","dir":"send","message":{"jsonrpc":"2.0"}}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x","timestamp":1,"params":{}}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x","params":{"messages":[{"jsonrpc":"2.0"}]}}', "ndjson"),
        (b'{"id":1,"result":{}}', "ndjson"),
        (b'{"jsonrpc":"1.0"}', "ndjson"),
        (b'{"jsonrpc":"2.0","method":"x"', "ndjson"),
        (b'{"dir":"recv","message":{"dir":"send","line":"x"}}', "envelope"),
        (b'{"type":"recv","data":"{\\"id\\":1,\\"result\\":{}}"}', "marked"),
        (b'{"update":{"sessionUpdate":"plan"},"session_id":"s"}', "updates"),
        (b'{"method":"session/update","params":{}}', "ndjson"),
        (b'[{"method":"session/update","params":{}}]', "updates"),
        (b'{"timestamp":1,"method":"m","params":{}}', "notifications"),
    ],
)
def test_the_specific_goes_before_the_general(line: bytes, format_name: str) -> None:
    """Keys of a wrapping count only where there is a wrapping, at the top."""
    assert read(line)[0].format == format_name


def test_words_before_the_first_message() -> None:
    """What an agent says while it starts is part of its output."""
    recording, frames = read(b"starting\nready: {\n" + UPDATE + b"\n")
    assert recording.format == "ndjson"
    assert [frame.data for frame in frames] == [b"starting", b"ready: {", UPDATE]


def test_words_between_pretty_printed_messages() -> None:
    """Labels between texts are passed over, one at a time; batches stay together."""
    pretty = json.dumps(json.loads(CALL), indent=2).encode()
    batch = b"[\n" + UPDATE + b"\n]"
    recording, frames = read(pretty + b"\nagent says:\n" + batch + b'\n{\n"a": 1\n}\nend')
    assert recording.format == "json"
    assert [frame.data for frame in frames] == [CALL, b"[" + UPDATE + b"]"]
    assert recording.passed_over == 3


@pytest.mark.parametrize("rest", [b"\n" + UPDATE + b"\n", b"\n" + UPDATE])
def test_batch_on_the_first_line(rest: bytes) -> None:
    """A batch that other lines follow is one line of a raw stream."""
    batch = b"[" + CALL + b"," + UPDATE + b"]"
    recording, frames = read(batch + rest)
    assert recording.format == "ndjson"
    assert [(frame.sent, frame.data) for frame in frames] == [(True, batch), (False, UPDATE)]


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"", b"\n\xef\xbb\xbf "])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \r\n"])
def test_marks_and_blanks_around_lines(mark: bytes, end: bytes) -> None:
    """A byte order mark, carriage returns and blanks around a message are trimmed."""
    data = end.join([mark + CALL, mark + UPDATE, b""])
    assert [frame.data for frame in read(data)[1]] == [CALL, UPDATE]


@pytest.mark.parametrize("name", ["ndjson.ndjson", "jetbrains.log", "zed.json"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(name: str, encoding: str) -> None:
    """A recording that a shell wrote as UTF-16 is read like any other."""
    mark = {"utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}.get(encoding, "")
    data = (mark + fixture(name).decode()).encode(encoding)
    assert said(read(data)[1]) == CONVERSATION


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.integers(1, 900),
    st.sampled_from(["utf-16-le", "utf-16-be"]),
)
def test_long_recordings_of_utf_16(text: str, count: int, encoding: str) -> None:
    """However long it is, and whatever its characters take in UTF-8, not one of them is lost."""
    lines = [CALL.decode()] + [
        json.dumps({"n": number, "text": 20 * text}, ensure_ascii=False) for number in range(count)
    ]
    data = ("\ufeff" + "\n".join(lines) + "\n").encode(encoding)
    assert [frame.data.decode() for frame in read(data)[1]] == lines


def test_members_of_a_packed_file() -> None:
    """A file of several packed parts is one stream."""
    data = fixture("envelope.ndjson")
    assert said(read(gzip.compress(data[:700]) + gzip.compress(data[700:]))[1]) == CONVERSATION


@pytest.mark.parametrize("name", ["envelope.ndjson", "ndjson.ndjson", "acp-devtools.json"])
def test_packed_file_that_is_cut_off(name: str) -> None:
    """Of a truncated or damaged packed file what can be read is read, and it is told."""
    packed = gzip.compress(fixture(name) * (1 if name.endswith(".json") else 40))
    for cut in (packed[:-9], packed[:-20] + b"\0" * 20, packed + b"trailing"):
        recording, frames = read(cut)
        assert said(frames[:12]) == CONVERSATION[:12]
        assert recording.torn


TORN_FRAMES = [
    "envelope.ndjson",
    "events.txt",
    "jetbrains.log",
    "ndjson.ndjson",
    *(name for name in WHOLE if name.startswith("log-")),
]
"""The fixtures whose last message is a frame also where it is cut off."""


@pytest.mark.parametrize("name", [*WHOLE, *UPDATES, "emdash.json"])
def test_torn_recordings(name: str) -> None:
    """Cut anywhere in its last value a recording gives all before it, and tells that it is torn."""
    data = fixture(name).rstrip().removesuffix(b"]").rstrip()
    whole = [frame.data for frame in read(fixture(name))[1]]
    for cut in (2, 5, 9):
        recording, frames = read(data[:-cut])
        kept = [frame.data for frame in frames]
        if name in TORN_FRAMES:
            assert not is_json(kept.pop())
        assert recording.torn
        assert kept == whole[: len(kept)]
        assert len(whole) - len(kept) <= 2
        assert recording.passed_over <= PASSED_OVER.get(name, 0)


def test_torn_line_of_a_raw_stream_is_told_before_it_is_given() -> None:
    """The last line of a raw stream is a frame, and by then the recording is known as torn."""
    recording = read_recording(io.BytesIO(CALL + b"\n" + UPDATE[:-5]))
    told = [(frame.data, recording.torn) for frame in recording]
    assert told == [(CALL, False), (UPDATE[:-5], True)]


def test_unterminated_line_that_is_whole() -> None:
    """A last line without line feed is not torn if it is a message."""
    recording, frames = read(CALL + b"\n" + UPDATE)
    assert len(frames) == 2
    assert not recording.torn


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


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        (b"1500", 1e3, 1.5),
        (b"1767225600250", None, START),
        (b"1767225600.25", None, START),
        (b"1767225600250000", None, START),
        (b"1767225600250000000", None, START),
        (b"250", None, 0.25),
        (b'"2026-01-01T00:00:00.250Z"', None, START),
        (b'"2026-01-01T02:00:00.2500000+02:00"', None, START),
        (b'"2026-01-01 00:00:00,250"', None, START),
        (b'"yesterday"', None, None),
        (b"null", None, None),
        (b"[]", 1e3, None),
        (b"1e400", None, None),
        (b'"\xff', None, None),
    ],
)
def test_time_stamps(text: bytes, unit: float | None, expected: float | None) -> None:
    """Stamps are read whatever their unit; what is none is no time."""
    assert seconds(text, unit) == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no time zone to set here")
def test_stamps_without_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A date that names no zone is of UTC, wherever it is read."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert date_and_time("2026-01-01 00:00:00,250") == START
    finally:
        monkeypatch.undo()
        time.tzset()


def test_dates_at_the_edge() -> None:
    """The first date that can be written has a time."""
    assert date_and_time("0001-01-01T00:00:00+23:59") is not None


@pytest.mark.parametrize(
    "data",
    [
        b"5",
        b"[1]",
        b"{",
        b'{"a":1}x',
        b'{"a":NaN}',
        b"[[" * 60000,
        b"{]" * 60000,
        b"\xff",
        b'{"a":' + DEEP,
        b'{"a":' + DEEP + b"}x",
        b'{"a":' + DEEP + b"}{}",
    ],
)
def test_members_of_what_is_no_object(data: bytes) -> None:
    """Slicing refuses what is no object, also where it nests too deep to be parsed."""
    with pytest.raises(NotJson):
        members(data)


def test_slices_of_containers() -> None:
    """Empty and unusual containers are sliced as well."""
    assert members(b" {} ") == {}
    assert elements(b"[]") == []
    assert list(members(b'{"a":' + DEEP + b",}")) == ["a"]
    assert [bytes(raw) for raw in elements(b'["\\ud800", {"a":[1,2]} ,"\\\\"]')] == [
        b'"\\ud800"',
        b'{"a":[1,2]}',
        b'"\\\\"',
    ]
    assert {
        key: bytes(raw) for key, raw in members(b'{"a" : "\\ud800" , "b":[],"a":2}').items()
    } == {
        "a": b"2",
        "b": b"[]",
    }


def test_small_values() -> None:
    """Strings with invalid UTF-8 are read, what is none is refused."""
    assert string(b'"\xff"') == "\ufffd"
    for text in (b"5", b"[" * 90000):
        with pytest.raises(NotJson):
            string(text)
    assert value(b"[1, null]") == [1, None]


def test_compact_keeps_tokens() -> None:
    """White space goes, numbers and escapes stay as they were written."""
    assert compact(b'{\n "a" : 1.0,\r\n "b": "\\u00e9 \\n"\n}') == b'{"a":1.0,"b":"\\u00e9 \\n"}'
    assert compact(b'["\\ud800",\n1e400]') == b'["\\ud800", 1e400]'


@given(
    st.lists(st.sampled_from([b'{"a":"]}\\""}', b"{}", b'[[],"["]', b'{"b":{"c":[1]}}'])),
    st.integers(1, 9),
    st.sampled_from([TEXTS, ARRAY, Nesting(2, "list", "head")]),
)
def test_texts_are_cut_out_of_any_blocks(parts: list[bytes], size: int, layout: Nesting) -> None:
    """Texts come out the same from blocks of any size, in every layout."""
    joined = b" ,\n".join(parts)
    data = {
        0: joined,
        1: b" [ " + joined + b" ]\n",
        2: b'{"x": "list", "list": {"y": []}, "head": {"z":1}, "list" :[' + joined + b'], "a":[1]}',
    }[layout.depth]
    tally = Tally()
    found = list(texts(cast("Any", Trickle(data, size)).read, layout, tally))
    if layout.depth == 2:
        assert found.pop(0) == (0, b'{"z":1}')
    assert found == list(enumerate(parts, 1))
    assert tally == Tally()


def test_text_longer_than_a_block() -> None:
    """A text of megabytes in small blocks costs no more than its length."""
    long = b'{"jsonrpc":"2.0","method":"x","params":"%s"}' % (b'\\"' * 2_000_000)
    recording = read_recording(cast("BinaryIO", Trickle(b"[" + long + b",\n" + CALL + b"]", 60000)))
    assert [frame.data for frame in recording] == [long, CALL]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No input makes anything but frames of one line each, or the one error."""
    try:
        recording, frames = read(data)
    except RecordingError:
        return
    assert recording.format in FORMAT_NAMES
    assert all(b"\n" not in frame.data for frame in frames)


@given(st.data(), st.sampled_from([*WHOLE, *UPDATES, "emdash.json"]))
def test_damaged_recordings_are_read(data: st.DataObject, name: str) -> None:
    """Bytes changed anywhere in a recording never make an exception, whatever it is read as."""
    damaged = bytearray(fixture(name))
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), max_size=4)):
        damaged[place] = data.draw(st.sampled_from(b'"\\{}[],:\n0a\xff'))
    for forced in (None, data.draw(st.sampled_from(FORMAT_NAMES))):
        try:
            frames = read(bytes(damaged), forced)[1]
        except RecordingError:
            continue
        assert all(b"\n" not in frame.data for frame in frames)


def shared(*parts: str) -> Path:
    """Give a file of the shared recordings, or skip where they are not there."""
    path = SHARED.joinpath("recordings", *parts)
    if not path.exists():
        pytest.skip("the shared recordings are not there")
    return path


REAL = {
    "crucible-claude.jsonl": ("crucible", 11, 3, 1),
    "crucible-opencode.jsonl": ("crucible", 11, 3, 1),
    "devtools-goose.json": ("acp-devtools", 571, 16, 0),
    "devtools-zed-claude.json": ("acp-devtools", 18, 4, 0),
    "emdash-codex.json": ("emdash", 3723, 16, 0),
    "jetbrains-transport.log": ("jetbrains", 132, 3, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_recordings_of_real_tools(name: str) -> None:
    """Recordings that real tools wrote are read whole, and inferring directions agrees."""
    recording, frames = read(shared("v1", name).read_bytes())
    counts = (recording.format, len(frames), sum(f.sent for f in frames), recording.passed_over)
    assert counts == REAL[name]
    assert not recording.torn
    _, raw = read(b"".join(frame.data + b"\n" for frame in frames))
    assert [(f.sent, f.data) for f in raw] == [(f.sent, f.data) for f in frames]


def test_recordings_of_the_reference() -> None:
    """Both forms of each reference recording agree on what the agent said."""
    folder = shared("v2")
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


@pytest.mark.parametrize(
    "broken",
    [
        b'{"jsonrpc":"2.0","method":nul}',
        b'{"jsonrpc":[]],"params":{"sessionId":"q","update":{"sessionUpdate":"plan"}}}',
        b'{"jsonrpc":"2.0","method":"session/up',
        UPDATE + UPDATE,
        b"[}",
    ],
)
def test_a_broken_first_line_is_a_line(broken: bytes) -> None:
    """A message that is broken before its end begins no text over many lines."""
    recording = read_recording(io.BytesIO(broken + b"\n" + UPDATE + b"\n"))
    frames = [(frame.line, frame.data) for frame in recording]
    assert recording.format == "ndjson"
    assert frames == [(1, broken), (2, UPDATE)]
