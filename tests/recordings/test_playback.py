"""Feeding recordings to a store: what is joined, and where it ends."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic import chunk_line, document, line

from acp_client import Frame, InvalidValueError, Message, Player, Store, feed, read_recording
from acp_client._recordings.playback import Feeder

PROMPT = line(
    id=1,
    method="session/prompt",
    params={"sessionId": "s1", "prompt": [{"type": "text", "text": "hi"}]},
)


class CountingStore(Store):
    """A store that remembers what it was given at once."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[tuple[int | None, int]] = []

    def receive(self, data: Any, *, line: int | None = None) -> None:
        self.reads.append((line, bytes(data).count(b"\n")))
        super().receive(data, line=line)


def frames(*numbers: int, sent: tuple[int, ...] = ()) -> list[Frame]:
    """Make frames with these numbers, those of `sent` as the client's prompt."""
    received = chunk_line("x").rstrip()
    return [
        Frame(number, number in sent, PROMPT.rstrip() if number in sent else received)
        for number in numbers
    ]


def said(store: Store) -> str:
    """Give the text of the one message."""
    (message,) = store.snapshot("s1").entries
    assert isinstance(message, Message)
    return message.text


@pytest.mark.parametrize(
    ("given", "reads"),
    [
        (frames(1, 2, 3), [(1, 3)]),
        (frames(1, 2, 5, 6), [(1, 2), (5, 2)]),
        (frames(1, 2, 3, 4, sent=(2,)), [(1, 1), (3, 2)]),
        (frames(4, 4, 4), [(4, 1), (4, 1), (4, 1)]),
        (frames(), []),
    ],
)
def test_runs_of_consecutive_lines_are_received_at_once(
    given: list[Frame], reads: list[tuple[int, int]]
) -> None:
    """Received frames are joined while their numbers go up by one and the client says nothing."""
    store = CountingStore()
    feeder = Feeder(store)
    for frame in given:
        feeder.take(frame)
    feeder.end()
    assert store.reads == reads
    assert feeder.frames == len(given)


def test_a_run_is_no_longer_than_it_should_be() -> None:
    """A long run of frames is received in reads of about 64 KiB."""
    store = CountingStore()
    feeder = Feeder(store)
    for frame in frames(*range(1, 1001)):
        feeder.take(frame)
    feeder.end()
    assert len(store.reads) == 1 + 1000 * len(chunk_line("x")) // (64 * 1024)
    assert said(store) == "x" * 1000


def test_problems_have_the_lines_of_the_recording() -> None:
    """What the client sent counts as lines, and never gives a problem of its own."""
    store = Store()
    feeder = Feeder(store)
    for frame in [*frames(1), Frame(2, True, b"no json"), Frame(7, False, b"no json either")]:
        feeder.take(frame)
    feeder.end()
    assert [(problem.line, problem.kind) for problem in store.problems] == [(7, "not_json")]


TORN = chunk_line("one") + chunk_line("two")[:-10]


def test_an_unterminated_line_that_is_cut_off_is_told_as_such() -> None:
    """The last line of a raw stream that is cut off is `truncated`, not `not_json`."""
    store = Store()
    feed(store, read_recording(io.BytesIO(TORN)))
    assert [(problem.line, problem.kind) for problem in store.problems] == [(2, "truncated")]


def test_an_unterminated_line_that_is_whole_is_a_message() -> None:
    """The last line needs no line feed."""
    store = Store()
    feed(store, read_recording(io.BytesIO(TORN + chunk_line("two")[-10:-1])))
    assert said(store) == "onetwo"
    assert store.problems == ()


def test_frames_behind_one_that_seemed_torn_are_lines_of_their_own() -> None:
    """A frame that comes after the recording was found torn is not glued to the one before."""
    store = Store()
    feeder = Feeder(store)
    for frame in frames(1, 2, 5):
        feeder.take(frame, torn=True)
    feeder.end()
    assert said(store) == "xxx"
    assert store.problems == ()


def test_flush_keeps_a_line_that_is_cut_off() -> None:
    """Flushing feeds what was taken, but not a line of which more may come."""
    store = Store()
    feeder = Feeder(store)
    feeder.take(frames(1)[0])
    feeder.flush()
    assert said(store) == "x"
    feeder.take(Frame(2, False, TORN.splitlines()[1]), torn=True)
    feeder.flush()
    assert store.problem_counts["truncated"] == 0
    feeder.end()
    assert store.problem_counts["truncated"] == 1


@pytest.mark.parametrize("until", [0, 1, 2, 3, 4])
def test_a_recording_can_be_played_in_part(until: int) -> None:
    """`until` stops behind that line of the recording, as if the rest were not there."""
    lines = [PROMPT, chunk_line("a"), chunk_line("b")]
    part, whole = Store(), Store()
    is_more = Player(part, read_recording(io.BytesIO(b"".join(lines)))).play(until=until)
    assert is_more == (until < len(lines))
    feed(whole, read_recording(io.BytesIO(b"".join(lines[:until]))))
    assert part.sessions == whole.sessions
    assert [document(part.snapshot(name)) for name in part.sessions] == [
        document(whole.snapshot(name)) for name in whole.sessions
    ]


def test_who_watches_sees_each_frame_before_it_is_taken() -> None:
    """`before` is called with every frame, in order."""
    seen: list[int] = []
    feeder = Feeder(Store())
    recording = read_recording(io.BytesIO(PROMPT + b"\n" + chunk_line("a")))
    feeder.play(recording, before=lambda frame: seen.append(frame.line))
    assert seen == [1, 3]


def timed(*times: float | None) -> io.BytesIO:
    """Return a recording of chunks "a", "b", …, with these times in seconds."""
    letters = zip("abcdefgh", times, strict=False)
    stamps = [(letter, "null" if at is None else int(at * 1000)) for letter, at in letters]
    lines = [
        b'{"dir":"recv","ts":%s,"message":%s}\n' % (str(stamp).encode(), chunk_line(letter).strip())
        for letter, stamp in stamps
    ]
    return io.BytesIO(b"".join(lines))


@pytest.mark.parametrize(
    ("times", "texts"),
    [
        ([100, 100.5, 101, 103], ["ab", "abc", "abc", "abcd"]),
        ([None, 5, None, 6], ["abc", "abcd"]),
        ([7, 3, 9, 6], ["ab", "ab", "abcd"]),
        ([None, None], ["ab"]),
    ],
)
def test_a_recording_is_stepped_through_by_time(
    times: list[float | None], texts: list[str]
) -> None:
    """Seconds count from the first time; a frame without one goes with the one before."""
    store = Store()
    player = Player(store, read_recording(timed(*times)))
    seen: list[str] = []
    while player.play(seconds=len(seen) + 0.5):
        seen.append(said(store))
    assert [*seen, said(store)] == texts
    assert not player.play()


def test_a_recording_is_stepped_through_by_line() -> None:
    """A player goes on where it stopped, also over lines that are no frames."""
    store, lines = Store(), [chunk_line("a"), b"\n", b"\n", chunk_line("b"), chunk_line("c")]
    player = Player(store, read_recording(io.BytesIO(b"".join(lines))))
    seen = []
    while player.play(until=player.line + 1):
        seen.append((player.line, said(store)))
    assert seen == [(1, "a"), (2, "a"), (3, "a"), (4, "ab")]
    assert (player.line, said(store)) == (5, "abc")


@given(st.lists(st.integers(0, 9)), st.lists(st.booleans(), min_size=1, max_size=8))
def test_stepping_changes_nothing(stops: list[int], sent: list[bool]) -> None:
    """However a recording is stepped through, its end is the same."""
    lines = [PROMPT if is_sent else chunk_line(str(place)) for place, is_sent in enumerate(sent)]
    whole, stepped = Store(), Store()
    feed(whole, read_recording(io.BytesIO(b"".join(lines))))
    player = Player(stepped, read_recording(io.BytesIO(b"".join(lines))))
    for stop in stops:
        player.play(until=stop)
    player.play()
    assert list(map(document, map(whole.snapshot, whole.sessions))) == list(
        map(document, map(stepped.snapshot, stepped.sessions))
    )


@pytest.mark.parametrize("arguments", [(5, 6), (Store(), [frames(1)])])
def test_misuse_of_a_player(arguments: Any) -> None:
    """What is no store or no recording is refused by an exception of ours."""
    with pytest.raises(InvalidValueError):
        Player(*arguments)
