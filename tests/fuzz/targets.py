"""The targets: what is done with some bytes, and what must then hold.

A target takes bytes and raises whatever is wrong. Bytes are the input itself where the package
reads bytes, and a tape of decisions (see `strategies`) where structure matters: each step of a
session, each damage, each call takes its own stretch of it. So one input serves both engines, and
can be kept in a file.
"""

from __future__ import annotations

import io
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import zip_longest
from typing import Any

import strategies
from hypothesis import strategies as st
from rich_session import rich_snapshot
from strategies import Choices
from test_store import compare
from toy_renderer import ToyRenderer, drawn
from traffic import chunk, documents, event, snapshots, text, update_line

import acp_client
from acp_client import Limits, RecordingError, Snapshot, Store, StoredSnapshotError
from acp_client._delivery import Delivery
from acp_client._json import encode, parse
from acp_client._playback import feed
from acp_client._protocol import Protocol
from acp_client._recording_json import trim
from acp_client._recordings import FORMAT_NAMES, read_recording, write_envelope

STEP = 96
"""Bytes of a tape that one step takes."""

PATIENCE = 20
"""Seconds that one input may take, on any machine."""


@dataclass(frozen=True)
class Target:
    """What to do with an input, and how to make inputs that lead far."""

    check: Callable[[bytes], None]
    inputs: st.SearchStrategy[bytes]


class HangError(Exception):
    """An input took longer than anybody would wait."""


@contextmanager
def impatience() -> Iterator[None]:
    """Raise `HangError` for what takes too long, where the system has a timer."""

    def give_up(*_: Any) -> None:
        raise HangError(f"took more than {PATIENCE} seconds")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut bytes into pieces of a size."""
    return [data[place : place + size] for place in range(0, len(data), size)]


def assert_usable(snapshot: Snapshot) -> None:
    """Check what holds for every snapshot: it can be read, shown, stored, restored and drawn."""
    assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot
    acp_client.to_json(acp_client.to_document(snapshot))
    for shown in (*snapshot.entries, *snapshot.terminals):
        getattr(shown, "text", "").encode("utf-8", "surrogatepass")
    renderer = ToyRenderer(Snapshot("nothing"))
    renderer.apply(Delivery.first(snapshot).changes)
    assert renderer.drawn == drawn(snapshot)


# --- Bytes of an agent ---

_LIMITS = Limits(line_length=2_000, notices=3, problems=50, terminal_bytes=64)
_MOST_PIECES = 200
_PROTOCOLS: tuple[Protocol | None, ...] = ("v2", None, "v1")


def _valid_lines(session: str) -> list[bytes]:
    """Write messages of one session that are valid in version 2."""
    block = {"type": "text", "text": "said"}
    return [
        update_line("user_message", session, messageId="u", content=[block]),
        update_line("state_update", session, state="running"),
        *[
            update_line("agent_message_chunk", session, messageId="a", content=block)
            for _ in range(3)
        ],
        update_line("tool_call_update", session, toolCallId="c", title="t", rawInput={"k": [1]}),
        update_line("terminal_update", session, terminalId="t", command="ls"),
        *[
            update_line("terminal_output_chunk", session, terminalId="t", data="aGk=")
            for _ in range(3)
        ],
        update_line("_vendor", session, any="thing"),
        update_line("notice", session, severity="info", title="n"),
        update_line("state_update", session, state="idle", stopReason="end_turn"),
    ]


@cache
def _expected(protocol: Protocol | None) -> Any:
    store = Store(limits=_LIMITS, protocol=protocol)
    store.receive(b"".join(_valid_lines("valid")))
    assert store.problems == ()
    return documents(store)[0]


def receive(data: bytes) -> None:
    """Read any bytes between the lines of a session that they cannot know.

    The first byte says what is spoken and how everything is cut, which must make no difference.
    """
    choices, data = Choices(data[:2]), data[2:]
    protocol, size = choices.pick(_PROTOCOLS), 1 + choices.below(256)
    session = sha256(data).hexdigest()
    valid = _valid_lines(session)
    *junk, last = data.split(b"\n")
    between, behind = junk[: len(valid)], junk[len(valid) :]
    lines = [
        part
        for line, odd in zip_longest(valid, between)
        for part in (odd + b"\n" if odd is not None else b"", line or b"")
    ]
    stream = b"".join([*lines, *[odd + b"\n" for odd in behind], last])
    stores = []
    size = max(size, len(stream) // _MOST_PIECES)
    for pieces in ([stream], cut(stream, size)):
        store = Store(limits=_LIMITS, protocol=protocol)
        store.sent(data)
        for piece in pieces:
            store.receive(piece)
        store.end()
        stores.append(store)
    whole, pieced = stores
    assert snapshots(whole) == snapshots(pieced)
    assert whole.problems == pieced.problems
    assert whole.problem_counts == pieced.problem_counts
    if protocol == "v2":
        document = acp_client.to_document(whole.snapshot(session))
        document["sessionId"] = "valid"
        assert parse(acp_client.to_json(document)) == _expected(protocol)
    for snapshot in snapshots(whole):
        if protocol != "v2" or snapshot.session_id != session:
            assert_usable(snapshot)


def sessions(data: bytes) -> None:
    """Follow a session of damaged and undamaged messages as a second implementation does."""
    frames = strategies._session(False, 60, True, [tuple(cut(data, STEP))])
    compare(frames)
    store = Store(limits=_LIMITS)
    renderers: dict[str, ToyRenderer] = {}

    def draw(delivery: Delivery) -> None:
        renderer = renderers.setdefault(delivery.session_id, ToyRenderer(Snapshot("nothing")))
        renderer.apply(delivery.changes)

    store.subscribe(draw)
    store.on_callback_error = _raise
    for frame in frames:
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")
    for snapshot in snapshots(store):
        assert_usable(snapshot)
        assert renderers[snapshot.session_id].drawn == drawn(snapshot)


def _raise(error: Exception) -> None:
    raise error


# --- Files ---


def recordings(data: bytes) -> None:
    """Read any bytes as a recording: frames come out, which can be written and read again."""
    choices, data = Choices(data[:1]), data[1:]
    name = choices.pick((None, None, *FORMAT_NAMES))
    try:
        recording = read_recording(io.BytesIO(data), format=name)
        frames = list(recording)
    except RecordingError:
        return
    assert recording.format in FORMAT_NAMES
    written = b"".join(map(write_envelope, frames))
    again = list(read_recording(io.BytesIO(written), format="envelope"))
    assert [(frame.sent, trim(frame.data)) for frame in again] == [
        (frame.sent, trim(frame.data)) for frame in frames
    ]
    store = Store(limits=_LIMITS)
    feed(store, read_recording(io.BytesIO(data), format=name))
    for snapshot in snapshots(store):
        assert_usable(snapshot)


_LATER = (
    chunk("later"),
    event("tool_call_update", toolCallId="c1", status="completed", _meta={"k": None}),
    event("terminal_output_chunk", terminalId="t1", data="aGk="),
    acp_client.PromptSent(9, (text("hi"),)),
    acp_client.CancelSent(),
    acp_client.ReplayFailed(),
    acp_client.ConnectionLost(None),
)


def loads(data: bytes) -> None:
    """Restore any bytes: they are refused, or give a session that goes on like any other."""
    try:
        snapshot = acp_client.loads(data)
    except StoredSnapshotError:
        return
    assert_usable(snapshot)
    assert_usable(acp_client.apply_all(snapshot, _LATER))


@cache
def _stored() -> Any:
    return parse(acp_client.dumps(rich_snapshot()))


def stored(data: bytes) -> None:
    """Restore a stored session that is damaged in a few places."""
    tree = _stored()
    for tape in cut(data, STEP):
        tree = strategies._mutated(Choices(tape), tree, strategies._VALUE_MUTATIONS)
    loads(encode(tree))


# --- Calls ---


class _Client:
    """A client that calls whatever there is to call, and draws what it is told."""

    def __init__(self, protocol: Protocol | None) -> None:
        self.store = Store(limits=_LIMITS, protocol=protocol)
        self.store.on_callback_error = _raise
        self.peer = strategies._Connection(False)
        self.renderers: dict[str, ToyRenderer] = {}
        self.subscriptions: list[Any] = []
        self.readers: list[Any] = []
        self.store.subscribe(self.draw)

    def draw(self, delivery: Delivery) -> None:
        session = delivery.session_id
        assert delivery.is_first == (session not in self.renderers)
        renderer = self.renderers.setdefault(session, ToyRenderer(Snapshot("nothing")))
        renderer.apply(delivery.changes)
        assert renderer.drawn == drawn(delivery.new)

    def session(self, choices: Choices) -> str:
        return choices.pick((*self.store.sessions, "s1", "s2", "never seen"))

    def talk(self, choices: Choices) -> None:
        rest = choices.tape[choices.place :]
        for frame in strategies._step(self.peer, rest, True):
            (self.store.sent if frame.sent else self.store.receive)(frame.data + b"\n")

    def prompt(self, choices: Choices) -> None:
        content: Any = choices.pick(
            ([text("hi")], [], "hi", [5], [acp_client.wire.Unknown({})], [NOTICE])
        )
        self.store.prompt(self.session(choices), content)

    def cancel(self, choices: Choices) -> None:
        session = self.session(choices)
        assert self.store.cancel(session).endswith(b"\n")
        assert self.store.snapshot(session).permissions == ()

    def answer(self, choices: Choices) -> None:
        session = self.session(choices)
        known = session in self.store.sessions
        asked = self.store.snapshot(session).permissions if known else ()
        request = choices.pick((*[one.request_id for one in asked], 0, "1", 10**30))
        offered = [option.option_id for one in asked for option in one.options]
        self.store.answer_permission(session, request, choices.pick((*offered, None, "none")))

    def subscribe(self, choices: Choices) -> None:
        session = choices.pick((None, self.session(choices)))
        select = choices.pick((None, lambda snapshot: snapshot.plans, len_of_entries))
        told: list[Delivery] = []
        subscription = self.store.subscribe(told.append, session=session, select=select)
        assert len(told) == (len(self.store.sessions) if session is None else 1)
        self.subscriptions.append(subscription)

    def leave(self, choices: Choices) -> None:
        if self.subscriptions:
            self.subscriptions.pop(choices.below(len(self.subscriptions))).close()

    def read(self, choices: Choices) -> None:
        reader = self.store.reader(self.session(choices), wake=choices.pick((None, len_of_repr)))
        self.readers.append(reader)

    def take(self, choices: Choices) -> None:
        if self.readers:
            reader = choices.pick(self.readers)
            step = reader.take()
            if step is not None and not reader.closed:
                present = self.store._present(reader.session_id)
                assert drawn(step.new) == drawn(present)
            if choices.one_in(4):
                reader.close()

    def end(self, choices: Choices) -> None:
        choices.pick((self.store.end, self.store.disconnect, self.store.end))()

    def torn(self, choices: Choices) -> None:
        take = choices.pick((self.store.receive, self.store.sent))
        take(choices.tape[choices.place :][: choices.below(64)])

    def forget(self, choices: Choices) -> None:
        session = self.session(choices)
        self.store.close_session(session)
        assert session not in self.store.sessions
        assert self.renderers.pop(session).drawn == drawn(Snapshot(session))

    def measure(self, choices: Choices) -> None:
        assert self.store.memory().total > 0

    def look(self, choices: Choices) -> None:
        self.store.snapshot(self.session(choices))
        assert len(self.store.problems) <= sum(self.store.problem_counts.values())


def len_of_entries(snapshot: Snapshot) -> object:
    """Select by something that is another object each time."""
    return (len(snapshot.entries),)


def len_of_repr(reader: object) -> int:
    """Look at a reader that wakes its renderer."""
    return len(repr(reader))


NOTICE = event("notice", severity="info", title="n")

_CALLS = (
    *[_Client.talk] * 10, _Client.prompt, _Client.prompt, _Client.cancel, _Client.answer,
    _Client.answer, _Client.subscribe, _Client.leave, _Client.read, _Client.take, _Client.end,
    _Client.torn, _Client.look, _Client.forget, _Client.measure,
)  # fmt: skip


def calls(data: bytes) -> None:
    """Call everything in any order: only our own exceptions are raised, and nobody misses a step.

    The first byte says what is spoken; then each step takes its stretch.
    """
    client = _Client(Choices(data[:1]).pick(_PROTOCOLS))
    for tape in cut(data[1:], STEP)[:60]:
        choices = Choices(tape)
        with suppress(acp_client.AcpClientError):  # misuse, of which there is a lot
            choices.pick(_CALLS)(client, choices)
    for snapshot in snapshots(client.store):
        assert client.renderers[snapshot.session_id].drawn == drawn(snapshot)
        assert_usable(snapshot)


# --- All of them ---

_tapes = strategies._steps(40).map(lambda parts: b"".join(tape for part in parts for tape in part))
_heads = st.binary(min_size=2, max_size=2)
_lines = st.lists(
    st.one_of(
        strategies.junk_lines(),
        st.binary(max_size=200),
        strategies.odd_updates().map(strategies.notification).map(strategies.encode),
    )
).map(b"\n".join)


def _joined(head: bytes, *parts: bytes) -> bytes:
    return head + b"".join(parts)


_frames = strategies.sessions(well_formed=False, max_frames=10, hostile_client=True)


def _as_recording(head: bytes, layout: int, frames: list[strategies.Frame], junk: bytes) -> bytes:
    """Lay frames out as files do, with something between them."""
    marks = ("send", "recv")
    layouts: tuple[Callable[[strategies.Frame], bytes], ...] = (
        lambda frame: frame.data,
        lambda frame: (
            b'{"dir":"%s","ts":5,"message":%s}' % (marks[not frame.sent].encode(), frame.data)
        ),
        lambda frame: encode({"direction": marks[not frame.sent], "raw": _decoded(frame.data)}),
        lambda frame: encode({"dir": marks[not frame.sent], "line": _decoded(frame.data)}),
    )
    lines = [layouts[layout](frame) for frame in frames]
    return head[:1] + b"\n".join([*lines[:3], junk, *lines[3:]])


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


_recordings = st.builds(_as_recording, _heads, st.integers(0, 3), _frames, st.binary(max_size=40))


@st.composite
def _damaged_texts(draw: st.DrawFn) -> bytes:
    """Generate a stored session with some bytes replaced."""
    data = bytearray(acp_client.dumps(rich_snapshot()))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data) - 1))
        data[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


TARGETS = {
    "receive": Target(receive, st.builds(_joined, _heads, _lines)),
    "sessions": Target(sessions, _tapes),
    "recordings": Target(recordings, st.one_of(_recordings, st.binary(max_size=300))),
    "loads": Target(loads, _damaged_texts()),
    "stored": Target(stored, st.lists(strategies._TAPE, min_size=1, max_size=4).map(b"".join)),
    "calls": Target(calls, st.builds(_joined, _heads.map(lambda head: head[:1]), _tapes)),
}
"""The targets by name."""
