"""The targets: what is done with some bytes, and what must then hold.

A target takes bytes and raises whatever is wrong. Bytes are the input itself where the package
reads bytes, and a tape of decisions (see `strategies`) where structure matters: each step of a
session, each damage, each call takes its own stretch of it. So one input serves every engine, and
can be kept in a file.

What costs more than everything else is checked for one input in `THOROUGH`, which its bytes
choose: the same input is always checked alike. A million inputs looked at closely now and then
find more than a tenth of them looked at closely each time.
"""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import zip_longest
from random import Random
from typing import Any

import strategies
from hypothesis import strategies as st
from msgspec.structs import replace
from rich_session import rich_snapshot
from strategies import Choices
from test_store import compare
from toy_renderer import ToyRenderer, drawn
from traffic import chunk, event, replayed, snapshots, text, update_line
from v1_comparison import compare as compare_v1

import acp_client
from acp_client import Limits, Problem, RecordingError, Snapshot, Store, StoredSnapshotError
from acp_client._decode import decode_refused
from acp_client._delivery import Delivery
from acp_client._json import encode, parse
from acp_client._recordings.formats import FORMAT_NAMES
from acp_client._recordings.json_slices import trim
from acp_client._recordings.playback import feed
from acp_client._recordings.reading import read_recording
from acp_client._recordings.recorder import write_envelope
from acp_client._versions import Protocol

STEP = 96
"""Bytes of a tape that one step takes."""

PATIENCE = 20
"""Seconds that one input may take, on any machine."""

THOROUGH = 8
"""One input in so many is checked in every way; 1 checks each."""


@dataclass(frozen=True)
class Target:
    """What to do with an input, and two ways to make inputs that lead far: well, and fast."""

    check: Callable[[bytes], None]
    inputs: st.SearchStrategy[bytes]
    made: Callable[[Random], bytes]
    parts: str
    """What an input is made of: lines or steps."""

    def count(self, data: bytes) -> int:
        """Tell of how many parts an input is made."""
        return data.count(b"\n") + 1 if self.parts == "lines" else -(-len(data) // STEP)


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


def thorough(data: bytes) -> bool:
    """Tell whether an input is one of those that are checked in every way."""
    return sum(data[-64:]) % THOROUGH == 0


def assert_usable(snapshot: Snapshot) -> None:
    """Check what holds for every snapshot: it can be read, shown, stored, restored and drawn."""
    assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot
    json.dumps(acp_client.to_document(snapshot))
    for shown in (*snapshot.entries, *snapshot.terminals):
        getattr(shown, "text", "").encode("utf-8", "surrogatepass")
    renderer = ToyRenderer(Snapshot("nothing"))
    renderer.apply(Delivery.first(snapshot).changes)
    assert renderer.drawn == drawn(snapshot)


# --- Bytes of an agent ---

_LIMITS = Limits(line_length=2_000, notices=3, problems=50, terminal_bytes=64)
_MOST_PIECES = 200
_PROTOCOLS: tuple[Protocol | None, ...] = ("v2", None, "v1")
_SESSION = b"the session that junk cannot know"


@cache
def _valid_lines() -> list[bytes]:
    """Write messages of one session that are valid in version 2."""
    session = _SESSION.decode()
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
def _expected() -> Snapshot:
    """Give what the messages say when nothing comes between."""
    store = Store(limits=_LIMITS, protocol="v2")
    store.receive(b"".join(_valid_lines()))
    assert store.problems == ()
    return store.snapshot(_SESSION.decode())


def _among(junk: bytes, session: bytes) -> bytes:
    """Lay each line of junk between two messages of a session, and the rest behind them."""
    *odd, last = junk.split(b"\n")
    valid = [line.replace(_SESSION, session) for line in _valid_lines()]
    between, behind = odd[: len(valid)], odd[len(valid) :]
    lines = [
        part
        for line, strange in zip_longest(valid, between)
        for part in (strange + b"\n" if strange is not None else b"", line or b"")
    ]
    return b"".join([*lines, *[strange + b"\n" for strange in behind], last])


def _read(pieces: list[bytes], told: bytes, protocol: Protocol | None) -> Store:
    """Make a store that read some pieces to their end, while the client said something."""
    store = Store(limits=_LIMITS, protocol=protocol)
    store.sent(told)
    for piece in pieces:
        store.receive(piece)
    store.end()
    return store


def receive(data: bytes) -> None:
    """Read any bytes between the lines of a session that they cannot know.

    The first byte says what is spoken, the second how everything is cut, which must make no
    difference.
    """
    choices, junk = Choices(data[:2]), data[2:]
    protocol, size = choices.pick(_PROTOCOLS), 1 + choices.below(256)
    session = sha256(junk).hexdigest()
    stream = _among(junk, session.encode())
    store = _read([stream], junk, protocol)
    if protocol == "v2":
        followed = store.snapshot(session)
        assert replace(followed, session_id=_SESSION.decode()) == _expected()
    if not thorough(data):
        return
    pieced = _read(cut(stream, max(size, len(stream) // _MOST_PIECES)), junk, protocol)
    assert snapshots(store) == snapshots(pieced)
    assert store.problems == pieced.problems
    assert store.problem_counts == pieced.problem_counts
    for snapshot in snapshots(store):
        assert_usable(snapshot)


# --- One line ---


def decode(data: bytes) -> None:
    """Decode any line: as strictly as can be, and as leniently, with the same outcome.

    What it says is reduced onto a session that has everything already, and onto an empty one.
    """
    problems: list[Problem] = []
    lenient = decode_refused(data, 1, problems.append)
    message, found = acp_client.decode(data)
    assert (message, found) == (lenient, tuple(problems))
    if thorough(data):
        acp_client.decode(data, sent=True)
    if isinstance(getattr(message, "params", None), acp_client.wire.UpdateSessionNotification):
        event = message.params.update  # type: ignore[union-attr]  # it has
        acp_client.apply(_rich(), event)
        if thorough(data):
            assert_usable(acp_client.apply(Snapshot("s1"), event))


@cache
def _rich() -> Snapshot:
    return rich_snapshot()


# --- Sessions ---


def sessions(data: bytes) -> None:
    """Follow a session of damaged and undamaged messages as a second implementation does."""
    frames = strategies.session_frames(False, 60, True, [tuple(cut(data, STEP))])
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
        assert renderers[snapshot.session_id].drawn == drawn(snapshot)
        if thorough(data):
            assert_usable(snapshot)


def v1_sessions(data: bytes) -> None:
    """Follow a session of v1 as a second implementation does, and keep what it comes to."""
    frames = strategies.v1_frames(60, [tuple(cut(data, STEP))])
    compare_v1(frames, None)
    for snapshot in snapshots(replayed(frames, "v1")):
        assert_usable(snapshot)


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
    if thorough(data):
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
    later = acp_client.apply_all(snapshot, _LATER)
    assert acp_client.loads(acp_client.dumps(later)) == later
    if thorough(data):
        assert_usable(snapshot)
        assert_usable(later)


@cache
def _stored() -> Any:
    return parse(acp_client.dumps(rich_snapshot()))


def stored(data: bytes) -> None:
    """Restore a stored session that is damaged in a few places."""
    tree = _stored()
    for tape in cut(data, STEP):
        tree = strategies.mutated(Choices(tape), tree, strategies.VALUE_MUTATIONS)
    loads(encode(tree))


# --- Calls ---


class _Client:
    """A client that calls whatever there is to call, and draws what it is told."""

    def __init__(self, protocol: Protocol | None) -> None:
        self.store = Store(limits=_LIMITS, protocol=protocol)
        self.store.on_callback_error = _raise
        self.peer = strategies.Connection(False)
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
        for frame in strategies.step(self.peer, rest, True):
            (self.store.sent if frame.sent else self.store.receive)(frame.data + b"\n")

    def prompt(self, choices: Choices) -> None:
        content: Any = choices.pick(
            ([text("hi")], [], "hi", [5], [acp_client.wire.Unknown({})], [NOTICE])
        )
        self.store.prompt(self.session(choices), content)

    def cancel(self, choices: Choices) -> None:
        session = self.session(choices)
        assert self.store.cancel(session).data.endswith(b"\n")
        assert self.store.snapshot(session).permissions == ()

    def answer(self, choices: Choices) -> None:
        session = self.session(choices)
        known = session in self.store.sessions
        asked = self.store.snapshot(session).permissions if known else ()
        request = choices.pick((*[one.request_id for one in asked], 0, "1", 10**30))
        offered = [option.option_id for one in asked for option in one.options]
        self.store.answer_permission(session, request, choices.pick((*offered, None, "none")))

    def elicited(self, choices: Choices) -> None:
        session = choices.pick((None, self.session(choices)))
        known = session in self.store.sessions
        holder: Any = self.store.snapshot(session) if session and known else self.store.connection
        request = choices.pick((*[one.request_id for one in holder.elicitations], 0, "e"))
        content: Any = choices.pick((None, {}, {"k": "x"}, {"k": 1, "l": [2]}, 5))
        action: Any = choices.pick(("accept", "decline", "cancel", "other"))
        self.store.answer_elicitation(session, request, action, content)

    def manage(self, choices: Choices) -> None:
        session = self.session(choices)
        outgoing: list[Callable[[], object]] = [
            lambda: self.store.resume_session(session, "/", replay=choices.one_in(2)),
            lambda: self.store.close_session(session),
            lambda: self.store.list_sessions(),
            lambda: self.store.set_config_option(session, "a", choices.one_in(2)),
            lambda: self.store.cancel_tool_call(session, choices.pick("abc")),
            lambda: self.store.cancel_terminal(session, choices.pick("abc")),
            lambda: self.store.request("_x/y", {"k": choices.below(3)}),
        ]
        choices.pick(outgoing)()
        assert self.store.data_to_send().endswith(b"\n")

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
        self.store.forget_session(session)
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
    _Client.answer, _Client.elicited, _Client.manage, _Client.manage, _Client.subscribe,
    _Client.leave, _Client.read, _Client.take, _Client.end, _Client.torn, _Client.look,
    _Client.forget, _Client.measure,
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
        if thorough(data):
            assert_usable(snapshot)


# --- All of them ---

_tapes = strategies.step_tapes(40).map(
    lambda parts: b"".join(tape for part in parts for tape in part)
)
_heads = st.binary(min_size=2, max_size=2)
_line = st.one_of(
    strategies.junk_lines(),
    st.binary(max_size=200),
    strategies.odd_updates().map(strategies.notification).map(strategies.encode),
)
_lines = st.lists(_line).map(b"\n".join)


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


@cache
def _stored_text() -> bytes:
    return acp_client.dumps(rich_snapshot())


@st.composite
def _damaged_texts(draw: st.DrawFn) -> bytes:
    """Generate a stored session with some bytes replaced."""
    data = bytearray(_stored_text())
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data) - 1))
        data[place : place + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


# --- The same, made fast ---


def _tape_of(most: int) -> Callable[[Random], bytes]:
    """Make a tape of up to so many steps."""
    return lambda chance: chance.randbytes(STEP * chance.randint(1, most))


def _with_head(size: int, made: Callable[[Random], bytes]) -> Callable[[Random], bytes]:
    return lambda chance: chance.randbytes(size) + made(chance)


def _made_line(chance: Random) -> bytes:
    tape = chance.randbytes(STEP)
    if tape[-1] < 100:
        junk: bytes = strategies.junk_line(Choices(tape))
        return junk
    if tape[-1] < 110:
        return tape.replace(b"\n", b"")
    return strategies.encode(strategies.notification(strategies.odd_update(tape, None)))


def _made_short_line(chance: Random) -> bytes:
    """Make a line, of the long ones one in a hundred: they take most of the time."""
    line = _made_line(chance)
    return line if len(line) < 1_000 or chance.random() < 0.01 else _made_short_line(chance)


def _made_lines(chance: Random) -> bytes:
    return b"\n".join(_made_line(chance) for _ in range(chance.randint(1, 40)))


def _made_recording(chance: Random) -> bytes:
    tapes = [tuple(cut(_tape_of(8)(chance), STEP))]
    frames = strategies.session_frames(False, 10, True, tapes)
    junk = chance.randbytes(chance.choice((0, 0, 5, 40)))
    return _as_recording(chance.randbytes(2), chance.randrange(4), frames, junk)


def _made_text(chance: Random) -> bytes:
    data = bytearray(_stored_text())
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(data))
        data[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(data)


TARGETS = {
    "decode": Target(decode, _line, _made_short_line, "lines"),
    "receive": Target(
        receive, st.builds(_joined, _heads, _lines), _with_head(2, _made_lines), "lines"
    ),
    "sessions": Target(sessions, _tapes, _tape_of(24), "steps"),
    "v1_sessions": Target(v1_sessions, _tapes, _tape_of(24), "steps"),
    "recordings": Target(
        recordings, st.one_of(_recordings, st.binary(max_size=300)), _made_recording, "lines"
    ),
    "loads": Target(loads, _damaged_texts(), _made_text, "lines"),
    "stored": Target(
        stored,
        st.lists(strategies.TAPE, min_size=1, max_size=4).map(b"".join),
        _tape_of(4),
        "steps",
    ),
    "calls": Target(
        calls,
        st.builds(_joined, _heads.map(lambda head: head[:1]), _tapes),
        _with_head(1, _tape_of(40)),
        "steps",
    ),
}
"""The targets by name."""
