"""Persistent sequences: values against plain lists, sharing, and the cost of changes, counted."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from acp_client._containers import Items, Keyed, accumulated_text, measured

SIZES = [0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 1023, 1024, 1025, 1056, 1057, 2_000, 33_000]


def numbers(count: int, first: int = 0) -> Keyed[Any]:
    """Make a keyed sequence of numbers, each under its text."""
    return Keyed.of((str(number), number) for number in range(first, first + count))


# --- Items ---


@given(st.lists(st.lists(st.integers(), max_size=4)), st.data())
def test_items_are_a_sequence(batches: list[list[int]], data: st.DataObject) -> None:
    """Every version holds what was appended up to it, read in any way, whatever comes later."""
    version: Items[int] = Items.made([])
    expected: list[int] = []
    versions = [(version, expected)]
    for batch in batches:
        version, expected = version.appended(batch), expected + batch
        versions.append((version, expected))
    for version, expected in versions:
        assert list(version) == expected
        assert version == expected
        assert version == tuple(expected)
        assert len(version) == len(expected)
        assert list(reversed(version)) == expected[::-1]
        cut = data.draw(st.slices(len(expected)))
        assert version[cut] == tuple(expected[cut])
        assert version.stored() == expected


@given(st.lists(st.tuples(st.integers(0, 20), st.lists(st.integers(), min_size=1, max_size=3))))
def test_items_branch(steps: list[tuple[int, list[int]]]) -> None:
    """Continuations of any older version are true, and so are all versions before."""
    versions: list[tuple[Items[int], list[int]]] = [(Items.made([]), [])]
    for place, batch in steps:
        base, expected = versions[place % len(versions)]
        versions.append((base.appended(batch), expected + batch))
    for version, expected in versions:
        assert list(version) == expected


def test_items_are_compared_by_value() -> None:
    """Equal items are equal whether they share a list or not; other things are not."""
    one: Items[int] = Items.made([1, 2])
    other: Items[int] = Items.made([1]).appended([2])
    assert one == other
    assert not one != other  # noqa: SIM202  # `!=` has a function of its own
    assert one != Items.made([1])
    assert one != Items.made([1, 3])
    assert one != [1]
    assert (one == "12") is False
    assert one.__eq__(5) is NotImplemented
    assert isinstance(one, Sequence)
    assert repr(one) == "Items([1, 2])"
    with pytest.raises(TypeError):
        hash(one)


@pytest.mark.parametrize("index", [2, -3, 100])
def test_items_have_bounds(index: int) -> None:
    """A place that is not there is an error, though the shared list may have it."""
    version: Items[int] = Items.made([1, 2])
    version.appended([3, 4, 5])
    with pytest.raises(IndexError):
        version[index]
    assert (version[0], version[-1], 2 in version, 3 in version) == (1, 2, True, False)


def test_items_know_what_they_grew_from() -> None:
    """A version knows those that it grew from; a second continuation is a lineage of its own."""
    base: Items[int] = Items.made([0])
    newest = base
    for number in range(1, 1_000):
        newest = newest.appended([number])
    branch = base.appended([-1])
    assert newest.grew_from(base)
    assert newest.grew_from(newest)
    assert not base.grew_from(newest)
    assert not branch.grew_from(base)
    assert not branch.grew_from(newest)
    assert list(newest)[:3] == [0, 1, 2]
    assert list(branch) == [0, -1]


@given(st.lists(st.integers(0, 70), min_size=1, max_size=12), st.data())
def test_items_are_stored_in_order(batches: list[int], data: st.DataObject) -> None:
    """The stored items from any place on are those that came there, however large the batches."""
    version: Items[int] = Items.made([])
    for size in batches:
        version = version.appended(range(len(version), len(version) + size))
    start = data.draw(st.integers(0, len(version)))
    assert version.stored(start) == list(range(start, len(version)))


def test_items_keep_what_belongs_to_chunks() -> None:
    """What is noted beside items grows with them, is compared, and is true in old versions."""
    base: Items[str] = Items.made(["a"], [(0, "x")])
    more = base.appended(["b"]).appended(["c"], [(2, "y")])
    assert list(base._metas) == [(0, "x")]
    assert list(more._metas) == [(0, "x"), (2, "y")]
    assert more != Items.made(["a", "b", "c"])
    assert Items.made(["a"]).appended(["b"], [(1, "z")])._metas == [(1, "z")]


def test_items_may_be_extended_by_threads() -> None:
    """Of several threads that extend one version each gets its own continuation."""
    base: Items[int] = Items.made([0])
    found: list[tuple[int, Items[int]]] = []

    def extend(number: int) -> None:
        version = base
        for _ in range(500):
            version = version.appended([number])
        found.append((number, version))

    threads = [threading.Thread(target=extend, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(list(version) == [0] + [number] * 500 for number, version in found)
    assert list(base) == [0]


def test_a_measure_is_taken_once() -> None:
    """What was measured of a version is kept with it, and not with the next one."""
    version: Items[int] = Items.made([1, 2])
    taken = iter([2])
    for _ in range(3):
        assert measured(version, lambda: next(taken)) == 2
    assert measured(version.appended([3]), lambda: 3) == 3


class Counting:
    """An accumulator that counts what it is fed."""

    fed = 0
    made = 0

    def __init__(self) -> None:
        self.joined = ""
        Counting.made += 1

    def feed(self, items: list[Any]) -> None:
        """Take items."""
        Counting.fed += len(items)
        self.joined += "".join(items)

    def text(self) -> str:
        """Give the text."""
        return self.joined


def test_text_is_accumulated_once() -> None:
    """Reading the text after each append costs what was appended, not what there is."""
    Counting.fed = Counting.made = 0
    version: Items[str] = Items.made([])
    for number in range(1_000):
        version = version.appended([str(number % 10)])
        assert len(accumulated_text(version, Counting)) == number + 1
    assert (Counting.fed, Counting.made) == (1_000, 1)


def test_text_of_older_versions_is_true() -> None:
    """An older version has its own text, and asking for it does not spoil the newest one's."""
    older: Items[str] = Items.made(["a", "b"])
    newer = older.appended(["c"])
    branch = older.appended(["d"])
    for _ in range(2):
        assert accumulated_text(newer, Counting) == "abc"
        assert accumulated_text(older, Counting) == "ab"
        assert accumulated_text(branch, Counting) == "abd"
    assert accumulated_text(newer.appended(["e"]), Counting) == "abce"


# --- Keyed ---


@pytest.mark.parametrize("size", SIZES)
def test_keyed_is_a_sequence(size: int) -> None:
    """Of any size, made at once or one by one, values are found by place and by key."""
    whole = numbers(size)
    assert len(whole) == size
    assert list(whole) == list(range(size))
    assert list(reversed(whole)) == list(reversed(range(size)))
    assert whole.keys() == [str(number) for number in range(size)]
    for place in {0, 1, 31, 32, 33, 1023, 1024, size - 1, size // 2} & set(range(size)):
        assert whole[place] == whole.get(str(place)) == whole.at(place) == place
        assert whole[place - size] == place
        assert whole.place(str(place)) == place
    assert whole.get("none") is None
    assert whole.place("none") == -1
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
            version = version.changed({}, added, added)
            values, keys = values + added, keys + added
        elif values:
            place = number % len(values)
            fresh += 1
            version = version.changed({place: fresh})
            values = [*values[:place], fresh, *values[place + 1 :]]
        versions.append((version, values, keys))
    for version, values, keys in versions:
        assert list(version) == values
        assert version.keys() == keys
        assert [version.get(key) for key in keys] == values


def test_keyed_replaces_and_adds_at_once() -> None:
    """One change may replace values in the trie and in the tail and add new ones."""
    before = numbers(100)
    after = before.changed({3: "x", 98: "y"}, ["new", "newer"], ["z", "w"])
    expected: list[Any] = [*range(100), "z", "w"]
    expected[3], expected[98] = "x", "y"
    assert list(after) == expected
    assert list(before) == list(range(100))
    assert (after.get("3"), after.get("newer"), before.get("new")) == ("x", "w", None)


def test_keyed_versions_do_not_see_later_keys() -> None:
    """Versions share their index, and a key that came later is not in an older version."""
    older = numbers(3)
    newer = older.changed({}, ["x"], [10])
    branch = older.changed({}, ["x", "y"], [20, 30])
    assert newer._index is older._index
    assert newer.grew_from(older)
    assert not branch.grew_from(older)
    assert (older.get("x"), newer.get("x"), branch.get("x")) == (None, 10, 20)
    assert (older.place("y"), newer.place("y"), branch.place("y")) == (-1, -1, 4)


@pytest.mark.parametrize("size", [1, 40, 1_100, 2_000])
def test_keyed_are_compared_by_value(size: int) -> None:
    """Equal values are equal, shared or not; one that differs is found."""
    one, other = numbers(size), numbers(size)
    assert one == other
    assert one == one.changed({0: 0})
    assert one != one.changed({size - 1: "x"})
    assert one != numbers(size + 1)
    assert one != list(range(size))
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
    after = before.changed({place: "x"})
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
        made = fresh(before, before.changed({}, keys, keys))
        assert len(made) <= 5 + count // 32


@pytest.mark.parametrize("size", [0, 32, 33, 1_056, 12_000])
def test_appending_touches_few_nodes(size: int) -> None:
    """Appending an item makes a few nodes, however many items were there before."""
    version: Items[int] = Items.made(list(range(size)))
    for number in range(40):
        before, version = version, version.appended([number])
        assert sum(map(len, fresh(before, version))) <= 5 * 32
    assert len(version) == size + 40


@given(st.integers(1, 2_500), st.sets(st.integers(0, 2_499), max_size=6), st.integers(0, 1_200))
def test_differing_places_are_found(size: int, places: set[int], added: int) -> None:
    """What differs from an older version is found, in order, though the trie may have grown."""
    before = numbers(size)
    replaced = {place: str(place) for place in places if place < size}
    keys = [f"k{number}" for number in range(added)]
    after = before.changed(replaced).changed({}, keys, keys)
    assert list(after.differing(before)) == sorted(replaced)
    assert list(before.differing(before)) == []
