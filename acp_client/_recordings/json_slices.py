"""Cutting JSON texts apart without changing a byte of what is inside.

A recording wraps messages in JSON of its own. The messages must come out exactly as they were
recorded: with their duplicate keys, their numbers beyond every float, their lone surrogates. So
nothing here parses a message; texts are sliced. msgspec does that fast for nearly everything
(`msgspec.Raw`); what it refuses (lone surrogates, deep nesting) is checked by the standard
library and sliced by counting brackets, which no nesting can exhaust.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from .._json import NotJson, TooDeep, loads

BLANKS: Final = b" \t\r\n"
"""JSON's white space."""

_MARK: Final = b"\xef\xbb\xbf"

Members = dict[str, msgspec.Raw]
"""The members of an object by key, each as its text: `bytes(members["id"])`."""

_decode_members = msgspec.json.Decoder(Members).decode
_decode_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_value = msgspec.json.Decoder().decode
_decode_any = msgspec.json.Decoder(msgspec.Raw).decode

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\],:]', re.DOTALL)

_BRACKETS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|([{\[]+)|([}\]]+)', re.DOTALL)


def members(data: bytes) -> Members:
    """Slice an object into the texts of its members; the last of duplicate keys wins."""
    try:
        return _decode_members(data)
    except (msgspec.DecodeError, RecursionError):
        return {string(key): msgspec.Raw(text) for key, text in _slices(_checked(data, b"{"))}


def members_if_any(data: bytes) -> Members:
    """Slice an object; return no members for any other value."""
    try:
        return members(data)
    except NotJson:
        return {}


def elements(data: bytes) -> list[msgspec.Raw]:
    """Slice an array into the texts of its elements."""
    try:
        return _decode_elements(data)
    except (msgspec.DecodeError, RecursionError):
        return [msgspec.Raw(text) for _, text in _slices(_checked(data, b"["))]


def string(data: bytes) -> str:
    """Return the value of a JSON string; invalid UTF-8 becomes U+FFFD."""
    found = value(data)
    if not isinstance(found, str):
        raise NotJson("a string was expected")
    return found


def value(data: bytes) -> Any:
    """Parse a small JSON text: an id, a name, a stamp."""
    try:
        return _decode_value(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return loads(data.decode("utf-8", "replace"))
    except TooDeep as error:
        raise NotJson(str(error)) from None


def quoted(text: str) -> bytes:
    """Write a string as JSON."""
    return json.dumps(text).encode()


def trim(data: bytes) -> bytes:
    """Strip what may be around a message: white space, and a byte order mark before it."""
    data = data.strip(BLANKS)
    return data.removeprefix(_MARK).lstrip(BLANKS) if data.startswith(_MARK) else data


def is_json(data: bytes) -> bool:
    """Return whether bytes are one JSON text, of whatever nesting."""
    try:
        _decode_any(data)
    except (msgspec.DecodeError, RecursionError):
        return _is_unusual_json(data)
    return True


def compact(data: bytes) -> bytes:
    """Take the white space out of a JSON text, line feeds above all; tokens stay as they are."""
    if b"\n" not in data and b"\r" not in data:
        return data
    try:
        return msgspec.json.format(data, indent=-1)
    except (msgspec.DecodeError, RecursionError):
        return data.replace(b"\n", b" ").replace(b"\r", b" ")


def _is_unusual_json(data: bytes) -> bool:
    try:
        _check(data)
    except NotJson:
        return False
    return True


def _checked(data: bytes, opening: bytes) -> bytes:
    if not data.lstrip(BLANKS).startswith(opening):
        raise NotJson(f"a JSON text that begins with {opening.decode()} was expected")
    _check(data)
    return data


def _check(data: bytes) -> None:
    """Raise `NotJson` unless the text is JSON; of text that nests too deep, only brackets count."""
    try:
        loads(data.decode("utf-8", "replace"))
    except TooDeep:
        _check_brackets(data)


def _check_brackets(data: bytes) -> None:
    if not data.rstrip(BLANKS).endswith((b"}", b"]")):
        raise NotJson("a bracket without its end")
    depth, end = 0, 0
    for token in _BRACKETS.finditer(data):
        depth += len(token[1] or b"") - len(token[2] or b"")
        end = token.end()
        if depth <= 0:
            break
    if depth or data[end:].strip(BLANKS):
        raise NotJson("brackets do not match")


def _slices(data: bytes) -> list[tuple[bytes, bytes]]:
    """Cut one JSON container into (text of the key, text of the value), by counting brackets."""
    found: list[tuple[bytes, bytes]] = []
    depth, start, key = 0, 0, b""
    for token in _TOKEN.finditer(data):
        mark = token[0]
        if mark in b"{[":
            depth += 1
            start = token.end() if depth == 1 else start
        elif depth == 1 and mark == b":":
            key, start = data[start : token.start()], token.end()
        elif depth == 1 and mark in b",}]":
            _keep(found, key, data[start : token.start()])
            start = token.end()
        depth -= mark in b"}]"
    return found


def _keep(found: list[tuple[bytes, bytes]], key: bytes, text: bytes) -> None:
    if text := text.strip(BLANKS):
        found.append((key.strip(BLANKS), text))
