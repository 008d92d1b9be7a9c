"""`Items`: an immutable sequence that grows cheaply at its end.

The blocks of a message and the pieces of a terminal's output are `Items`. Versions that grew from
one another share a `_Lineage`: one growing list of full tuples, of which each version knows how
many are its own, and the text of the longest version so far. Appending costs one small tuple, the
tail. Appending to a version that was already continued starts a new lineage, so old versions never
change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar, overload

from msgspec import Struct

from ._persistent import WIDTH, Version, checked_place, claimed, unclaim

T = TypeVar("T")

_UNFINISHED: Final = -1
"""The length of a lineage that no version can grow from: appending copies."""


class Accumulator(Protocol):
    """Accumulates the text of stored items."""

    def feed(self, items: list[Any]) -> None:
        """Add the next stored items."""

    def text(self) -> str:
        """Return the text of all items so far."""
        ...


class _Lineage(Struct, gc=False):
    """Versions that grew from one another; `length` is that of the longest one.

    `accumulated` holds the accumulator of the longest version whose text was read, with that
    version's length. A thread that works with it takes it out first.
    """

    length: int = 0
    leaves: list[tuple[Any, ...]] | None = None
    accumulated: list[tuple[int, Accumulator]] | None = None

    def settle(self, tail: tuple[Any, ...]) -> tuple[Any, ...]:
        """Move all but the last few values of a tail into leaves; return the rest."""
        settled = (len(tail) - 1) // WIDTH * WIDTH
        leaves = [tail[place : place + WIDTH] for place in range(0, settled, WIDTH)]
        if self.leaves is None:
            self.leaves = leaves
        else:
            self.leaves += leaves
        return tail[settled:]


class Items(Version[T]):
    """An immutable version of a sequence that grows at its end."""

    _lineage: _Lineage
    _length: int
    _tail: tuple[Any, ...]
    _metas: Any = None  # see the content sequences
    _measure: Any = None  # see `measured`

    if TYPE_CHECKING:

        def __init__(
            self, _lineage: _Lineage, _length: int, _tail: tuple[Any, ...], _metas: Any = None
        ) -> None: ...

    @classmethod
    def _made(cls, items: Sequence[Any], metas: Sequence[Any] | None = None) -> Self:
        """Make a sequence of stored items."""
        tail, length = tuple(items), len(items)
        lineage = _Lineage(length)
        if length > WIDTH:
            tail = lineage.settle(tail)
        kept: Any = Items._made(metas) if metas else None
        return cls(lineage, length, tail, kept)

    def _appended(self, items: Sequence[Any], metas: Sequence[Any] | None = None) -> Self:
        """Return a version with more stored items at the end."""
        before = self._length
        length, tail = before + len(items), self._tail + tuple(items)
        shared, claim = self._lineage, object()
        is_mine = claimed(shared, claim)
        try:
            lineage = shared
            if lineage.length != before or not is_mine:
                lineage = _Lineage(leaves=list(self._leaves()))
            lineage.length = _UNFINISHED  # a signal handler may append too, or raise
            if len(tail) > WIDTH:
                tail = lineage.settle(tail)
            lineage.length = length
        finally:
            if is_mine:
                unclaim(shared)
        kept: Any = self._metas
        if metas:
            kept = Items._made(metas) if kept is None else kept._appended(metas)
        return type(self)(lineage, length, tail, kept)

    def _leaves(self, start: int = 0) -> Sequence[tuple[Any, ...]]:
        """Return the full tuples of this version, beginning with the one at place `start`."""
        own = (self._length - len(self._tail)) // WIDTH
        return (self._lineage.leaves or ())[start // WIDTH : own]

    def _stored(self, start: int = 0) -> list[Any]:
        """Return the items in stored form, from `start` on."""
        settled = self._length - len(self._tail)
        if start >= settled:
            return list(self._tail[start - settled :])
        found = list(chain.from_iterable(self._leaves(start)))
        return [*found[start % WIDTH :], *self._tail]

    def _at(self, place: int) -> Any:
        settled = self._length - len(self._tail)
        if place >= settled:
            return self._tail[place - settled]
        leaves: Any = self._lineage.leaves
        return leaves[place // WIDTH][place % WIDTH]

    def _grew_from(self, older: Items[Any]) -> bool:
        """Return whether this version continues `older`, or is it; no items are compared."""
        return self._lineage is older._lineage and self._length >= older._length

    def _shown(self, item: Any) -> T:
        """Return the public form of a stored item."""
        return item  # type: ignore[no-any-return]  # stored as it is shown

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            places = range(*index.indices(self._length))
            return tuple(self._shown(self._at(place)) for place in places)
        return self._shown(self._at(checked_place(index, self._length)))

    def __iter__(self) -> Iterator[T]:
        return map(self._shown, chain(chain.from_iterable(self._leaves()), self._tail))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Items):
            return type(self) is type(other) and self._equals(other)
        if isinstance(other, tuple | list):
            same = len(other) == self._length
            return same and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def _equals(self, other: Items[Any]) -> bool:
        if self._length != other._length or self._metas != other._metas:
            return False
        return self._lineage is other._lineage or self._stored() == other._stored()

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none either

    def __reduce__(self) -> tuple[Any, ...]:
        metas = None if self._metas is None else self._metas._stored()
        return type(self)._made, (self._stored(), metas)  # only this version's part of the lineage


Sequence.register(Items)  # pyright: ignore[reportAttributeAccessIssue]  # typeshed hides that it is an ABC


def measured(items: Items[Any], measure: Callable[[], T]) -> T:
    """Return the measurement that is kept with a version; measure it the first time."""
    if items._measure is None:
        items._measure = measure()
    kept: T = items._measure
    return kept


def accumulated_text(items: Items[Any], make: Callable[[], Accumulator]) -> str:
    """Return the text of all stored items of a version.

    A lineage keeps the accumulator of its longest version so far, so reading the text after each
    append costs only what was appended. The text of an older version, or one that is read while
    another thread uses the accumulator, is accumulated from the beginning.
    """
    lineage, length = items._lineage, items._length
    if lineage.accumulated is None:
        lineage.accumulated = []
    try:
        known, accumulator = kept = lineage.accumulated.pop()
    except IndexError:
        known, accumulator = kept = 0, make()
    if known > length:
        lineage.accumulated.append(kept)
        accumulator = make()
        accumulator.feed(items._stored())
        return accumulator.text()
    if known < length:
        accumulator.feed(items._stored(known))
    text = accumulator.text()
    lineage.accumulated.append((length, accumulator))
    return text
