"""JSON beyond the strict parsers: a line to a value, however deep, odd or long it is."""

from __future__ import annotations

import json
import re
import sys
from decimal import Decimal

from .parse import Json

DEPTH_LIMIT = 256


BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
BLANKS += "\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


class UnreadableError(Exception):
    """A line that gives no JSON value."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def text_of(data: bytes) -> str:
    """Decode a line, never fail, and trim what stands around the message."""
    return data.decode("utf-8", "replace").strip(BLANKS)


def read_json(text: str, deepest: int = DEPTH_LIMIT) -> Json:
    """Parse a JSON text: duplicate keys (last wins), lone surrogates, huge numbers are fine."""
    cut = too_deep_at(text, deepest)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 4 * deepest)
    try:
        return json.loads(text[:cut], parse_int=read_integer, parse_constant=refuse)
    except json.JSONDecodeError as error:
        if cut is not None and error.pos >= cut:
            raise UnreadableError("too_deep", f"is nested beyond {deepest} levels") from None
        raise UnreadableError("not_json", str(error)) from None
    finally:
        sys.setrecursionlimit(limit)


def too_deep_at(text: str, deepest: int) -> int | None:
    """Where the text has opened one level too many, if it has."""
    depth = 0
    if text.count("[") + text.count("{") > deepest:
        for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
            if depth > deepest:
                return token.end()
    return None


def read_integer(text: str) -> int:
    """Read an integer of any length (`int` refuses some thousand digits)."""
    return int(Decimal(text))


def refuse(name: str) -> Json:
    """Refuse NaN and the infinities, which are no JSON."""
    raise UnreadableError("not_json", f"{name} is no JSON")
