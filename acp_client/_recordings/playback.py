"""A recording into a store, in the order in which it was recorded.

Frames are fed as they were: what the client wrote is `sent`, what the agent wrote is received under
the number of its line. Runs of received frames on consecutive lines are joined into one `receive`
of about 64 KiB, because the store reduces a whole read at once. What was taken and not fed yet is
fed by `flush`, which whoever shows a recording while it goes on calls before waiting.

As long as it is not known which version of the protocol the recording is in, frames are held. The
first one that shows it decides for all of them, see `protocol_detection`.

A raw stream that is cut off ends in an unterminated line. It is fed as one, so that the store can
tell it from a line that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from .._store import Store
from .frames import Frame
from .protocol_detection import ProtocolDetector
from .reading import Recording

_RUN: Final = 64 * 1024

_MOST_HELD: Final = 64 * 1024 * 1024
"""Bytes of frames that are held before they are fed without knowing the version."""


def _nothing(_: Frame) -> None:
    """Do nothing before a frame is taken."""


class Feeder:
    """Feeds one store; `frames` counts, `seconds` tells how long the store worked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._run: list[bytes] = []
        self._run_size = 0
        self._next_line = 0
        self._torn = False
        self._detector = ProtocolDetector()
        self._held: list[tuple[Frame, bool]] = []
        self._held_size = 0
        self.frames = 0
        self.seconds = 0.0

    def play(
        self,
        recording: Recording,
        *,
        until: int | None = None,
        until_time: float | None = None,
        before: Callable[[Frame], None] = _nothing,
    ) -> None:
        """Take the frames of a recording: all, or those of the first `until` lines, or of a time.

        Times are seconds since 1970; it ends with the first frame that is later.
        """
        for frame in recording:
            if until is not None and frame.line > until:
                return
            if until_time is not None and frame.time is not None and frame.time > until_time:
                return
            before(frame)
            self.take(frame, torn=recording.torn)

    def take(self, frame: Frame, *, torn: bool = False) -> None:
        """Take one frame; `torn` tells that the recording is cut off, perhaps in it."""
        self.frames += 1
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
        """Feed what was taken, but for a last line that is cut off: more of it may come."""
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


def feed(store: Store, recording: Recording, *, until: int | None = None) -> Feeder:
    """Feed a recording and its end to a store; give the feeder, for what it counted."""
    feeder = Feeder(store)
    feeder.play(recording, until=until)
    feeder.end()
    return feeder
