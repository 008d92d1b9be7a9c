"""One JSON value against the tables of the schema, with the problems that were found on the way.

A parsed known variant is a `Record`: it holds its known keys, and `None` where the peer wrote
`null`. Everything else (`_meta`, raw input, unknown variants) stays the plain value that came.
"""

from __future__ import annotations

import base64
import calendar
import math
import re
from typing import Any

from .schema import Fields, Tables, tables

Json = Any
Told = list[tuple[str, str, str]]  # kind, path, message


class MalformedError(Exception):
    """A value that its kind does not allow, and where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class Record(dict[str, Any]):
    """A known variant: its known keys only."""


class Raw:
    """A value that came with an unknown stop reason: kept even where it is null."""

    def __init__(self, value: Json) -> None:
        self.value = value


def parse(kind: Any, value: Json, path: str, told: Told, by: Tables | None = None) -> Json:
    """Return the value as its kind allows it, or raise `MalformedError`."""
    by = by or tables()
    if isinstance(kind, tuple):
        if kind[0] in ("skip", "all"):
            return parse_list(kind, value, path, told, by)
        if kind[0] == "map":
            return parse_map(kind[1], value, path, told, by)
        return parse_number(kind, value, path)
    if kind == "IdleStateUpdate":
        return parse_idle(value, path, told, by)
    if kind == "ElicitationSchema" and isinstance(value, dict) and value.get("type") != "object":
        raise MalformedError(f"{path}.type", "is not object")
    if kind in by.records:
        return parse_record(by.records[kind], value, path, told, by)
    if kind in by.unions:
        return parse_union(kind, value, path, told, by)
    if kind in by.choices:
        return parse_choice(by.choices[kind], value, path, told, by)
    return parse_scalar(kind, value, path)


def parse_record(fields: Fields, value: Json, path: str, told: Told, by: Tables) -> Record:
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
        elif mode in ("needed", "optional", "nullable"):
            record[name] = parse(kind, value[name], where, told, by)
        else:
            inside: Told = []
            try:
                record[name] = parse(kind, value[name], where, inside, by)
                told += inside
            except MalformedError as error:
                told.append(("defaulted", where, error.reason))
                if mode != "lenient":
                    record[name] = []
    return record


def parse_list(kind: Any, value: Json, path: str, told: Told, by: Tables) -> list[Json]:
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
            items.append(parse(item_kind, item, f"{path}[{index}]", inside, by))
            told += inside
        except MalformedError as error:
            if manner == "all":
                raise
            told.append(("skipped", f"{path}[{index}]", str(error)))
    return items


def parse_map(kind: Any, value: Json, path: str, told: Told, by: Tables) -> Record:
    """Take an object whose values are all of one kind."""
    if not isinstance(value, dict):
        raise MalformedError(path, "is not object")
    items = value.items()
    return Record({key: parse(kind, item, f"{path}.{key}", told, by) for key, item in items})


def parse_union(name: str, value: Json, path: str, told: Told, by: Tables) -> Json:
    """Take a known variant by its tag, or keep an unknown one as it came."""
    union = by.unions[name]
    if union.untagged and isinstance(value, dict) and union.tag not in value:
        return parse_record(union.untagged, value, path, told, by)
    chosen = tag_of(union.tag, value, path)
    if name == "StateUpdate":
        return parse_state(chosen, value, path, told, by)
    if name == "SessionUpdate" and chosen == "state_update":
        state = parse("StateUpdate", value, path, told, by)
        return Record({"sessionUpdate": chosen, "state": state})
    if chosen in union.variants:
        fields = union.variants[chosen]
        return Record({union.tag: chosen} | parse_record(fields, value, path, told, by))
    for key in union.strings:
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


def parse_choice(kinds: tuple[Any, ...], value: Json, path: str, told: Told, by: Tables) -> Json:
    """Take the first kind that fits; when none does the first reason counts."""
    first: MalformedError | None = None
    for kind in kinds:
        inside: Told = []
        try:
            taken = parse(kind, value, path, inside, by)
        except MalformedError as error:
            first = first or error
        else:
            told += inside
            return taken
    assert first is not None
    raise first


def parse_state(name: str, value: dict[str, Json], path: str, told: Told, by: Tables) -> Json:
    """Take a reported state; an unknown one keeps its payload."""
    payload = {key: item for key, item in value.items() if key != "sessionUpdate"}
    if name not in by.unions["StateUpdate"].variants:
        return payload
    if name == "idle":
        return Record({"state": name} | parse_idle(payload, path, told, by))
    fields = by.unions["StateUpdate"].variants[name]
    return Record({"state": name} | parse_record(fields, value, path, told, by))


def parse_idle(value: dict[str, Json], path: str, told: Told, by: Tables) -> Record:
    """Take the idle state, whose stop reason decides which further keys it has."""
    union = by.unions["IdleStateUpdate"]
    shared = union.variants["end_turn"]
    state = parse_record(shared, value, path, told, by)
    reason = state.get("stopReason")
    if reason is not None and reason not in union.variants:
        known = {"state", *shared}
        state |= {key: Raw(item) for key, item in value.items() if key not in known}
    elif reason is not None:
        own = {key: rule for key, rule in union.variants[reason].items() if key not in shared}
        state |= parse_record(own, value, path, told, by)
    return state


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
        return parse_number(("integer", None, None), value, path)
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
    """Recognise base64: standard alphabet, no blanks, padding may be missing."""
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
    """Recognise a time of RFC 3339 as browsers read it: in capitals, without leap seconds."""
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
    """Return the wire form: known variants lose their null fields, the rest stays as it came."""
    if isinstance(value, Raw):
        return value.value
    if isinstance(value, list):
        return [wire(item) if isinstance(item, Record) else item for item in value]
    if isinstance(value, Record):
        return {key: wire(item) for key, item in value.items() if item is not None}
    return value
