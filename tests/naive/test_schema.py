"""The tables that are read from the schemas say how each field degrades."""

from __future__ import annotations

from typing import Any

import pytest

from .schema import FILES, tables
from .updates import HANDLERS


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("ToolCallUpdate", "toolCallId", ("string", "needed")),
        ("ToolCallUpdate", "title", ("string", "lenient")),
        ("ToolCallUpdate", "kind", ("string", "lenient")),
        ("ToolCallUpdate", "rawInput", ("any", "lenient")),
        ("ToolCallUpdate", "content", (("skip", "ToolCallContent", 0), "lenient")),
        ("ToolCallUpdate", "_meta", ("object", "lenient")),
        ("NewSessionResponse", "configOptions", (("skip", "SessionConfigOption", 0), "emptied")),
        ("ConfigOptionUpdate", "configOptions", (("skip", "SessionConfigOption", 0), "needed")),
        (
            "SessionConfigSelectGroup",
            "options",
            (("skip", "SessionConfigSelectOption", 0), "present"),
        ),
        ("RequestPermissionRequest", "subject", ("RequestPermissionSubject", "nullable")),
        ("RequestPermissionRequest", "options", (("all", "PermissionOption", 1), "needed")),
        ("RunningStateUpdate", "background", (("all", "BackgroundWork", 0), "lenient")),
        ("TerminalOutputChunk", "data", ("base64", "needed")),
        ("ImageContent", "data", ("string", "needed")),
        ("SessionInfoUpdate", "updatedAt", ("time", "lenient")),
        ("UsageUpdate", "used", (("integer", 0, None), "needed")),
        ("ToolCallLocation", "line", (("integer", 1, 2**32 - 1), "lenient")),
        ("Error", "code", (("integer", -(2**31), 2**31 - 1), "needed")),
        ("Error", "data", ("ErrorData", "lenient")),
        ("Notice", "title", ("nonempty", "needed")),
        ("CancelRequestNotification", "requestId", ("request id", "needed")),
        ("ElicitationSchema", "properties", (("map", "ElicitationPropertySchema", 0), "needed")),
    ],
)
def test_field(name: str, field: str, expected: tuple[Any, str]) -> None:
    """A field has the kind and the mode that the schema's annotations mean."""
    assert tables("v2").records[name][field] == expected


def test_every_standard_update_has_a_handler() -> None:
    """What the schema names and the design follows is applied; the rest is kept raw."""
    assert tables("v2").unions["SessionUpdate"].variants.keys() == HANDLERS.keys()


def test_open_unions_know_what_an_unknown_variant_must_have() -> None:
    """An unknown variant has its tag, and the strings that are required beside it."""
    unions = tables("v2").unions
    assert unions["PlanUpdateContent"].strings == ("planId",)
    assert unions["SessionConfigOption"].strings == ("configId", "name")
    assert unions["ContentBlock"].strings == ()
    assert set(unions["StateUpdate"].variants) == {"running", "idle", "requires_action"}
    assert "anyOf" in unions["MultiSelectItems"].untagged


@pytest.mark.parametrize("version", FILES)
def test_every_kind_is_known(version: str) -> None:
    """No field of any definition has a kind that nothing can parse."""
    found = tables(version)
    scalars = {"string", "boolean", "object", "any", "base64", "time", "nonempty", "request id"}
    known = scalars | found.records.keys() | found.unions.keys() | found.choices.keys()
    for fields in found.records.values():
        for kind, _ in fields.values():
            inner = kind[1] if isinstance(kind, tuple) and kind[0] in ("skip", "all") else kind
            assert isinstance(inner, tuple) or inner in known
