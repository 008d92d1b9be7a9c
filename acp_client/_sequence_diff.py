"""The comparison of two lists: differences, common ends, and the steps from old to new.

Lists that an agent replaces whole are matched item by item (`matched`), so that a renderer touches
only the differences. Lists that change at their ends are compared from there (`common_length`,
`overlap`). Objects that are identical on both sides are not compared by value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

_SLICE: Final = 256
"""The number of items `differing` compares at once: enough to save loops, and short to search."""


def differing(old: Sequence[object], new: Sequence[object]) -> Iterator[int]:
    """Yield the places in both lists at which they are not equal."""
    for start in range(0, min(len(old), len(new)), _SLICE):
        were, are = old[start : start + _SLICE], new[start : start + _SLICE]
        if were == are:
            continue
        for place, (was, now) in enumerate(zip(were, are, strict=False), start):
            if was is not now and was != now:
                yield place


def common_prefix(old: str, new: str) -> int:
    """Return the length, in characters, of the common beginning, found by bisection."""
    same, most = 0, min(len(old), len(new))
    while same < most:
        middle = (same + most + 1) // 2
        if old[same:middle] == new[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def common_length(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the number of equal items with which both lists begin."""
    return next(differing(old, new), min(len(old), len(new)))


class Matching(NamedTuple):
    """The steps that lead from an old list to a new one.

    `removed` are places in the old list; `added` and `changed` are places in the new one. To get
    the new list, delete the removed items, insert the added ones in ascending order, and replace
    the changed ones.
    """

    removed: tuple[int, ...]
    added: tuple[int, ...]
    changed: tuple[int, ...]


def matched(
    old: Sequence[T],
    new: Sequence[T],
    key: Callable[[T], Hashable],
    *,
    in_place: bool = False,
) -> Matching:
    """Match the items of two lists by their keys, in their order.

    Only the items between the common ends are matched: usually one item was added or removed.

    With `in_place`, an item that has no match may have changed its key: it is matched with the one
    in its place, between matches on both sides.
    """
    start = common_length(old, new)
    end = min(len(old), len(new)) - start
    end = common_length(old[::-1][:end], new[::-1][:end])
    was, now = old[start : len(old) - end], new[start : len(new) - end]
    pairs = _pairs(list(_numbered(was, key)), list(_numbered(now, key)))
    if in_place:
        pairs = list(_with_neighbours(pairs, len(was), len(now)))
    before, after = {a for a, _ in pairs}, {b for _, b in pairs}
    return Matching(
        tuple(start + place for place in range(len(was)) if place not in before),
        tuple(start + place for place in range(len(now)) if place not in after),
        tuple(start + b for a, b in pairs if was[a] is not now[b] and was[a] != now[b]),
    )


def _numbered(items: Sequence[T], key: Callable[[T], Hashable]) -> Iterator[Hashable]:
    """Yield the keys of items, each with the number of its earlier occurrences."""
    seen: dict[Hashable, int] = {}
    for item in items:
        found = key(item)
        seen[found] = seen.get(found, -1) + 1
        yield found, seen[found]


def _pairs(old: list[Hashable], new: list[Hashable]) -> list[tuple[int, int]]:
    """Pair the places of equal keys, as many as there can be in ascending order on both sides."""
    places = {key: place for place, key in enumerate(old)}
    common = [(places[key], place) for place, key in enumerate(new) if key in places]
    ends: list[int] = []  # of the ascending sequences of each length, the least last place
    chains: list[Any] = []  # those sequences, each as a pair and the chain before it
    for pair in common:
        length = bisect_left(ends, pair[0])
        chain = (pair, chains[length - 1] if length else None)
        ends[length : length + 1] = [pair[0]]
        chains[length : length + 1] = [chain]
    return _unchained(chains[-1] if chains else None)


def _unchained(chain: Any) -> list[tuple[int, int]]:
    pairs = []
    while chain is not None:
        pair, chain = chain
        pairs.append(pair)
    return pairs[::-1]


def _with_neighbours(pairs: list[tuple[int, int]], old: int, new: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs, and those of places between them that have no match."""
    a = b = 0
    for pair in [*pairs, (old, new)]:
        yield from zip(range(a, pair[0]), range(b, pair[1]), strict=False)
        if pair != (old, new):
            yield pair
        a, b = pair[0] + 1, pair[1] + 1


def overlap(old: Sequence[T], new: Sequence[T]) -> int:
    """Return the number of items at the end of `old` with which `new` begins."""
    for length in range(min(len(old), len(new)), 0, -1):
        if new[length - 1] is old[-1] and _same(old[-length:], new[:length]):
            return length
    for length in range(min(len(old), len(new)), 0, -1):
        if new[length - 1] == old[-1] and old[-length:] == new[:length]:
            return length
    return 0


def _same(old: Sequence[T], new: Sequence[T]) -> bool:
    return all(a is b for a, b in zip(old, new, strict=True))
