"""Steps of a connection, damaged or not, as frames.

Well formed does not mean easy: lone surrogates, `1.0` for an integer, unknown variants and early
updates are all valid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .books import ACTIONS, Connection, Spoken
from .choices import Choices, Frame, halves
from .damage import MUTATIONS, damaged, mutated
from .junk import junk_line
from .writing import encode

_STYLES = (0,) * 8 + tuple(range(8))


def _write(spoken: Spoken, style: int) -> list[Frame]:
    return [Frame(sent, encode(message, style)) for sent, message in spoken]


def _harm_value(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    place = choices.below(len(spoken))
    sent, message = spoken[place]
    message = mutated(choices, message, MUTATIONS)
    while choices.one_in(4):
        message = mutated(choices, message, MUTATIONS)
    return _write([*spoken[:place], (sent, message), *spoken[place + 1 :]], style)


def _harm_line(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    frames = _write(spoken, style)
    place = choices.below(len(frames))
    frames[place] = Frame(frames[place].sent, damaged(choices, frames[place].data))
    return frames


def _harm_stream(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    return [Frame(False, junk_line(choices)), *_write(spoken, style)]


def _harm_framing(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    messages = [message for _, message in spoken]
    return [Frame(spoken[0][0], encode(messages, style))]


Harm: TypeAlias = Callable[[Choices, Spoken, int], list[Frame]]
_HARMS: tuple[Harm | None, ...] = (
    *[None] * 7, *[_harm_value] * 5, *[_harm_stream] * 2, _harm_line, _harm_framing,
)  # fmt: skip


def step(connection: Connection, tape: bytes, hostile_client: bool) -> list[Frame]:
    choices, harm_choices = halves(tape)
    spoken = choices.pick(ACTIONS)(connection, choices)
    style, harm = harm_choices.pick(_STYLES), harm_choices.pick(_HARMS)
    spared = connection.well_formed or (spoken[0][0] and not hostile_client)
    if harm is None or spared:
        return _write(spoken, style)
    return harm(harm_choices, spoken, style)


def session_frames(
    well_formed: bool, max_frames: int, hostile_client: bool, parts: list[tuple[bytes, ...]]
) -> list[Frame]:
    connection = Connection(well_formed)
    frames: list[Frame] = []
    for part in parts:
        for tape in part:
            frames += step(connection, tape, hostile_client)
    return frames[:max_frames]
