"""Frames in a temporary file, for tools that read a recording more than once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

import attrs

from .._recordings import Frame, read_recording, write_envelope

IN_MEMORY: Final = 64 * 1024 * 1024
"""Bytes of a recording up to which it is kept in memory."""


class Spool:
    """Keeps the frames that went through it, with their line numbers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lines: list[int] = []

    def through(self, recording: Iterable[Frame]) -> Iterator[Frame]:
        """Pass frames on, and keep them."""
        for frame in recording:
            self._file.write(write_envelope(frame))
            self._lines.append(frame.line)
            yield frame

    def frames(self) -> Iterator[Frame]:
        """Return the frames that were kept."""
        if self._lines:
            self._file.seek(0)
            frames = read_recording(self._file, format="envelope")
            for line, frame in zip(self._lines, frames, strict=True):
                yield attrs.evolve(frame, line=line)
