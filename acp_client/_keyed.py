"""`Keyed`: an immutable sequence of values that keep their place, each found by its key.

Entries, terminals and plans are `Keyed`. The values are in the leaves of a trie and in a tail, so
changing or adding values costs a few small tuples, and the rest is shared with the version before.
The index from key to place only grows, so versions share one dict: a place beyond a version's
length does not belong to that version. Adding to a version that was already continued copies the
index.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from operator import is_not
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

from msgspec import field

from ._errors import InvalidValueError
from ._persistent import BITS, MASK, WIDTH, Version, checked_place, claimed, unclaim

V = TypeVar("V")

_SLOTS: Final = range(WIDTH)


class Keyed(Version[V]):
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
    def _of(cls, keys_and_values: Iterable[tuple[Hashable, V]]) -> Self:
        """Make a sequence of keys and values. Raises `InvalidValueError` for a repeated key."""
        pairs = list(keys_and_values)
        made = cls()._changed({}, [key for key, _ in pairs], [value for _, value in pairs])
        if len(made._index) < len(pairs):
            raise InvalidValueError(f"an id occurs twice in {cls.__name__}")
        return made

    def _place(self, key: Hashable) -> int:
        """Return the place of a key's value, or -1."""
        place = self._index.get(key, -1)
        return place if place < self._length else -1

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key, or `None`.

        Raises `InvalidValueError` for a key that cannot be hashed.
        """
        try:
            place = self._place(key)
        except TypeError:
            raise InvalidValueError(f"expected a key, not {type(key).__name__}") from None
        return None if place < 0 else self._at(place)

    def _changed(
        self, replaced: Mapping[int, V], keys: Sequence[Hashable] = (), values: Sequence[V] = ()
    ) -> Self:
        """Return a version with some values replaced in place and others added at the end."""
        version = self
        for place, value in replaced.items():
            version = version._with_value(place, value)
        if not keys:
            return version
        index, length = self._claimed(keys), self._length + len(values)
        start = self._length - len(self._tail)
        tail = version._tail + tuple(values)
        return type(self)(index, length, *_grown(version._root, self._shift, start, tail))

    def _with_value(self, place: int, value: V) -> Self:
        """Return a version with one value replaced in place."""
        root, tail = self._root, self._tail
        start = self._length - len(tail)
        if place >= start:
            tail = _with(tail, place - start, value)
        else:
            root = _replaced(root, self._shift, place, value)
        return type(self)(self._index, self._length, root, self._shift, tail)

    def _claimed(self, keys: Sequence[Hashable]) -> dict[Any, int]:
        """Enter new keys into the shared index, or into a copy if it has grown elsewhere."""
        index, length, claim = self._index, self._length, object()
        is_mine = claimed(index, claim)
        try:
            places = index if is_mine and len(index) == length else self._copied_index()
            places.update(zip(keys, range(length, length + len(keys)), strict=True))
        finally:
            if is_mine:
                unclaim(index)
        return places

    def _copied_index(self) -> dict[Any, int]:
        index = self._index.copy()  # in one step: another version may extend it meanwhile
        while len(index) > self._length:
            index.popitem()
        return index

    def _at(self, place: int) -> V:
        """Return the value at a place that exists; `[]` is the checked form."""
        trie = self._length - len(self._tail)
        if place >= trie:
            return self._tail[place - trie]  # type: ignore[no-any-return]  # a value
        return _leaf(self._root, self._shift, place)[place & MASK]  # type: ignore[no-any-return]  # the same

    def _keys(self) -> list[Any]:
        """Return all keys, in the order of their places."""
        return list(self._index)[: self._length]

    def _grew_from(self, older: Keyed[Any]) -> bool:
        """Return whether this version continues `older`; no keys are compared."""
        return self._index is older._index and self._length >= older._length

    def _differing(self, older: Keyed[V]) -> Iterator[int]:
        """Yield the places of `older` whose value is another object here, in ascending order.

        This version must have grown from `older`; the parts that both share are skipped.
        """
        start = older._length - len(older._tail)
        if older._root is not self._root and start:
            yield from _differing(self, older)
        yield from (start + slot for slot in _differing_slots(self._leaf(start), older._tail))

    def _leaf(self, start: int) -> tuple[Any, ...]:
        """Return the values from the beginning of a leaf or of the tail."""
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
            return tuple(self._at(place) for place in range(*index.indices(self._length)))
        return self._at(checked_place(index, self._length))

    def __iter__(self) -> Iterator[V]:
        return _values(self._root, self._shift, self._tail)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Keyed):
            return type(self) is type(other) and self._equals(other)
        if isinstance(other, tuple | list):
            same = len(other) == self._length
            return same and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def _equals(self, other: Keyed[Any]) -> bool:
        if self._length != other._length:
            return False
        if self._root is other._root and self._tail is other._tail:
            return True
        return all(a is b or a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # the values have none

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (list(zip(self._keys(), self, strict=True)),)


Sequence.register(Keyed)  # pyright: ignore[reportAttributeAccessIssue]  # typeshed hides that it is an ABC


def _grown(
    root: tuple[Any, ...], shift: int, start: int, values: tuple[Any, ...]
) -> tuple[tuple[Any, ...], int, tuple[Any, ...]]:
    """Move all but the last few values from `start` on into a trie; return it and the rest."""
    settled = max(0, len(values) - 1) // WIDTH * WIDTH
    leaves = [values[place : place + WIDTH] for place in range(0, settled, WIDTH)]
    while leaves:
        room = WIDTH - ((start >> BITS) & MASK)  # in the node above the leaves
        root, shift = _pushed_root(root, shift, start, tuple(leaves[:room]))
        start += WIDTH * min(room, len(leaves))
        del leaves[:room]
    return root, shift, values[settled:]


def _pushed_root(
    root: tuple[Any, ...], shift: int, start: int, leaves: tuple[Any, ...]
) -> tuple[tuple[Any, ...], int]:
    if not root:
        return leaves, BITS
    if start >> shift >= WIDTH:
        return (root, _path(leaves, shift - BITS)), shift + BITS
    return _pushed(root, shift, start, leaves), shift


def _with(values: tuple[V, ...], place: int, value: V) -> tuple[V, ...]:
    changed = list(values)  # faster than joining slices (benchmark "one apply per update")
    changed[place] = value
    return tuple(changed)


def _replaced(node: tuple[Any, ...], shift: int, place: int, value: Any) -> tuple[Any, ...]:
    slot = (place >> shift) & MASK
    inner = value if shift == 0 else _replaced(node[slot], shift - BITS, place, value)
    return _with(node, slot, inner)


def _pushed(
    node: tuple[Any, ...], shift: int, start: int, leaves: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Add leaves, which all belong into one node, after the last leaf."""
    if shift == BITS:
        return (*node, *leaves)
    slot = (start >> shift) & MASK
    if slot == len(node):
        return (*node, _path(leaves, shift - 2 * BITS))
    return _with(node, slot, _pushed(node[slot], shift - BITS, start, leaves))


def _path(leaves: tuple[Any, ...], shift: int) -> tuple[Any, ...]:
    """Wrap a node of leaves into nodes of one child each, up to the right depth."""
    node = leaves
    for _ in range(0, shift, BITS):
        node = (node,)
    return node


def _leaf(root: tuple[Any, ...], shift: int, place: int) -> tuple[Any, ...]:
    """Return the leaf that holds a place."""
    node = root
    for level in range(shift, 0, -BITS):
        node = node[(place >> level) & MASK]
    return node


def _values(root: tuple[Any, ...], shift: int, tail: tuple[Any, ...]) -> Iterator[Any]:
    leaves: Iterable[tuple[Any, ...]] = (root,) if root else ()
    for _ in range(0, shift, BITS):
        leaves = chain.from_iterable(leaves)
    return chain(chain.from_iterable(leaves), tail)


def _differing(newer: Keyed[Any], older: Keyed[Any]) -> list[int]:
    """Yield the places that differ, by walking both tries and skipping shared parts."""
    root = newer._root
    for _ in range(older._shift, newer._shift, BITS):  # the newer trie may be higher
        root = root[0]
    nodes = [(root, older._root, 0)]
    for shift in range(older._shift, 0, -BITS):
        nodes = [
            (new[slot], old[slot], start + (slot << shift))
            for new, old, start in nodes
            for slot in _differing_slots(new, old)
        ]
    return [start + slot for new, old, start in nodes for slot in _differing_slots(new, old)]


def _differing_slots(new: tuple[Any, ...], old: tuple[Any, ...]) -> Iterator[int]:
    """Yield the slots of `old` that hold another object in `new`, which has at least as many."""
    return compress(_SLOTS, map(is_not, new, old))
