"""Sequences with keys: values against plain lists, sharing, and the cost of changes, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from acp_client._items import Items
from acp_client._keyed import Keyed

SIZES = [0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 1023, 1024, 1025, 1056, 1057, 2_000, 33_000]


def numbers(count: int, first: int = 0) -> Keyed[Any]:
    """Make a keyed sequence of numbers, each under its text."""
    return Keyed._of((str(number), number) for number in range(first, first + count))


@pytest.mark.parametrize("size", SIZES)
def test_keyed_is_a_sequence(size: int) -> None:
    """Of any size, made at once or one by one, values are found by place and by key."""
    whole = numbers(size)
    assert len(whole) == size
    assert list(whole) == list(range(size))
    assert list(reversed(whole)) == list(reversed(range(size)))
    assert whole._keys() == [str(number) for number in range(size)]
    for place in {0, 1, 31, 32, 33, 1023, 1024, size - 1, size // 2} & set(range(size)):
        assert whole[place] == whole.get(str(place)) == whole._at(place) == place
        assert whole[place - size] == place
        assert whole._place(str(place)) == place
    assert whole.get("none") is None
    assert whole._place("none") == -1
    assert whole[5:40:7] == tuple(range(size))[5:40:7]
    for index in (size, -size - 1):
        with pytest.raises(IndexError):
            whole[index]


@given(
    st.lists(
        st.one_of(
            st.integers(1, 70).map(lambda count: ("add", count)),
            st.integers(0, 5_000).map(lambda place: ("replace", place)),
            st.integers(0, 20).map(lambda version: ("back", version)),
        ),
        max_size=12,
    )
)
def test_keyed_against_lists(steps: list[tuple[str, int]]) -> None:
    """Adding, replacing and branching give what lists give, and no version changes."""
    versions: list[tuple[Keyed[Any], list[Any], list[str]]] = [(Keyed(), [], [])]
    fresh = 0
    for kind, number in steps:
        version, values, keys = versions[-1]
        if kind == "back":
            versions.append(versions[number % len(versions)])
            continue
        if kind == "add":
            added = [f"k{fresh + count}" for count in range(number)]
            fresh += number
            version = version._changed({}, added, added)
            values, keys = values + added, keys + added
        elif values:
            place = number % len(values)
            fresh += 1
            version = version._changed({place: fresh})
            values = [*values[:place], fresh, *values[place + 1 :]]
        versions.append((version, values, keys))
    for version, values, keys in versions:
        assert list(version) == values
        assert version._keys() == keys
        assert [version.get(key) for key in keys] == values


def test_keyed_replaces_and_adds_at_once() -> None:
    """One change may replace values in the trie and in the tail and add new ones."""
    before = numbers(100)
    after = before._changed({3: "x", 98: "y"}, ["new", "newer"], ["z", "w"])
    expected: list[Any] = [*range(100), "z", "w"]
    expected[3], expected[98] = "x", "y"
    assert list(after) == expected
    assert list(before) == list(range(100))
    assert (after.get("3"), after.get("newer"), before.get("new")) == ("x", "w", None)


def test_keyed_versions_do_not_see_later_keys() -> None:
    """Versions share their index, and a key that came later is not in an older version."""
    older = numbers(3)
    newer = older._changed({}, ["x"], [10])
    branch = older._changed({}, ["x", "y"], [20, 30])
    assert newer._index is older._index
    assert newer._grew_from(older)
    assert not branch._grew_from(older)
    assert (older.get("x"), newer.get("x"), branch.get("x")) == (None, 10, 20)
    assert (older._place("y"), newer._place("y"), branch._place("y")) == (-1, -1, 4)


@pytest.mark.parametrize("size", [1, 40, 1_100, 2_000])
def test_keyed_are_compared_by_value(size: int) -> None:
    """Equal values are equal, shared or not; one that differs is found."""
    one, other = numbers(size), numbers(size)
    assert one == other
    assert one == one._changed({0: 0})
    assert one != one._changed({size - 1: "x"})
    assert one != numbers(size + 1)
    assert one == list(range(size)) == one
    assert one != [*range(size - 1), "x"]
    assert size - 1 in one
    assert size not in one
    assert isinstance(one, Sequence)
    with pytest.raises(TypeError):
        hash(one)


def test_keyed_shows_its_values() -> None:
    """The repr is that of the values."""
    assert repr(numbers(2)) == "Keyed([0, 1])"


def nodes(version: Any) -> dict[int, Any]:
    """Give all tuples and lists that a version is made of, by identity."""
    found: dict[int, Any] = {}
    waiting = [version]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Struct):
            waiting += [getattr(value, name) for name in value.__struct_fields__]
        elif isinstance(value, tuple | list) and value and id(value) not in found:
            found[id(value)] = value
            waiting += value
    return found


def fresh(before: Any, after: Any) -> list[Any]:
    """Give the tuples and lists of a version that an older one is not made of."""
    old = nodes(before)
    return [node for key, node in nodes(after).items() if key not in old]


@pytest.mark.parametrize("place", [0, 31, 32, 50_000, 99_967, 99_968, 99_999])
def test_one_change_touches_few_nodes(place: int) -> None:
    """Replacing one of 100,000 values makes as many nodes as the trie is high, or one tail."""
    before = numbers(100_000)
    after = before._changed({place: "x"})
    made = fresh(before, after)
    assert after[place] == "x"
    assert 1 <= len(made) <= 4
    assert sum(map(len, made)) <= 4 * 32
    assert after._index is before._index


def test_adding_touches_few_nodes() -> None:
    """Adding to 100,000 values makes a few nodes, however many were there before."""
    before = numbers(100_000)
    for count in (1, 31, 32, 33, 70):
        keys = [f"k{number}" for number in range(count)]
        made = fresh(before, before._changed({}, keys, keys))
        assert len(made) <= 5 + count // 32


@pytest.mark.parametrize("size", [0, 32, 33, 1_056, 12_000])
def test_appending_touches_few_nodes(size: int) -> None:
    """Appending an item makes a few nodes, however many items were there before."""
    version: Items[int] = Items._made(list(range(size)))
    for number in range(40):
        before, version = version, version._appended([number])
        assert sum(map(len, fresh(before, version))) <= 5 * 32
    assert len(version) == size + 40


@given(st.integers(1, 2_500), st.sets(st.integers(0, 2_499), max_size=6), st.integers(0, 1_200))
def test_differing_places_are_found(size: int, places: set[int], added: int) -> None:
    """What differs from an older version is found, in order, though the trie may have grown."""
    before = numbers(size)
    replaced = {place: str(place) for place in places if place < size}
    keys = [f"k{number}" for number in range(added)]
    after = before._changed(replaced)._changed({}, keys, keys)
    assert list(after._differing(before)) == sorted(replaced)
    assert list(before._differing(before)) == []
