"""Where the secrets of a recording are, and what is to stand there instead.

Every string of every message is looked at by itself, decoded where it is base64, and once more
together with the other pieces of its text. A secret gets a mask of its own length, so that what is
found twice is masked alike, and a mask that is spread over chunks is the mask of the whole text.
"""

from __future__ import annotations

import re
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

import attrs

from .._json import NotJson, TooDeep, parse
from .._recordings import Frame
from .leaves import Path, leaves, written
from .secret_patterns import KNOWN, Pattern, holds_known
from .secret_places import Places
from .text_pieces import Piece, decoded_base64, pieces

_DEEPEST: Final = 200
"""Levels of nesting up to which a message is taken apart; a deeper one is treated as text."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_SHORT_RUN: Final = 4096
"""Length up to which base64 is looked for at any offset, since a path may stand before it."""

_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNICODE_ESCAPE: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")


@attrs.frozen
class Replacement:
    """Something that was replaced: in which line of the recording, where, and by which rule."""

    line: int
    path: str
    rule: str


def value_of(frame: Frame) -> Any:
    """Return what a frame holds, or `None` where it is to be treated as text."""
    try:
        value = parse(frame.data, deepest=_DEEPEST)
    except (NotJson, TooDeep):
        return None
    return value if isinstance(value, dict | list) else None


@attrs.define
class Edits:
    """What is to be changed in one frame: leaves as a whole, spans of texts, spans of output."""

    whole: set[Path] = attrs.field(factory=set)
    text: dict[Path, list[tuple[int, str]]] = attrs.field(factory=dict)
    output: dict[Path, list[tuple[int, bytes]]] = attrs.field(factory=dict)


class _Masks:
    """Masks for secrets, each with a number of its own."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mask(self, secret: str, length: int) -> str:
        """Return what stands for a secret, as long as is needed."""
        number = self._numbers.setdefault(secret, len(self._numbers) + 1)
        full = f"[redacted-{number}]"
        return full.ljust(length, "*") if length >= len(full) else f"{number:*>{length}}"[-length:]


class Finder:
    """Finds the secrets of all frames; `edits` has what is to be changed, by the frame's place."""

    def __init__(
        self, patterns: list[Pattern], numbers_too: bool, replacements: list[Replacement]
    ) -> None:
        self._patterns = patterns
        self._numbers_too = numbers_too
        self._replacements = replacements
        self._masks = _Masks()
        self.edits: dict[int, Edits] = {}
        self._texts: dict[Hashable, list[tuple[Frame, int, Piece]]] = {}
        self._spans = lru_cache(maxsize=4096)(self._looked_for)  # ids and names come again
        self._in_base64 = lru_cache(maxsize=4096)(self._found_in_base64)

    def find(self, frames: Iterable[Frame]) -> None:
        """Note what is to be replaced in which frame."""
        places = Places()
        for place, frame in enumerate(frames):
            value = value_of(frame)
            if value is None:
                self._find_in_line(frame, place)
                continue
            for found in places.of(value, frame.sent):
                self._edited(place).whole.add(found.path)
                self._note(frame, found.path, found.rule)
            self._find_in_leaves(frame, place, value)
            if frame.sent:
                self._finish_without_id()
            for piece in pieces(value):
                self._take_piece(frame, place, piece)
        for text in list(self._texts):
            self._finish(text)

    def _edited(self, place: int) -> Edits:
        return self.edits.setdefault(place, Edits())

    def _note(self, frame: Frame, path: Path, rule: str) -> None:
        self._replacements.append(Replacement(frame.line, written(path), rule))

    def spans(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Return where secrets are in a text, and by which rule."""
        return self._spans(text) if len(text) < 100 else self._looked_for(text)

    def _looked_for(self, text: str) -> Sequence[tuple[int, int, str]]:
        return [
            (start, end, pattern.rule)
            for pattern in (*self._patterns, *(KNOWN if holds_known(text) else ()))
            for start, end in pattern.spans(text)
        ]

    def masked(self, text: str) -> str:
        """Return a text with its secrets masked."""
        for start, end, _ in self.spans(text):
            text = text[:start] + self._masks.mask(text[start:end], end - start) + text[end:]
        return text

    # --- Texts of one leaf ---

    def _find_in_line(self, frame: Frame, place: int) -> None:
        """Find secrets in what is not a message; an escaped one takes the whole line with it."""
        text = frame.data.decode("utf-8", "surrogateescape")
        unescaped = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        if unescaped != text and len(self.spans(unescaped)) > len(self.spans(text)):
            self._edited(place).whole.add(())
            self._note(frame, (), "escaped in a line that is not JSON")
        else:
            self._find_in_text(frame, place, (), text)

    def _find_in_leaves(self, frame: Frame, place: int, value: Any) -> None:
        for path, leaf in leaves(value):
            if isinstance(leaf, str):
                self._find_in_text(frame, place, path, leaf)
            elif self._numbers_too and type(leaf) in (int, float):
                self._find_in_number(frame, place, path, repr(leaf))

    def _find_in_number(self, frame: Frame, place: int, path: Path, digits: str) -> None:
        for pattern in self._patterns:
            if (0, len(digits)) in pattern.spans(digits):
                self._edited(place).whole.add(path)
                self._note(frame, path, pattern.rule)

    def _find_in_text(self, frame: Frame, place: int, path: Path, text: str) -> None:
        for start, end, rule in self.spans(text):
            self._edit(place, path, start, self._masks.mask(text[start:end], end - start))
            self._note(frame, path, rule)
        for match in _BASE64.finditer(text) if len(text) >= 12 else ():
            find = self._in_base64 if len(match[0]) < 100 else self._found_in_base64
            for start, run, rule in find(match[0]):
                self._edit(place, path, match.start() + start, run)
                self._note(frame, path, f"{rule} in base64")

    def _found_in_base64(self, run: str) -> Sequence[tuple[int, str, str]]:
        """Return what takes the place of base64 that holds a secret: where, the text, the rule."""
        found = []
        for offset in range(4 if len(run) <= _SHORT_RUN else 1):
            standard = run[offset:].rstrip("=").translate(_STANDARD)
            whole = standard[: len(standard) - (len(standard) % 4 == 1)]
            decoded = decoded_base64(whole)
            if not decoded:
                continue
            text = decoded.decode("utf-8", "surrogateescape")
            spans = self.spans(text)
            if spans:
                found.append((offset, _like(run, self._encoded(text, spans)), spans[0][2]))
        return found

    def _encoded(self, text: str, spans: Sequence[tuple[int, int, str]]) -> str:
        data = bytearray(text.encode("utf-8", "surrogateescape"))
        for start, end, _ in spans:
            first = len(text[:start].encode("utf-8", "surrogateescape"))
            last = len(text[:end].encode("utf-8", "surrogateescape"))
            data[first:last] = self._masks.mask(text[start:end], last - first).encode()
        return b64encode(data).decode().rstrip("=")

    def _edit(self, place: int, path: Path, start: int, text: str) -> None:
        self._edited(place).text.setdefault(path, []).append((start, text))

    # --- Texts in pieces ---

    def _take_piece(self, frame: Frame, place: int, piece: Piece) -> None:
        if piece.begins:
            self._finish(piece.text)
        self._texts.setdefault(piece.text, []).append((frame, place, piece))

    def _finish_without_id(self) -> None:
        """End the texts of chunks without an id: what the client sends ends a message."""
        for key in [key for key in self._texts if isinstance(key, tuple) and key[-1] == "None"]:
            self._finish(key)

    def _finish(self, key: Hashable) -> None:
        """Find secrets in a whole text, and note the part of each piece."""
        taken = self._texts.pop(key, [])
        is_output = any(isinstance(piece.piece, bytes) for _, _, piece in taken)
        if len(taken) < 2 and not is_output:
            return  # a single leaf was looked at already
        given: list[Any] = [piece.piece for _, _, piece in taken]
        data = b"".join(given).decode("utf-8", "surrogateescape") if is_output else ""
        text = data if is_output else "".join(given)
        ends = list(accumulate(len(piece.piece) for _, _, piece in taken))
        for parts, secret, rule in self._found_in(text):
            units = [_units(text, part) for part in parts] if is_output else parts
            mask = self._masks.mask(secret, sum(end - start for start, end in units))
            self._spread(taken, ends, units, mask, rule)

    def _found_in(self, text: str) -> Iterator[tuple[list[tuple[int, int]], str, str]]:
        """Return the parts of each secret, its text and its rule, in plain and coloured text."""
        for start, end, rule in self._looked_for(text):
            yield [(start, end)], text[start:end], rule
        if "\x1b" not in text:
            return
        starts, plain = _without_escapes(text)
        for start, end, rule in self._looked_for(plain):
            parts = _parts(starts, start, end)
            if len(parts) > 1:
                yield parts, plain[start:end], rule

    def _spread(
        self,
        taken: list[tuple[Frame, int, Piece]],
        ends: list[int],
        units: list[tuple[int, int]],
        mask: str,
        rule: str,
    ) -> None:
        """Assign each piece its part of a mask; secrets inside one text leaf are masked already."""
        for start, end in units:
            while start < end:
                index = bisect_right(ends, start)
                stop = min(end, ends[index])
                frame, place, piece = taken[index]
                part, mask = mask[: stop - start], mask[stop - start :]
                offset = start - (ends[index] - len(piece.piece))
                if isinstance(piece.piece, bytes):
                    found = self._edited(place).output.setdefault(piece.path, [])
                    found.append((offset, part.encode()))
                else:
                    self._edit(place, piece.path, offset, part)
                self._note(frame, piece.path, rule)
                start = stop


_STANDARD: Final = str.maketrans("-_", "+/")


def _like(run: str, encoded: str) -> str:
    """Write base64 in the alphabet of a run."""
    return encoded.translate(str.maketrans("+/", "-_")) if re.search("[-_]", run) else encoded


def _units(text: str, part: tuple[int, int]) -> tuple[int, int]:
    """Return a span of characters as one of bytes."""
    if text.isascii():
        return part
    start, end = (len(text[:place].encode("utf-8", "surrogateescape")) for place in part)
    return start, end


def _without_escapes(text: str) -> tuple[list[tuple[int, int]], str]:
    """Return text without escape sequences, and from where to where its stretches came."""
    stretches, last = [], 0
    for match in _ESCAPE.finditer(text):
        stretches.append((last, match.start()))
        last = match.end()
    stretches.append((last, len(text)))
    return stretches, "".join(text[start:end] for start, end in stretches)


def _parts(stretches: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return a span of the joined stretches as spans of the text that they came from."""
    parts, place = [], 0
    for first, last in stretches:
        here = (max(start, place), min(end, place + last - first))
        if here[0] < here[1]:
            parts.append((first + here[0] - place, first + here[1] - place))
        place += last - first
    return parts
