"""Tapes: what Hypothesis draws, and how a builder reads its decisions from one.

Drawing every field from Hypothesis costs more than the code under test. Here Hypothesis draws only
tapes: byte strings of a fixed length, one for each step of a session. `Choices` reads a tape one
byte a decision and plain functions build the JSON. Two rules keep shrinking useful:

- decision 0 is the simplest, and a spent tape answers 0 for ever, so that lower bytes mean a
  smaller message and every build ends;
- a step takes nothing from another step's tape, so that a step can be deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a connection without its LF; `sent` is from the client to the agent."""

    sent: bool
    data: bytes


@dataclass(slots=True)
class Choices:
    """A tape of decisions; once it is spent every decision is the simplest one."""

    tape: bytes
    place: int = 0

    def below(self, bound: int) -> int:
        """Give a number from 0 up to, and without, `bound` (at most 256)."""
        if self.place >= len(self.tape):
            return 0
        self.place += 1
        return self.tape[self.place - 1] % bound

    def wide(self) -> int:
        """Give a number of sixteen bits."""
        return self.below(256) << 8 | self.below(256)

    def pick(self, options: Sequence[T]) -> T:
        """Give one of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def one_in(self, count: int) -> bool:
        """Say yes once in `count` times; the simplest answer is no."""
        return self.below(count) == count - 1


Build: TypeAlias = Callable[[Choices], Json]

# A step's tape: most of it for what is said, the end for the damage done to that.
TAPE_LENGTH = 96
HARM_LENGTH = 32
TAPE = st.binary(min_size=TAPE_LENGTH, max_size=TAPE_LENGTH)


def halves(tape: bytes) -> tuple[Choices, Choices]:
    return Choices(tape[:-HARM_LENGTH]), Choices(tape[-HARM_LENGTH:])


def built(build: Build, choices: Choices) -> JsonObject:
    built: JsonObject = build(choices)
    return built


def step_tapes(most: int) -> st.SearchStrategy[list[tuple[bytes, ...]]]:
    # A list is some five long whatever its bound, so a list of lists gives a fair length. And
    # Hypothesis makes most examples by copying parts of one over others, which a long tape makes
    # too coarse: six of seven frames would be copies. It leaves the inside of a unique list alone.
    parts = st.lists(TAPE, min_size=1, max_size=max(1, most // 5)).map(tuple)
    return st.lists(parts, max_size=10, unique=True)
