"""The strategies of updates, sessions and lines."""

from __future__ import annotations

from functools import partial

from hypothesis import strategies as st

from .builders import either
from .choices import TAPE, Choices, Frame, JsonObject, halves, step_tapes
from .damage import VALUE_MUTATIONS, mutated
from .junk import ALL_JUNK, INERT
from .steps import session_frames
from .update_builders import an_update


def updates(variant: str | None = None) -> st.SearchStrategy[JsonObject]:
    """Generate one well-formed update; `variant` is one of `VARIANTS` or `UNKNOWN`."""
    return TAPE.map(lambda tape: plain_update(tape, variant))


def odd_updates(variant: str | None = None) -> st.SearchStrategy[JsonObject]:
    """Generate an update with a node or more replaced, dropped or added; it may still be valid."""
    return TAPE.map(lambda tape: odd_update(tape, variant))


def plain_update(tape: bytes, variant: str | None) -> JsonObject:
    return an_update(Choices(tape), variant)


def odd_update(tape: bytes, variant: str | None) -> JsonObject:
    choices, harm_choices = halves(tape)
    update = mutated(harm_choices, an_update(choices, variant), VALUE_MUTATIONS)
    while harm_choices.one_in(3):
        update = mutated(harm_choices, update, VALUE_MUTATIONS)
    return update


def sessions(
    *, well_formed: bool, max_frames: int = 30, hostile_client: bool = False
) -> st.SearchStrategy[list[Frame]]:
    """Generate both directions of a connection, some half of `max_frames` frames on average.

    Without `well_formed` the agent's frames are damaged, with `hostile_client` the client's too.
    """
    return step_tapes(max_frames).map(
        partial(session_frames, well_formed, max_frames, hostile_client)
    )


def update_lists(*, well_formed: bool, max_size: int = 30) -> st.SearchStrategy[list[JsonObject]]:
    """Generate updates as `updates` or `odd_updates` do, some half of `max_size` on average.

    Better than a plain list of either, most of which Hypothesis would make by copying a few.
    """
    build = plain_update if well_formed else odd_update

    def collect(parts: list[tuple[bytes, ...]]) -> list[JsonObject]:
        return [build(tape, None) for part in parts for tape in part][:max_size]

    return step_tapes(max_size).map(collect)


def junk_lines(kind: str | None = None, *, inert: bool = False) -> st.SearchStrategy[bytes]:
    """Generate a line that is no well-formed message; `inert` ones can change no session.

    `kind` is one of `JUNK`; `INERT_JUNK` names those that are inert.
    """
    line = ALL_JUNK[kind] if kind else either(*(INERT if inert else ALL_JUNK).values())
    return TAPE.map(lambda tape: line(Choices(tape)))
