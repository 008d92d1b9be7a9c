"""The first line of a recording at which something became true of the state.

As with `git bisect`, what became true is taken to stay true. The frames are reduced a few times,
each time with the question asked at fewer and closer places: thousands of frames cost dozens of
questions, and no store is ever copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final, cast

import attrs

from .._recordings import Feeder, Frame
from .._snapshot import Snapshot
from .._store import Store
from .._versions import Protocol
from .hashing import state_hash
from .spool import IN_MEMORY, Spool

State = Mapping[str, Snapshot]

_QUESTIONS: Final = 32
"""How often the question is asked in one pass."""


class _Player:
    """Reduces frames one by one."""

    def __init__(self, protocol: Protocol | None) -> None:
        self._store = Store(protocol=protocol)
        self._feeder = Feeder(self._store)

    def take(self, frame: Frame | None) -> None:
        """Take a frame; `None` for a recording that has ended."""
        if frame is not None:
            self._feeder.take(frame)

    def state(self) -> State:
        """Return the snapshots of all sessions."""
        self._feeder.flush()
        return {session_id: self._store.snapshot(session_id) for session_id in self._store.sessions}


def bisect(
    recording: Iterable[Frame],
    predicate: Callable[[State], object],
    *,
    protocol: Protocol | None = None,
) -> Frame | None:
    """Return the frame after which a predicate of the state, by session id, is first true.

    `None` means that it is not true at the end. What has become true is taken to stay true.
    """
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        spool = Spool(cast("BinaryIO", file))
        count = sum(1 for _ in spool.through(recording))

        def asked(places: Sequence[int]) -> Iterator[bool]:
            player = _Player(protocol)
            wanted = iter(places)
            next_place = next(wanted, None)
            for place, frame in enumerate(spool.frames(), 1):
                player.take(frame)
                if place == next_place:
                    yield bool(predicate(player.state()))
                    next_place = next(wanted, None)

        place = _first(asked, count)
        return None if place is None else _frame_at(spool.frames(), place)


def first_difference(
    recording: Iterable[Frame], other: Iterable[Frame], *, protocol: Protocol | None = None
) -> tuple[Frame | None, Frame | None] | None:
    """Return the frames, one of each recording, after which the states of both first differ.

    The recordings are compared frame by frame, in order; a frame is `None` where its recording has
    ended. `None` means that they never differ at the places that were compared.
    """
    with (
        SpooledTemporaryFile(max_size=IN_MEMORY) as file,
        SpooledTemporaryFile(max_size=IN_MEMORY) as second,
    ):
        spools = [Spool(cast("BinaryIO", one)) for one in (file, second)]
        both = zip(spools, (recording, other), strict=True)
        count = max(sum(1 for _ in spool.through(frames)) for spool, frames in both)

        def pairs() -> Iterator[tuple[Frame | None, Frame | None]]:
            first_spool, second_spool = spools
            yield from zip_longest(first_spool.frames(), second_spool.frames())

        def asked(places: Sequence[int]) -> Iterator[bool]:
            players = (_Player(protocol), _Player(protocol))
            for place, pair in enumerate(pairs(), 1):
                for player, frame in zip(players, pair, strict=True):
                    player.take(frame)
                if place in places:
                    hashes = {state_hash(player.state()) for player in players}
                    yield len(hashes) > 1

        place = _first(asked, count)
        return (
            None
            if place is None
            else next(pair for number, pair in enumerate(pairs(), 1) if number == place)
        )


def _first(asked: Callable[[Sequence[int]], Iterator[bool]], count: int) -> int | None:
    """Find the first place, from 1 to a count, at which a question is answered with yes."""
    no, yes = 0, count + 1
    while yes - no > 1:
        step = max(1, (yes - no) // _QUESTIONS)
        places = sorted({*range(no + step, yes, step), min(yes - 1, count)})
        for place, answer in zip(places, asked(places), strict=False):
            if answer:
                yes = place
                break
            no = place
        else:
            if yes > count:
                return None
    return yes if yes <= count else None


def _frame_at(frames: Iterable[Frame], place: int) -> Frame:
    return attrs.evolve(next(one for number, one in enumerate(frames, 1) if number == place))
