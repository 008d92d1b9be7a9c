"""Persistent sequences: cheap new versions, and old versions that stay true.

Two structures carry every snapshot. Both keep their values in tuples, 32 wide, and the last few
apart in a tail: appending, or changing one of the newest values, costs one small tuple, and
everything else is shared with the version before. Tuples of strings and Structs are nothing to the
garbage collector, so its pauses do not grow with a session.

**`Items`**, for what only grows: the blocks of a message, the pieces of a terminal's output.
Versions that grew one from the other share a `_Lineage`: one growing list of the full tuples, of
which each version knows how many are its own, and the text of the longest version so far. Whoever
appends to a version that was continued already starts a lineage of its own.

**`Keyed`**, for what has a fixed place and changes there: entries, terminals, plans. The tuples are
the leaves of a trie. The index from key to place only grows, so its dict is shared between
versions: a place beyond a version's length is not in that version. Whoever adds to a version that
was continued already gets a copy.

Lineages and indexes are extended under one lock, texts under another, so versions may be continued
and read from several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice
from operator import index as index_of
from operator import is_not
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar, overload

from msgspec import Struct, field

from ._errors import InvalidValueError
from ._locks import after_fork, held, holds, let_go

T = TypeVar("T")
V = TypeVar("V")

_WIDTH: Final = 32
_BITS: Final = 5
_MASK: Final = _WIDTH - 1
_SLOTS: Final = range(_WIDTH)

_UNFINISHED: Final = -1
"""The length of a lineage that no version can grow from: whoever appends copies."""

_growing = threading.RLock()
_accumulating = threading.RLock()


def _renew_locks() -> None:
    global _growing, _accumulating  # nothing else can reach them
    _growing, _accumulating = threading.RLock(), threading.RLock()


after_fork(_renew_locks)


class _Lineage(Struct, gc=False):
    """Versions of which each grew from the one before; `length` is the longest one's."""

    length: int = 0
    leaves: list[tuple[Any, ...]] | None = None
    accumulator: Any = None
    accumulated: int = 0

    def settle(self, tail: tuple[Any, ...]) -> tuple[Any, ...]:
        """Move all of a tail but its last few values into leaves; return those."""
        settled = (len(tail) - 1) // _WIDTH * _WIDTH
        leaves = [tail[place : place + _WIDTH] for place in range(0, settled, _WIDTH)]
        if self.leaves is None:
            self.leaves = leaves
        else:
            self.leaves += leaves
        return tail[settled:]


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

        def __copy__(self) -> Self:
            return self  # it never changes

        def __deepcopy__(self, memo: dict[int, Any]) -> Self:
            return self


class Items(_Version[T]):
    """An immutable version of a sequence that grows at its end."""

    _lineage: _Lineage
    _length: int
    _tail: tuple[Any, ...] = ()
    _metas: Any = None  # see the content sequences
    _measure: Any = None  # see `measured`

    if TYPE_CHECKING:

        def __init__(
            self, _lineage: _Lineage, _length: int, _tail: tuple[Any, ...], _metas: Any = None
        ) -> None: ...

    @classmethod
    def made(cls, items: Sequence[Any], metas: Sequence[Any] | None = None) -> Self:
        """Make a sequence of stored items."""
        tail, length = tuple(items), len(items)
        lineage = _Lineage(length)
        if length > _WIDTH:
            tail = lineage.settle(tail)
        kept: Any = Items.made(metas) if metas else None
        return cls(lineage, length, tail, kept)

    def appended(self, items: Sequence[Any], metas: Sequence[Any] | None = None) -> Self:
        """Return the version with more stored items at the end."""
        before = self._length
        length, tail = before + len(items), self._tail + tuple(items)
        lock, before_lock = _growing, holds(_growing)
        try:
            with lock:
                lineage = self._lineage
                if lineage.length != before:
                    lineage = _Lineage(leaves=list(self._leaves()))
                lineage.length = _UNFINISHED  # at once: a signal handler may append too, or raise
                if len(tail) > _WIDTH:
                    tail = lineage.settle(tail)
                lineage.length = length
        except BaseException:
            let_go(lock, before_lock)
            raise
        kept: Any = self._metas
        if metas:
            kept = Items.made(metas) if kept is None else kept.appended(metas)
        return type(self)(lineage, length, tail, kept)

    def _leaves(self, start: int = 0) -> Sequence[tuple[Any, ...]]:
        """Return the full tuples of this version from the one with place `start` on."""
        own = (self._length - len(self._tail)) // _WIDTH
        return (self._lineage.leaves or ())[start // _WIDTH : own]

    def stored(self, start: int = 0) -> list[Any]:
        """Return the items as they are stored, from `start` on."""
        settled = self._length - len(self._tail)
        if start >= settled:
            return list(self._tail[start - settled :])
        found = list(chain.from_iterable(self._leaves(start)))
        return [*found[start % _WIDTH :], *self._tail]

    def _at(self, place: int) -> Any:
        settled = self._length - len(self._tail)
        if place >= settled:
            return self._tail[place - settled]
        leaves: Any = self._lineage.leaves
        return leaves[place // _WIDTH][place % _WIDTH]

    def grew_from(self, older: Items[Any]) -> bool:
        """Tell whether this is `older`, or `older` with items appended, without comparing any."""
        return self._lineage is older._lineage and self._length >= older._length

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
            return tuple(self._shown(self._at(place)) for place in places)
        return self._shown(self._at(_place(index, self._length)))

    def __iter__(self) -> Iterator[T]:
        return map(self._shown, chain(chain.from_iterable(self._leaves()), self._tail))

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
        return self._lineage is other._lineage or self.stored() == other.stored()

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none either

    def __reduce__(self) -> tuple[Any, ...]:
        metas = None if self._metas is None else self._metas.stored()
        return type(self).made, (self.stored(), metas)  # of the lineage only what is in here

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
        version = self
        for place, value in replaced.items():
            version = version.with_value(place, value)
        if not keys:
            return version
        index, length = self._claimed(keys), self._length + len(values)
        start = self._length - len(self._tail)
        tail = version._tail + tuple(values)
        return type(self)(index, length, *_grown(version._root, self._shift, start, tail))

    def with_value(self, place: int, value: V) -> Self:
        """Return the version with another value in its place."""
        root, tail = self._root, self._tail
        start = self._length - len(tail)
        if place >= start:
            tail = _with(tail, place - start, value)
        else:
            root = _replaced(root, self._shift, place, value)
        return type(self)(self._index, self._length, root, self._shift, tail)

    def _claimed(self, keys: Sequence[Hashable]) -> dict[Any, int]:
        """Enter new keys into the shared index, or into a copy if it has grown elsewhere."""
        length = self._length
        with held(_growing):
            index = self._index
            if len(index) != length:
                index = dict(islice(index.items(), length))
            for key in keys:
                index[key] = length
                length += 1
            return index

    def at(self, place: int) -> V:
        """Return the value at a place that exists; `[]` is the checked form."""
        trie = self._length - len(self._tail)
        if place >= trie:
            return self._tail[place - trie]  # type: ignore[no-any-return]  # a value
        return _leaf(self._root, self._shift, place)[place & _MASK]  # type: ignore[no-any-return]  # the same

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
        return _leaf(self._root, self._shift, start)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[V, ...]: ...
    def __getitem__(self, index: int | slice) -> V | tuple[V, ...]:
        if isinstance(index, slice):
            return tuple(self.at(place) for place in range(*index.indices(self._length)))
        return self.at(_place(index, self._length))

    def __iter__(self) -> Iterator[V]:
        return _values(self._root, self._shift, self._tail)

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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (list(zip(self.keys(), self, strict=True)),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


for _kind in (Items, Keyed):
    Sequence.register(_kind)


def _place(index: int, length: int) -> int:
    """Return the place that an index means. Raises `IndexError`, and for what is none our own."""
    try:
        given = index_of(index)
    except TypeError:
        name = type(index).__name__
        raise InvalidValueError(f"expected a place, not {name}; ids are looked up by get") from None
    place = given + length if given < 0 else given
    if not 0 <= place < length:
        raise IndexError(index)
    return place


def _grown(
    root: tuple[Any, ...], shift: int, start: int, values: tuple[Any, ...]
) -> tuple[tuple[Any, ...], int, tuple[Any, ...]]:
    """Move values from place `start` on into a trie, all but the last few; return it and those."""
    settled = max(0, len(values) - 1) // _WIDTH * _WIDTH
    leaves = [values[place : place + _WIDTH] for place in range(0, settled, _WIDTH)]
    while leaves:
        room = _WIDTH - ((start >> _BITS) & _MASK)  # in the node above the leaves
        root, shift = _pushed_root(root, shift, start, tuple(leaves[:room]))
        start += _WIDTH * min(room, len(leaves))
        del leaves[:room]
    return root, shift, values[settled:]


def _pushed_root(
    root: tuple[Any, ...], shift: int, start: int, leaves: tuple[Any, ...]
) -> tuple[tuple[Any, ...], int]:
    if not root:
        return leaves, _BITS
    if start >> shift >= _WIDTH:
        return (root, _path(leaves, shift - _BITS)), shift + _BITS
    return _pushed(root, shift, start, leaves), shift


def _with(values: tuple[V, ...], place: int, value: V) -> tuple[V, ...]:
    changed = list(values)  # in two thirds of the time of joining slices ("one apply per update")
    changed[place] = value
    return tuple(changed)


def _replaced(node: tuple[Any, ...], shift: int, place: int, value: Any) -> tuple[Any, ...]:
    slot = (place >> shift) & _MASK
    inner = value if shift == 0 else _replaced(node[slot], shift - _BITS, place, value)
    return _with(node, slot, inner)


def _pushed(
    node: tuple[Any, ...], shift: int, start: int, leaves: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Add leaves, which all belong into one node, behind the last leaf."""
    if shift == _BITS:
        return (*node, *leaves)
    slot = (start >> shift) & _MASK
    if slot == len(node):
        return (*node, _path(leaves, shift - 2 * _BITS))
    return _with(node, slot, _pushed(node[slot], shift - _BITS, start, leaves))


def _path(leaves: tuple[Any, ...], shift: int) -> tuple[Any, ...]:
    """Wrap a node of leaves into nodes of one child, so that it hangs at the right depth."""
    node = leaves
    for _ in range(0, shift, _BITS):
        node = (node,)
    return node


def _leaf(root: tuple[Any, ...], shift: int, place: int) -> tuple[Any, ...]:
    """Return the leaf in which a place is."""
    node = root
    for level in range(shift, 0, -_BITS):
        node = node[(place >> level) & _MASK]
    return node


def _values(root: tuple[Any, ...], shift: int, tail: tuple[Any, ...]) -> Iterator[Any]:
    if root:
        yield from _leaves(root, shift)
    yield from tail


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
    return compress(_SLOTS, map(is_not, new, old))


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

    A lineage keeps the accumulator of its longest version so far, so asking again after each append
    costs what was appended. An older version is accumulated anew.
    """
    lineage, length = items._lineage, items._length
    with held(_accumulating):
        kept = lineage.accumulator
        if kept is None or lineage.accumulated > length:
            fresh = make()
            fresh.feed(items.stored())
            if kept is None:
                _keep(lineage, fresh, length)
            return fresh.text()
        if lineage.accumulated < length:
            lineage.accumulator = None  # what an exception interrupts is begun anew
            kept.feed(items.stored(lineage.accumulated))
            _keep(lineage, kept, length)
        text: str = kept.text()
        return text


def _keep(lineage: _Lineage, accumulator: Accumulator, length: int) -> None:
    lineage.accumulated = length
    lineage.accumulator = accumulator  # last: until then there is none
