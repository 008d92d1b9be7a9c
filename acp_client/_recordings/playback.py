"""A recording into a store, in the order in which it was recorded.

Frames are fed as they were: what the client wrote is `sent`, what the agent wrote is received under
the number of its line. Runs of received frames on consecutive lines are joined into one `receive`
of about 64 KiB, because the store reduces a whole read at once. What was taken and not fed yet is
fed by `flush`, which whoever shows a recording while it goes on calls before waiting.

As long as it is not known which version of the protocol the recording is in, frames are held. The
first one that shows it decides for all of them, see `protocol_detection`.

A raw stream that is cut off ends in an unterminated line. It is fed as one, so that the store can
distinguish it from a line that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

import attrs

from .._errors import checked
from .._store import Store
from .frames import Frame
from .protocol_detection import ProtocolDetector
from .reading import Recording

_RUN: Final = 64 * 1024

_MOST_HELD: Final = 64 * 1024 * 1024
"""Bytes of frames that are held before they are fed without knowing the version."""


def _nothing(_: Frame) -> None:
    """Do nothing before a frame is taken."""


@attrs.frozen
class Stop:
    """Where playing stops: behind a line, at a time as frames have it, or after some seconds."""

    line: int | None = None
    time: float | None = None
    seconds: float | None = None

    def is_before(self, frame: Frame, begin: float | None) -> bool:
        """Return whether a frame is beyond, in a recording that began at a time.

        A frame without a time goes with the one before it.
        """
        if self.line is not None and frame.line > self.line:
            return True
        if frame.time is None:
            return False
        since_begin = 0.0 if begin is None else frame.time - begin
        return _is_beyond(frame.time, self.time) or _is_beyond(since_begin, self.seconds)


def _is_beyond(time: float, limit: float | None) -> bool:
    return limit is not None and time > limit


class Feeder:
    """Feeds one store; `frames` counts, `seconds` is how long the store worked.

    `begin` is the time of the first frame that had one.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._run: list[bytes] = []
        self._run_size = 0
        self._next_line = 0
        self._torn = False
        self._detector = ProtocolDetector()
        self._held: list[tuple[Frame, bool]] = []
        self._held_size = 0
        self.begin: float | None = None
        self.frames = 0
        self.seconds = 0.0

    def play(
        self,
        recording: Recording,
        *,
        stop: Stop | None = None,
        before: Callable[[Frame], None] = _nothing,
    ) -> None:
        """Take the frames of a recording: all, or those before it stops."""
        for frame in recording:
            if stop is not None and stop.is_before(frame, self.begin):
                return
            before(frame)
            self.take(frame, torn=recording.torn)

    def take(self, frame: Frame, *, torn: bool = False) -> None:
        """Take one frame; `torn` says that the recording is cut off, perhaps in it."""
        self.frames += 1
        self.begin = frame.time if self.begin is None else self.begin
        if self._detector.found is not None:
            self._take(frame, torn)
            return
        self._held.append((frame, torn))
        self._held_size += len(frame.data)
        if self._detector.look(frame.data, sent=frame.sent) or self._held_size >= _MOST_HELD:
            self._release()

    def _release(self) -> None:
        """Take the frames that were held; those before them, if any, were fed already."""
        protocol = self._detector.protocol
        if protocol is not None:
            self._feed_run(b"\n")
            self._store._assume(protocol)  # its door for recordings
        held, self._held, self._held_size = self._held, [], 0
        for frame, torn in held:
            self._take(frame, torn)

    def _take(self, frame: Frame, torn: bool) -> None:
        if frame.sent or frame.line != self._next_line or self._run_size >= _RUN:
            self._feed_run(b"\n")
        if frame.sent:
            self._feed(self._store.sent, frame.data + b"\n")
            return
        self._run.append(frame.data)
        self._run_size += len(frame.data)
        self._next_line = frame.line + 1
        self._torn = torn

    def flush(self) -> None:
        """Feed what was taken, except a last line that is cut off: more of it may come."""
        self._release()
        if not self._torn:
            self._feed_run(b"\n")

    def end(self) -> None:
        """Feed what was taken, and the end."""
        self._release()
        self._feed_run(b"" if self._torn else b"\n")
        self._store.end()

    def _feed_run(self, ending: bytes) -> None:
        if self._run:
            first = self._next_line - len(self._run)
            data = b"\n".join(self._run) + ending
            self._run.clear()
            self._run_size = 0
            self._torn = False
            self._feed(lambda run: self._store.receive(run, line=first), data)

    def _feed(self, take: Callable[[bytes], None], data: bytes) -> None:
        started = perf_counter()
        with self._store._observing():  # what was asked then was answered then
            take(data)
        self.seconds += perf_counter() - started


class Player:
    """Plays a recording into a store, step by step.

    `play` goes on where the last call of it stopped, so that a slider or a test can move through
    time::

        player = acp_client.Player(store, acp_client.read_recording("session.ndjson"))
        while player.play(seconds=player.seconds + 0.5):
            draw(store)

    Likewise, `player.play(until=player.line + 1)` goes line by line.

    What the store would ask the agent or answer it while a recording is played is not sent: it was
    answered then. Raises `InvalidValueError` for anything but a store and a recording.
    """

    def __init__(self, store: Store, recording: Recording) -> None:
        self._feeder = Feeder(checked(store, Store, "a store"))
        self._recording = checked(recording, Recording, "what read_recording returned")
        self._frames = iter(recording)
        self._next: Frame | None = None
        self._line = 0
        self._has_ended = False
        self._seconds = 0.0

    @property
    def line(self) -> int:
        """How far `play` has come in lines of the file: where it stopped, or the last frame's."""
        return self._line

    @property
    def seconds(self) -> float:
        """How far `play` has come in the time of the recording: where it stopped, or its end."""
        return self._seconds

    def play(self, *, until: int | None = None, seconds: float | None = None) -> bool:
        """Play on up to a line, or to a time; without either, to the end.

        `until` is the last line of the file to play (in one document: the number of the message),
        `seconds` counts from the first frame that has a time. Frames without a time are played with
        the one before. Returns whether the recording goes on.
        """
        stop = Stop(line=until, seconds=seconds)
        while (frame := self._frame()) is not None:
            if stop.is_before(frame, self._feeder.begin):
                self._next = frame
                self._has_come_to(until, seconds)
                self._feeder.flush()
                return True
            self._feeder.take(frame, torn=self._recording.torn)
            begin = self._feeder.begin
            since = None if frame.time is None or begin is None else frame.time - begin
            self._has_come_to(frame.line, since)
        if not self._has_ended:
            self._has_ended = True
            self._feeder.end()
        return False

    def _has_come_to(self, line: int | None, seconds: float | None) -> None:
        self._line = max(self._line, line or 0)
        self._seconds = max(self._seconds, seconds or 0.0)

    def _frame(self) -> Frame | None:
        """Return the next frame: the one that `play` stopped before, or another."""
        frame, self._next = self._next, None
        return next(self._frames, None) if frame is None else frame


def feed(store: Store, recording: Recording) -> None:
    """Play a recording and its end into a store; `Player` does so step by step."""
    Player(store, recording).play()
