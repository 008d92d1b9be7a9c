"""Recording one's own traffic: what was written can be read back."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import UNUSUAL, read
from traffic import chunk_line, line

from acp_client import Frame, InvalidValueError, Recorder, read_recording
from acp_client._limits import DEFAULT_LIMITS
from acp_client._recordings.json_slices import trim
from acp_client._recordings.recorder import write_envelope

PROMPT = line(id=1, method="session/prompt", params={"sessionId": "s1", "prompt": []})


def recorded(*parts: tuple[bool, bytes], **options: Any) -> list[Frame]:
    """Return the frames of what was recorded of these pieces, those of the client marked true."""
    file = io.BytesIO()
    recorder = Recorder(file, clock=lambda: 1767225600.25, **options)
    for sent, data in parts:
        (recorder.sent if sent else recorder.received)(data)
    recorder.end()
    return list(read_recording(io.BytesIO(file.getvalue())))


def test_both_directions_are_recorded_with_their_times() -> None:
    """Messages come back with who wrote them, and when."""
    assert recorded((True, PROMPT), (False, chunk_line("a") + chunk_line("b"))) == [
        Frame(1, True, PROMPT.strip(), 1767225600.25),
        Frame(2, False, chunk_line("a").strip(), 1767225600.25),
        Frame(3, False, chunk_line("b").strip(), 1767225600.25),
    ]


LINES = st.lists(
    st.one_of(
        st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")),
        st.sampled_from([chunk_line("x").strip(), b'{"a": "\\ud800"}', b"[1]", b"\xff{", b"null"]),
    ),
    max_size=5,
)


@given(LINES, st.data())
def test_lines_come_back_whatever_they_are_and_however_they_are_cut(
    lines: list[bytes], data: st.DataObject
) -> None:
    """What comes back is what a store makes of the same bytes: lines, without blanks around."""
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    places = zip([0, *cuts], [*cuts, len(stream)], strict=True)
    frames = recorded(*((False, stream[start:end]) for start, end in places))
    assert [frame.data for frame in frames] == list(filter(None, map(trim, lines)))


def test_a_line_without_its_end_is_recorded_at_the_end() -> None:
    """What an agent had begun to say when it died is there, as it is."""
    (frame,) = recorded((False, chunk_line("a")[:30]))
    assert frame.data == chunk_line("a")[:30]


def test_redact_sees_each_frame_before_it_is_written() -> None:
    """What `redact` returns is written, None leaves a frame out."""

    def redact(frame: Frame) -> Frame | None:
        if b"secret" not in frame.data:
            return None
        return attrs.evolve(frame, data=frame.data.replace(b"secret", b"*"))

    frames = recorded((True, PROMPT), (False, chunk_line("a secret")), redact=redact)
    assert [(frame.sent, frame.data) for frame in frames] == [(False, chunk_line("a *").strip())]


def test_nothing_is_written_where_redact_raises() -> None:
    """An exception of `redact` reaches the caller; its message is nowhere, later ones are."""
    file = io.BytesIO()

    def redact(frame: Frame) -> Frame:
        if b"secret" in frame.data:
            raise LookupError("no rule for this")
        return frame

    recorder = Recorder(file, redact=redact)
    with pytest.raises(LookupError):
        recorder.received(chunk_line("secret"))
    recorder.received(chunk_line("public"))
    (written,) = file.getvalue().splitlines()
    assert json.loads(written)["message"] == json.loads(chunk_line("public"))


def test_the_file_stays_the_callers() -> None:
    """A recorder neither closes nor flushes what it writes to."""

    class Watched(io.BytesIO):
        def flush(self) -> None:
            raise AssertionError("flushed")

        def close(self) -> None:
            raise AssertionError("closed")

    file = Watched()
    recorder = Recorder(file)
    recorder.sent(PROMPT)
    recorder.end()
    assert file.getvalue()
    io.BytesIO.close(file)


def test_a_message_that_is_too_long_is_counted() -> None:
    """A line over the limit is not kept in memory, and the next one is recorded."""
    file = io.BytesIO()
    recorder = Recorder(file)
    for _ in range(DEFAULT_LIMITS.line_length // 2**20 + 1):
        recorder.received(b"x" * 2**20)
    recorder.received(b"\n" + chunk_line("a"))
    assert recorder.too_long == 1
    assert len(file.getvalue().splitlines()) == 1


def test_lines_of_two_threads_do_not_mix() -> None:
    """A thread that writes and one that reads may record at the same time."""
    file = io.BytesIO()
    recorder = Recorder(file)

    def record(take: Callable[[bytes], None], data: bytes) -> None:
        for place in range(0, len(data), 7):
            take(data[place : place + 7])

    threads = [
        threading.Thread(target=record, args=(recorder.sent, PROMPT * 200)),
        threading.Thread(target=record, args=(recorder.received, chunk_line("a") * 200)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = [frame.sent for frame in read_recording(io.BytesIO(file.getvalue()))]
    assert (len(sent), sum(sent)) == (400, 200)


@pytest.mark.parametrize("file", [io.StringIO(), "traffic.ndjson", None])
def test_what_is_no_binary_file_is_refused(file: Any) -> None:
    """A file in text mode, or a path, is misuse with a way out."""
    with pytest.raises(InvalidValueError, match='mode "wb"'):
        Recorder(file)


def test_text_is_no_traffic() -> None:
    """Text in place of bytes is misuse."""
    with pytest.raises(InvalidValueError):
        Recorder(io.BytesIO()).sent("text")  # type: ignore[arg-type]  # that is the case


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
