"""Comparing lists: what differs, and the least that leads from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_client._sequence_diff import common_length, differing, matched, overlap


@given(st.lists(st.integers(0, 700)), st.integers(0, 700), st.integers(0, 700))
def test_lists_differ_where_their_items_do(places: list[int], first: int, second: int) -> None:
    """Lists of any lengths are compared item by item, up to the end of the shorter one."""
    old, new = list(range(first)), list(range(second))
    for place in places:
        new[place : place + 1] = [-1] if place < second else []
    expected = [place for place in range(min(first, second)) if old[place] != new[place]]
    assert list(differing(old, new)) == expected
    assert common_length(old, new) == [*expected, min(first, second)][0]


KEYED = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 1)), max_size=7)


@given(KEYED, KEYED, st.booleans())
def test_matching_leads_from_any_list_to_any_other(
    old: list[Any], new: list[Any], in_place: bool
) -> None:
    """Deleting, inserting and replacing what a matching names gives the new list."""
    matching = matched(old, new, lambda item: item[0], in_place=in_place)
    held = list(old)
    for place in reversed(matching.removed):
        del held[place]
    for place in matching.added:
        held.insert(place, new[place])
    for place in matching.changed:
        held[place] = new[place]
    assert held == new


@given(st.permutations("abcdef"), st.integers(0, 6), st.permutations("abcdef"))
def test_matching_keeps_as_much_as_there_is_to_keep(
    old: list[str], kept: int, new: list[str]
) -> None:
    """No more is removed than must be: the rest is a longest common subsequence."""
    found = matched(old, new[:kept], str)
    longest = max(
        size
        for size in range(kept + 1)
        if any(_is_within(part, old) for part in combinations(new[:kept], size))
    )
    assert len(old) - len(found.removed) == longest
    assert found.changed == ()


def _is_within(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(item in rest for item in part)


@given(st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), max_size=6))
def test_lists_overlap_at_their_ends(old: list[int], new: list[int]) -> None:
    """The overlap is the longest end of the old list that the new one begins with."""
    ends = [n for n in range(min(len(old), len(new)) + 1) if old[len(old) - n :] == new[:n]]
    assert overlap(old, new) == max(ends)
