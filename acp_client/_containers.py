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
from itertools import compress, islice
from operator import is_not
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar, overload

from msgspec import Struct, field

T = TypeVar("T")
V = TypeVar("V")

_WIDTH: Final = 32
_BITS: Final = 5
_MASK: Final = _WIDTH - 1

_growing = threading.Lock()


class _Shared(Struct, gc=False):
    """The list that all versions of one sequence share, and the text of its beginning."""

    items: list[Any]
    accumulator: Any = None
    accumulated: int = 0


if TYPE_CHECKING:

    class _Version(Sequence[T]):
        """What a version is for a type checker: a sequence."""
else:

    class _Version(Struct, Generic[T], gc=False, eq=False):
        """What a version is: a Struct, which is made in a fifth of the time that a class takes.

        Versions hold what was decoded, which has no cycles, so the garbage collector is spared
        them: its pauses do not grow with a session.
        """

        def __ne__(self, other: object) -> bool:  # a Struct's own would compare identity
            return not self == other


class Items(_Version[T]):
    """An immutable version of a sequence that grows at its end."""

    _shared: _Shared
    _length: int
    _metas: Any = None  # see the content sequences
    _measure: Any = None  # see `measured`

    if TYPE_CHECKING:

        def __init__(self, _shared: _Shared, _length: int, _metas: Any = None) -> None: ...

    @classmethod
    def made(cls, items: list[Any], metas: Sequence[Any] | None = None) -> Self:
        """Make a sequence of a list of stored items, which it keeps."""
        return cls(_Shared(items), len(items), Items.made(list(metas)) if metas else None)

    def appended(self, items: Sequence[Any], metas: Sequence[Any] | None = None) -> Self:
        """Return the version with more stored items at the end."""
        shared, length = self._shared, self._length
        with _growing:
            stored = shared.items
            if len(stored) == length:
                stored.extend(items)
            else:
                shared = _Shared([*stored[:length], *items])
        if not metas:
            return type(self)(shared, length + len(items), self._metas)
        older = self._metas
        return type(self)(
            shared,
            length + len(items),
            Items.made(list(metas)) if older is None else older.appended(metas),
        )

    def stored(self, start: int = 0) -> list[Any]:
        """Return the items as they are stored, from `start` on."""
        return self._shared.items[start : self._length]

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

    def __reversed__(self) -> Iterator[T]:
        return (self[place] for place in range(self._length - 1, -1, -1))

    def __contains__(self, item: object) -> bool:
        return any(item == shown for shown in self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Items):
            return self._equals(other)
        if isinstance(other, tuple | list):
            same = len(other) == self._length
            return same and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def _equals(self, other: Items[Any]) -> bool:
        if self._length != other._length or self._metas != other._metas:
            return False
        return self._shared is other._shared or self.stored() == other.stored()

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none either

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


class Keyed(_Version[V]):
    """An immutable sequence of values that keep their place, each found by its key."""

    _index: dict[Any, int] = field(default_factory=dict)
    _length: int = 0
    _root: tuple[Any, ...] = ()
    _shift: int = 0
    _tail: tuple[Any, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            _index: dict[Any, int] | None = None,
            _length: int = 0,
            _root: tuple[Any, ...] = (),
            _shift: int = 0,
            _tail: tuple[Any, ...] = (),
        ) -> None: ...

    @classmethod
    def of(cls, keys_and_values: Iterable[tuple[Hashable, V]]) -> Self:
        """Make a sequence of keys and values."""
        pairs = list(keys_and_values)
        return cls().changed({}, [key for key, _ in pairs], [value for _, value in pairs])

    def place(self, key: Hashable) -> int:
        """Return where the value of a key is, or -1."""
        place = self._index.get(key, -1)
        return place if place < self._length else -1

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key, or `None`."""
        place = self.place(key)
        return None if place < 0 else self.at(place)

    def changed(
        self, replaced: Mapping[int, V], keys: Sequence[Hashable] = (), values: Sequence[V] = ()
    ) -> Self:
        """Return the version with some values replaced in place and others added at the end."""
        root, tail = self._root, self._tail
        start = self._length - len(tail)
        for place, value in replaced.items():
            if place >= start:
                tail = _with(tail, place - start, value)
            else:
                root = _replaced(root, self._shift, place, value)
        if not keys:
            return type(self)(self._index, self._length, root, self._shift, tail)
        index, length = self._claimed(keys), self._length + len(values)
        tail = (*tail, *values)
        if len(tail) <= _WIDTH:
            return type(self)(index, length, root, self._shift, tail)
        trie = _Trie(root, self._shift)
        tail = trie.settle(start, tail)
        return type(self)(index, length, trie.root, trie.shift, tail)

    def _claimed(self, keys: Sequence[Hashable]) -> dict[Any, int]:
        """Enter new keys into the shared index, or into a copy if it has grown elsewhere."""
        length = self._length
        with _growing:
            index = self._index
            if len(index) != length:
                index = dict(islice(index.items(), length))
            for key in keys:
                index[key] = length
                length += 1
            return index

    def at(self, place: int) -> V:
        """Return the value at a place that exists; `[]` is the checked form."""
        start = self._length - len(self._tail)
        if place >= start:
            return self._tail[place - start]  # type: ignore[no-any-return]  # a value
        node = self._root
        for shift in range(self._shift, -1, -_BITS):
            node = node[(place >> shift) & _MASK]
        return node  # type: ignore[return-value]  # the last step reached a value

    def keys(self) -> list[Any]:
        """Return all keys, in the order of their places."""
        return list(islice(self._index, self._length))

    def grew_from(self, older: Keyed[Any]) -> bool:
        """Tell whether this has the keys of `older`, and then perhaps more, without comparing."""
        return self._index is older._index and self._length >= older._length

    def differing(self, older: Keyed[V]) -> Iterator[int]:
        """Yield the places of `older` whose value is another object here, in ascending order.

        This must have grown from `older`, see `grew_from`; parts that both share are not looked at.
        """
        start = older._length - len(older._tail)
        if older._root is not self._root and start:
            yield from _differing(self, older)
        yield from (start + slot for slot in _differing_slots(self._leaf(start), older._tail))

    def _leaf(self, start: int) -> tuple[Any, ...]:
        """Return the values from a place that begins a leaf or the tail."""
        if start >= self._length - len(self._tail):
            return self._tail
        node = self._root
        for shift in range(self._shift, 0, -_BITS):
            node = node[(start >> shift) & _MASK]
        return node

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

    def __reversed__(self) -> Iterator[V]:
        return (self.at(place) for place in range(self._length - 1, -1, -1))

    def __contains__(self, value: object) -> bool:
        return any(value == found for found in self)

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


for _kind in (Items, Keyed):
    Sequence.register(_kind)


class _Trie:
    """A trie in the making."""

    __slots__ = ("root", "shift")

    def __init__(self, root: tuple[Any, ...], shift: int) -> None:
        self.root = root
        self.shift = shift

    def settle(self, start: int, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Take values from place `start` on, a leaf at a time; return the last few, the tail."""
        full = 0
        while len(values) - full > _WIDTH:
            self._push(start + full, values[full : full + _WIDTH])
            full += _WIDTH
        return values[full:]

    def _push(self, start: int, leaf: tuple[Any, ...]) -> None:
        if not self.root:
            self.root, self.shift = (leaf,), _BITS
        elif start >> self.shift >= _WIDTH:
            self.root = (self.root, _path(leaf, self.shift))
            self.shift += _BITS
        else:
            self.root = _pushed(self.root, self.shift, start, leaf)


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


def _differing(newer: Keyed[Any], older: Keyed[Any]) -> list[int]:
    """Walk both tries together, level by level, past every part that is the same in both."""
    root = newer._root
    for _ in range(older._shift, newer._shift, _BITS):  # the newer trie may have grown upwards
        root = root[0]
    nodes = [(root, older._root, 0)]
    for shift in range(older._shift, 0, -_BITS):
        nodes = [
            (new[slot], old[slot], start + (slot << shift))
            for new, old, start in nodes
            for slot in _differing_slots(new, old)
        ]
    return [start + slot for new, old, start in nodes for slot in _differing_slots(new, old)]


def _differing_slots(new: tuple[Any, ...], old: tuple[Any, ...]) -> Iterator[int]:
    """Yield the slots of `old` that hold another object in `new`, which has at least as many."""
    return compress(range(len(old)), map(is_not, new, old))


def measured(items: Items[Any], measure: Callable[[], T]) -> T:
    """Return what was measured of a version and is kept with it; measure it the first time."""
    if items._measure is None:
        items._measure = measure()
    kept: T = items._measure
    return kept


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
        text: str = kept.text()
        return text
