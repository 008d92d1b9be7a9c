"""Ways to deliver bytes and to merge sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from hypothesis import strategies as st

from .choices import TAPE, Choices, Frame, T


def splits(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Generate ways to deliver `data` in pieces: whole, at every byte, around LFs, anywhere."""
    return TAPE.map(lambda tape: _cut_up(data, Choices(tape)))


def _cut_up(data: bytes, choices: Choices) -> list[bytes]:
    return _pieces(data, choices.pick(_CUTTERS)(choices, data))


def _pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """Cut at the given places; a place named twice gives an empty piece."""
    edges = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def _cuts_anywhere(choices: Choices, data: bytes) -> list[int]:
    return [choices.wide() % (len(data) + 1) for _ in range(1 + choices.below(24))]


def _cuts_evenly(choices: Choices, data: bytes) -> range:
    return range(0, len(data), 1 + choices.wide() % 512)


def _cuts_around_line_ends(choices: Choices, data: bytes) -> list[int]:
    shift = choices.below(3) - 1
    ends = (place + 1 + shift for place, byte in enumerate(data) if byte == 0x0A)
    return [min(end, len(data)) for end in ends]


_CUTTERS: tuple[Callable[[Choices, bytes], Iterable[int]], ...] = (
    lambda choices, data: (),
    _cuts_anywhere,
    _cuts_anywhere,
    _cuts_evenly,
    _cuts_around_line_ends,
    lambda choices, data: range(1, len(data)),
)


def interleavings(first: Sequence[T], second: Sequence[T]) -> st.SearchStrategy[list[T]]:
    """Generate the ways to merge two sequences, each in its own order."""
    return st.binary(min_size=len(first) + len(second), max_size=len(first) + len(second)).map(
        lambda tape: _merged(first, second, Choices(tape))
    )


def _merged(first: Sequence[T], second: Sequence[T], choices: Choices) -> list[T]:
    merged: list[T] = []
    left, right = list(reversed(first)), list(reversed(second))
    while left and right:
        merged.append((right if choices.one_in(2) else left).pop())
    return merged + left[::-1] + right[::-1]


def received(frames: Iterable[Frame]) -> bytes:
    """Join the agent's frames to the bytes that it writes, each line ended by LF."""
    return b"".join(frame.data + b"\n" for frame in frames if not frame.sent)
