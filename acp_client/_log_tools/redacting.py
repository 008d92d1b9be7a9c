"""Recordings without their secrets.

The frames are spooled and read three times: to learn which values are secrets by their place, to
find every secret by what it looks like, and to write. A secret that is a whole leaf by its place
becomes `[redacted]`. One that is found in a text becomes a mask of its own length, with a number
that is the same wherever the same secret stands; so texts keep their lengths, ids stay ids that
differ, and a text cut into chunks says the same as the whole one. Every message is serialized
again, so what a reader would not see (a duplicate key, an escape) is dropped.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, cast

import attrs

from .._json import encode
from .._recordings import Frame
from .leaves import Path, changed
from .secret_finder import Edits, Finder, Replacement, value_of
from .secret_patterns import Pattern, given_patterns, literal
from .secret_places import Places
from .spool import IN_MEMORY, Spool
from .text_pieces import decoded_base64

REDACTED: Final = "[redacted]"


class Redaction:
    """The frames of a recording without its secrets; iterate over it once.

    `replacements` lists what was replaced, complete when the last frame was read.
    """

    def __init__(self, frames: Iterator[Frame], replacements: list[Replacement]) -> None:
        self._frames = frames
        self.replacements = replacements

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    @property
    def counts(self) -> dict[str, int]:
        """How often each rule replaced something."""
        return dict(Counter(one.rule for one in self.replacements).most_common())


def redact(
    recording: Iterable[Frame],
    *,
    patterns: Iterable[str | re.Pattern[str]] = (),
    secrets: Iterable[str] = (),
) -> Redaction:
    """Replace the secrets of a recording.

    Secrets are: values of headers and of environment variables, what a login carries, what a user
    entered into a form, values whose name says so, the usual tokens and keys, what the regular
    expressions `patterns` match (their group `secret`, if they have one), and the texts `secrets`.
    They are also found where a text is cut into chunks, between the colours of a terminal, and in
    base64. The snapshot documents differ in the replaced leaves and in nothing else.

    Raises `InvalidValueError` for what is not a pattern, or an empty secret.
    """
    given = given_patterns(patterns, secrets)
    replacements: list[Replacement] = []
    return Redaction(_redacted(recording, given, replacements), replacements)


def _redacted(
    recording: Iterable[Frame], given: list[Pattern], replacements: list[Replacement]
) -> Iterator[Frame]:
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        spool = Spool(cast("BinaryIO", file))
        learned = _learned(spool.through(recording))
        finder = Finder([*given, *learned], bool(given), replacements)
        finder.find(spool.frames())
        replacements.sort(key=lambda one: one.line)
        for place, frame in enumerate(spool.frames()):
            yield _rewritten(frame, finder.edits.pop(place, Edits()), finder.masked)


def _learned(frames: Iterable[Frame]) -> list[Pattern]:
    """Return patterns for the values that are secrets by their place."""
    places = Places()
    found: dict[str, None] = {}
    for frame in frames:
        for place in places.of(value_of(frame), frame.sent):
            if place.learned is not None:
                found[place.learned] = None
    return [literal("learned", text) for text in found]


# --- Writing ---


def _rewritten(frame: Frame, edits: Edits, masked: Callable[[str], str]) -> Frame:
    value = value_of(frame)
    if value is None:
        text = _leaf(edits, (), frame.data.decode("utf-8", "surrogateescape"))
        return attrs.evolve(frame, data=text.encode("utf-8", "surrogateescape"))
    return attrs.evolve(frame, data=encode(changed(value, partial(_leaf, edits), masked)))


def _leaf(edits: Edits, path: Path, leaf: Any) -> Any:
    if path in edits.whole:
        return type(leaf)() if type(leaf) in (int, float, bool) else REDACTED
    if path in edits.text:
        leaf = _overlaid(list(leaf), edits.text[path])
    if path in edits.output:
        decoded = bytearray(decoded_base64(leaf) or b"")
        for start, mask in edits.output[path]:
            decoded[start : start + len(mask)] = mask
        leaf = b64encode(decoded).decode()
    return leaf


def _overlaid(characters: list[str], edits: Iterable[tuple[int, str]]) -> str:
    for start, text in edits:
        characters[start : start + len(text)] = text
    return "".join(characters)
