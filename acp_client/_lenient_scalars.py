"""The lenient path: JSON's own types, constraints, and the problems that are found.

A hook takes a parsed JSON value and the `Findings` of its message, and returns the value of a wire
object, or raises `Malformed`. Paths grow from the inside out: each level that passes a finding up
appends its own key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import msgspec
from attrs import define, field

from . import wire
from ._json import LARGEST_INTEGER, HugeNumber, Json

Hook: TypeAlias = "Callable[[Any, Findings], Any]"

_UNBOUNDED: Final = (2**63 - 1, -(2**63))
"""Bounds that only the typed decoder has; integers beyond them are accepted here."""


class Malformed(Exception):  # noqa: N818  # a finding that travels up and never leaves the package
    """A value that its strict context cannot do without; `path` is innermost first."""

    def __init__(self, reason: str, *path: str) -> None:
        self.reason = reason  # no `super().__init__`: `args` are set already, and this is hot
        self.path = list(path)


@define
class Finding:
    """A problem in a message that could be read nevertheless; `path` is innermost first."""

    kind: Literal["defaulted", "skipped"]
    reason: str
    path: list[str] = field(factory=list)


def path_text(path: list[str]) -> str:
    """Write a path that is innermost first: `["line", "[0]", "at"]` as `at[0].line`."""
    return ".".join(reversed(path)).replace(".[", "[")


class Findings:
    """The problems found in one message; passed to every hook."""

    def __init__(self) -> None:
        self.list: list[Finding] = []

    def attempt(self, key: str, hook: Hook, value: Any) -> Any:
        """Run a hook for the value under `key`; the paths of its findings get that key in front."""
        found = self.list
        mark = len(found)
        try:
            result = hook(value, self)
        except Malformed as malformed:
            del found[mark:]
            malformed.path.append(key)
            raise
        if len(found) > mark:
            for finding in found[mark:]:
                finding.path.append(key)
        return result

    def add(self, kind: Literal["defaulted", "skipped"], malformed: Malformed) -> None:
        """Record a value that was left out, and the reason."""
        *inner, key = malformed.path
        reason = f"{path_text(inner)} {malformed.reason}" if inner else malformed.reason
        self.list.append(Finding(kind, reason, [key]))


# --- Hooks for JSON's own types ---


def text(value: Any, findings: Findings) -> str:
    """Accept a string."""
    if isinstance(value, str):
        return value
    raise Malformed("is not string")


def flag(value: Any, findings: Findings) -> bool:
    """Accept a boolean."""
    if isinstance(value, bool):
        return value
    raise Malformed("is not boolean")


def whole_number(value: Any, findings: Findings) -> int:
    """Accept what JavaScript calls an integer: `1`, `1.0`, `1e3`, but nothing beyond a float."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed("is not integer")
    if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        raise Malformed("is out of range")
    return value


def number(value: Any, findings: Findings) -> float:
    """Accept a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Malformed("is not number")
    if isinstance(value, HugeNumber) or abs(value) > LARGEST_INTEGER:
        raise Malformed("is out of range")
    return float(value)


def from_base64(value: Any, findings: Findings) -> bytes:
    """Decode the standard alphabet without blanks; padding may be missing, but not be too much."""
    encoded = text(value, findings)
    groups = encoded.rstrip("=")
    missing = -len(groups) % 4
    if len(encoded) - len(groups) > missing:
        raise Malformed("is not base64")
    try:
        return base64.b64decode(groups.encode("ascii") + b"=" * missing, validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise Malformed("is not base64") from None


def json_object(value: Any) -> dict[str, Any]:
    """Accept an object."""
    if isinstance(value, dict):
        return value
    raise Malformed("is not object")


def raw(value: Any, findings: Findings) -> Json:
    """Accept any value and keep it raw."""
    return Json(value)


def raw_variant(value: Any, findings: Findings) -> wire.Unknown:
    """Accept any value as an unknown variant."""
    return wire.Unknown(value)


def raw_object(value: Any, findings: Findings) -> wire.JsonObject:
    """Accept an object and keep it raw."""
    return wire.JsonObject(json_object(value))


def request_id(value: Any, findings: Findings) -> wire.RequestId:
    """Accept a JSON-RPC id."""
    return value if isinstance(value, str) else whole_number(value, findings)


# --- Constraints ---


def check_of(constraint: msgspec.Meta) -> Callable[[Any], None]:
    """Return a function that raises `Malformed` for a value that breaks a constraint."""
    if constraint.pattern is not None:
        return _pattern_check(constraint.pattern)
    if constraint.min_length is not None:
        return _length_check(constraint.min_length)
    return _bounds_check(constraint.ge, constraint.le)


def _pattern_check(pattern: str) -> Callable[[str], None]:
    search = re.compile(pattern).search

    def check(value: str) -> None:
        if not search(value):
            raise Malformed("has the wrong form")

    return check


def _length_check(shortest: int) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if len(value) < shortest:
            raise Malformed("is too short")

    return check


def _bounds_check(lowest: float | None, highest: float | None) -> Callable[[Any], None]:
    low = None if lowest in _UNBOUNDED else lowest
    high = None if highest in _UNBOUNDED else highest

    def check(value: Any) -> None:
        if (low is not None and value < low) or (high is not None and value > high):
            raise Malformed("is out of range")

    return check
