"""Every order of a few steps gives what the second implementation says, live and told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from naive import LANDED, LANDED_V1

from acp_client._versions import Protocol

from .actors import CASTS
from .conversations import Conversation, Live, Told
from .interleavings import Script, interleavings, without_prefixes

QUICK = 400
"""Of so many sequences the quick slice takes one."""


def orders(cast: str) -> list[Script]:
    """Return the sequences of a cast, without those that are the beginning of another one."""
    return without_prefixes(interleavings(CASTS[cast]))


def play(kind: type[Conversation], protocol: Protocol, steps: Script, known: int) -> None:
    """Take the steps, and compare after each one beyond those that were compared before."""
    conversation = kind(protocol, LANDED_V1 if protocol == "v1" else LANDED)
    conversation.begin()
    for number, step in enumerate(steps):
        conversation.take(step)
        if number >= known:
            conversation.check()


def common(one: Script, other: Script) -> int:
    """Return how many steps two sequences begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((number for number, pair in enumerate(pairs) if pair[0] != pair[1]), len(other))


def play_all(kind: type[Conversation], protocol: Protocol, sequences: list[Script]) -> None:
    """Take all sequences, which are sorted."""
    before: Script = ()
    for steps in sequences:
        play(kind, protocol, steps, common(before, steps))
        before = steps


Record = Callable[[str, object], None]


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("protocol", ["v2", "v1"])
@pytest.mark.parametrize("kind", [Told, Live])
def test_some_orders(
    kind: type[Conversation], protocol: Protocol, cast: str, record_property: Record
) -> None:
    """A slice of all sequences, for every run of the tests."""
    sequences = orders(cast)[::QUICK]
    play_all(kind, protocol, sequences)
    record_property(f"sequences {kind.__name__} {protocol}, a slice", len(sequences))


@pytest.mark.exhaustive
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("protocol", ["v2", "v1"])
@pytest.mark.parametrize("kind", [Told, Live])
def test_all_orders(
    kind: type[Conversation], protocol: Protocol, cast: str, record_property: Record
) -> None:
    """Every sequence of the cast."""
    sequences = orders(cast)
    play_all(kind, protocol, sequences)
    record_property(f"sequences {kind.__name__} {protocol}, all", len(sequences))
