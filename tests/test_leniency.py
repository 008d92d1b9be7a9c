"""The wire classes and the marks at their fields, compared with the published schemas."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin
from typing import get_type_hints as type_hints

import msgspec
import pytest

from acp_client import wire

SCHEMAS = Path(__file__).parent / "schemas"

OURS = {
    "Elicitation",
    "Notification",
    "Request",
    "Response",
    "SentPromptRequest",
    "UnidentifiedError",
}
"""Classes that the schema does not have."""

PARTIAL = {
    "AuthStatusUpdateNotification": {"accounts"},
    "ResumeSessionRequest": {
        "_meta",
        "additionalDirectories",
        "cwd",
        "mcpServers",
        "systemPrompt",
    },
    "SetSessionConfigOptionRequest": {"_meta", "configId", "value"},
}
"""Fields that are left out, or that are read as far as possible in what this side sent."""

ONLY_V1 = {
    "AgentAuthCapabilities": ["logout"],
    "AgentCapabilities": ["loadSession"],
    "SessionCapabilities": ["list", "resume", "close"],
}
"""Fields that v2 does not have because every agent can do it there."""

SCOPES = ("ElicitationSessionScope", "ElicitationRequestScope")
"""An elicitation has the fields of one of them, which is a rule of its class."""

DEFINITIONS: dict[str, tuple[str, ...]] = {
    "DiffAdd": ("DiffChange", "DiffPathChange"),
    "DiffDelete": ("DiffChange", "DiffPathChange"),
    "DiffModify": ("DiffChange", "DiffPathChange"),
    "DiffMove": ("DiffChange", "DiffPathPairChange"),
    "DiffCopy": ("DiffChange", "DiffPathPairChange"),
    "SessionConfigBoolean": ("SessionConfigOption", "SessionConfigBoolean"),
    "SessionConfigSelect": ("SessionConfigOption", "SessionConfigSelect"),
    "UserMessageChunk": ("ContentChunk",),
    "AgentMessageChunk": ("ContentChunk",),
    "AgentThoughtChunk": ("ContentChunk",),
    "StateUpdate": ("IdleStateUpdate", "ErrorStopReason"),
    "MetaOnly": ("ToolCallCancelCapabilities",),
    "ElicitationFormMode": ("CreateElicitationRequest", "ElicitationFormMode", *SCOPES),
    "ElicitationUrlMode": ("CreateElicitationRequest", "ElicitationUrlMode", *SCOPES),
    "CreateElicitationResponse": ("CreateElicitationResponse", "ElicitationAcceptAction"),
}
"""The definitions that a class is written from, if they have other names."""

DISCRIMINATORS = {("StateUpdate", "state"), ("CreateElicitationResponse", "action")}
"""Fields by which the schema distinguishes definitions that are one class here."""

CLASSES = sorted(
    name
    for name, value in vars(wire).items()
    if isinstance(value, type) and issubclass(value, msgspec.Struct) and name in wire.__all__
)

Facts = dict[str, tuple[bool, bool, frozenset[str]]]
"""By the key of a field: is it required, may it be `null`, how does it degrade."""


@cache
def definitions(version: str = "v2.unstable") -> dict[str, Any]:
    """Read the definitions of a schema; the unstable one has those of the stable one."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"schema.{version}.json").read_bytes())["$defs"]
    return found


def facts_of_schema(name: str) -> Facts:
    """Return what the schemas say of the fields of a class."""
    facts: Facts = {}
    for part in DEFINITIONS.get(name, (name,)):
        facts |= facts_of_definition(definitions()[part], "v2.unstable", part in SCOPES)
    if name in ONLY_V1:
        found = facts_of_definition(definitions("v1.unstable")[name], "v1.unstable", False)
        facts |= {key: found[key] for key in ONLY_V1[name]}
    return facts


def facts_of_definition(definition: dict[str, Any], version: str, is_optional: bool) -> Facts:
    """Return what one definition says of its fields."""
    required = () if is_optional else definition.get("required", ())
    return {
        key: (key in required, is_optional or may_be_null(field, version), marks_of_schema(field))
        for key, field in definition.get("properties", {}).items()
    }


def may_be_null(field: dict[str, Any], version: str) -> bool:
    """Return whether a field of the schema may be `null`."""
    reference = field.get("$ref", "").rpartition("/")[2]
    named = definitions(version)[reference] if reference else {}
    return (
        "null" in field.get("type", [])
        or {"type": "null"} in field.get("anyOf", [])
        or bool(named and may_be_null(named, version))
        or not (field.keys() - {"description", wire.ON_ERROR_ABSENT})
    )


def marks_of_schema(field: dict[str, Any]) -> frozenset[str]:
    """Return the annotations of a field of the schema that say how it degrades."""
    return frozenset(key for key in field if key.startswith("x-deserialize-") and field[key])


def facts_of_class(name: str) -> Facts:
    """Return what a wire class says of its fields, apart from its tag."""
    kind = getattr(wire, name)
    hints = type_hints(kind, include_extras=True)
    return {
        field.encode_name: (field.required, *facts_of_hint(hints[field.name]))
        for field in msgspec.structs.fields(kind)
        if (name, field.name) not in DISCRIMINATORS
    }


def facts_of_hint(hint: Any) -> tuple[bool, frozenset[str]]:
    """Return whether a type has `None`, and the schema's marks around it."""
    inner, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    marks = frozenset(one for one in metadata if isinstance(one, str)) - {wire.UNTAGGED}
    return type(None) in get_args(inner), marks


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in OURS])
def test_class_says_what_the_schema_says(name: str) -> None:
    """Every class has the fields of the schema, as required, nullable and lenient as there."""
    ours, theirs = facts_of_class(name), facts_of_schema(name)
    for key in PARTIAL.get(name, ()):
        assert ours.pop(key, None) != theirs.pop(key, None)
    assert ours == theirs


@pytest.mark.parametrize("name", sorted(OURS))
def test_classes_of_our_own_are_not_in_the_schema(name: str) -> None:
    """No class is passed over that could be compared."""
    assert name in CLASSES
    assert name not in definitions()


# --- Unions ---

UNIONS = {
    name: union
    for name, union in vars(wire).items()
    if name in wire.__all__ and wire.is_open_union(union)
}

KEPT_RAW: dict[str, set[str]] = {
    "SessionUpdate": {"subagent_update", "session_message", "session_message_chunk"},
    "BackgroundWork": {"subagent"},
    "StateUpdate": {"unknown"},
}
"""Variants of the unstable schema that are unknown here."""


def variants_of_schema(name: str) -> dict[str, list[str]]:
    """Return the known tags of an open union, with the keys that the unknown variant needs."""
    tags: dict[str, list[str]] = {}
    shared = definitions()[name].get("required", [])
    for variant in definitions()[name]["anyOf"]:
        required = variant.get("required", []) + shared
        constants = [part["const"] for part in variant["properties"].values() if "const" in part]
        tags[constants[0] if constants else "other"] = required[1:]
    return tags


def test_every_open_union_is_compared() -> None:
    """The unions are found by what they are, so none is passed over."""
    assert len(UNIONS) >= 12


@pytest.mark.parametrize("name", UNIONS)
def test_union_has_the_variants_of_the_schema(name: str) -> None:
    """Every open union knows the tags of the schema, and what an unknown variant must have."""
    union = UNIONS[name]
    theirs = variants_of_schema(name)
    needed = theirs.pop("other", [])
    assert set(map(wire.tag_of, wire.variants(union))) == theirs.keys() - KEPT_RAW.get(name, set())
    unknown = get_args(union)[1]
    if unknown.kind is wire.Unknown:
        assert set(unknown.needs) == set(needed)
    else:  # its class has a rule of its own
        assert unknown.kind is wire.ElicitationUnknownMode


def test_states_and_stop_reasons_are_those_of_the_schema() -> None:
    """The known states and stop reasons, which decide what is kept raw, are the schema's."""
    hints = type_hints(wire.StateUpdate)
    states = set(get_args(hints["state"]))
    reasons = set(get_args(get_args(hints["stop_reason"])[0]))
    assert states == variants_of_schema("StateUpdate").keys() - {"other"} - KEPT_RAW["StateUpdate"]
    parts = [part["properties"]["stopReason"] for part in definitions()["IdleStateUpdate"]["anyOf"]]
    assert reasons == {part["const"] for part in parts if part.get("const")}


BOUNDED = [
    ("Annotations", "priority"),
    ("StringPropertySchema", "maxLength"),
    ("TerminalSize", "cols"),
    ("TerminalSize", "rows"),
    ("ToolCallLocation", "line"),
]


@pytest.mark.parametrize(("name", "key"), BOUNDED)
def test_numbers_have_the_bounds_of_the_schema(name: str, key: str) -> None:
    """Numbers with a bound that matters have the schema's."""
    schema = definitions()[name]["properties"][key]
    formats = {"uint32": 2**32 - 1, "uint16": 65535}
    least, most = schema["minimum"], schema.get("maximum", formats.get(schema.get("format")))
    kind = getattr(wire, name)
    (field,) = (one for one in msgspec.structs.fields(kind) if one.encode_name == key)
    hint = type_hints(kind, include_extras=True)[field.name]
    for value in (least, most):
        assert msgspec.convert(value, hint) == value
    for value in (least - 1, most + 1):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, hint)
