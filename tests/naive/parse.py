"""One JSON value against one row of the tables, with the problems that were found on the way.

A parsed known variant is a `Record`: it holds its known keys, and `None` where the peer wrote
`null`. Everything else (`_meta`, raw input, unknown variants) stays the plain value that came.
"""

from __future__ import annotations

import base64
import calendar
import math
import re
from typing import Any

from .schema import CHOICES, RECORDS, STATE, STATES, STOP_REASONS, UNIONS, UPDATES, WHOLE, lenient

Json = Any


class MalformedError(Exception):
    """A value that its kind does not allow, and where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class Record(dict[str, Any]):
    """A known variant: its known keys only."""


Told = list[tuple[str, str, str]]  # kind, path, message


def parse(kind: Any, value: Json, path: str, told: Told) -> Json:
    """Give the value as its kind allows it, or raise `MalformedError`."""
    if isinstance(kind, tuple):
        if kind[0] in ("skip", "all"):
            return parse_list(kind, value, path, told)
        return parse_number(kind, value, path)
    if kind == "SessionUpdate":
        return parse_update(value, path, told)
    if kind in RECORDS:
        return parse_record(RECORDS[kind], value, path, told)
    if kind in UNIONS:
        return parse_union(kind, value, path, told)
    if kind in CHOICES:
        return parse_choice(kind, value, path, told)
    return parse_scalar(kind, value, path)


def parse_record(fields: dict[str, Any], value: Json, path: str, told: Told) -> Record:
    """Take the known fields of an object in their order."""
    if not isinstance(value, dict):
        raise MalformedError(path, "is not object")
    record = Record()
    for name, (kind, mode) in fields.items():
        where = f"{path}.{name}"
        if name not in value:
            if mode in ("needed", "present"):
                raise MalformedError(where, "is missing")
        elif value[name] is None and mode in ("lenient", "nullable"):
            record[name] = None
        elif mode in ("needed", "nullable"):
            record[name] = parse(kind, value[name], where, told)
        else:
            inside: Told = []
            try:
                record[name] = parse(kind, value[name], where, inside)
                told += inside
            except MalformedError as error:
                told.append(("defaulted", where, error.reason))
                if mode != "lenient":
                    record[name] = []
    return record


def parse_list(kind: Any, value: Json, path: str, told: Told) -> list[Json]:
    """Take the items of a list; a bad one is skipped or is the end of the list."""
    manner, item_kind, least = kind
    if not isinstance(value, list):
        raise MalformedError(path, "is not array")
    if len(value) < least:
        raise MalformedError(path, "has too few items")
    items = []
    for index, item in enumerate(value):
        inside: Told = []
        try:
            items.append(parse(item_kind, item, f"{path}[{index}]", inside))
            told += inside
        except MalformedError as error:
            if manner == "all":
                raise
            told.append(("skipped", f"{path}[{index}]", str(error)))
    return items


def parse_union(name: str, value: Json, path: str, told: Told) -> Json:
    """Take a known variant by its tag, or keep an unknown one as it came."""
    tag, variants, strings = UNIONS[name]
    chosen = tag_of(tag, value, path)
    if chosen in variants:
        return Record({tag: chosen} | parse(variants[chosen], value, path, told))
    for key in strings:
        if key not in value:
            raise MalformedError(f"{path}.{key}", "is missing")
        parse_scalar("string", value[key], f"{path}.{key}")
    return value


def tag_of(tag: str, value: Json, path: str) -> str:
    """Read the tag of an object."""
    if not isinstance(value, dict):
        raise MalformedError(path, "is not object")
    if not isinstance(value.get(tag), str):
        raise MalformedError(f"{path}.{tag}", "is not string")
    chosen: str = value[tag]
    return chosen


def parse_choice(name: str, value: Json, path: str, told: Told) -> Json:
    """Take the first kind that fits; when none does the first reason counts."""
    first: MalformedError | None = None
    for kind in CHOICES[name]:
        inside: Told = []
        try:
            taken = parse(kind, value, path, inside)
        except MalformedError as error:
            first = first or error
        else:
            told += inside
            return taken
    assert first is not None
    raise first


def parse_update(value: Json, path: str, told: Told) -> Json:
    """Take a session update; an unknown one stays a plain dict."""
    tag = tag_of("sessionUpdate", value, path)
    if tag not in UPDATES:
        return value
    if tag == "state_update":
        taken = {"state": parse_state(value, path, told)}
    else:
        taken = parse_record(UPDATES[tag], value, path, told)
    return Record({"sessionUpdate": tag} | taken)


def parse_state(value: dict[str, Json], path: str, told: Told) -> Json:
    """Take a reported state, whose stop reason decides which further keys it has."""
    name = tag_of("state", value, path)
    payload = {key: item for key, item in value.items() if key != "sessionUpdate"}
    if name not in STATES:
        return payload
    fields = STATE | lenient("stopReason") if name == "idle" else STATE
    state = Record({"state": name} | parse_record(fields, value, path, told))
    reason = state.get("stopReason")
    if reason == "error":
        state |= parse_record(lenient("error", kind="Error"), value, path, told)
    elif reason is not None and reason not in STOP_REASONS:
        known = {"state", *fields}
        state |= {key: Raw(item) for key, item in payload.items() if key not in known}
    return state


class Raw:
    """A value that came with an unknown stop reason: kept even where it is null."""

    def __init__(self, value: Json) -> None:
        self.value = value


def parse_number(kind: tuple[str, Any, Any], value: Json, path: str) -> int | float:
    """Take a finite number in its range; for an integer one without a fraction."""
    name, low, high = kind
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(path, f"is not {name}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (name == "integer" and not number.is_integer()):
        raise MalformedError(path, f"is not {name}")
    exact = number if name == "number" else int(value)
    if (low is not None and exact < low) or (high is not None and exact > high):
        raise MalformedError(path, "is out of range")
    return exact


def parse_scalar(kind: str, value: Json, path: str) -> Json:
    """Take a string, boolean, object, or anything, as the kind says."""
    if kind == "any":
        return value
    if kind == "request id" and not isinstance(value, str):
        return parse_number(WHOLE, value, path)
    if kind in ("boolean", "object"):
        if not isinstance(value, bool if kind == "boolean" else dict):
            raise MalformedError(path, f"is not {kind}")
        return value
    if not isinstance(value, str):
        raise MalformedError(path, "is not string")
    if kind == "nonempty" and not value:
        raise MalformedError(path, "is too short")
    if kind == "base64" and not is_base64(value):
        raise MalformedError(path, "is not base64")
    if kind == "time" and not is_time(value):
        raise MalformedError(path, "is not an RFC 3339 time")
    return value


def is_base64(text: str) -> bool:
    """Tell base64: standard alphabet, no blanks, padding may be missing."""
    body = text.rstrip("=")
    missing = -len(body) % 4
    return (
        re.fullmatch("[A-Za-z0-9+/]*", body) is not None
        and missing != 3
        and len(text) - len(body) <= missing
    )


def bytes_of(text: str) -> bytes:
    """Decode base64 whose padding may be missing."""
    return base64.b64decode(text + "=" * (-len(text) % 4))


TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:Z|[+-]([0-9]{2}):([0-9]{2}))"
)


def is_time(text: str) -> bool:
    """Tell a date and time of RFC 3339 as browsers read it: in capitals, without leap seconds."""
    match = TIME.fullmatch(text)
    if match is None:
        return False
    year, month, day, hour, minute, second, east, past = (int(part or 0) for part in match.groups())
    if not 1 <= month <= 12:
        return False
    days = (31, 29 if calendar.isleap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return (
        1 <= day <= days[month - 1]
        and hour <= 23
        and minute <= 59
        and second <= 59
        and east <= 23
        and past <= 59
    )


def wire(value: Json) -> Json:
    """Give the wire form: known variants lose their null fields, the rest stays as it came."""
    if isinstance(value, Raw):
        return value.value
    if isinstance(value, list):
        return [wire(item) if isinstance(item, Record) else item for item in value]
    if isinstance(value, Record):
        return {key: wire(item) for key, item in value.items() if item is not None}
    return value
