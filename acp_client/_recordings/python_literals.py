"""Python literals to JSON: what `print` shows of a message that was parsed.

The text is translated token by token and never evaluated; no nesting can exhaust it, and numbers
stay as they were written. Other literals (a set, bytes) and names are refused.
"""

from __future__ import annotations

import json
import re
from typing import Final

from .._json import NotJson
from .json_slices import is_json

_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+)
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<trailing>,(?=\s*[\])}]))
    |(?P<punctuation>[\[\]{}(),:])
    |(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>True|False|None)\b""",
    re.VERBOSE | re.DOTALL,
)

_SAME_IN_JSON: Final = {
    "True": "true",
    "False": "false",
    "None": "null",
    "(": "[",
    ")": "]",
}

_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
_SINGLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
    "\\": "\\",
    "'": "'",
    '"': '"',
}


def json_of(literal: bytes) -> bytes:
    """Return the JSON text of a Python literal. Raises `NotJson` for anything else."""
    text = literal.decode("utf-8", "replace")
    pieces: list[str] = []
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise NotJson(f"not a Python literal at character {position}")
        pieces.append(_translated(token))
        position = token.end()
    translated = "".join(pieces).encode()
    if not is_json(translated):
        raise NotJson("not a Python literal of JSON's kinds")
    return translated


def _translated(token: re.Match[str]) -> str:
    found = token[0]
    if token.lastgroup in ("blank", "trailing"):
        return ""
    if token.lastgroup == "text":
        return json.dumps(_ESCAPE.sub(_unescaped, found[1:-1]))
    return _SAME_IN_JSON.get(found, found)


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2] or escape[3]:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"
    return _SINGLE.get(escape[4], escape[0])
