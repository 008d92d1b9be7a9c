"""Persistent sequences: cheap new versions, and old versions that stay true.

Two structures carry every snapshot.

**`Items`**, for what only grows: the blocks of a message, the pieces of a terminal's output. All
versions of one sequence share one growing list; a version is that list and a length. Appending to
the newest version extends the list in place, which is O(what is appended) and changes no older
version, because an older version never looks beyond its length. Whoever appends to an older
version (two continuations of one snapshot) gets a copy of the list. Replacing starts a new list.

**`Keyed`**, for what has a fixed place and changes there: entries, terminals, plans. Values are
in a trie of tuples, 32 wide, with the last few values apart in a tail, so that the newest entries,
which nearly every change is about, cost one small tuple. The index from key to place only grows,
so its dict is shared between versions in the same way: a place beyond a version's length is not
in that version.

Appends to shared lists and dicts are made under one lock, so versions may be extended from several
threads; reading needs no lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Generic, Protocol, Self, TypeVar, overload

T = TypeVar("T")
V = TypeVar("V")

_WIDTH: Final = 32
_BITS: Final = 5
_MASK: Final = _WIDTH - 1

_growing = threading.Lock()


class _Shared:
    """The list that all versions of one sequence share, and the text of its beginning."""

    __slots__ = ("accumulated", "accumulator", "items")

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.accumulator: Accumulator | None = None
        self.accumulated = 0


class Items(Sequence[T]):
    """An immutable version of a sequence that grows at its end."""

    __slots__ = ("_length", "_shared")

    _shared: _Shared
    _length: int

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._shared = _Shared(list(items))
        self._length = len(self._shared.items)

    def appended(self, items: Sequence[Any]) -> Self:
        """Return the version with more stored items at the end."""
        shared, length = self._shared, self._length
        with _growing:
            stored = shared.items
            if len(stored) == length:
                stored.extend(items)
            else:
                shared = _Shared([*stored[:length], *items])
        version = self.__new__(type(self))
        version._shared = shared
        version._length = length + len(items)
        return version

    def stored(self, start: int = 0) -> list[Any]:
        """Return the items as they are stored, from `start` on."""
        return self._shared.items[start : self._length]

    def grown(self, items: Sequence[Any], metas: Sequence[Any] | None = None) -> Self:
        """Return the version with more stored items; only content has metas."""
        return self.appended(items)

    @classmethod
    def made(cls, items: list[Any], metas: Sequence[Any] | None = None) -> Self:
        """Make a sequence of a list of stored items, which it keeps; only content has metas."""
        version = cls.__new__(cls)
        version._shared = _Shared(items)
        version._length = len(items)
        return version

    def grew_from(self, older: Items[Any]) -> bool:
        """Tell whether this is `older`, or `older` with items appended, without comparing any."""
        return self._shared is older._shared and self._length >= older._length

    def _shown(self, item: Any) -> T:
        """Turn a stored item into what users see."""
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
            return tuple(self._shown(self._shared.items[place]) for place in places)
        place = index + self._length if index < 0 else index
        if not 0 <= place < self._length:
            raise IndexError(index)
        return self._shown(self._shared.items[place])

    def __iter__(self) -> Iterator[T]:
        return map(self._shown, islice(self._shared.items, self._length))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Items):
            return self._equals(other)
        if isinstance(other, tuple | list):
            return len(other) == self._length and all(
                a == b for a, b in zip(self, other, strict=True)
            )
        return NotImplemented

    def _equals(self, other: Items[Any]) -> bool:
        if self._length != other._length:
            return False
        return self._shared is other._shared or self.stored() == other.stored()

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none either

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


class Keyed(Sequence[V], Generic[V]):
    """An immutable sequence of values that keep their place, each found by its key."""

    __slots__ = ("_index", "_length", "_root", "_shift", "_tail")

    _index: dict[Hashable, int]
    _length: int
    _root: tuple[Any, ...]
    _shift: int
    _tail: tuple[V, ...]

    def __init__(self, keys_and_values: Iterable[tuple[Hashable, V]] = ()) -> None:
        self._index, self._length, self._root, self._shift, self._tail = {}, 0, (), 0, ()
        pairs = list(keys_and_values)
        if pairs:
            self._become(self.changed({}, pairs))

    def _become(self, other: Keyed[V]) -> None:
        for name in Keyed.__slots__:
            setattr(self, name, getattr(other, name))

    def place(self, key: Hashable) -> int:
        """Return where the value of a key is, or -1."""
        place = self._index.get(key, -1)
        return place if place < self._length else -1

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key, or `None`."""
        place = self.place(key)
        return None if place < 0 else self.at(place)

    def changed(self, replaced: Mapping[int, V], added: Sequence[tuple[Hashable, V]]) -> Self:
        """Return the version with some values replaced in place and others added at the end."""
        version = self.__new__(type(self))
        version._index = self._index
        version._length = self._length
        version._root, version._shift, version._tail = self._root, self._shift, self._tail
        for place, value in replaced.items():
            version._replace(place, value)
        if added:
            version._claim([key for key, _ in added])
            version._extend([value for _, value in added])
        return version

    def _replace(self, place: int, value: V) -> None:
        start = self._length - len(self._tail)
        if place >= start:
            self._tail = _with(self._tail, place - start, value)
        else:
            self._root = _replaced(self._root, self._shift, place, value)

    def _claim(self, keys: list[Hashable]) -> None:
        """Enter new keys into the shared index, or into a copy if it has grown elsewhere."""
        with _growing:
            if len(self._index) != self._length:
                kept = islice(self._index.items(), self._length)
                self._index = dict(kept)
            self._index.update(
                zip(keys, range(self._length, self._length + len(keys)), strict=True)
            )

    def _extend(self, values: list[V]) -> None:
        self._length += len(values)
        tail = [*self._tail, *values]
        leaves = self._length - len(tail)
        full = 0
        while len(tail) - full > _WIDTH:
            self._push(leaves, tuple(tail[full : full + _WIDTH]))
            full += _WIDTH
            leaves += _WIDTH
        self._tail = tuple(tail[full:])

    def _push(self, start: int, leaf: tuple[V, ...]) -> None:
        """Move a full tail into the trie; `start` is the place of its first value."""
        if not self._root:
            self._root, self._shift = (leaf,), _BITS
        elif start >> self._shift >= _WIDTH:
            self._root = (self._root, _path(leaf, self._shift))
            self._shift += _BITS
        else:
            self._root = _pushed(self._root, self._shift, start, leaf)

    def at(self, place: int) -> V:
        """Return the value at a place that exists; `[]` is the checked form."""
        start = self._length - len(self._tail)
        if place >= start:
            return self._tail[place - start]
        node = self._root
        for shift in range(self._shift, -1, -_BITS):
            node = node[(place >> shift) & _MASK]
        return node  # type: ignore[return-value]  # the last step reached a value

    def differing(self, older: Keyed[V]) -> Iterator[int]:
        """Yield the places of `older` whose value is another object here, in ascending order.

        `older` must be a version that this one grew from; parts that both share are not looked at.
        """
        limit = older._length
        trie = older._length - len(older._tail)
        if older._root is not self._root and trie:
            yield from _differing(self, older, trie)
        for place in range(trie, limit):
            if self.at(place) is not older.at(place):
                yield place

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[V, ...]: ...
    def __getitem__(self, index: int | slice) -> V | tuple[V, ...]:
        if isinstance(index, slice):
            return tuple(self.at(place) for place in range(*index.indices(self._length)))
        place = index + self._length if index < 0 else index
        if not 0 <= place < self._length:
            raise IndexError(index)
        return self.at(place)

    def __iter__(self) -> Iterator[V]:
        if self._root:
            yield from _leaves(self._root, self._shift)
        yield from self._tail

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Keyed):
            return NotImplemented
        if self._length != other._length:
            return False
        if self._root is other._root and self._tail is other._tail:
            return True
        return all(a is b or a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # the values have none

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


def _with(values: tuple[V, ...], place: int, value: V) -> tuple[V, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _replaced(node: tuple[Any, ...], shift: int, place: int, value: Any) -> tuple[Any, ...]:
    slot = (place >> shift) & _MASK
    inner = value if shift == 0 else _replaced(node[slot], shift - _BITS, place, value)
    return _with(node, slot, inner)


def _pushed(node: tuple[Any, ...], shift: int, start: int, leaf: Any) -> tuple[Any, ...]:
    if shift == _BITS:
        return (*node, leaf)
    slot = (start >> shift) & _MASK
    if slot == len(node):
        return (*node, _path(leaf, shift - _BITS))
    return _with(node, slot, _pushed(node[slot], shift - _BITS, start, leaf))


def _path(leaf: Any, shift: int) -> tuple[Any, ...]:
    """Wrap a leaf into nodes of one child, so that it hangs at the right depth."""
    node: tuple[Any, ...] = leaf
    for _ in range(0, shift, _BITS):
        node = (node,)
    return node


def _leaves(node: tuple[Any, ...], shift: int) -> Iterator[Any]:
    if shift == 0:
        yield from node
        return
    for child in node:
        yield from _leaves(child, shift - _BITS)


def _differing(newer: Keyed[Any], older: Keyed[Any], limit: int) -> Iterator[int]:
    """Walk both tries together, skipping every part that is the same object in both."""
    new_root, old_root = newer._root, older._root
    for _ in range(older._shift, newer._shift, _BITS):  # the newer trie may have grown upwards
        new_root = new_root[0]
    yield from _differing_nodes(new_root, old_root, older._shift, 0, limit)


def _differing_nodes(
    new: tuple[Any, ...], old: tuple[Any, ...], shift: int, start: int, limit: int
) -> Iterator[int]:
    for slot, (new_child, old_child) in enumerate(zip(new, old, strict=False)):
        place = start + (slot << shift)
        if new_child is old_child or place >= limit:
            continue
        if shift == 0:
            yield place
        else:
            yield from _differing_nodes(new_child, old_child, shift - _BITS, place, limit)


class Accumulator(Protocol):
    """Grows a text out of stored items."""

    def feed(self, items: list[Any]) -> None:
        """Go on with the next stored items."""

    def text(self) -> str:
        """Return the text of all items so far."""


def accumulated_text(items: Items[Any], make: Callable[[], Accumulator]) -> str:
    """Return the text of all stored items of a version.

    The newest version's accumulator is kept beside the shared list, so asking again after each
    append costs what was appended. An older version is accumulated anew.
    """
    shared, length = items._shared, items._length
    with _growing:
        kept = shared.accumulator
        if kept is None or shared.accumulated > length:
            fresh = make()
            fresh.feed(shared.items[:length])
            if kept is None:
                shared.accumulator, shared.accumulated = fresh, length
            return fresh.text()
        if shared.accumulated < length:
            kept.feed(shared.items[shared.accumulated : length])
            shared.accumulated = length
        return kept.text()
