"""The wire classes and their table of leniency, compared with the schema field by field."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any
from typing import get_type_hints as type_hints

import msgspec
import pytest

from acp_client import wire
from acp_client._leniency import (
    DEFAULT,
    EMPTY_NULL,
    LENIENCY,
    SKIP,
    STRICT,
    UNKNOWN_VARIANT_KEYS,
    Leniency,
    leniency,
)
from acp_client._lenient import _without_absence

SCHEMAS = Path(__file__).parent / "schemas"

OURS = (
    "Elicitation",
    "SentPromptRequest",
    "Notification",
    "Request",
    "Response",
    "UnidentifiedError",
)
"""Classes that the schema does not have."""

PARTIAL = {"AuthStatusUpdateNotification", "ResumeSessionRequest"}
"""Parameters of which a store needs a part."""

READ_AS_FAR_AS_POSSIBLE = {"SetSessionConfigOptionRequest"}
"""Parameters of which only the session is required here: what this side sent is on its way."""

ONLY_V1 = {
    "AgentAuthCapabilities": ["logout"],
    "AgentCapabilities": ["loadSession"],
    "SessionCapabilities": ["list", "resume", "close"],
}
"""Fields that v2 does not have because every agent can do it there."""

SCOPES = ("ElicitationSessionScope", "ElicitationRequestScope")
"""What of both an elicitation has is its own rule; here the fields of both are optional."""

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
"""The definitions that a class is written from, where there is none of its name."""

CLASSES = sorted(
    name
    for name, value in vars(wire).items()
    if isinstance(value, type) and issubclass(value, msgspec.Struct) and name in wire.__all__
)

Facts = dict[str, tuple[bool, bool, Leniency]]
"""By the key of a field: is it required, may it be `null`, how does it degrade."""


@cache
def definitions(version: str = "v2.unstable") -> dict[str, Any]:
    """Read the definitions of a schema."""
    text = (SCHEMAS / f"schema.{version}.json").read_bytes()
    found: dict[str, Any] = json.loads(text)["$defs"]
    return found


def facts_of_schema(name: str) -> Facts:
    """Give what the schema says of the fields of a class."""
    facts: Facts = {}
    for part in DEFINITIONS.get(name, (name,)):
        required = definitions()[part].get("required", [])
        for key, field in definitions()[part].get("properties", {}).items():
            is_scope = part in SCOPES
            is_required = key in required and not is_scope
            facts[key] = (is_required, is_scope or may_be_null(field), degrading(field))
    for key in ONLY_V1.get(name, ()):
        field = definitions("v1.unstable")[name]["properties"][key]
        facts[key] = (False, may_be_null(field, "v1.unstable"), degrading(field))
    return facts


def may_be_null(field: dict[str, Any], version: str = "v2.unstable") -> bool:
    """Tell whether a field of the schema may be `null`."""
    kind = field.get("type", [])
    reference = field.get("$ref", "").rpartition("/")[2]
    named = definitions(version)[reference] if reference else {}
    return (
        "null" in kind
        or {"type": "null"} in field.get("anyOf", [])
        or bool(named and may_be_null(named, version))
        or not (field.keys() - {"description", "x-deserialize-default-on-error"})
    )


def degrading(field: dict[str, Any]) -> Leniency:
    """Give the annotations of a field of the schema as flags."""
    names = {
        "x-deserialize-default-on-error": DEFAULT,
        "x-deserialize-skip-invalid-items": SKIP,
        "x-deserialize-default-on-null": EMPTY_NULL,
    }
    found = STRICT
    for name, flag in names.items():
        found |= flag if field.get(name) else STRICT
    return found


def facts_of_class(name: str) -> Facts:
    """Give what a wire class says of its fields, apart from its tag."""
    kind = getattr(wire, name)
    hints = type_hints(kind, include_extras=True)
    return {
        field.encode_name: (
            field.required,
            _without_absence(hints[field.name])[1],
            leniency(name, field.encode_name),
        )
        for field in msgspec.structs.fields(kind)
        # what its three definitions are told by
        if (name, field.name) != ("StateUpdate", "state")
        # "action" tells the variants apart
        and (name, field.name) != ("CreateElicitationResponse", "action")
    }


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in OURS])
def test_class_says_what_the_schema_says(name: str) -> None:
    """Every class has the fields of the schema, as required, nullable and lenient as there."""
    ours, theirs = facts_of_class(name), facts_of_schema(name)
    if name in PARTIAL:
        theirs = {key: fact for key, fact in theirs.items() if key in ours}
    if name in READ_AS_FAR_AS_POSSIBLE:
        assert ours["sessionId"] == theirs["sessionId"]
        return
    assert ours == theirs


@pytest.mark.parametrize("name", OURS)
def test_classes_of_our_own_are_not_in_the_schema(name: str) -> None:
    """No class is passed over that could be compared."""
    assert name not in definitions()


def test_table_has_no_row_for_nothing() -> None:
    """Every row and every key of the table belongs to a field of a class."""
    for name, rows in LENIENCY.items():
        assert rows.keys() <= facts_of_class(name).keys(), name


def test_metadata_is_lenient_everywhere() -> None:
    """`_meta` needs no row: a malformed one is absent, whatever it is part of."""
    assert leniency("Cost", "_meta") == DEFAULT
    assert leniency("Cost", "amount") == STRICT
    assert leniency("nothing", "known") == STRICT


# --- Unions ---

UNIONS: dict[str, Any] = {
    "SessionUpdate": wire.SessionUpdate,
    "ContentBlock": wire.ContentBlock,
    "ToolCallContent": wire.ToolCallContent,
    "DiffChange": wire.DiffChange,
    "BackgroundWork": wire.BackgroundWork,
    "PlanUpdateContent": wire.PlanUpdateContent,
    "AvailableCommand": wire.AvailableCommand,
    "AvailableCommandInput": wire.AvailableCommandInput,
    "SessionConfigOption": wire.SessionConfigOption,
    "RequestPermissionSubject": wire.RequestPermissionSubject,
    "AuthMethod": wire.AuthMethod,
}


KEPT_RAW: dict[str, set[str]] = {
    "SessionUpdate": {"subagent_update", "session_message", "session_message_chunk"},
    "BackgroundWork": {"subagent"},
    "StateUpdate": {"unknown"},
}
"""Variants of the unstable schema that are unknown here."""


def variants_of_schema(name: str) -> dict[str, list[str]]:
    """Give the known tags of an open union, with the keys that the unknown variant needs."""
    tags: dict[str, list[str]] = {}
    shared = definitions()[name].get("required", [])
    for variant in definitions()[name]["anyOf"]:
        required = variant.get("required", []) + shared
        constants = [part["const"] for part in variant["properties"].values() if "const" in part]
        tags[constants[0] if constants else "other"] = required[1:]
    return tags


@pytest.mark.parametrize("name", UNIONS)
def test_union_has_the_variants_of_the_schema(name: str) -> None:
    """Every open union knows the tags of the schema, and what an unknown variant must have."""
    members = [kind for kind in UNIONS[name].__args__ if kind is not wire._NoVariant]
    tags = {kind.__struct_config__.tag for kind in members}
    theirs = variants_of_schema(name)
    needed = theirs.pop("other", [])
    assert tags == theirs.keys() - KEPT_RAW.get(name, set())
    ours = [UNKNOWN_VARIANT_KEYS[tag] for tag in tags if tag in UNKNOWN_VARIANT_KEYS]
    if "tool_call" not in tags:
        assert set(needed) == (set(ours[0]) if ours else set())


def test_states_and_stop_reasons_are_those_of_the_schema() -> None:
    """The known states and stop reasons, which decide what is kept raw, are the schema's."""
    hints = type_hints(wire.StateUpdate)
    states = set(hints["state"].__args__)
    reasons = set(_without_absence(hints["stop_reason"])[0].__args__)
    assert states == variants_of_schema("StateUpdate").keys() - {"other"} - KEPT_RAW["StateUpdate"]
    parts = [part["properties"]["stopReason"] for part in definitions()["IdleStateUpdate"]["anyOf"]]
    assert reasons == {part["const"] for part in parts if "const" in part}


def test_numbers_have_the_bounds_of_the_schema() -> None:
    """Typed integers with a bound that matters have the schema's."""
    bounds: dict[tuple[str, str], tuple[Any, float, float]] = {
        ("ToolCallLocation", "line"): (wire._Line, 1, 2**32 - 1),
        ("TerminalSize", "cols"): (wire._Cells, 1, 65535),
        ("TerminalSize", "rows"): (wire._Cells, 1, 65535),
        ("Annotations", "priority"): (wire._Fraction, 0, 1),
    }
    for (name, key), (kind, least, most) in bounds.items():
        (constraint,) = kind.__metadata__
        field = definitions()[name]["properties"][key]
        assert (constraint.ge, constraint.le) == (least, most)
        assert field["minimum"] == least
        assert field.get("maximum", most) == most
