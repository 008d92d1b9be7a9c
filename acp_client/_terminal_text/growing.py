"""The transcript of output that grows at its end, and loses its beginning where a limit says so.

What comes is fed to the tail, so a feed costs what came. When the beginning goes, the transcript of
what is left may be another one from the start: what was a sequence may be text. But mostly it is
the same again after a line. So, once a beginning is gone, the tail is noted every now and then as a
joint. The transcript from the new start on is made up to the first joint at which its tail is the
one that was noted; from there on both are the same.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .parser import TranscriptTail

_STEP: Final = 4096
"""Bytes from one joint to the next."""


class _Joint(NamedTuple):
    """The tail after the bytes up to `end`, when `settled` characters had settled."""

    end: int
    settled: int
    tail: TranscriptTail


class GrowingTranscript:
    """The transcript, `text`, of the bytes from `start` to `end` of some output."""

    __slots__ = ("_joints", "end", "start", "tail", "text")

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.text = ""
        self.tail = TranscriptTail()
        self._joints: list[_Joint] = []

    @property
    def _settled(self) -> int:
        return len(self.text) - len(self.tail.line)

    def feed(self, data: bytes) -> None:
        """Go on with the next bytes."""
        for place in range(0, len(data), _STEP):
            self._feed(data[place : place + _STEP])

    def _feed(self, data: bytes) -> None:
        line = self.tail.line
        self.tail, settled = self.tail.fed(data)
        more = settled + self.tail.line
        text, self.text = self.text, ""
        if more.startswith(line):
            more = more[len(line) :]
        elif line:  # what was the last line is another one now
            text = text[: -len(line)]
        text += more  # extended in place: `text` is the only reference to the string
        self.text = text
        self.end += len(data)
        last = self._joints[-1].end if self._joints else self.start
        if self.start and self.end >= last + _STEP:
            self._joints.append(_Joint(self.end, self._settled, self.tail))

    def from_later(self, start: int, data: bytes) -> GrowingTranscript:
        """Return the transcript from a later start on; `data` are the bytes from there to `end`."""
        later = GrowingTranscript(start)
        for place, joint in enumerate(self._joints):
            if joint.end > start:
                later.feed(data[later.end - start : joint.end - start])
                if later.tail == joint.tail:
                    later._join(self, place)
                    return later
        later.feed(data[later.end - start :])
        return later

    def _join(self, other: GrowingTranscript, place: int) -> None:
        """Go on as the other one does behind a joint, at which this one has come to the same."""
        settled = other._joints[place].settled
        moved = self._settled - settled
        self.text = self.text[: self._settled] + other.text[settled:]
        self._joints += [
            joint._replace(settled=joint.settled + moved) for joint in other._joints[place + 1 :]
        ]
        self.end, self.tail = other.end, other.tail
