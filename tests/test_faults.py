"""Faults: what dies, floods, drips, lies or breaks around a store, which goes on all the same.

Sizes are such that the tests take seconds. `ACP_CLIENT_SCALE` multiplies them: with 50 or more they
are as large as anybody could ask for, and take an hour.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from traffic import (
    BUNDLED,
    chunk_line,
    documents,
    line,
    permission_line,
    replayed,
    snapshots,
    update_line,
)

from acp_client import Limits, Problem, Store
from acp_client._cli.replay import Pace
from acp_client._delivery import Delivery
from acp_client._recordings.frames import Frame
from acp_client._recordings.playback import feed
from acp_client._recordings.reading import read_recording
from acp_client._versions import Protocol

SCALE = int(os.environ.get("ACP_CLIENT_SCALE", "1"))
MEBIBYTE = 1024 * 1024
BLOCK = {"type": "text", "text": "é\U0001f680 said"}


def agent_lines(name: str = "coding-session.ndjson") -> list[bytes]:
    """Give what the agent wrote in a bundled recording."""
    recording = read_recording(io.BytesIO((BUNDLED / name).read_bytes()))
    return [frame.data + b"\n" for frame in recording if not frame.sent]


CONVERSATION = [
    update_line("user_message", messageId="u", content=[BLOCK]),
    update_line("state_update", state="running"),
    update_line("agent_message_chunk", messageId="a", content=BLOCK),
    update_line("tool_call_update", toolCallId="c", title="t", rawInput={"k": "é"}),
    update_line("terminal_output_chunk", terminalId="t", data="aGk="),
    update_line("_vendor", any="\U0001f680"),
    update_line("agent_message_chunk", messageId="a", content=BLOCK),
    update_line("state_update", state="idle"),
]


def heard(lines: list[bytes]) -> list[Any]:
    """Give the documents of what some whole lines tell."""
    store = Store(protocol="v2")
    store.receive(b"".join(lines))
    return documents(store)


# --- The agent dies ---


def raw(lines: list[bytes]) -> list[bytes]:
    """Write lines with their characters as they are rather than escaped."""
    return [json.dumps(json.loads(one), ensure_ascii=False).encode() + b"\n" for one in lines]


def test_the_agent_dies_anywhere() -> None:
    """Wherever the output stops, what was whole counts, and the rest is one problem at most."""
    lines = raw(CONVERSATION)
    stream = b"".join(lines)
    for cut in range(len(stream) + 1):
        store = Store(protocol="v2")
        store.receive(stream[:cut])
        store.end()
        whole = stream[:cut].count(b"\n")
        left = stream[:cut].rpartition(b"\n")[2]
        if left + b"\n" in lines:  # nothing but the end of the line is missing
            whole, left = whole + 1, b""
        assert documents(store) == heard(lines[:whole])
        assert [problem.kind for problem in store.problems] == ["truncated"] * bool(left)


def test_the_connection_breaks_anywhere_and_comes_back() -> None:
    """The unfinished line of a lost connection does not spoil the first line of the next one."""
    lines = raw(CONVERSATION)
    stream = b"".join(lines[:3])
    for cut in range(len(stream)):
        store = Store(protocol="v2")
        store.receive(stream[:cut])
        store.disconnect()
        store.receive(b"".join(lines))
        whole = stream[:cut].count(b"\n")
        (found,), (expected,) = documents(store), heard(lines[:whole] + lines)
        broken = (
            [{"entries": [1, min(whole - 1, 2)]}] if whole > 1 else []
        )  # the turn that was open
        turn = {"entries": [min(whole, 2) if whole > 2 else 1, 4]}
        assert found.pop("turns") == [*broken, turn]
        assert expected.pop("turns")
        assert found == expected
        assert store.problems == ()


RESUME = {"sessionId": "s1", "cwd": "/", "mcpServers": [], "replayFrom": {"type": "start"}}


def test_the_agent_dies_in_the_middle_of_a_replay() -> None:
    """A loss brings back what there was before, and a later replay doubles nothing."""
    store = Store(protocol="v2")
    store.receive(b"".join(CONVERSATION))
    before = store.snapshot("s1")
    for attempt in range(3):
        store.sent(line(id=attempt, method="session/resume", params=RESUME))
        store.receive(b"".join(CONVERSATION[: attempt + 2]) + CONVERSATION[-1][:20])
        store.disconnect()
        assert not store.snapshot("s1").replaying
        assert store.snapshot("s1").entries == before.entries
        assert store.snapshot("s1").terminals == before.terminals
        store.receive(line(id=attempt, result={}))  # answered by nobody that was asked
    store.sent(line(id=9, method="session/resume", params=RESUME))
    store.receive(b"".join(CONVERSATION) + line(id=9, result={}))
    assert not store.snapshot("s1").replaying
    assert store.snapshot("s1").entries == before.entries
    assert store.snapshot("s1").terminals == before.terminals


# --- What else is on standard output ---

NOISE = [
    b"2026-03-01 09:00:00 INFO starting agent",
    b"\x1b]0;title\x07\x1b[2J\x1b[1;31mred\x1b[0m",
    b"\x89PNG\r\x1a\x00\x00\x00\rIHDR\xff\xfe\xfd",
    bytes(set(range(256)) - {10}),
    b"\r\r\r",
    b"\x00" * 1000,
    b"Traceback (most recent call last):\r",
    b'{"level":"info","msg":"structured"}',
    b'{"jsonrpc":"2.0"}',
    b"[1,2,3]",
    b"\xef\xbb\xbf",
    "\u2028{\u2029}\x85".encode(),
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sess',
    b"\x1b[0m" + CONVERSATION[2][:-1],
]


@pytest.mark.parametrize("place", range(len(CONVERSATION) + 1))
def test_noise_stands_for_itself(place: int) -> None:
    """Lines of other programs, anywhere, tell nothing, and every message around them counts."""
    mixed = CONVERSATION.copy()
    for noise in NOISE:
        mixed.insert(place, noise + b"\n")
    assert heard(mixed) == heard(CONVERSATION)


def test_noise_between_all_lines() -> None:
    """A program that writes as much as the agent does not disturb it, however it is delivered."""
    mixed = [part for one in CONVERSATION for part in (one, *[noise + b"\n" for noise in NOISE])]
    stream = b"".join(mixed)
    for size in (1, 7, len(stream)):
        store = Store(protocol="v2")
        for start in range(0, len(stream), size):
            store.receive(stream[start : start + size])
        assert documents(store) == heard(CONVERSATION)
        assert sum(store.problem_counts.values()) >= 9 * len(CONVERSATION)


# --- How bytes are delivered ---


def test_one_byte_at_a_time() -> None:
    """A pipe that drips gives what whole lines give."""
    lines = agent_lines()[: 60 * SCALE]
    store = Store(protocol="v2")
    for byte in b"".join(lines):
        store.receive(bytes((byte,)))
    assert documents(store) == heard(lines)


def test_everything_at_once() -> None:
    """A read of many mebibytes gives what many reads give."""
    lines = agent_lines()
    stream = b"".join(lines) * (2 * SCALE * MEBIBYTE // sum(map(len, lines)))
    at_once, piecemeal = Store(protocol="v2"), Store(protocol="v2")
    at_once.receive(stream)
    for start in range(0, len(stream), 65_536):
        piecemeal.receive(stream[start : start + 65_536])
    assert snapshots(at_once) == snapshots(piecemeal)
    assert at_once.problems == piecemeal.problems


@contextmanager
def peak() -> Iterator[Callable[[], int]]:
    """Measure the most memory that was allocated at a time."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield lambda: tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("size", "limit", "total"),
    [
        (3, 20_000, 100_000),
        (65_536, MEBIBYTE, 64 * SCALE * MEBIBYTE),
        (8 * MEBIBYTE, MEBIBYTE, 64 * SCALE * MEBIBYTE),
    ],
)
def test_a_line_that_never_ends(size: int, limit: int, total: int) -> None:
    """Of a line without an end no more is kept than a line may have, and the session goes on."""
    store = Store(limits=Limits(line_length=limit), protocol="v2")
    store.receive(CONVERSATION[0])
    piece = b"x" * size
    with peak() as measured:
        for _ in range(0, total, size):
            store.receive(piece)
        assert measured() < 4 * limit
    assert sum(store.problem_counts.values()) == 0
    store.receive(b"\n" + CONVERSATION[2])
    assert [(one.line, one.kind) for one in store.problems] == [(2, "too_long")]
    assert documents(store) == heard([CONVERSATION[0], CONVERSATION[2]])
    store.receive(piece)
    store.disconnect()
    store.receive(CONVERSATION[6])
    assert len(store.snapshot("s1").entries) == 2


# --- What messages are like ---


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting(opening: str, closed: bool) -> None:
    """Nesting a hundred thousand deep, wherever it stands, is a problem of its line alone."""
    deep = opening * 100_000 + "0"
    if closed:
        deep += opening.translate(str.maketrans("[{", "]}", '"a:'))[::-1] * 100_000
    holes = [
        "%s",
        '{"jsonrpc":"2.0","method":"session/update","params":%s}',
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
        '{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":%s}}}',
        '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'
        '{"sessionUpdate":"_vendor","any":%s}}}',
        '{"jsonrpc":"2.0","id":1,"result":%s}',
    ]
    protocols: tuple[Protocol | None, ...] = ("v2", None, "v1")
    for protocol in protocols:
        store = Store(protocol=protocol)
        store.sent(line(id=1, method="initialize", params={"protocolVersion": 2}))
        for number, hole in enumerate(holes):
            store.receive(hole.replace("%s", deep).encode() + b"\n")
            store.receive(update_line("notice", severity="info", title=str(number)))
        if protocol == "v2":
            assert [notice.title for notice in store.snapshot("s1").notices] == list("01234")
        assert {problem.kind for problem in store.problems} <= {"too_deep", "not_json"}
        assert len(store.problems) == len(holes)


LONG = "i" * MEBIBYTE


def test_ids_of_a_mebibyte() -> None:
    """Ids may be of any length: they are kept once, and each update finds its entity."""
    told: list[Callable[[str], bytes]] = [
        lambda text: chunk_line(text, LONG),
        lambda text: update_line("tool_call_update", toolCallId=LONG, title=text),
        lambda text: update_line("terminal_update", terminalId=LONG, command=text),
        lambda text: update_line("compaction_update", compactionId=LONG, status=text),
        lambda text: chunk_line(text, "m", LONG),
    ]
    store = Store(protocol="v2")
    for make in told:
        for number in range(6):
            store.receive(make(f"{number} "))
    assert store.sessions == ("s1", LONG)
    message, call, compaction = store.snapshot("s1").entries
    assert message.text == "0 1 2 3 4 5 "  # type: ignore[union-attr]  # a message
    assert call.title == "5 "  # type: ignore[union-attr]  # a tool call
    assert compaction.status == "5 "  # type: ignore[union-attr]  # a compaction
    assert store.memory().total < 20 * MEBIBYTE
    store.receive(permission_line(LONG, LONG))
    assert LONG in store.answer_permission(LONG, LONG, "yes").data.decode()


# --- Too many of everything ---


def unknown(number: int) -> bytes:
    """Write an update that nobody knows."""
    return update_line("_vendor", number=number)


FLOODS: dict[str, Callable[[int], bytes]] = {
    "problems": lambda number: b"junk %d\n" % number,
    "malformed": lambda number: update_line("usage_update", used=-1, size=number),
    "unknown updates": unknown,
    "notices": lambda number: update_line("notice", severity="info", title=str(number)),
    "sessions": lambda number: chunk_line("x", "m", f"session {number}"),
    "messages": lambda number: chunk_line("x", f"m{number}"),
    "plans": lambda number: update_line(
        "plan_update", plan={"type": "items", "planId": f"p{number}", "entries": []}
    ),
    "terminals": lambda number: update_line("terminal_update", terminalId=f"t{number}"),
    "permissions": permission_line,
    "permissions and withdrawals": lambda number: (
        permission_line(number) + line(method="$/cancel_request", params={"requestId": number})
    ),
    "answers to nothing": lambda number: line(id=number, result={}),
    "states": lambda number: update_line("state_update", state=("idle", "running")[number % 2]),
}


def flooded(make: Callable[[int], bytes], count: int, protocol: Any = "v2") -> tuple[Store, int]:
    """Receive many of something; give the store, and how many calls that took in all."""
    limits = Limits(problems=50, notices=20, open_requests=1_000_000)  # all of them are kept
    store = Store(limits=limits, protocol=protocol)
    reads = [b"".join(map(make, range(start, start + 100))) for start in range(0, count, 100)]
    calls = 0

    def count_calls(_: FrameType, what: str, __: Any) -> None:
        nonlocal calls
        calls += what in ("call", "c_call")

    sys.setprofile(count_calls)
    try:
        for read in reads:
            store.receive(read)
    finally:
        sys.setprofile(None)
    return store, calls


@pytest.mark.parametrize("name", FLOODS)
def test_floods_cost_what_they_are_long(name: str) -> None:
    """Twice as many of anything take twice the work, not four times."""
    first, second = (flooded(FLOODS[name], count * SCALE)[1] for count in (1_000, 2_000))
    assert second < 2.3 * first


@pytest.mark.parametrize("name", ["problems", "malformed", "notices", "answers to nothing"])
def test_floods_that_are_not_kept_take_no_memory(name: str) -> None:
    """What is limited stays within its limit, however much comes, and is counted for ever."""
    store, _ = flooded(FLOODS[name], 200)
    before = store.memory().total
    for start in range(200, 5_000 * SCALE, 200):
        store.receive(b"".join(map(FLOODS[name], range(start, start + 200))))
    assert store.memory().total < before + 10_000
    assert len(store.problems) in (0, 50)
    if store.problems:
        assert sum(store.problem_counts.values()) == 5_000 * SCALE
        assert store.problems[-1].line == 5_000 * SCALE


@pytest.mark.parametrize("name", ["unknown updates", "sessions", "messages"])
def test_floods_that_are_kept_take_their_part(name: str) -> None:
    """What must not be lost takes memory in proportion."""
    sizes = [flooded(FLOODS[name], count * SCALE)[0].memory().total for count in (1_000, 3_000)]
    assert 2.5 * sizes[0] < sizes[1] < 3.5 * sizes[0]


# --- Whoever listens ---


def test_a_subscriber_that_always_raises() -> None:
    """It disturbs neither the store nor the others, and each of its exceptions is reported."""
    store = Store(protocol="v2")
    errors, seen = list[Exception](), list[Delivery]()
    store.on_callback_error = errors.append

    def fail(delivery: Delivery) -> None:
        raise RuntimeError(delivery.session_id)

    store.subscribe(fail)
    store.subscribe(seen.append)
    store.subscribe(fail, session="s1")
    for number in range(500):
        store.receive(chunk_line(f"{number} "))
    assert len(seen) == 500
    assert len(errors) == 1_001  # and one for the empty session that was there at first
    assert seen[-1].new is store.snapshot("s1")


def test_a_report_that_raises_loses_nothing() -> None:
    """Whoever handles exceptions by raising one gets it, and the other calls are made next time."""
    store = Store(protocol="v2")
    seen = list[Delivery]()

    def fail(_: Any) -> None:
        raise RuntimeError("always")

    store.on_callback_error = fail
    store.subscribe(fail)
    store.subscribe(seen.append)
    for number in range(5):
        with pytest.raises(RuntimeError, match="always"):
            store.receive(chunk_line(f"{number} "))
    assert store.snapshot("s1").entries[0].text == "0 1 2 3 4 "  # type: ignore[union-attr]  # a message
    store.on_callback_error = lambda _: None
    store.receive(chunk_line("5"))
    assert [len(one.new.entries) for one in seen] == [1] * 6
    assert seen[-1].new is store.snapshot("s1")


# --- Clocks ---


def test_a_clock_that_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording whose times jump is played to its end, with no pause that is long or negative."""
    pauses = list[float]()
    now = [0.0]

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("acp_client._cli.replay.time.sleep", sleep)
    monkeypatch.setattr("acp_client._cli.replay.time.monotonic", lambda: now[0])
    pace = Pace(1.0, lambda: None)
    times = [5.0, 4.0, 4.5, 1e300, -1e300, 0.0, None, 0.5, 0.25, 1.0]
    for number, stamp in enumerate(times, 1):
        pace.wait(Frame(number, False, b"{}", stamp))
    assert pauses == [0.5, 2.0, 2.0, 0.5, 0.75]


def test_times_do_not_change_what_is_told() -> None:
    """Recordings are followed in the order of their lines, whatever the clock said."""
    frames = [Frame(number, False, data, None) for number, data in enumerate(CONVERSATION, 1)]
    stamped = b"".join(
        b'{"dir":"recv","ts":%d,"message":%s}\n' % (10**12 - number, frame.data.strip())
        for number, frame in enumerate(frames)
    )
    store = Store(protocol="v2")
    feed(store, read_recording(io.BytesIO(stamped)))
    assert documents(store) == documents(replayed(frames, "v2"))
    assert list[Problem](store.problems) == []


SMALL_STACK = """
import sys, threading
import acp_client

def run():
    store = acp_client.Store(protocol="v2")
    for levels in (240, 990):
        for deep in (b"[" * levels + b"]" * levels, b'{"a":' * levels + b"1" + b"}" * levels):
            store.receive(deep + b"\\n")
            store.receive(line.replace(b"5", deep))
    line_of_v1 = acp_client.Store(protocol="v1")
    line_of_v1.receive(deep + b"\\n" + line.replace(b"5", deep))
    for count in (990, 2_000):
        try:
            acp_client.loads(b"[" * count + b"]" * count)
        except acp_client.StoredSnapshotError:
            pass
    snapshot = store.snapshot("s")
    assert acp_client.loads(acp_client.dumps(snapshot)) == snapshot
    counts = store.problem_counts
    print(len(snapshot.entries), counts["invalid_message"], counts["too_deep"])

line = sys.stdin.buffer.read()
sys.setrecursionlimit(100_000)
threading.stack_size(256 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.skipif(os.name != "posix", reason="threads have other stacks elsewhere")
def test_deep_nesting_needs_no_deep_stack() -> None:
    """In a thread with a stack of 256 KiB nothing that an agent writes ends the process."""
    ran = subprocess.run(
        [sys.executable, "-c", SMALL_STACK],
        input=update_line("_vendor", "s", raw=5),
        capture_output=True,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == (b"2 2 4\n", 0), ran.stderr


def test_what_the_client_sends_has_no_limit() -> None:
    """A limit keeps out what others write; a prompt with an image in it may be as long as it is."""
    store = Store(limits=Limits(line_length=1_000), protocol="v2")
    content = [{"type": "image", "mimeType": "image/png", "data": "QUJD" * 1_000}]
    params = {"sessionId": "s1", "prompt": content}
    request = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params}
    for place in range(0, 5_000, 100):
        store.sent(json.dumps(request).encode()[place : place + 100])
    store.sent(b"\n")
    assert len(store.snapshot("s1").prompts) == 1
