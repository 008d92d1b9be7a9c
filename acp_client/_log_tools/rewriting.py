"""What rewriting a log is in both versions: frames in, turns counted, frames out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from .._recordings import Frame


class Rewriting(ABC):
    """A log on its way to a shorter one.

    `first_kept` has, by session id, the number of the first turn to keep as it was recorded.
    """

    def __init__(self, first_kept: Mapping[str, int]) -> None:
        self._first_kept = first_kept
        self._turns: Counter[str] = Counter()

    def taken(self, frames: Iterable[Frame]) -> Self:
        """Take all frames of a log; return the same object."""
        for frame in frames:
            self._take(frame)
        return self

    def last_turns(self, count: int) -> dict[str, int]:
        """Return the number of the first of the last turns of each session."""
        return {session_id: turns - count + 1 for session_id, turns in self._turns.items()}

    @abstractmethod
    def frames(self) -> Iterator[Frame]:
        """Return the frames that are left, in order."""

    @abstractmethod
    def _take(self, frame: Frame) -> None:
        """Take the next frame of the log."""

    def _turn_begins(self, session_id: str) -> bool:
        """Count a turn; return whether it is to be kept as it was recorded."""
        self._turns[session_id] += 1
        number = self._turns[session_id]
        return number >= self._first_kept.get(session_id, number + 1)
