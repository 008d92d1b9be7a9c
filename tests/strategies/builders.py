"""Builders of JSON from a tape, and the scalar values that messages have.

An optional field of `record` is absent, null or a value. Ids come from one small pool, for
messages, tool calls, terminals, plans and the rest alike, so that they often collide.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import partial

from .choices import Build, Choices, Json, JsonObject


def one_of(*values: Json) -> Build:
    return lambda choices: choices.pick(values)


def either(*builds: Build) -> Build:
    return lambda choices: choices.pick(builds)(choices)


def many(item: Build, least: int = 0, most: int = 3) -> Build:
    return lambda choices: [item(choices) for _ in range(least + choices.below(most - least + 1))]


def record(required: Mapping[str, Build], optional: Mapping[str, Build] | None = None) -> Build:
    """Build an object: optional fields, `meta` always among them, are absent, null or a value."""
    patchable = {**(optional or {}), "_meta": meta}

    def build(choices: Choices) -> JsonObject:
        built = {key: value(choices) for key, value in required.items()}
        for key, value in patchable.items():
            presence = choices.below(10)
            if presence >= 4:
                built[key] = None if presence < 6 else value(choices)
        return built

    return build


def some_text(choices: Choices) -> str:
    pieces = [_piece(choices)]
    while choices.one_in(4):
        pieces.append(_piece(choices))
    return "".join(pieces)


def _piece(choices: Choices) -> str:
    if choices.one_in(8):
        return chr(choices.wide() % 0xD800)
    return choices.pick(_TEXTS)


_TEXTS = (
    "a", "hello ", "two words", "", " ", "", "\n\n", "\t", "   ", "\r\n", "\u00e9", "\U0001f680",
    "\ud83d", "x\ud83d", "\ude80", "\ude80x", "\ud83d\ude80", "\x1b[31mred\x1b[0m", "\x9b2J",
    "\x00", "\u2028", "\x85\x7f", "\u202e\u200d", "<b>&amp;</b>", '"q\\', "{0}%s", "z" * 300,
)  # fmt: skip
_WORDS = ("a", "Fix the bug", "\u00fc \U0001f680", "x" * 80, "\x1b]0;t\x07", "\ud83d")
word = one_of(*_WORDS)
label = one_of(*_WORDS, "", " ")


def identifier(choices: Choices) -> str:
    return choices.pick(_ID_POOL)


IDS = ("a", "b", "c")
_ID_POOL = (*IDS * 9, "", "\ud800", "\u00e9", "a ", "_a" * 40)


def anything(choices: Choices) -> Json:
    """Build any JSON value, a fresh one for each call."""
    nested = choices.below(6)
    if nested == 4:
        return [anything(choices) for _ in range(choices.below(3))]
    if nested == 5:
        return {choices.pick(_KEYS): anything(choices) for _ in range(choices.below(4))}
    return choices.pick(_SCALARS)


_SCALARS = (
    None, True, False, 0, -1, 5, 1.5, 1e308, 2**53 + 1, 2**63, 2**64, "x", "", "\ud83d", "\u00e9",
)  # fmt: skip
_KEYS = ("k", "l", "", "type", "_meta", "__proto__", "k\udfff", "\u00e9")


def meta(choices: Choices) -> JsonObject:
    """Build a `meta` patch: few keys, so that later patches meet earlier ones; null removes."""
    patch = {}
    for _ in range(choices.below(4)):
        patch[choices.pick(_META_KEYS)] = None if choices.one_in(3) else anything(choices)
    return patch


_META_KEYS = ("k", "example.com/l", "k", "", "k\udfff")


def unknown(tag: str, **required: Build) -> Build:
    """Build an unknown variant of an open union: some keys of known ones, with any value."""

    def build(choices: Choices) -> JsonObject:
        extra = {choices.pick(_EXTRAS): anything(choices) for _ in range(choices.below(4))}
        known = {key: value(choices) for key, value in required.items()}
        return {tag: choices.pick(_UNKNOWN_TAGS), **known, **extra}

    return build


_UNKNOWN_TAGS = ("_vendor", "hologram", "", "constructor", "Text")
_EXTRAS = ("any", "title", "text", "entries", "path", "value", "__proto__")


def union(tag: str, known: Mapping[str, Build], **required: Build) -> Build:
    """Build one of the known variants or an unknown one, with its tag first."""

    def tagged(name: str, build: Build, choices: Choices) -> JsonObject:
        return {tag: name, **build(choices)}

    variants = [partial(tagged, name, build) for name, build in known.items()]
    return either(*variants, unknown(tag, **required))


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


file_path = one_of("/home/user/a.py", "/a", "", "C:\\b", "relative.py", "/\u00e9\x1b[0m")
uri = one_of("file:///a", "relative/path.py", "", "http://[::1", "file:///a b")
media_type = one_of("text/plain", "image/png", "", "text/x;q=1")
timestamp = one_of(
    "2026-03-01T09:00:00Z", "2026-03-01T10:30:00.250+01:00", "2026-03-01T09:00:00.123456789Z"
)
count = one_of(0, 1, 53_000, 200_000, 2**32, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 7.0, 1e3)
# A terminal's bytes: characters and escapes cut in two, bytes that are no UTF-8, lost padding.
output_bytes = one_of(
    "", *map(encoded, (b"ls\n", b"\xf0\x9f", b"\x9a\x80", b"10%\r", b"\x1b[3", b"1m", b"\xff\0")),
    "aGk", "aGk=",
)  # fmt: skip
