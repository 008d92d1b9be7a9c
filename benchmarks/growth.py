"""Flat cost: what an update costs in a session of a million, against one of ten thousand.

A session grows batch by batch; after each batch its snapshot is taken and its newest text is read,
which both count. All along, small sessions of the same kind are grown beside it, so that every part
of the large one has a neighbour to be compared with. Making the lines does not count.

The first row of a kind is the whole session, the second its last tenth. A session that grows too
slowly is stopped, and the row says so.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

import attrs

from acp_client import Snapshot, Store
from benchmarks.measuring import (
    Budget,
    Result,
    Row,
    Scale,
    clock,
    compared,
    duration,
    interleaved,
    ratios,
)
from benchmarks.streams import (
    SESSION,
    batches,
    long_message,
    long_terminal,
    many_messages,
    many_tool_calls,
)

_FLAT: Final = Budget(1.25)
_BATCH: Final = 50
"""Lines of a batch: about 10 KiB."""
_PARTS: Final = 10

Read = Callable[[Snapshot], object]


def _newest_text(snapshot: Snapshot) -> str:
    return snapshot.entries[-1].text  # type: ignore[union-attr]  # these entries have a text


def _newest_entry(snapshot: Snapshot) -> object:
    return len(_newest_text(snapshot))


def _newest_terminal(snapshot: Snapshot) -> object:
    return len(snapshot.terminals[-1].text)


def _whole_output(snapshot: Snapshot) -> object:
    return len(snapshot.terminals[-1].output)


def _new_output() -> Read:
    offset = 0

    def read(snapshot: Snapshot) -> object:
        nonlocal offset
        new = snapshot.terminals[-1].output_from(offset)
        offset += len(new)
        return new

    return read


def _nothing(snapshot: Snapshot) -> object:
    return snapshot


@attrs.frozen
class Shape:
    """A kind of session: its lines without end, and what makes a reader for after each batch."""

    lines: Callable[[], Iterator[bytes]]
    reader: Callable[[], Read]


SHAPES: Final = {
    "one long message": Shape(long_message, lambda: _newest_entry),
    "many messages": Shape(many_messages, lambda: _newest_entry),
    "many tool calls": Shape(many_tool_calls, lambda: _newest_entry),
    "a long terminal": Shape(long_terminal, lambda: _newest_terminal),
    "a long terminal, its new bytes": Shape(long_terminal, _new_output),
}


class Growing:
    """A session that grows, and the seconds that this takes."""

    def __init__(self, shape: Shape) -> None:
        self.updates = 0
        self.seconds = 0.0
        self._batches = batches(shape.lines(), _BATCH)
        self._read = shape.reader()
        self._store = Store()

    def grow(self, updates: int, patience: float) -> float:
        """Grow by so many updates, or until patience ends; return the seconds of an update."""
        grown, seconds = 0, 0.0
        while grown == 0 or (grown < updates and seconds < patience):
            batch = next(self._batches)
            start = clock()
            self._store.receive(batch)
            self._read(self._store.snapshot(SESSION))
            seconds += clock() - start
            grown += _BATCH
        self.updates += grown
        self.seconds += seconds
        return max(seconds, 1e-9) / grown


def flat_cost(name: str, scale: Scale) -> Iterator[Result]:
    """Compare the cost of an update in a large session with that in small ones."""
    shape = SHAPES[name]
    _small(shape, scale)  # warms up
    gc.collect()
    large = Growing(shape)
    parts = [_Part.of(large, shape, scale, scale.many // _PARTS) for _ in range(_PARTS - 1)]
    last = [_Part.of(large, shape, scale, scale.many // _PARTS**2) for _ in range(_PARTS)]
    each = large.seconds / large.updates
    small = statistics.median(part.small for part in (*parts, *last))
    stopped = f", stopped at {large.updates:,}" if large.updates < scale.many else ""
    yield Row(
        f"{name}, {scale.many:,} updates : {scale.few:,}",
        tuple(part.ratio for part in (*parts, *last)),
        _FLAT,
        note=f"{duration(each)} : {duration(small)}{stopped}",
        overall=each / small,
    )
    newest = statistics.median(part.large for part in last)
    yield Row(
        f"{name}, the last {scale.many // _PARTS:,} : {scale.few:,}",
        tuple(part.ratio for part in last),
        _FLAT,
        note=f"{duration(newest)} : {duration(small)}{stopped}",
    )


@attrs.frozen
class _Part:
    """Seconds of an update in a part of the large session, and in a small one beside it."""

    large: float
    small: float

    @property
    def ratio(self) -> float:
        return self.large / self.small

    @classmethod
    def of(cls, growing: Growing, shape: Shape, scale: Scale, updates: int) -> _Part:
        large = growing.grow(updates, scale.patience / (2 * _PARTS))
        return cls(large, _small(shape, scale))


def _small(shape: Shape, scale: Scale) -> float:
    return Growing(shape).grow(scale.few, scale.patience)


def flat_costs() -> dict[str, Callable[[Scale], Iterator[Result]]]:
    """Return a benchmark for each kind of session."""
    words = {name: name.replace(",", "").split() for name in SHAPES}
    return {"-".join(["flat", *words[name]]): partial(flat_cost, name) for name in SHAPES}


# --- What asking for the text costs ---


def text_after_every_batch(scale: Scale) -> Iterator[Result]:
    """Compare reading the newest text, and keeping it, after every batch with not reading it."""
    for name, shape in _READINGS.items():
        yield _reading(name, shape, scale)


_READINGS: Final = {
    "a long message, read after every batch": SHAPES["one long message"],
    "a long message, read and kept until the next": Shape(long_message, lambda: _newest_text),
    "a long terminal, read after every batch": SHAPES["a long terminal"],
    "a long terminal, its new bytes": SHAPES["a long terminal, its new bytes"],
    "a long terminal, all its bytes": Shape(long_terminal, lambda: _whole_output),
}


def _reading(name: str, shape: Shape, scale: Scale) -> Row:
    reads = list(islice(batches(shape.lines(), _BATCH), scale.updates // 5 // _BATCH))
    runs = {
        "read": lambda: _received_and_read(reads, shape.reader()),
        "not read": lambda: _received_and_read(reads, _nothing),
    }
    seconds = interleaved(runs, scale.rounds)
    return Row(
        f"{name} : never",
        ratios(seconds, "read", "not read"),
        note=compared(seconds, "read", "not read", len(reads) * _BATCH),
    )


def _received_and_read(reads: Sequence[bytes], read: Read) -> Store:
    store = Store()
    newest = None
    for data in reads:
        store.receive(data)
        newest = read(store.snapshot(SESSION))
    del newest
    return store
