"""The protocol as tables, read from the published schemas: the fields, and how each degrades.

A kind is the name of a scalar, of a definition, a range of numbers, or a list:
("skip", kind, 0) drops bad items, ("all", kind, least) is bad when one item is, as is
("map", kind, 0), an object of values of one kind. A field is (kind, mode):

- needed: absent, null or malformed is an error
- optional: may be absent; null or malformed is an error
- nullable: may be absent or null; malformed is an error
- lenient: may be absent or null; malformed counts as absent
- emptied: may be absent; null or malformed is []
- present: must be there; null or malformed is []
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "schemas"
FILES = {
    "v1": "schema.v1.unstable.json",
    "v2": "schema.v2.unstable.json",
    "v2 stable": "schema.v2.json",
}

BOUNDS = {"int32": (-(2**31), 2**31 - 1), "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1)}

# What the unstable schemas name and this design does not follow: such variants are kept raw.
KEPT_RAW = {
    "SessionUpdate": ("subagent_update", "session_message", "session_message_chunk"),
    "StateUpdate": ("unknown",),
    "BackgroundWork": ("subagent",),
}
# Base64 is checked where bytes are decoded; URIs, media types and dates of resources never are.
CHECKED = ("TerminalOutput", "TerminalOutputChunk")

Fields = dict[str, tuple[Any, str]]
Definition = dict[str, Any]


@dataclass(frozen=True)
class Union:
    """An open union: its tag, its known variants, and the strings that an unknown one must have.

    What has no tag at all is the untagged variant, where there is one.
    """

    tag: str
    variants: dict[str, Fields]
    strings: tuple[str, ...]
    untagged: Fields


@dataclass(frozen=True)
class Tables:
    """What one version of the protocol defines, by the names of the schema's definitions."""

    records: dict[str, Fields]
    unions: dict[str, Union]
    choices: dict[str, tuple[Any, ...]]


@cache
def tables(version: str = "v2") -> Tables:
    """Return the tables of one version."""
    definitions = json.loads((FOLDER / FILES[version]).read_bytes())["$defs"]
    return _Reader(definitions).tables()


@dataclass
class _Reader:
    """Turns the definitions of a schema into tables."""

    definitions: dict[str, Definition]

    def tables(self) -> Tables:
        """Sort the definitions into records, unions and choices without a tag."""
        found = Tables({}, {}, {})
        for name, definition in self.definitions.items():
            tag = self.tag(definition)
            if tag is not None:
                found.unions[name] = self.union(name, tag)
            elif "properties" in definition or definition.get("type") == "object":
                found.records[name] = dict(self.fields(name))
            elif self.scalar(definition) is None and alternatives(definition):
                kinds = tuple(self.kind(part) for part in alternatives(definition))
                found.choices[name] = ("any",) if "any" in kinds else kinds
        return found

    def tag(self, definition: Definition) -> str | None:
        """Return the property whose constant tells the alternatives apart."""
        for part in alternatives(definition):
            for key, field in part.get("properties", {}).items():
                if isinstance(field.get("const"), str):
                    return str(key)
        return None

    def union(self, name: str, tag: str) -> Union:
        """Read the alternatives that have a constant tag, and what the open one requires."""
        definition = self.definitions[name]
        shared = dict(self.fields(name))
        variants, untagged, required = {}, {}, list(definition.get("required", ()))
        for part in alternatives(definition):
            constant = part.get("properties", {}).get(tag, {}).get("const")
            if "properties" not in part:
                untagged = self.joined(part)
            elif constant is None:
                required += part.get("required", ())
            elif constant not in KEPT_RAW.get(name, ()):
                variants[constant] = shared | self.joined(part)
        strings = tuple(key for key in dict.fromkeys(required) if key != tag)
        return Union(tag, variants, strings, untagged)

    def joined(self, part: Definition) -> Fields:
        """Return the fields of the definitions that an alternative consists of."""
        fields: Fields = {}
        for reference in part.get("allOf", ()):
            fields |= dict(self.fields(name_of(reference)))
        return fields

    def fields(self, name: str) -> Iterator[tuple[str, tuple[Any, str]]]:
        """Return the fields of a definition, in its order."""
        definition = self.definitions[name]
        for key, field in definition.get("properties", {}).items():
            kind = self.kind(field)
            if kind == "base64" and name not in CHECKED:
                kind = "string"
            yield key, (kind, mode_of(field, key in definition.get("required", ())))

    def kind(self, field: Definition) -> Any:
        """Return the kind of a field, of an item or of an alternative."""
        for reference in (field, *field.get("allOf", ()), *field.get("anyOf", ())):
            if "$ref" in reference:
                name = name_of(reference)
                return self.scalar(self.definitions[name]) or name
        return self.scalar(field) or "any"

    def scalar(self, field: Definition) -> Any:
        """Return the kind of what is no object and no union, else None."""
        types = [name for name in listed(field.get("type")) if name != "null"]
        if types == ["array"]:
            if "x-deserialize-skip-invalid-items" in field:
                return "skip", self.kind(field["items"]), 0
            return "all", self.kind(field.get("items", {})), field.get("minItems", 0)
        if types in (["integer"], ["number"]):
            low, high = BOUNDS.get(field.get("format", ""), (None, None))
            return types[0], field.get("minimum", low), field.get("maximum", high)
        if types == ["string"]:
            return string_kind(field)
        if types == ["object"] and isinstance(field.get("additionalProperties"), dict):
            return "map", self.kind(field["additionalProperties"]), 0
        if types in (["boolean"], ["object"]) and "properties" not in field:
            return types[0]
        parts = [] if types else [self.scalar(part) for part in alternatives(field)]
        if len({part[0] for part in parts if part}) > 1 and None not in parts:
            return "request id"  # an integer or a string
        plain = all(isinstance(part, str) or (part and part[0] == "integer") for part in parts)
        return parts[-1] if parts and plain else None


def name_of(reference: Definition) -> str:
    """Return the name of the definition that a reference names."""
    return str(reference["$ref"]).removeprefix("#/$defs/")


def listed(types: Any) -> list[str]:
    """Return the types of a field, of which there may be one, some or none."""
    return types if isinstance(types, list) else [types] if types else []


def alternatives(definition: Definition) -> list[Definition]:
    """Return the alternatives of a definition."""
    return [*definition.get("anyOf", ()), *definition.get("oneOf", ())]


def string_kind(field: Definition) -> str:
    """Return what a string has to be; other formats than these are not checked."""
    if field.get("contentEncoding") == "base64":
        return "base64"
    if field.get("format") == "date-time":
        return "time"
    return "nonempty" if field.get("minLength") else "string"


def mode_of(field: Definition, required: bool) -> str:
    """Return how a field degrades."""
    nullable = "null" in listed(field.get("type")) or {"type": "null"} in field.get("anyOf", ())
    if "x-deserialize-default-on-error" in field:
        if field.get("type") == "array":
            return "present" if required else "emptied"
        return "lenient"
    if nullable or "x-deserialize-default-on-null" in field:
        return "nullable"
    return "needed" if required else "optional"
