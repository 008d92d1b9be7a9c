"""Sequences that grow: values against plain lists, sharing, and texts."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._items import Items, accumulated_text, measured


@given(st.lists(st.lists(st.integers(), max_size=4)), st.data())
def test_items_are_a_sequence(batches: list[list[int]], data: st.DataObject) -> None:
    """Every version holds what was appended up to it, read in any way, whatever comes later."""
    version: Items[int] = Items._made([])
    expected: list[int] = []
    versions = [(version, expected)]
    for batch in batches:
        version, expected = version._appended(batch), expected + batch
        versions.append((version, expected))
    for version, expected in versions:
        assert list(version) == expected
        assert version == expected
        assert version == tuple(expected)
        assert len(version) == len(expected)
        assert list(reversed(version)) == expected[::-1]
        cut = data.draw(st.slices(len(expected)))
        assert version[cut] == tuple(expected[cut])
        assert version._stored() == expected


@given(st.lists(st.tuples(st.integers(0, 20), st.lists(st.integers(), min_size=1, max_size=3))))
def test_items_branch(steps: list[tuple[int, list[int]]]) -> None:
    """Continuations of any older version are true, and so are all versions before."""
    versions: list[tuple[Items[int], list[int]]] = [(Items._made([]), [])]
    for place, batch in steps:
        base, expected = versions[place % len(versions)]
        versions.append((base._appended(batch), expected + batch))
    for version, expected in versions:
        assert list(version) == expected


def test_items_are_compared_by_value() -> None:
    """Equal items are equal whether they share a list or not; other things are not."""
    one: Items[int] = Items._made([1, 2])
    other: Items[int] = Items._made([1])._appended([2])
    assert one == other
    assert not one != other  # noqa: SIM202  # `!=` has a function of its own
    assert one != Items._made([1])
    assert one != Items._made([1, 3])
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
    version: Items[int] = Items._made([1, 2])
    version._appended([3, 4, 5])
    with pytest.raises(IndexError):
        version[index]
    assert (version[0], version[-1], 2 in version, 3 in version) == (1, 2, True, False)


def test_items_know_what_they_grew_from() -> None:
    """A version knows those that it grew from; a second continuation is a lineage of its own."""
    base: Items[int] = Items._made([0])
    newest = base
    for number in range(1, 1_000):
        newest = newest._appended([number])
    branch = base._appended([-1])
    assert newest._grew_from(base)
    assert newest._grew_from(newest)
    assert not base._grew_from(newest)
    assert not branch._grew_from(base)
    assert not branch._grew_from(newest)
    assert list(newest)[:3] == [0, 1, 2]
    assert list(branch) == [0, -1]


@given(st.lists(st.integers(0, 70), min_size=1, max_size=12), st.data())
def test_items_are_stored_in_order(batches: list[int], data: st.DataObject) -> None:
    """The stored items from any place on are those that came there, however large the batches."""
    version: Items[int] = Items._made([])
    for size in batches:
        version = version._appended(range(len(version), len(version) + size))
    start = data.draw(st.integers(0, len(version)))
    assert version._stored(start) == list(range(start, len(version)))


def test_items_keep_what_belongs_to_chunks() -> None:
    """What is noted beside items grows with them, is compared, and is true in old versions."""
    base: Items[str] = Items._made(["a"], [(0, "x")])
    more = base._appended(["b"])._appended(["c"], [(2, "y")])
    assert list(base._metas) == [(0, "x")]
    assert list(more._metas) == [(0, "x"), (2, "y")]
    assert more != Items._made(["a", "b", "c"])
    assert Items._made(["a"])._appended(["b"], [(1, "z")])._metas == [(1, "z")]


def test_items_may_be_extended_by_threads() -> None:
    """Of several threads that extend one version each gets its own continuation."""
    base: Items[int] = Items._made([0])
    found: list[tuple[int, Items[int]]] = []

    def extend(number: int) -> None:
        version = base
        for _ in range(500):
            version = version._appended([number])
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
    version: Items[int] = Items._made([1, 2])
    taken = iter([2])
    for _ in range(3):
        assert measured(version, lambda: next(taken)) == 2
    assert measured(version._appended([3]), lambda: 3) == 3


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
    version: Items[str] = Items._made([])
    for number in range(1_000):
        version = version._appended([str(number % 10)])
        assert len(accumulated_text(version, Counting)) == number + 1
    assert (Counting.fed, Counting.made) == (1_000, 1)


def test_text_of_older_versions_is_true() -> None:
    """An older version has its own text, and asking for it does not spoil the newest one's."""
    older: Items[str] = Items._made(["a", "b"])
    newer = older._appended(["c"])
    branch = older._appended(["d"])
    for _ in range(2):
        assert accumulated_text(newer, Counting) == "abc"
        assert accumulated_text(older, Counting) == "ab"
        assert accumulated_text(branch, Counting) == "abd"
    assert accumulated_text(newer._appended(["e"]), Counting) == "abce"


def test_an_interrupted_claim_costs_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for whoever was extending a list and never let go of it: others copy."""
    base: Items[int] = Items._made([0])
    monkeypatch.setattr("acp_client._persistent._claims", {id(base._lineage): object()})
    newer = base._appended([1])
    assert list(newer) == [0, 1]
    assert not newer._grew_from(base)
    assert newer._appended([2])._grew_from(newer)


def test_texts_are_read_by_two_at_once() -> None:
    """A text that is asked for while another thread is at it is read from the beginning."""
    pair: Items[str] = Items._made(["a", "b"])

    class Nested:
        def __init__(self, *, asks: bool = False) -> None:
            self.asks, self.joined = asks, ""

        def feed(self, items: list[str]) -> None:
            if self.asks:
                assert accumulated_text(pair, Nested) == "ab"
            self.joined += "".join(items)

        def text(self) -> str:
            return self.joined

    assert accumulated_text(pair, lambda: Nested(asks=True)) == "ab"
    assert accumulated_text(pair, Nested) == "ab"


def test_items_can_do_what_sequences_do() -> None:
    """`index`, `count` and `in` work as they do on lists."""
    items: Items[Any] = Items._made([3, 1, 3])
    assert (items.index(3), items.index(3, 1), items.count(3), items.count(5)) == (0, 2, 2, 0)
    assert (3 in items, 5 in items) == (True, False)
    with pytest.raises(ValueError, match="not in the Items"):
        items.index(1, 2)
    assert not isinstance(items, Hashable)
