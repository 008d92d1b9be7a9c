"""Messages as lines of JSON, with tokens that `json` cannot write."""

from __future__ import annotations

import json
import re

from .choices import Json

# Two noncharacters that no text above holds mark what `json` cannot write: a key that is to stand
# twice, and a token that is to be written as it is.
TWICE = "\ufdd0"
TOKEN = "\ufdd1"


def _deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + closing * levels


TOKENS = {
    "infinite": "1e400",
    "negative infinite": "-1e400",
    "400 digits": "9" * 400,
    "underflow": "1e-400",
    "minus zero": "-0",
    "exponent": "1e3",
    "rounded": "0.9999999999999999999",
    "not a number": "NaN",
    "infinity": "-Infinity",
    "no number": "1_000",
    "200 levels": _deep(200),
    "300 levels": _deep(300),
    "200 objects": _deep(200, '{"k":', "}").replace(":}", ":0}", 1),
    "300 objects": _deep(300, '{"k":', "}").replace(":}", ":0}", 1),
    "torn escape": '"\\ud8"',
    "raw control": '"\x01"',
}
TOKEN_TEXTS = tuple(TOKENS.values())
_MARKED = re.compile(f'"{TOKEN}([0-9]+)"')
_LONE = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def encode(message: Json, style: int = 0) -> bytes:
    """Write JSON as one line; `style` (0 to 7) chooses key order, spaces and escapes."""
    text = _ENCODERS[style >> 1 & 3].encode(message)
    text = _MARKED.sub(lambda mark: TOKEN_TEXTS[int(mark[1])], text).replace(TWICE, "")
    return (_BEYOND_ASCII if style & 1 else _LONE).sub(_escape, text).encode()


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


_ENCODERS = [
    json.JSONEncoder(ensure_ascii=False, separators=separators, sort_keys=sort_keys)
    for separators in ((",", ":"), (", ", ": "))
    for sort_keys in (False, True)
]
